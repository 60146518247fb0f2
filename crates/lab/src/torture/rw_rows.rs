//! The reader-writer locks that can be tortured, as `registry.rs` has the others.
use super::busted::{PerCpuCells, RwCount, flaw};
use super::orders::Orders;
use super::registry::{Detector, Origin, Row, ours};
use super::rw::{Classed, OfRow, ParkingLot, Rw, UpgradeOf, upgrades};
use super::session;
use super::tortured::Tortured;
use stanchion::native::{Native, force_fenced_release};
use stanchion_family::catalogue::{self, Facts};

/// Under the thread sanitizer, which knows nothing of `membarrier` and of fences, readers fence by their
/// accesses.
fn run<L: Tortured>(orders: Orders) {
    if std::env::var_os("STANCHION_SANITIZER").is_some() {
        force_fenced_release();
    }
    session::run::<L>(orders);
}

fn run_fenced<L: Tortured>(orders: Orders) {
    force_fenced_release();
    session::run::<L>(orders);
}

const fn other<L: Tortured>(name: &'static str, origin: Origin, about: &'static str) -> Row {
    Row { name, origin, fair: false, signal_safe: true, shares: true, about, run: run::<L> }
}

const fn busted<L: Tortured>(name: &'static str, about: &'static str) -> Row {
    other::<L>(name, Origin::Busted(Detector::Torture), about)
}

macro_rules! family {
    ([] $($row:ident $alias:ident [$lock:ty] $name:literal $readers:ident $ways:ident $again:ident;)*) => {
        $(
            struct $alias;

            impl OfRow for $alias {
                type Lock = $lock;
                const FACTS: &'static Facts = catalogue::rwlock($name);
                const UPGRADES: Option<UpgradeOf<$lock>> = upgrades!($ways);
            }
        )*

        /// The catalogue's.
        pub(super) static OURS: &[Row] = &[$(ours($alias::FACTS, run::<Rw<$alias>>)),*];
    };
}

stanchion_family::for_each_rwlock! { Native; family; }

/// Forms of `percpu-rw`, other locks, and broken ones.
pub(super) static OTHERS: &[Row] = &[
    Row {
        name: "percpu-rw-fenced",
        about: "As percpu-rw without membarrier: each read pays for a full fence.",
        ..ours(PerCpuRwLock::FACTS, run_fenced::<Rw<PerCpuRwLock>>)
    },
    Row {
        name: "percpu-rw-classes",
        about: "As percpu-rw, in two classes of a user's own.",
        ..ours(PerCpuRwLock::FACTS, run::<Classed>)
    },
    other::<RwCount<{ flaw::NONE }>>(
        "reference-rw",
        Origin::Reference,
        "a count and a flag, sound; the twin of the busted-rw ones",
    ),
    Row {
        signal_safe: false,
        ..other::<PerCpuCells<true>>(
            "reference-percpu-rw",
            Origin::Reference,
            "cells and a membarrier, sound; the twin of busted-percpu-rw",
        )
    },
    Row {
        signal_safe: false,
        ..other::<ParkingLot>(
            "parking-lot-rw",
            Origin::Reference,
            "parking_lot's reader-writer lock, without signals",
        )
    },
    busted::<RwCount<{ flaw::CHECK_THEN_ACT }>>(
        "busted-rw-check-then-act",
        "a reader looks for writers and then counts itself, in two steps",
    ),
    busted::<RwCount<{ flaw::NO_WAIT }>>("busted-rw-no-wait", "a writer does not wait for the readers"),
    busted::<RwCount<{ flaw::TRY_LIES }>>("busted-rw-try", "a try to read succeeds beside a writer"),
    busted::<RwCount<{ flaw::LOST_WAKEUP }>>(
        "busted-rw-lost-wakeup",
        "the last reader does not wake the writer",
    ),
    busted::<RwCount<{ flaw::WRONG_COUNT }>>(
        "busted-rw-count",
        "a reader that leaves sometimes counts for two",
    ),
    busted::<RwCount<{ flaw::SERIAL }>>("busted-rw-serial", "readers exclude each other"),
    Row {
        signal_safe: false,
        ..other::<PerCpuCells<false>>(
            "busted-percpu-rw",
            Origin::Busted(Detector::LongTorture),
            "the writer has no barrier between its flag and the cells",
        )
    },
];
