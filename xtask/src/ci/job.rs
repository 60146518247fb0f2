//! What a job of `cargo xtask ci` is, and what jobs are made of.

/// One job.
pub(crate) struct Job {
    /// Name for `--only`.
    pub(crate) name: &'static str,
    /// What a pass shows.
    pub(crate) shows: &'static str,
    /// The job is skipped, with this command named, when the command fails.
    pub(crate) needs: Option<&'static [&'static str]>,
    /// Run in order; the job fails at the first that fails.
    pub(crate) steps: &'static [Step],
    /// With which runs it comes.
    pub(crate) when: When,
    /// Environment of every command.
    pub(crate) env: &'static [(&'static str, &'static str)],
}

/// The runs that a job is part of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum When {
    /// Every run.
    Always,
    /// Only the quick one; the others have a job that does more.
    QuickOnly,
    /// Whatever lands, and at night.
    Landing,
    /// At night.
    Night,
}

/// How much is run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Speed {
    /// What can be known in a minute or two.
    Quick,
    /// What lands.
    Landing,
    /// Everything.
    Night,
}

impl Speed {
    /// For titles.
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Quick => "quick",
            Self::Landing => "what lands",
            Self::Night => "the night",
        }
    }

    /// Whether a job is part of it.
    pub(crate) fn has(self, job: &Job) -> bool {
        match job.when {
            When::Always => true,
            When::QuickOnly => self == Self::Quick,
            When::Landing => self != Self::Quick,
            When::Night => self == Self::Night,
        }
    }
}

/// One step of a job.
pub(crate) enum Step {
    /// A command in the workspace root.
    Run(&'static [&'static str]),
    /// `lib.rs` of the given crate must say `no_std`.
    SaysNoStd(&'static str),
    /// `cargo check` with the oldest toolchain the manifest promises.
    Msrv,
}

/// Jobs for which there must be a nightly toolchain.
pub(super) const NIGHTLY: Option<&[&str]> = Some(&["cargo", "+nightly", "--version"]);
/// What builds and runs a program under ThreadSanitizer; the standard library need not be rebuilt for it.
pub(super) const SANITIZER: &[(&str, &str)] = &[
    ("RUSTFLAGS", "-Zsanitizer=thread -Cunsafe-allow-abi-mismatch=sanitizer"),
    ("TSAN_OPTIONS", concat!("halt_on_error=1:suppressions=", env!("CARGO_MANIFEST_DIR"), "/tsan.supp")),
    ("STANCHION_SANITIZER", "thread"),
];

/// A command of the laboratory.
macro_rules! lab {
    ($($word:literal),*) => { $crate::ci::job::Step::Run(&["cargo", "run", "--release", "-p", "stanchion-lab", "--", $($word),*]) };
}

/// The same, built for the sanitizer of [`SANITIZER`].
macro_rules! lab_under_sanitizer {
    ($($word:literal),*) => {
        $crate::ci::job::Step::Run(&[
            "cargo", "+nightly", "run", "-p", "stanchion-lab", "--target", "x86_64-unknown-linux-gnu", "--target-dir",
            "target/tsan", "--", $($word),*
        ])
    };
}

/// A benchmark with one short round a cell: to see it run and write its reports, not for its figures.
macro_rules! bench_smoke {
    ($($word:literal),*) => {
        $crate::ci::job::lab!["bench", $($word),*, "--quick", "--time", "20ms", "--rounds", "1", "--force"]
    };
}

pub(super) const PLAIN: Job =
    Job { name: "", shows: "", needs: None, steps: &[], when: When::Landing, env: &[] };
pub(super) const QUICK: Job = Job { when: When::Always, ..PLAIN };
pub(super) const LONG: Job = Job { when: When::Night, ..PLAIN };

pub(super) use bench_smoke;
pub(super) use lab;
pub(super) use lab_under_sanitizer;
