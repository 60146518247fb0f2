//! What is tested with and without the drop-ins, as data.

use super::own_tests::{FOR_0_12, FOR_0_13};

/// A published crate whose tests are run.
pub(super) struct Subject {
    /// The name for `--only`.
    pub(super) name: &'static str,
    /// The crate, and its version exactly.
    pub(super) package: (&'static str, &'static str),
    /// Words for `cargo test`.
    pub(super) words: &'static [&'static str],
    /// The drop-in that takes parking_lot's place, a directory of `crates`.
    pub(super) drop_in: &'static str,
    pub(super) kind: Kind,
    /// It takes long: only with `--night`, or by name.
    pub(super) night: bool,
}

pub(super) enum Kind {
    /// A crate that uses parking_lot, and a program that uses the crate, in `tests/dependents`.
    Dependent { program: &'static str },
    /// parking_lot itself. Its tests are compiled against the drop-in and what helps them, except those that
    /// look inside.
    Itself { helpers: &'static str, inside: &'static [&'static str] },
}

const FEATURES: &[&str] = &["--features", "arc_lock,serde"];

pub(super) const SUBJECTS: &[Subject] = &[
    Subject {
        name: "parking_lot-0.12",
        package: ("parking_lot", "0.12.5"),
        words: FEATURES,
        drop_in: "parking_lot-0.12",
        kind: Kind::Itself { helpers: FOR_0_12, inside: &[] },
        night: false,
    },
    Subject {
        name: "parking_lot-0.13",
        package: ("parking_lot", "0.13.0"),
        words: FEATURES,
        drop_in: "parking_lot-0.13",
        // They wait for a bit of a private field.
        kind: Kind::Itself {
            helpers: FOR_0_13,
            inside: &["wait_for_initialization", "wait_force_ignores_poison"],
        },
        night: false,
    },
    Subject {
        name: "prometheus",
        package: ("prometheus", "0.14.0"),
        words: &[],
        drop_in: "parking_lot-0.12",
        kind: Kind::Dependent { program: include_str!("../../../tests/dependents/prometheus.rs") },
        night: false,
    },
    Subject {
        name: "r2d2",
        package: ("r2d2", "0.8.10"),
        words: &[],
        drop_in: "parking_lot-0.12",
        kind: Kind::Dependent { program: include_str!("../../../tests/dependents/r2d2.rs") },
        night: false,
    },
    Subject {
        name: "quick_cache",
        package: ("quick_cache", "0.7.0"),
        words: &[],
        drop_in: "parking_lot-0.12",
        kind: Kind::Dependent { program: include_str!("../../../tests/dependents/quick_cache.rs") },
        night: false,
    },
    Subject {
        name: "tokio",
        package: ("tokio", "1.54.1"),
        words: &["--features", "full", "--config", "patch.crates-io.tokio.path='.'"],
        drop_in: "parking_lot-0.12",
        kind: Kind::Dependent { program: include_str!("../../../tests/dependents/tokio.rs") },
        night: true,
    },
];
