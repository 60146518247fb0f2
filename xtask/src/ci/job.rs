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
    /// Runs with `--nightly` only: it takes long.
    pub(crate) nightly: bool,
    /// Environment of every command.
    pub(crate) env: &'static [(&'static str, &'static str)],
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

pub(super) const PLAIN: Job = Job { name: "", shows: "", needs: None, steps: &[], nightly: false, env: &[] };
pub(super) const LONG: Job = Job { nightly: true, ..PLAIN };

pub(super) use bench_smoke;
pub(super) use lab;
pub(super) use lab_under_sanitizer;
