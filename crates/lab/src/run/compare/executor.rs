//! One run of a comparison: the program under one lock, with empty input. What it prints is kept from the
//! terminal, in files without a name: a program that prints much costs no memory of ours.
use super::metric::{compiled, pick};
use crate::run::library::Environment;
use crate::run::program::Program;
use core::time::Duration;
use lab_kit::child::{self, End, Gone, Limits, Running};
use lab_kit::compare::{Figures, Metric, Setting, Trial, TrialError};
use lab_kit::interrupt;
use lab_kit::progress::Progress;
use std::fs::File;
use std::io::{self, BufReader, Read, Seek, Write};
use std::process::Stdio;

pub(crate) struct Executor<'a> {
    pub program: &'a Program,
    pub environments: &'a [Environment],
    pub setting: &'a Setting,
    pub progress: Progress,
    /// What the first sound run printed, and under which lock.
    pub first: Option<(&'a str, File)>,
}

impl<'a> Executor<'a> {
    /// What was measured, and what was printed on both outputs.
    fn start(&self, trial: &Trial) -> io::Result<(Gone, [File; 2])> {
        let Setting { metric, check_output, show_output, timeout_s, .. } = self.setting;
        let is_wanted = *check_output || *show_output || matches!(metric, Metric::Output { .. });
        let mut command = self.program.command();
        self.environments[trial.lock].apply(&mut command);
        child::dies_with_us(&mut command);
        let outputs = child::capture(command.stdin(Stdio::null()))?;
        if !is_wanted {
            // Without a need for it, the output goes nowhere, and the file stays empty.
            command.stdout(Stdio::null());
        }
        let timeout = Some(Duration::from_secs_f64(*timeout_s));
        let limits = Limits { timeout, stop: &interrupt::requested };
        Ok((Running::lead(&mut command)?.wait(Some(&limits), || ())?, outputs))
    }

    fn picked(&self, outputs: &[File; 2]) -> Result<Option<f64>, TrialError> {
        let Metric::Output { pattern, .. } = &self.setting.metric else { return Ok(None) };
        let picker = compiled(pattern).map_err(TrialError::Failed)?;
        for output in outputs {
            if let Some(number) = pick(&picker, from_start(output)?)? {
                return number.map(Some).map_err(|reason| TrialError::Failed(format!("--metric: {reason}")));
            }
        }
        Err(TrialError::Failed("it printed no line that matches --metric".to_owned()))
    }

    fn show(&self, lock: &str, outputs: &[File; 2]) -> io::Result<()> {
        self.progress.aside(|| {
            let mut terminal = io::stderr().lock();
            writeln!(terminal, "== {lock} ==")?;
            outputs.iter().try_for_each(|output| io::copy(&mut from_start(output)?, &mut terminal).map(drop))
        })
    }

    pub(crate) fn run(&mut self, trial: &Trial) -> Result<Figures, TrialError> {
        if interrupt::requested() {
            return Err(TrialError::Interrupted);
        }
        let lock: &'a str = &self.setting.locks[trial.lock];
        let what = if trial.warmup { "warm-up" } else { "run" };
        self.progress.now(format!("{what} {} of {lock}", trial.round + 1));
        let started = self.start(trial);
        let (gone, outputs) =
            started.map_err(|error| TrialError::Failed(format!("could not be run: {error}")))?;
        if self.setting.show_output {
            // A terminal that has gone away is no failure of the run.
            let _ = self.show(lock, &outputs);
        }
        match gone.end {
            End::Stopped => return Err(TrialError::Interrupted),
            End::TimedOut => return Err(TrialError::TimedOut),
            End::Own => {}
        }
        if !gone.status.success() {
            let words = child::last_words(&outputs[1]).ok().flatten().map(|words| format!(": {words}"));
            return Err(TrialError::Failed(child::told(gone.status) + &words.unwrap_or_default()));
        }
        let picked = self.picked(&outputs)?;
        let [stdout, _] = outputs;
        match &self.first {
            _ if !self.setting.check_output => {}
            None => self.first = Some((lock, stdout)),
            Some((first, printed)) => {
                if let Some(place) = difference(printed, &stdout)? {
                    return Err(TrialError::Failed(format!(
                        "it printed something else than the first run, under {first}, from byte {place} on"
                    )));
                }
            }
        }
        Ok(Figures {
            wall_s: gone.wall.as_secs_f64(),
            cpu_s: gone.cpu.as_secs_f64(),
            max_rss_kib: gone.max_rss_kib,
            picked,
        })
    }
}

fn from_start(mut file: &File) -> io::Result<&File> {
    file.rewind()?;
    Ok(file)
}

/// The place of the first byte in which two files differ.
fn difference(one: &File, other: &File) -> io::Result<Option<u64>> {
    let bytes = |file| io::Result::Ok(BufReader::new(from_start(file)?).bytes());
    let (mut one, mut other) = (bytes(one)?, bytes(other)?);
    let mut place = 0;
    loop {
        match (one.next().transpose()?, other.next().transpose()?) {
            (None, None) => return Ok(None),
            (own, theirs) if own != theirs => return Ok(Some(place)),
            _ => place += 1,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::run::compare::tests::setting;
    use crate::run::library::Outer;

    /// Runs a shell's script once under each of `names`, which the script finds in `LOCK`.
    fn run(
        script: &str,
        change: impl FnOnce(&mut Setting),
        names: &[&str],
    ) -> Vec<Result<Figures, TrialError>> {
        let path = std::env::var_os("PATH");
        let words = ["sh", "-c", script].map(Into::into);
        let program = &Program::find(&words, path.as_deref()).expect("there is a shell");
        let environments: Vec<Environment> = names
            .iter()
            .map(|name| {
                let Environment(mut all) = Environment::new("libc", None, &[], &Outer::default());
                all.push(("LOCK", name.into()));
                Environment(all)
            })
            .collect();
        let mut setting = setting(names);
        change(&mut setting);
        let (environments, setting, progress) = (&environments[..], &setting, Progress::new(1, true));
        let mut executor = Executor { program, environments, setting, progress, first: None };
        (0..names.len()).map(|lock| executor.run(&Trial { lock, round: 0, warmup: false })).collect()
    }

    fn failed(result: &Result<Figures, TrialError>) -> &str {
        match result {
            Err(TrialError::Failed(reason)) => reason,
            other => panic!("{other:?} is no failure"),
        }
    }

    #[test]
    fn a_run_is_measured_and_its_number_picked_from_either_output() {
        let metric = super::super::metric::parse("n=([0-9.]+)", true).expect("a pattern");
        for script in ["echo n=$LOCK", "echo n=$LOCK >&2"] {
            let results = run(script, |setting| setting.metric = metric.clone(), &["1.5", "x"]);
            let figures = results[0].as_ref().expect("sound");
            assert_eq!(figures.picked, Some(1.5), "{script}");
            assert!(figures.wall_s > 0.0 && figures.max_rss_kib > 100, "{figures:?}");
            assert!(failed(&results[1]).contains("no line that matches"));
        }
    }

    #[test]
    fn bad_ends_are_told_with_the_last_words() {
        let results = run("echo no luck >&2; exit $LOCK", |_| (), &["3"]);
        assert_eq!(failed(&results[0]), "exit code 3: no luck");
        assert_eq!(failed(&run("kill -9 $$", |_| (), &["a"])[0]), "killed by signal 9");
        let results = run("sleep 600", |setting| setting.timeout_s = 0.1, &["a"]);
        assert_eq!(results[0], Err(TrialError::TimedOut));
    }

    #[test]
    fn output_that_differs_is_a_failure_if_it_is_checked() {
        let script = "echo abc$LOCK; echo $$ >&2";
        let results = run(script, |setting| setting.check_output = true, &["1", "1", "2"]);
        assert!(results[0].is_ok() && results[1].is_ok());
        assert!(failed(&results[2]).ends_with("from byte 3 on"));
        assert!(run(script, |_| (), &["1", "2"]).iter().all(Result::is_ok));
    }

    #[test]
    fn the_input_is_empty() {
        assert!(run("read line && exit 1; exit 0", |_| (), &["a"])[0].is_ok());
    }

    fn captured(text: &str) -> File {
        let mut captured = tempfile::tempfile().expect("a temporary file");
        captured.write_all(text.as_bytes()).expect("written");
        captured
    }

    #[test]
    fn outputs_are_compared_byte_for_byte() {
        let difference = |one, other| difference(&captured(one), &captured(other)).expect("readable");
        assert_eq!(difference("abc", "abc"), None);
        assert_eq!(difference("", ""), None);
        assert_eq!(difference("abc", "abd"), Some(2));
        assert_eq!(difference("ab", "abc"), Some(2));
        assert_eq!(difference("abc", "ab"), Some(2));
    }
}
