//! The reader-writer locks that can be tortured, as `registry.rs` has the others.
use super::busted::{PerCpuCells, RwCount, flaw};
use super::orders::Orders;
use super::registry::{Detector, Fair, Origin, Row};
use super::rw::{Classed, ParkingLot, PerCpuSimple, Rw, SpinningQrw};
use super::session;
use super::tortured::Tortured;
use stanchion::native::{Native, force_fenced_release};
use stanchion::stanchion_core::{CountRwLock, PerCpuRwLock, QueuedRwLock};

/// Under the thread sanitizer, which knows nothing of `membarrier` and of fences, readers fence by their accesses.
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

const fn ours<L: Tortured>(name: &'static str, fair: Fair, about: &'static str) -> Row {
    let fair = matches!(fair, Fair::Yes);
    Row { name, origin: Origin::Stanchion, fair, signal_safe: true, shares: true, about, run: run::<L> }
}

const fn other<L: Tortured>(name: &'static str, origin: Origin, about: &'static str) -> Row {
    Row { name, origin, fair: false, signal_safe: true, shares: true, about, run: run::<L> }
}

const fn busted<L: Tortured>(name: &'static str, about: &'static str) -> Row {
    other::<L>(name, Origin::Busted(Detector::Torture), about)
}

/// The rows, in the order in which they are run.
pub(super) static ROWS: &[Row] = &[
    ours::<Rw<CountRwLock<Native>>>(
        "rw-simple",
        Fair::No,
        "count of readers and writer's flag, writers first",
    ),
    ours::<Rw<QueuedRwLock<Native>>>("qrw", Fair::Yes, "queued reader-writer lock whose waiters sleep"),
    ours::<Rw<SpinningQrw>>("qrw-spin", Fair::Yes, "queued reader-writer lock that spins, strictly in order"),
    ours::<Rw<PerCpuRwLock<Native>>>("percpu-rw", Fair::Yes, "readers write to their own cells only"),
    ours::<Rw<PerCpuSimple>>("percpu-rw-simple", Fair::No, "the same over rw-simple, as announced"),
    Row {
        run: run_fenced::<Rw<PerCpuRwLock<Native>>>,
        ..ours::<Rw<PerCpuRwLock<Native>>>(
            "percpu-rw-fenced",
            Fair::Yes,
            "percpu-rw whose readers pay for a fence",
        )
    },
    ours::<Classed>("percpu-rw-classes", Fair::Yes, "percpu-rw in two classes of a user's own"),
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
