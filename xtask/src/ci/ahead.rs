//! What later jobs run optimised is built while earlier ones test: at the lowest priority there is, so it
//! takes the time that they leave. A job that comes before its build has ended waits for it, as cargo does.
use super::job::SANITIZER;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::thread;

/// Variables of the environment.
type Env = &'static [(&'static str, &'static str)];

/// As the jobs build it, in the order in which they need it.
const BUILDS: &[(&[&str], Env)] = &[
    (&["build", "--release", "-p", "stanchion-lab"], &[]),
    (
        &[
            "+nightly",
            "test",
            "--no-run",
            "-p",
            "stanchion",
            "--features",
            "send_guard,arc_lock,serde,owning_ref",
            "--test",
            "*",
            "--target",
            "x86_64-unknown-linux-gnu",
            "--target-dir",
            "target/tsan",
        ],
        SANITIZER,
    ),
    (&["build", "--release", "-p", "stanchion-model"], &[]),
    (&["build", "--release", "-p", "stanchion-preload", "--features", "family"], &[]),
    (&["test", "--release", "-p", "stanchion-sim", "--test", "determinism", "--no-run"], &[]),
];

/// Begins. A build that fails is told of by the job that needs it.
pub(super) fn start(root: &Path) {
    let root: PathBuf = root.to_owned();
    thread::spawn(move || {
        for (words, env) in BUILDS {
            let mut cargo = Command::new("chrt");
            cargo.args(["--idle", "0", "cargo"]).args(*words).envs(env.iter().copied()).current_dir(&root);
            let _ = cargo.stdout(Stdio::null()).stderr(Stdio::null()).status();
        }
    });
}
