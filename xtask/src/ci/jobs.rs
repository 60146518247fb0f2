//! The jobs of `cargo xtask ci` but for those of the night, as data.
use super::job::Step::{Msrv, Run, SaysNoStd};
use super::job::{Job, NIGHTLY, PLAIN, QUICK, SANITIZER, When, lab};

/// What every change runs, or a part of it when it has to be quick.
pub(super) const JOBS: &[Job] = &[
    Job {
        name: "fmt",
        shows: "the code is formatted",
        steps: &[Run(&["cargo", "fmt", "--all", "--check"])],
        ..QUICK
    },
    Job {
        name: "clippy",
        shows: "no lint of the workspace fires",
        steps: &[Run(&["cargo", "clippy", "--workspace", "--all-targets", "--", "-D", "warnings"])],
        ..QUICK
    },
    Job {
        name: "unit",
        shows: "the tests within the code pass, and what is generated is current",
        steps: &[Run(&["cargo", "test", "--workspace", "--lib", "--bins"])],
        when: When::QuickOnly,
        ..PLAIN
    },
    Job {
        name: "test",
        shows: "every test passes",
        steps: &[
            Run(&["cargo", "test", "--workspace", "--no-fail-fast"]),
            Run(&[
                "cargo",
                "test",
                "-p",
                "stanchion",
                "--features",
                "send_guard,arc_lock,serde,owning_ref",
                "--test",
                "features",
            ]),
        ],
        ..PLAIN
    },
    Job {
        name: "drop-in",
        shows: "the drop-ins' tests pass, and parking_lot's own with the drop-in as they do without",
        steps: &[
            Run(&[
                "cargo",
                "test",
                "--manifest-path",
                "crates/parking_lot-0.12/Cargo.toml",
                "--features",
                "arc_lock,serde,owning_ref,deadlock_detection,hardware-lock-elision",
            ]),
            Run(&[
                "cargo",
                "test",
                "--manifest-path",
                "crates/parking_lot-0.13/Cargo.toml",
                "--features",
                "arc_lock,serde,owning_ref,deadlock_detection,send_guard",
            ]),
            Run(&["cargo", "xtask", "dependents", "--only", "parking_lot-0.12"]),
        ],
        env: &[("CARGO_TARGET_DIR", "target")],
        ..PLAIN
    },
    Job {
        name: "doc",
        shows: "the documentation builds without warnings",
        steps: &[Run(&["cargo", "doc", "--workspace", "--no-deps"])],
        env: &[("RUSTDOCFLAGS", "-Dwarnings")],
        ..PLAIN
    },
    Job {
        name: "no-std",
        shows: "core, the family, the suite, and stanchion without its std feature, build and say no_std",
        steps: &[
            Run(&["cargo", "build", "-p", "stanchion-core"]),
            Run(&["cargo", "build", "-p", "stanchion-family"]),
            Run(&["cargo", "build", "-p", "stanchion-suite"]),
            Run(&["cargo", "build", "-p", "stanchion", "--no-default-features"]),
            SaysNoStd("crates/core/src/lib.rs"),
            SaysNoStd("crates/family/src/lib.rs"),
            SaysNoStd("crates/suite/src/lib.rs"),
            SaysNoStd("crates/stanchion/src/lib.rs"),
        ],
        ..PLAIN
    },
    Job {
        name: "header",
        shows: "stanchion.h is what the C interface says",
        steps: &[Run(&["cargo", "xtask", "header", "--check"])],
        ..QUICK
    },
    Job {
        name: "capi",
        shows: "programs in C and C++ build without warnings and run with the installed library, and notice its faults",
        steps: &[Run(&["cargo", "xtask", "capi"])],
        ..PLAIN
    },
    Job {
        name: "python",
        shows: "the wheel runs the example of its page in a fresh environment, its types hold, and sweeps lose no cell to a killed worker or a restarted Dask scheduler",
        needs: Some(&["python3", "-c", "import ensurepip, venv"]),
        steps: &[Run(&["cargo", "xtask", "wheel", "--check"])],
        ..PLAIN
    },
    Job {
        name: "tidy",
        shows: "the rules of the tree hold",
        steps: &[Run(&["cargo", "xtask", "tidy"])],
        ..QUICK
    },
    Job {
        name: "fastpath",
        shows: "lock events cost nothing when off",
        steps: &[Run(&["cargo", "xtask", "fastpath"])],
        ..PLAIN
    },
    Job { name: "msrv", shows: "the oldest promised toolchain is enough", steps: &[Msrv], ..PLAIN },
    Job {
        name: "tsan",
        shows: "the thread sanitizer sees no race in the native locks",
        needs: NIGHTLY,
        steps: &[Run(&[
            "cargo",
            "+nightly",
            "test",
            "-p",
            "stanchion",
            "--features",
            "send_guard,arc_lock,serde,owning_ref",
            "--test",
            "*",
            "--no-fail-fast",
            "--target",
            "x86_64-unknown-linux-gnu",
            "--target-dir",
            "target/tsan",
            // Counting adds relaxed accesses to the very same code, which the sanitizer sees without it.
            "--",
            "--skip",
            "counted::",
        ])],
        env: SANITIZER,
        ..PLAIN
    },
    Job {
        name: "torture",
        shows: "the locks exclude under torture, with more threads than CPUs and without",
        steps: &[
            lab!["torture", "--seconds", "1", "--seed", "1"],
            lab![
                "torture",
                "--lock",
                "stanchion,qrw,percpu-rw",
                "--writers",
                "2",
                "--seconds",
                "2",
                "--seed",
                "2"
            ],
            lab![
                "torture",
                "--lock",
                "stanchion,pv-qspin",
                "--writers",
                "64",
                "--seconds",
                "3",
                "--seed",
                "3"
            ],
            lab![
                "torture",
                "--lock",
                "qrw,percpu-rw",
                "--writers",
                "8",
                "--readers",
                "56",
                "--seconds",
                "3",
                "--seed",
                "4"
            ],
            lab!["torture", "--lock", "reference-percpu-rw,parking-lot-rw", "--seconds", "2", "--seed", "5"],
        ],
        ..PLAIN
    },
    Job {
        name: "torture-busted",
        shows: "torture catches every lock that is broken on purpose",
        steps: &[
            lab![
                "torture",
                "--lock",
                "busted",
                "--expect-failure",
                "--tries",
                "6",
                "--seconds",
                "1",
                "--seed",
                "1"
            ],
            lab![
                "torture",
                "--lock",
                "busted-percpu-rw",
                "--expect-failure",
                "--tries",
                "6",
                "--seconds",
                "4",
                "--seed",
                "1",
                "--without",
                "nice"
            ],
        ],
        ..PLAIN
    },
    Job {
        name: "explore",
        shows: "no lock fails in 50 000 schedules, and every broken one is caught",
        steps: &[
            lab!["explore", "--schedules", "50000", "--seed", "1"],
            lab!["explore", "--lock", "busted", "--expect-failure", "--seed", "1"],
        ],
        ..PLAIN
    },
    Job {
        name: "model",
        shows: "no execution of the model's small programs breaks a lock, of those explored in half a second each",
        steps: &[Run(&["cargo", "run", "--release", "-p", "stanchion-model", "--", "--seconds", "0.5"])],
        ..PLAIN
    },
    Job {
        name: "mutants",
        shows: "faults of the locks that may have changed since they were noticed are noticed still, as many as there is time for",
        steps: &[Run(&["cargo", "xtask", "mutants", "--budget", "45", "--jobs", "1"])],
        ..PLAIN
    },
    Job {
        name: "conform",
        shows: "libc and the interposer pass the POSIX tests, and each broken library is caught by those named for it",
        steps: &[
            Run(&["cargo", "xtask", "conform", "--self-test", "--jobs", "4"]),
            Run(&["cargo", "xtask", "conform", "--preload", "libc", "--preload", "ours", "--jobs", "4"]),
        ],
        ..PLAIN
    },
    Job {
        name: "witness",
        shows: "each ordering of the core was tried weaker, and what nothing notices has an argument",
        steps: &[Run(&["cargo", "xtask", "witness", "--check"])],
        ..PLAIN
    },
    Job {
        name: "programs",
        shows: "real programs run right under the interposer's default lock",
        steps: &[Run(&["cargo", "xtask", "programs", "--check", "--locks", "stanchion"])],
        ..PLAIN
    },
    Job {
        name: "guest",
        shows: "the guest boots and ends in all ways, its locks pass the conformance set and torture with 4 vCPUs on 2 CPUs, and broken ones are caught",
        needs: Some(&["qemu-system-x86_64", "--version"]),
        steps: &[
            Run(&["cargo", "xtask", "guest", "--lint", "--check"]),
            lab!["guest", "--workload", "conform", "--set", "stall=60", "--seed", "1"],
            lab!["guest", "--workload", "torture", "--seconds", "1", "--seed", "1"],
            lab!["guest", "--workload", "torture", "--lock", "variants", "--seconds", "1", "--seed", "2"],
            lab![
                "guest",
                "--workload",
                "torture",
                "--lock",
                "busted-check-then-set",
                "--expect-failure",
                "--seconds",
                "3",
                "--seed",
                "1"
            ],
        ],
        ..PLAIN
    },
    Job {
        name: "determinism",
        shows: "an optimised build simulates what a debug build does, to the last bit",
        steps: &[Run(&["cargo", "test", "--release", "-p", "stanchion-sim", "--test", "determinism"])],
        ..PLAIN
    },
    Job {
        name: "sim-smoke",
        shows: "the simulator runs, traces and writes its reports",
        steps: &[
            lab!["sim", "--repeat", "2", "--out", "target/sim-smoke", "--force"],
            lab![
                "sim",
                "--lock",
                "ticket",
                "--vcpus",
                "4",
                "--repeat",
                "1",
                "--trace",
                "target/sim-smoke/trace.json",
                "--timeline",
                "target/sim-smoke/timeline.svg",
                "--force"
            ],
        ],
        ..PLAIN
    },
    Job {
        name: "reproduce",
        shows: "published tables are reproduced, and no fit is stale",
        steps: &[
            lab!["reproduce", "--quick", "--out", "target/reproduce", "--force"],
            lab!["fit", "--check", "--seeds", "1"],
        ],
        ..PLAIN
    },
    Job {
        name: "calibrate-smoke",
        shows: "this machine can be measured for the simulator",
        steps: &[lab!["calibrate", "--quick", "--out", "target/calibrated.toml", "--force"]],
        ..PLAIN
    },
];
