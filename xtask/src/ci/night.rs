//! The long jobs, which `cargo xtask ci --nightly` runs with the others, as data.
use super::job::Step::Run;
use super::job::{Job, LONG, NIGHTLY, SANITIZER, bench_smoke, lab, lab_under_sanitizer};

/// What is worth hours now and then.
pub(super) const JOBS: &[Job] = &[
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
                "--tries",
                "6",
                "--seconds",
                "1",
                "--seed",
                "1"
            ],
        ],
        env: SANITIZER,
        ..LONG
    },
    Job {
        name: "bench-smoke",
        shows: "the benchmark runs and writes its reports",
        steps: &[bench_smoke!["--lock", "all", "--out", "target/bench-smoke"]],
        ..LONG
    },
    Job {
        name: "bench-rw-smoke",
        shows: "the benchmark of reader-writer locks runs and writes its reports",
        steps: &[
            bench_smoke!["rw", "--lock", "all", "--reads", "90", "--out", "target/bench-rw-smoke"],
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
        ..LONG
    },
    Job {
        name: "torture-night",
        shows: "the locks exclude under torture of ten seconds each",
        steps: &[
            lab!["torture", "--seconds", "10", "--seed", "11"],
            lab!["torture", "--writers", "2", "--seconds", "10", "--seed", "12"],
        ],
        ..LONG
    },
    Job {
        name: "mutants-night",
        shows: "every fault on the shelf is noticed by each detector that it names",
        steps: &[Run(&["cargo", "xtask", "mutants", "--all"])],
        ..LONG
    },
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
        shows: "the checks of real programs notice broken locks, and libc's locks and ours that only spin run them right",
        steps: &[
            Run(&["cargo", "xtask", "programs", "--self-test"]),
            Run(&["cargo", "xtask", "programs", "--check", "--locks", "libc,unfair-q,qspin"]),
        ],
        ..LONG
    },
    Job {
        name: "aarch64",
        shows: "all that is shipped builds for aarch64 Linux, and passes its tests and the POSIX tests in an emulator",
        needs: Some(&["cargo", "xtask", "aarch64", "--missing"]),
        steps: &[Run(&["cargo", "xtask", "aarch64"])],
        ..LONG
    },
    Job {
        name: "musl",
        shows: "the library passes its tests with musl, which has no restartable sequences",
        needs: Some(&["sh", "-c", "rustup target list --installed | grep -qx x86_64-unknown-linux-musl"]),
        steps: &[Run(&[
            "cargo",
            "test",
            "-p",
            "stanchion",
            "--no-fail-fast",
            "--target",
            "x86_64-unknown-linux-musl",
            "--lib",
            "--test",
            "lock_api",
            "--test",
            "rw_lock_api",
            "--test",
            "rw_timed",
            "--test",
            "condvar",
            "--test",
            "conformance",
            "--test",
            "fork",
            "--test",
            "numbers",
            "--test",
            "once",
        ])],
        ..LONG
    },
    Job {
        name: "deb",
        shows: "lintian finds nothing in the Debian packages, they install on a bare root, serve programs as they are, pkg-config and CMake, and go without a trace",
        needs: Some(&["sh", "-c", "mmdebstrap --version && lintian --version"]),
        steps: &[Run(&["cargo", "xtask", "deb", "--check"])],
        ..LONG
    },
    Job {
        name: "release",
        shows: "the crates of the registry can be packed and built",
        steps: &[Run(&["cargo", "xtask", "release", "--dry-run"])],
        ..LONG
    },
    Job {
        name: "public-api",
        shows: "what the crates of users offer is what docs/api lists, so that no change of it goes unseen",
        needs: Some(&["cargo", "public-api", "--version"]),
        steps: &[Run(&["docs/api/list", "--check"])],
        ..LONG
    },
    Job {
        name: "python-ray",
        shows: "the tests of the wheel pass, and sweeps lose no cell to a worker of Ray that is killed",
        needs: Some(&["python3", "-c", "import ensurepip, venv"]),
        steps: &[Run(&["cargo", "xtask", "wheel", "--check", "--ray"])],
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
                "--features",
                "family",
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
        shows: "the locks pass torture of ten seconds each in the guest, and 64 vCPUs on 2 CPUs do",
        needs: Some(&["qemu-system-x86_64", "--version"]),
        steps: &[
            Run(&["cargo", "xtask", "guest"]),
            lab!["guest", "--workload", "torture", "--seconds", "10", "--seed", "1"],
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
