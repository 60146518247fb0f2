//! The jobs of `cargo xtask ci`, as data.
use super::job::Step::{Msrv, Run, SaysNoStd};
use super::job::{Job, NIGHTLY, PLAIN, SANITIZER, bench_smoke, lab, lab_under_sanitizer};

/// What every change runs, in this order.
pub(super) const JOBS: &[Job] = &[
    Job {
        name: "fmt",
        shows: "the code is formatted",
        steps: &[Run(&["cargo", "fmt", "--all", "--check"])],
        ..PLAIN
    },
    Job {
        name: "clippy",
        shows: "no lint of the workspace fires",
        steps: &[Run(&["cargo", "clippy", "--workspace", "--all-targets", "--", "-D", "warnings"])],
        ..PLAIN
    },
    Job {
        name: "test",
        shows: "every test passes",
        steps: &[
            Run(&["cargo", "test", "--workspace"]),
            Run(&[
                "cargo",
                "test",
                "-p",
                "stanchion",
                "--features",
                "send_guard,arc_lock",
                "--test",
                "sent_guards",
            ]),
        ],
        ..PLAIN
    },
    Job {
        name: "drop-in",
        shows: "parking_lot's own tests, and those of a crate that uses it, pass with the drop-ins as they do without",
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
            Run(&["cargo", "xtask", "dependents", "--only", "parking_lot-0.12,parking_lot-0.13,r2d2"]),
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
        shows: "core, the suite, and stanchion without its std feature, build and say no_std",
        steps: &[
            Run(&["cargo", "build", "-p", "stanchion-core"]),
            Run(&["cargo", "build", "-p", "stanchion-suite"]),
            Run(&["cargo", "build", "-p", "stanchion", "--no-default-features"]),
            SaysNoStd("crates/core/src/lib.rs"),
            SaysNoStd("crates/suite/src/lib.rs"),
            SaysNoStd("crates/stanchion/src/lib.rs"),
        ],
        ..PLAIN
    },
    Job {
        name: "header",
        shows: "stanchion.h is what the C interface says",
        steps: &[Run(&["cargo", "xtask", "header", "--check"])],
        ..PLAIN
    },
    Job {
        name: "capi",
        shows: "programs in C and C++ build without warnings and run with the installed library, and notice its faults",
        steps: &[Run(&["cargo", "xtask", "capi"])],
        ..PLAIN
    },
    Job {
        name: "tidy",
        shows: "the rules of the tree hold",
        steps: &[Run(&["cargo", "xtask", "tidy"])],
        ..PLAIN
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
            "send_guard,arc_lock",
            "--test",
            "*",
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
        name: "tsan-torture",
        shows: "the thread sanitizer catches a lock without orderings, and no sound one",
        needs: NIGHTLY,
        steps: &[
            lab_under_sanitizer!["torture", "--seconds", "2", "--seed", "1"],
            lab_under_sanitizer![
                "torture",
                "--lock",
                "reference-tas,reference-rw",
                "--seconds",
                "2",
                "--seed",
                "1"
            ],
            lab_under_sanitizer![
                "torture",
                "--lock",
                "busted-relaxed",
                "--expect-failure",
                "--seconds",
                "2",
                "--seed",
                "1"
            ],
        ],
        env: SANITIZER,
        ..PLAIN
    },
    Job {
        name: "torture",
        shows: "the locks exclude under torture, with more threads than CPUs and without",
        steps: &[
            lab!["torture", "--seconds", "2", "--seed", "1"],
            lab!["torture", "--writers", "2", "--seconds", "2", "--seed", "2"],
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
            lab!["torture", "--lock", "busted", "--expect-failure", "--seconds", "3", "--seed", "1"],
            lab![
                "torture",
                "--lock",
                "busted-percpu-rw",
                "--expect-failure",
                "--seconds",
                "10",
                "--seed",
                "1",
                "--without",
                "nice"
            ],
        ],
        ..PLAIN
    },
    Job {
        name: "bench-smoke",
        shows: "the benchmark runs and writes its reports",
        steps: &[bench_smoke!["--out", "target/bench-smoke"]],
        ..PLAIN
    },
    Job {
        name: "bench-rw-smoke",
        shows: "the benchmark of reader-writer locks runs and writes its reports",
        steps: &[
            bench_smoke!["rw", "--reads", "90", "--out", "target/bench-rw-smoke"],
            bench_smoke![
                "rw",
                "--lock",
                "all,variants",
                "--readers",
                "3",
                "--writers",
                "1",
                "--json",
                "target/bench-rw-smoke/dedicated.json"
            ],
        ],
        ..PLAIN
    },
    Job {
        name: "explore",
        shows: "no lock fails in 300 000 schedules, and every broken one is caught",
        steps: &[
            lab!["explore", "--schedules", "300000", "--seed", "1"],
            lab!["explore", "--lock", "busted", "--expect-failure", "--seed", "1"],
        ],
        ..PLAIN
    },
    Job {
        name: "model",
        shows: "no execution of the model's small programs breaks a lock",
        steps: &[Run(&["cargo", "run", "--release", "-p", "stanchion-model", "--", "--seconds", "6"])],
        ..PLAIN
    },
    Job {
        name: "mutants",
        shows: "every fault on the shelf is noticed by each detector that it names",
        steps: &[Run(&["cargo", "xtask", "mutants"])],
        ..PLAIN
    },
    Job {
        name: "conform",
        shows: "libc and the interposer pass the POSIX tests, and each broken library is caught by those named for it",
        steps: &[
            Run(&["cargo", "xtask", "conform", "--self-test"]),
            Run(&["cargo", "xtask", "conform", "--preload", "libc", "--preload", "ours"]),
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
        shows: "real programs run right under libc's own locks and under the interposer's default",
        steps: &[Run(&["cargo", "xtask", "programs", "--check", "--locks", "libc,stanchion"])],
        ..PLAIN
    },
    Job {
        name: "guest",
        shows: "the guest boots and ends in all ways, its locks pass the conformance set and 10 s of torture with 4 vCPUs on 2 CPUs, and broken ones are caught",
        needs: Some(&["qemu-system-x86_64", "--version"]),
        steps: &[
            Run(&["cargo", "xtask", "guest", "--lint", "--check"]),
            lab!["guest", "--workload", "conform", "--set", "stall=60", "--seed", "1"],
            lab![
                "guest",
                "--workload",
                "conform",
                "--lock",
                "busted-open",
                "--expect-failure",
                "--seed",
                "1"
            ],
            lab!["guest", "--workload", "torture", "--seconds", "10", "--seed", "1"],
            lab!["guest", "--workload", "torture", "--lock", "variants", "--seconds", "2", "--seed", "2"],
            lab![
                "guest",
                "--workload",
                "torture",
                "--lock",
                "busted-none,busted-check-then-set,busted-lost-kick,busted-rw-count",
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
        shows: "a release build simulates what a debug build does, to the last bit",
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
        shows: "published tables are reproduced, and the fits still hold",
        steps: &[
            lab!["reproduce", "--quick", "--out", "target/reproduce", "--force"],
            lab!["fit", "--table", "locktorture,open1", "--check"],
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
