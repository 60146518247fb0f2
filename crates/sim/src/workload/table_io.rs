//! Network traffic from one guest to another through a backend, which looks every piece of data up in tables
//! behind read locks.
//!
//! Each guest has two tables: one of grants, and the map from its frames to the machine's (the p2m). Going
//! out of a guest, a piece is mapped and unmapped; going into the other one, it is copied. Each of that looks
//! the grants up a few times, and the p2m once, within the first of these sections. A CPU takes a piece all
//! the way; each direction has so many queues, and a queue one thread, so that no more CPUs than that are in
//! the backend for it at a time.
use super::parameters::parameters;
use super::{Lives, Takes};
use crate::here::Here;
use crate::time::{MS, Time, US};
use core::cell::Cell;

parameters! {
    /// Parameters of traffic through tables.
    TableIo {
        /// Bytes that are granted together: a piece.
        bytes: u32 = "bytes" Count(64, 65_536);
        /// Queues, and so the most CPUs that are in the backend for one direction.
        queues: u32 = "queues" Count(1, 4096);
        /// How often a piece that leaves a guest is looked up among the grants.
        lookups_out: u32 = "lookups-out" Count(1, 1000);
        /// The same for one that enters a guest.
        lookups_in: u32 = "lookups-in" Count(1, 1000);
        /// Work inside of a lookup, of grants or of the p2m.
        critical: Time = "critical" Span(0, MS);
        /// Lines that a lookup reads.
        lines: u32 = "lines" Count(0, 16);
        /// One lookup in so many changes the table and needs its lock alone; 0: none.
        change_every: u32 = "change-every" Count(0, 1_000_000_000), or 0;
        /// Work of the backend for a piece, in each direction, spread evenly around its lookups.
        backend: Time = "backend" Span(0, 100 * MS);
        /// More of it for each KiB.
        backend_kib: Time = "backend-kib" Span(0, MS);
        /// Work of the guests for a piece, of both together.
        guests: Time = "guests" Span(0, 100 * MS);
        /// More of it for each KiB.
        guests_kib: Time = "guests-kib" Span(0, MS);
        /// How much longer or shorter each piece of that work may be.
        varies_percent: u32 = "varies-percent" Percent(100), or 50;
    }
}

/// Locks of the first class: grants.
const GRANTS: usize = 0;
/// Locks of the second class: the p2m.
const P2M: usize = 1;
/// Guests: one sends, one receives.
const GUESTS: usize = 2;

/// The number of the lock of a class in a guest.
fn lock(class: usize, guest: usize) -> usize {
    class * GUESTS + guest
}

/// An idle CPU looks for work again after so long.
const IDLE: Time = US;

/// Traffic under way.
pub(super) struct Running {
    with: TableIo,
    /// Queues of each direction that nobody works for.
    free: [Cell<u32>; GUESTS],
}

impl Running {
    pub(super) fn new(with: TableIo) -> Self {
        Self { free: [Cell::new(with.queues), Cell::new(with.queues)], with }
    }

    /// Holds a lock, alone if the lookup is one that changes the table, and does `inside`.
    fn look_up(&self, here: &Here, class: usize, guest: usize, inside: impl FnOnce()) {
        let (with, id) = (&self.with, lock(class, guest));
        let changes = with.change_every > 0 && here.random(u64::from(with.change_every)) == 0;
        if changes {
            here.acquire(id);
        } else {
            here.acquire_read(id);
        }
        let lines = with.lines as usize;
        here.touch(id * lines..(id + 1) * lines, changes);
        here.compute(with.critical);
        inside();
        if changes {
            here.release(id);
        } else {
            here.release_read(id);
        }
    }

    /// What the backend does for a piece of a guest.
    fn backend(&self, here: &Here, guest: usize) {
        let with = &self.with;
        let lookups = if guest == 0 { with.lookups_out } else { with.lookups_in };
        let work = with.of_size(with.backend, with.backend_kib) / Time::from(lookups + 1);
        // Whoever finds a queue free takes it: a thread of the backend does not sleep while there is
        // something for it.
        let free = &self.free[guest];
        while free.get() == 0 {
            here.delay(IDLE);
        }
        free.set(free.get() - 1);
        for lookup in 0..lookups {
            here.compute(here.about(work, u64::from(with.varies_percent)));
            self.look_up(here, GRANTS, guest, || {
                if lookup == 0 {
                    self.look_up(here, P2M, guest, || ());
                }
            });
        }
        here.compute(here.about(work, u64::from(with.varies_percent)));
        free.set(free.get() + 1);
    }
}

impl TableIo {
    /// Work for a piece.
    fn of_size(&self, piece: Time, kib: Time) -> Time {
        piece + kib * Time::from(self.bytes) / 1024
    }
}

impl Lives for Running {
    fn locks(&self, _contexts: usize) -> usize {
        2 * GUESTS
    }

    fn lines(&self, _contexts: usize) -> usize {
        2 * GUESTS * self.with.lines as usize
    }

    fn takes(&self) -> Takes {
        Takes::RwLocks
    }

    fn classes(&self) -> usize {
        2
    }

    fn class_of(&self, lock: usize) -> usize {
        lock / GUESTS
    }

    /// A unit of work is a bit that has arrived.
    fn live(&self, here: &Here) {
        let with = &self.with;
        let guests = with.of_size(with.guests, with.guests_kib) / GUESTS as Time;
        // The first pieces do not all come at once.
        here.compute(here.random(10 * US));
        loop {
            for guest in 0..GUESTS {
                here.compute(here.about(guests, u64::from(with.varies_percent)));
                self.backend(here, guest);
            }
            here.ops(u64::from(with.bytes) * 8);
        }
    }
}
