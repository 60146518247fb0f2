//! The long jobs, which `cargo xtask ci --nightly` runs after the others, as data.
use super::job::Step::Run;
use super::job::{Job, LONG, NIGHTLY, lab};

/// What is worth hours now and then, in this order.
pub(super) const JOBS: &[Job] = &[
    Job {
        name: "explore-nightly",
        shows: "no lock fails in five million schedules",
        steps: &[lab!["explore", "--schedules", "5000000", "--seed", "1000000000"]],
        ..LONG
    },
    Job {
        name: "model-nightly",
        shows: "the model's programs, to the end, and three contexts with three preemptions",
        steps: &[Run(&[
            "cargo",
            "run",
            "--release",
            "-p",
            "stanchion-model",
            "--",
            "--deep",
            "--seconds",
            "900",
        ])],
        ..LONG
    },
    Job {
        name: "programs-nightly",
        shows: "the checks of real programs notice broken locks, and locks that only spin run them right",
        steps: &[
            Run(&["cargo", "xtask", "programs", "--self-test"]),
            Run(&["cargo", "xtask", "programs", "--check", "--locks", "unfair-q,qspin"]),
        ],
        ..LONG
    },
    Job {
        name: "dependents",
        shows: "the tests of all published crates on the list, tokio among them, pass with the drop-ins as they do without",
        steps: &[Run(&["cargo", "xtask", "dependents", "--night"])],
        ..LONG
    },
    Job {
        name: "conform-valgrind",
        shows: "valgrind finds nothing wrong with the interposer in the POSIX tests",
        needs: Some(&["valgrind", "--version"]),
        steps: &[Run(&[
            "cargo",
            "xtask",
            "conform",
            "--preload",
            "ours",
            "--wrapper",
            "valgrind -q --error-exitcode=99 --fair-sched=yes",
            "--only",
            "mutex,rwlock.,cond.,cond_timed,spin,cancel,c11,cpp,sloppy",
            "--timeout",
            "120",
        ])],
        ..LONG
    },
    Job {
        name: "conform-asan",
        shows: "the address sanitizer finds nothing wrong with the interposer in the POSIX tests, and finds a library that writes behind a mutex",
        needs: NIGHTLY,
        steps: &[
            Run(&[
                "cargo",
                "+nightly",
                "build",
                "--release",
                "-p",
                "stanchion-preload",
                "--target",
                "x86_64-unknown-linux-gnu",
                "--config",
                // The runtime is the tests', which are clang's.
                "build.rustflags=['-Zsanitizer=address','-Zexternal-clangrt','-Cunsafe-allow-abi-mismatch=sanitizer']",
            ]),
            Run(&[
                "cargo",
                "xtask",
                "conform",
                "--preload",
                "libc",
                "--preload",
                "target/asan/x86_64-unknown-linux-gnu/release/libstanchion_preload.so",
                "--timeout",
                "120",
            ]),
            Run(&[
                "clang",
                "-shared",
                "-fPIC",
                "-g",
                "-o",
                "target/asan/overruns.so",
                "conformance/broken/overruns.c",
                "-ldl",
            ]),
            Run(&[
                "sh",
                "-c",
                "cargo xtask conform --preload target/asan/overruns.so --only mutex.excludes/normal; test $? = 1",
            ]),
        ],
        env: &[
            ("CARGO_TARGET_DIR", "target/asan"),
            ("CC", "clang"),
            ("CXX", "clang++"),
            ("CCC_OVERRIDE_OPTIONS", "# +-fsanitize=address"),
        ],
        ..LONG
    },
    Job {
        name: "conform-nightly",
        shows: "the POSIX tests pass with every lock of the interposer that does not only spin",
        steps: &[Run(&[
            "cargo",
            "xtask",
            "conform",
            "--preload",
            "ours:unfair-q",
            "--preload",
            "ours:pv-qspin",
            "--preload",
            "ours:ppc-simple",
            "--preload",
            "ours:owner-qspin",
        ])],
        ..LONG
    },
    Job {
        name: "guest-nightly",
        shows: "64 vCPUs on 2 CPUs pass torture",
        needs: Some(&["qemu-system-x86_64", "--version"]),
        steps: &[
            Run(&["cargo", "xtask", "guest"]),
            lab![
                "guest",
                "--workload",
                "torture",
                "--vcpus",
                "64",
                "--numa",
                "4",
                "--seconds",
                "10",
                "--limit",
                "600",
                "--seed",
                "1"
            ],
        ],
        ..LONG
    },
];
