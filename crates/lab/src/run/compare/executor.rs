//! One run of a comparison: the program under one lock, with empty input. What it prints is kept from the
//! terminal, in files without a name: a program that prints much costs no memory of ours.
use super::metric::{Figures, Metric, pick};
use super::{Setting, Trial};
use crate::run::Target;
use crate::run::child::{End, Gone, Limits, Running};
use crate::run::environment::Environment;
use core::time::Duration;
use lab_kit::interrupt;
use lab_kit::progress::Progress;
use std::fs::File;
use std::io::{self, BufReader, Read, Seek};
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::process::{ExitStatus, Stdio};
use std::time::Instant;

/// How much of the end is searched for the last words.
const LAST_WORDS: u64 = 4096;

/// Why a run does not count.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum TrialError {
    /// It could not be started, ended badly, or printed the wrong thing.
    Failed(String),
    TimedOut,
    Interrupted,
}

impl From<io::Error> for TrialError {
    fn from(error: io::Error) -> Self {
        Self::Failed(format!("what it printed cannot be read: {error}"))
    }
}

/// Runs the program, and says so in the progress.
pub(crate) struct Executor<'a> {
    pub target: &'a Target,
    pub environments: &'a [Environment],
    pub setting: &'a Setting,
    pub progress: Progress,
    /// What the first sound run printed, and under which lock.
    pub first: Option<(String, Captured)>,
}

impl Executor<'_> {
    /// What was measured, and what was printed on both outputs.
    fn start(&self, trial: &Trial) -> io::Result<(Gone, Option<Captured>, Captured)> {
        let Setting { metric, check_output, show_output, .. } = self.setting;
        let wanted = *check_output || *show_output || matches!(metric, Metric::Output { .. });
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
        let Some(picker) = self.setting.metric.picker() else { return Ok(None) };
        for output in outputs {
            match pick(&picker, output.read()?)? {
                Some(Ok(number)) => return Ok(Some(number)),
                Some(Err(reason)) => return Err(TrialError::Failed(format!("--metric: {reason}"))),
                None => {}
            }
        }
        Err(TrialError::Failed("it printed no line that matches --metric".to_owned()))
    }

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

    pub(crate) fn run(&mut self, trial: &Trial) -> Result<Figures, TrialError> {
        if interrupt::requested() {
            return Err(TrialError::Interrupted);
        }
        let what = if trial.warmup { "warm-up" } else { "run" };
        self.progress.now(format!("{what} {} of {}", trial.round + 1, self.setting.locks[trial.lock]));
        let (gone, stdout, mut stderr) =
            self.start(trial).map_err(|error| TrialError::Failed(format!("could not be run: {error}")))?;
        // Without a need for it, an empty one stands for the output that went nowhere.
        let mut stdout = stdout.map_or_else(Captured::new, Ok)?;
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
                    if let Some(place) = first.difference(&mut stdout)? {
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

/// How a run that failed ended, with what it said last.
fn ending(status: ExitStatus, words: Option<&str>) -> String {
    let how = match (status.code(), status.signal()) {
        (Some(code), _) => format!("exit code {code}"),
        (None, Some(signal)) => format!("killed by signal {signal}"),
        (None, None) => status.to_string(),
    };
    words.map_or(how.clone(), |words| format!("{how}: {words}"))
}

/// A file for one output of a program.
pub(crate) struct Captured(File);

impl Captured {
    fn new() -> io::Result<Self> {
        tempfile::tempfile().map(Self)
    }

    /// The program's end of it.
    fn end(&self) -> io::Result<Stdio> {
        self.0.try_clone().map(Stdio::from)
    }

    fn read(&mut self) -> io::Result<&File> {
        self.0.rewind()?;
        Ok(&self.0)
    }

    /// The last line that is not empty.
    fn last_words(&mut self) -> io::Result<Option<String>> {
        let length = self.0.seek(io::SeekFrom::End(0))?;
        self.0.seek(io::SeekFrom::Start(length.saturating_sub(LAST_WORDS)))?;
        let mut bytes = Vec::new();
        (&self.0).read_to_end(&mut bytes)?;
        let text = String::from_utf8_lossy(&bytes);
        Ok(text.lines().map(str::trim).rfind(|line| !line.is_empty()).map(str::to_owned))
    }

    /// The place of the first byte in which the two differ.
    fn difference(&mut self, other: &mut Self) -> io::Result<Option<u64>> {
        self.0.rewind()?;
        other.0.rewind()?;
        let mut theirs = BufReader::new(&other.0).bytes();
        for (place, own) in (0..).zip(BufReader::new(&self.0).bytes()) {
            if theirs.next().transpose()? != Some(own?) {
                return Ok(Some(place));
            }
        }
        let length = self.0.metadata()?.len();
        Ok(theirs.next().transpose()?.map(|_| length))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    use crate::run::compare::testing::setting;
    use crate::run::environment::Outer;
    use crate::run::program::Program;
    use std::io::Write;

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
        let (environments, setting, progress) = (&environments[..], &setting, Progress::new(1, true));
        let mut executor = Executor { target: &target, environments, setting, progress, first: None };
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

    fn captured(text: &str) -> Captured {
        let mut captured = Captured::new().expect("a temporary file");
        captured.0.write_all(text.as_bytes()).expect("written");
        captured
    }

    fn difference(one: &str, other: &str) -> Option<u64> {
        captured(one).difference(&mut captured(other)).expect("readable")
    }

    #[test]
    fn outputs_are_compared_byte_for_byte() {
        assert_eq!(difference("abc", "abc"), None);
        assert_eq!(difference("", ""), None);
        assert_eq!(difference("abc", "abd"), Some(2));
        assert_eq!(difference("ab", "abc"), Some(2));
        assert_eq!(difference("abc", "ab"), Some(2));
    }

    #[test]
    fn last_words_are_the_last_line_with_something_in_it() {
        let words = |text: &str| captured(text).last_words().expect("readable");
        assert_eq!(words("a\nb \n\n"), Some("b".into()));
        assert_eq!(words(&format!("{}\nend\n", "x".repeat(10_000))), Some("end".into()));
        assert_eq!(words("\n"), None);
    }
}
