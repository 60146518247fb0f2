//! One run of a comparison: the program under one lock, with empty input and its output kept from the
//! terminal.
use super::engine::{Executor, Trial, TrialError};
use super::metric::{Figures, pick};
use super::output::Captured;
use super::setting::Setting;
use crate::run::Target;
use crate::run::child::{End, Gone, Limits, Running};
use crate::run::environment::Environment;
use core::time::Duration;
use lab_kit::interrupt;
use lab_kit::progress::Progress;
use regex_lite::Regex;
use std::io;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::process::{ExitStatus, Stdio};
use std::time::Instant;

/// Runs the program itself.
pub(crate) struct ProgramExecutor<'a> {
    target: &'a Target,
    environments: &'a [Environment],
    setting: &'a Setting,
    picker: Option<Regex>,
    /// What the first sound run printed.
    first: Option<(String, Captured)>,
    /// Stands aside while output is shown.
    progress: Progress,
}

impl<'a> ProgramExecutor<'a> {
    pub(crate) fn new(
        target: &'a Target,
        environments: &'a [Environment],
        setting: &'a Setting,
        progress: Progress,
    ) -> Self {
        Self { target, environments, setting, picker: setting.metric.picker(), first: None, progress }
    }

    /// What was measured, and what was printed on both outputs.
    fn start(&self, trial: &Trial) -> io::Result<(Gone, Option<Captured>, Captured)> {
        let wanted = self.picker.is_some() || self.setting.check_output || self.setting.show_output;
        let (stdout, stderr) = (wanted.then(Captured::new).transpose()?, Captured::new()?);
        let mut command = self.target.command();
        self.environments[trial.lock].apply(&mut command);
        command
            .stdin(Stdio::null())
            .stdout(stdout.as_ref().map_or_else(|| Ok(Stdio::null()), Captured::end)?)
            .stderr(stderr.end()?)
            // Ctrl-C is for us, who decide what to keep; and what a run leaves behind is ended with its
            // group.
            .process_group(0);
        let start = Instant::now();
        let child = command.spawn()?;
        let timeout = Some(Duration::from_secs_f64(self.setting.timeout_s));
        let limits = Limits { timeout, stop: &interrupt::requested };
        let gone = Running::new(child, start).wait(Some(&limits), || ())?;
        Ok((gone, stdout, stderr))
    }

    fn picked(&self, outputs: [&mut Captured; 2]) -> Result<Option<f64>, TrialError> {
        let Some(picker) = &self.picker else { return Ok(None) };
        for output in outputs {
            match pick(picker, output.read().map_err(|error| unreadable(&error))?)
                .map_err(|error| unreadable(&error))?
            {
                Some(Ok(number)) => return Ok(Some(number)),
                Some(Err(reason)) => return Err(TrialError::Failed(format!("--metric: {reason}"))),
                None => {}
            }
        }
        Err(TrialError::Failed("it printed no line that matches --metric".to_owned()))
    }

    /// Shows what a run printed on both outputs.
    fn show(&self, lock: &str, outputs: [&mut Captured; 2]) -> io::Result<()> {
        self.progress.aside(|| {
            let mut terminal = io::stderr().lock();
            io::Write::write_all(&mut terminal, format!("== {lock} ==\n").as_bytes())?;
            for output in outputs {
                io::copy(&mut output.read()?, &mut terminal)?;
            }
            Ok(())
        })
    }
}

impl Executor for ProgramExecutor<'_> {
    fn run(&mut self, trial: &Trial) -> Result<Figures, TrialError> {
        let (gone, stdout, mut stderr) =
            self.start(trial).map_err(|error| TrialError::Failed(format!("could not be run: {error}")))?;
        // Without a need for it, an empty one stands for the output that went nowhere.
        let mut stdout = stdout.map_or_else(Captured::new, Ok).map_err(|error| unreadable(&error))?;
        if self.setting.show_output {
            // A terminal that has gone away is no failure of the run.
            let _ = self.show(&self.setting.locks[trial.lock], [&mut stdout, &mut stderr]);
        }
        match gone.end {
            End::Stopped => return Err(TrialError::Interrupted),
            End::TimedOut => return Err(TrialError::TimedOut),
            End::Own => {}
        }
        if !gone.status.success() {
            let words = stderr.last_words().ok().flatten();
            return Err(TrialError::Failed(ending(gone.status, words.as_deref())));
        }
        let picked = self.picked([&mut stdout, &mut stderr])?;
        if self.setting.check_output {
            match &mut self.first {
                None => self.first = Some((self.setting.locks[trial.lock].clone(), stdout)),
                Some((lock, first)) => {
                    if let Some(place) = first.difference(&mut stdout).map_err(|error| unreadable(&error))? {
                        let reason = format!(
                            "it printed something else than the first run, under {lock}, from byte {place} on"
                        );
                        return Err(TrialError::Failed(reason));
                    }
                }
            }
        }
        Ok(Figures {
            wall_s: gone.wall.as_secs_f64(),
            cpu_s: gone.usage.cpu.as_secs_f64(),
            max_rss_kib: gone.usage.max_rss_kib,
            picked,
        })
    }
}

fn unreadable(error: &io::Error) -> TrialError {
    TrialError::Failed(format!("what it printed cannot be read: {error}"))
}

/// How a run that failed ended, with what it said last.
fn ending(status: ExitStatus, words: Option<&str>) -> String {
    let how = match (status.code(), status.signal()) {
        (Some(code), _) => format!("exit code {code}"),
        (None, Some(signal)) => format!("killed by signal {signal}"),
        (None, None) => status.to_string(),
    };
    words.map_or(how.clone(), |words| format!("{how}: {words}"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::run::compare::metric::Metric;
    use crate::run::compare::testing::setting;
    use crate::run::environment::Outer;
    use crate::run::program::Program;

    /// Runs a shell's script once under each of `names`, which the script finds in `LOCK`.
    fn run(
        script: &str,
        change: impl FnOnce(&mut Setting),
        names: &[&str],
    ) -> Vec<Result<Figures, TrialError>> {
        let words = ["sh", "-c", script].map(Into::into).to_vec();
        let path = std::env::var_os("PATH");
        let program = Program::find("sh".as_ref(), path.as_deref()).expect("there is a shell");
        let target = Target { program, words };
        let environments: Vec<Environment> = names
            .iter()
            .map(|name| {
                let Environment(mut all) = Environment::new("libc", None, &[], &Outer::default());
                all.push(("LOCK", Some(name.into())));
                Environment(all)
            })
            .collect();
        let mut setting = setting(names);
        change(&mut setting);
        let mut executor = ProgramExecutor::new(&target, &environments, &setting, Progress::new(1, true));
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
        let metric = Metric::parse("n=([0-9.]+)", true).expect("a pattern");
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
}
