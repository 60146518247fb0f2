//! The programs, as data. Unknown fields, patterns and placeholders are refused when it is read.
use super::measure::BROKEN;
use crate::files::entries_of;
use anyhow::{Context as _, Result, bail, ensure};
use regex::Regex;
use serde::Deserialize;
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

pub(crate) const TABLE: &str = "tests/programs/programs.toml";

/// A command and its arguments, with placeholders.
pub(crate) type Words = Vec<String>;

#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Program {
    pub(crate) name: String,
    pub(crate) about: String,
    /// What of its output is checked, and what would go unnoticed.
    pub(crate) verified: String,
    /// Debian's packages that it takes, separated by spaces.
    pub(crate) package: String,
    /// Programs on the path, or files by their absolute name, that those packages bring.
    pub(crate) needs: Vec<String>,
    /// Lives on one lock, so that a better lock shows.
    #[serde(default)]
    pub(crate) hot: bool,
    /// Is predicted from a recording.
    #[serde(default)]
    pub(crate) advised: bool,
    /// Threads for each CPU when there are too many, if not 8.
    overcommit: Option<usize>,
    /// What the best other interposer that survives this program reached, relative to libc.
    pub(crate) best_peer: Option<f64>,
    pub(crate) check: Amount,
    pub(crate) measure: Amount,
    /// The broken libraries that its checks must notice.
    pub(crate) notices: Vec<String>,
    #[serde(default)]
    pub(crate) env: BTreeMap<String, String>,
    /// Compiles a driver, once.
    pub(crate) build: Option<Words>,
    /// Commands that make what each run starts from, once.
    #[serde(default)]
    pub(crate) fixture: Vec<Words>,
    /// Commands before each run.
    #[serde(default)]
    pub(crate) before: Vec<Words>,
    /// Runs under the lock while the steps are done, and must stop when it is told to.
    pub(crate) server: Option<Words>,
    #[serde(rename = "step")]
    pub(crate) steps: Vec<Step>,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct Amount {
    pub(crate) seconds: u64,
    pub(crate) size: u64,
    /// `size` when there are more threads than CPUs, if it differs.
    pub(crate) over: Option<u64>,
    /// MiB of text.
    pub(crate) corpus: u64,
}

/// One command of a run, with what its output must be.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct Step {
    /// Under the lock ...
    run: Option<Words>,
    /// ... or without.
    plain: Option<Words>,
    /// Its output goes into this file of the run's directory, and is not looked at.
    pub(crate) keep: Option<String>,
    /// Patterns that must be found in the output.
    pub(crate) expect: Vec<String>,
    /// Patterns that must not.
    pub(crate) forbid: Vec<String>,
    /// Patterns with two groups that must be found and be equal.
    pub(crate) same: Vec<String>,
    pub(crate) rate: Option<Rate>,
}

/// Where the throughput is found; more is better.
#[derive(Debug, Clone, Deserialize)]
#[serde(untagged, deny_unknown_fields)]
pub(crate) enum Rate {
    /// The pattern's group is the time for so much work.
    Time { find: String, seconds_for: String },
    /// The pattern's group is the rate itself.
    Printed { find: String },
    /// So much work in the time that the step took.
    Wall { wall_for: String },
}

impl Step {
    /// The command, and whether it runs under the lock.
    pub(crate) fn command(&self) -> (&Words, bool) {
        let words = self.run.as_ref().or(self.plain.as_ref());
        (words.expect("others are refused when they are read"), self.run.is_some())
    }
}

impl Program {
    /// Threads for each CPU.
    pub(crate) fn levels(&self) -> [usize; 2] {
        [1, self.overcommit.unwrap_or(8)]
    }

    /// What is recorded of it: only the steps that have a rate, as what is predicted is theirs, and `longer`
    /// times as much of them.
    pub(super) fn recorded(&self, longer: u64) -> Self {
        let Amount { seconds, size, .. } = self.measure;
        let measure = Amount { seconds: seconds * longer, size: size * longer, ..self.measure };
        let steps = self.steps.iter().filter(|step| step.rate.is_some()).cloned().collect();
        Self { measure, steps, ..self.clone() }
    }

    pub(crate) fn under_lock(&self) -> impl Iterator<Item = &Words> {
        self.server.iter().chain(self.steps.iter().filter_map(|step| step.run.as_ref()))
    }

    /// The patterns of a step, and how many groups each must have.
    fn patterns(step: &Step) -> impl Iterator<Item = (&str, usize)> {
        let rate = step.rate.iter().filter_map(|rate| match rate {
            Rate::Time { find, .. } | Rate::Printed { find } => Some((find.as_str(), 1)),
            Rate::Wall { .. } => None,
        });
        let looked = step.expect.iter().chain(&step.forbid).map(|text| (text.as_str(), 0));
        looked.chain(step.same.iter().map(|text| (text.as_str(), 2))).chain(rate)
    }

    fn check(&self) -> Result<()> {
        for (text, groups) in self.steps.iter().flat_map(Self::patterns) {
            // Numbers stand where placeholders are, so that the braces are no repetition.
            let filled = fill(text, &PLACEHOLDERS.map(|name| (name, "1".to_owned())));
            let found = Regex::new(&filled).with_context(|| format!("pattern `{text}`"))?;
            ensure!(found.captures_len() > groups, "pattern `{text}` needs {groups} groups");
        }
        let one_command = |step: &Step| step.run.is_some() != step.plain.is_some();
        ensure!(self.steps.iter().all(one_command), "a step has either `run` or `plain`");
        ensure!(self.under_lock().next().is_some(), "nothing runs under the lock");
        let looks = |step: &Step| {
            !step.expect.is_empty()
                || !step.same.is_empty()
                || step.plain.as_ref().is_some_and(|words| words[0] == "cmp")
        };
        ensure!(self.steps.iter().any(looks), "no step looks at the output");
        if let Some(name) = self.notices.iter().find(|name| !BROKEN.contains(&name.as_str())) {
            bail!("no broken library `{name}`; there are {}", BROKEN.join(", "));
        }
        let rates = self.steps.iter().filter(|step| step.rate.is_some()).count();
        ensure!(rates == 1, "one step has the rate, no more and no less");
        Ok(())
    }
}

/// What may stand in braces.
const PLACEHOLDERS: [&str; 13] = [
    "threads", "cpus", "seconds", "size", "total", "share", "port", "dir", "shared", "built", "source",
    "corpus", "mib",
];

/// `text` with each `{name}` replaced.
pub(crate) fn fill(text: &str, values: &[(&str, String)]) -> String {
    values.iter().fold(text.to_owned(), |text, (name, value)| text.replace(&format!("{{{name}}}"), value))
}

pub(crate) fn read(root: &Path) -> Result<Vec<Program>> {
    parse(&fs::read_to_string(root.join(TABLE)).context(TABLE)?).context(TABLE)
}

fn parse(text: &str) -> Result<Vec<Program>> {
    // Numbers in braces are repetitions.
    for placeholder in Regex::new("[{]([a-z_]+)[}]")?.captures_iter(text) {
        let (name, known) = (&placeholder[1], PLACEHOLDERS.join(", "));
        ensure!(PLACEHOLDERS.contains(&name), "no placeholder `{{{name}}}`; there are {known}");
    }
    let programs: Vec<Program> = entries_of(text, "program")?;
    let mut names = BTreeSet::new();
    for program in &programs {
        program.check().with_context(|| format!("program `{}`", program.name))?;
        ensure!(names.insert(&program.name), "two programs are called `{}`", program.name);
    }
    Ok(programs)
}

#[cfg(test)]
mod tests {
    use super::*;

    const GOOD: &str = r#"
        [[program]]
        name = "a"
        about = "x"
        verified = "x"
        package = "b c"
        needs = []
        check = { size = 1 }
        measure = { size = 2 }
        notices = []
        [[program.step]]
        run = ["a", "-p{threads}"]
        expect = ["^{size} of [0-9]{2}$"]
        rate = { find = "t ([0-9]+)", seconds_for = "{size}" }
    "#;

    fn refused(from: &str, to: &str) -> String {
        assert!(GOOD.contains(from));
        format!("{:#}", parse(&GOOD.replace(from, to)).expect_err("it is refused"))
    }

    #[test]
    fn a_program_is_read() {
        let programs = parse(GOOD).expect("it is right");
        assert_eq!(programs[0].package, "b c");
        assert_eq!((programs[0].levels(), programs[0].hot), ([1, 8], false));
        assert!(matches!(programs[0].steps[0].rate, Some(Rate::Time { .. })));
    }

    #[test]
    fn only_what_has_a_rate_is_recorded_and_longer() {
        let checked = GOOD.replace(
            "[[program.step]]",
            "[[program.step]]\nplain = [\"b\"]\nexpect = [\"x\"]\n[[program.step]]",
        );
        let program = parse(&checked).expect("it is right").remove(0);
        let recorded = program.recorded(3);
        assert_eq!((program.steps.len(), recorded.steps.len()), (2, 1));
        assert_eq!((recorded.steps[0].command().0[0].as_str(), recorded.measure.size), ("a", 6));
    }

    #[test]
    fn what_makes_no_sense_is_refused() {
        assert!(refused("{threads}", "{thread}").contains("no placeholder `{thread}`"));
        assert!(refused("^{size}", "^({size}").contains("pattern"));
        assert!(refused("([0-9]+)", "[0-9]+").contains("needs 1 groups"));
        assert!(refused("run = ", "plain = ").contains("nothing runs under the lock"));
        assert!(refused("expect = [\"^{size} of [0-9]{2}$\"]", "").contains("no step looks at the output"));
        assert!(
            refused("rate = { find = \"t ([0-9]+)\", seconds_for = \"{size}\" }", "").contains("the rate")
        );
        assert!(refused("notices = []", "notices = ['nothing']").contains("no broken library `nothing`"));
        assert!(refused("notices = []", "notices = []\nspeed = 1").contains("speed"));
        assert!(parse(&GOOD.repeat(2)).expect_err("two of a name").to_string().contains("two programs"));
    }

    #[test]
    fn placeholders_are_filled_and_repetitions_left() {
        assert_eq!(fill("{size} a{2} {sizes}", &[("size", "7".to_owned())]), "7 a{2} {sizes}");
    }

    #[test]
    fn the_table_of_the_tree_is_right() {
        let programs = read(&crate::workspace::root()).unwrap_or_else(|error| panic!("{error:#}"));
        assert_eq!(programs.iter().filter(|program| program.hot).count(), 5);
        for library in BROKEN {
            assert!(programs.iter().any(|program| program.notices.iter().any(|name| name == library)));
        }
    }
}
