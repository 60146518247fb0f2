//! Memory accesses of contexts: loads, posted stores, read-modify-writes, fences.
use super::context::{Doing, Posted, told};
use super::queue::Kind;
use super::{Cause, Engine, with};
use crate::coherence::{Asked, Served};
use crate::coroutine::suspend;
use crate::time::{Time, percent};
use core::sync::atomic::{AtomicU8, AtomicU16, AtomicU32, AtomicUsize, Ordering};

/// A load is over, or must be waited for.
enum Started {
    Done,
    Forwarded(u64),
    Waits,
}

impl Engine {
    /// The running context needs a line now. Its core has asked for it before.
    #[inline]
    fn asked(&self) -> Asked {
        let since = self.contexts[self.current].runs_on_since;
        let look_ahead = self.machine.memory.look_ahead.unwrap_or(0);
        Asked { now: self.now, ahead: look_ahead.min(self.now.saturating_sub(since)) }
    }

    /// `core` reads the line. A waiter that loses it by that polls again.
    #[inline]
    pub(super) fn reads(&mut self, line: usize, core: usize, asked: impl Into<Asked>) -> Served {
        let served = self.directory.read(line, core, asked);
        if let Some((loser, lost_at)) = served.taken_from {
            self.poll_again(line, loser, lost_at);
        }
        served
    }

    /// The running context waits for memory until `at`. `false`: it must suspend.
    #[inline]
    fn reach_access(&mut self, at: Time, missed: bool) -> bool {
        let before = self.now;
        self.effort.memory_events += 1;
        if self.reach(at) {
            if missed && at > before {
                self.aside(self.current, Cause::Transfer, before, at);
            }
            return true;
        }
        let who = self.current;
        self.contexts[who].doing = Doing::Accessing;
        self.contexts[who].access_until = at;
        if missed {
            self.switch_cause(who, Cause::Transfer);
        }
        false
    }

    #[inline]
    fn start_load(&mut self, address: usize) -> Started {
        let Some(line) = self.line(address) else { return Started::Done };
        let now = self.now;
        let context = &self.contexts[self.current];
        if !context.stores.is_empty()
            && let Some(value) = context.forwarded(address)
        {
            return Started::Forwarded(value);
        }
        let core = context.core;
        let asked = self.asked();
        let mut served = self.reads(line, core, asked);
        let (fetching, at) = self.contexts[self.current].fetching;
        if fetching as usize == line && at > served.at {
            (served.at, served.missed) = (at, true);
        }
        if served.missed {
            self.contexts[self.current].missed = (line as u32, served.at, served.at - now);
        }
        self.note(line as u64);
        if self.reach_access(served.at, served.missed) { Started::Done } else { Started::Waits }
    }

    /// How much of an ownership request's latency a load just before it has hidden; nothing if the core has
    /// asked even earlier by itself.
    fn hidden(&self, line: usize) -> Time {
        let (missed, at, latency) = self.contexts[self.current].missed;
        if missed as usize == line && self.now <= at + self.machine.memory.burst {
            let overlap = percent(latency, self.machine.memory.overlap_percent);
            if self.asked().ahead < overlap { overlap } else { 0 }
        } else {
            0
        }
    }

    /// `Ok`: it can go on; `Err`: it must suspend.
    fn start_rmw(&mut self, line: usize) -> bool {
        let now = self.now;
        let hidden = self.hidden(line);
        let context = &self.contexts[self.current];
        let drained = if context.stores.is_empty() { 0 } else { context.stored_until + 1 };
        let served = self.directory.own(line, context.core, self.asked(), hidden);
        self.note(line as u64 | 1 << 32);
        let missed = served.missed || drained > now;
        self.reach_access(served.at.max(drained) + self.machine.memory.rmw, missed)
    }

    /// Posts a store; it becomes visible when the line arrives, in the order of the context's stores. `None`:
    /// the buffer is full until then.
    fn start_store(&mut self, address: usize, bytes: u8, value: u64) -> Result<Posting, Time> {
        let Some(line) = self.line(address) else { return Ok(Posting::Visible(None)) };
        if self.is_foreign(line) {
            return Ok(Posting::Foreign); // it may be gone before a posted store arrives (IE4)
        }
        let now = self.now;
        let hidden = self.hidden(line);
        let cost = self.machine.memory.store;
        let context = &self.contexts[self.current];
        if context.stores.len() >= usize::from(self.machine.memory.store_buffer) {
            return Err(context.stored_until + 1);
        }
        let served = self.directory.own(line, context.core, self.asked(), hidden);
        self.effort.memory_events += 1;
        self.note(line as u64 | 2 << 32);
        let context = &mut self.contexts[self.current];
        if served.at <= now && context.stores.is_empty() {
            return Ok(Posting::Visible(Some((line, cost))));
        }
        context.stored_until = served.at.max(context.stored_until + 1).max(now + 1);
        context.stores.push_back(Posted { address, line: line as u32, bytes, value });
        let at = context.stored_until;
        self.queue.push(at, Kind::Store, self.current as u32, 0, 0);
        Ok(Posting::Underway(cost))
    }

    /// The oldest posted store of `who` becomes visible.
    pub(super) fn store_visible(&mut self, who: usize) {
        let Some(store) = self.contexts[who].stores.pop_front() else { return };
        // SAFETY: IE4: the address is that of a cell of this size in the arena, which lives as long as the
        // run; cells are atomics, so a shared reference may write them.
        unsafe {
            match store.bytes {
                1 => (*(store.address as *const AtomicU8)).store(store.value as u8, Ordering::Relaxed),
                2 => (*(store.address as *const AtomicU16)).store(store.value as u16, Ordering::Relaxed),
                4 => (*(store.address as *const AtomicU32)).store(store.value as u32, Ordering::Relaxed),
                _ => (*(store.address as *const AtomicUsize)).store(store.value as usize, Ordering::Relaxed),
            }
        }
        self.wrote(store.line as usize);
    }

    /// A write to the line is visible from now on.
    #[inline]
    pub(super) fn wrote(&mut self, line: usize) {
        self.directory.written(line);
        self.note(line as u64 | 3 << 32);
        self.notify(line);
    }
}

enum Posting {
    /// The line is ours: the caller writes the cell now. With the line, unless it is private memory, and the
    /// cost.
    Visible(Option<(usize, Time)>),
    Underway(Time),
    /// Must not be posted: done like a read-modify-write.
    Foreign,
}

/// The timed part of a load: returns when the cell may be read; a value if the context's own posted store has
/// it.
#[inline]
pub(crate) fn load(address: usize) -> Option<u64> {
    loop {
        match with(|engine, _| engine.start_load(address)) {
            None | Some(Started::Done) => return None,
            Some(Started::Forwarded(value)) => return Some(value),
            Some(Started::Waits) => {
                if suspend() == told::DONE {
                    return None;
                }
            }
        }
    }
}

/// A store of `value`, `bytes` wide. `write` writes the cell if that can be done at once. `dyn`: it is
/// compiled once, not for each lock.
pub(crate) fn post(address: usize, bytes: u8, value: u64, write: &mut dyn FnMut()) {
    loop {
        match with(|engine, _| engine.start_store(address, bytes, value)) {
            None | Some(Ok(Posting::Visible(None))) => {
                write();
                return;
            }
            Some(Ok(Posting::Visible(Some((line, cost))))) => {
                write();
                with(|engine, _| engine.wrote(line));
                super::work::instruction(cost);
                return;
            }
            Some(Ok(Posting::Underway(cost))) => {
                super::work::instruction(cost);
                return;
            }
            Some(Ok(Posting::Foreign)) => {
                rmw(address, &mut || true, &mut || {
                    write();
                    true
                });
                return;
            }
            Some(Err(until)) => reach_plain(until),
        }
    }
}

/// Waits for memory until `until`.
fn reach_plain(until: Time) {
    let goes_on = with(|engine, _| engine.reach_access(until.max(engine.now), true));
    if goes_on == Some(false) {
        suspend();
    }
}

/// The timed part of a read-modify-write. `effect` performs it on the cell and tells whether it wrote;
/// `expects` is asked first where the machine reserves (load-linked): `false` fails the exchange without
/// owning the line. `dyn` as in [`post`].
pub(crate) fn rmw(address: usize, expects: &mut dyn FnMut() -> bool, effect: &mut dyn FnMut() -> bool) {
    let line = with(|engine, _| engine.line(address).map(|line| (line, engine.directory.reserves())));
    let Some((line, reserves)) = line.flatten() else {
        effect();
        return;
    };
    loop {
        let version = if reserves {
            if load(address).is_some() {
                fence(); // a reservation needs the line itself, not our own store on its way there
                continue;
            }
            if !expects() {
                return;
            }
            with(|engine, _| engine.directory.version(line))
        } else {
            None
        };
        let started = with(|engine, who| {
            let now = engine.now;
            if reserves
                && let Some(until) =
                    engine.directory.in_flight_elsewhere(line, engine.contexts[who].core, now)
            {
                // Somebody else's store is ahead of ours: the reservation is as good as lost.
                return (engine.reach_access(until, true), true);
            }
            (engine.start_rmw(line), false)
        });
        let (goes_on, lost) = started.expect("inside, or there would be no line");
        if (!goes_on && suspend() != told::DONE) || lost {
            continue;
        }
        if version.is_some() && version != with(|engine, _| engine.directory.version(line)) {
            continue;
        }
        break;
    }
    if effect() {
        with(|engine, _| engine.wrote(line));
    }
}

/// Asks for ownership of the cell's line without waiting for it.
pub(crate) fn prefetch(address: usize) {
    with(|engine, who| {
        if let Some(line) = engine.line(address) {
            let (asked, core) = (engine.asked(), engine.contexts[who].core);
            let hidden = engine.hidden(line);
            engine.directory.own(line, core, asked, hidden);
        }
    });
}

/// Asks for a copy of the cell's line without waiting for it.
pub(crate) fn prefetch_read(address: usize) {
    with(|engine, who| {
        if let Some(line) = engine.line(address) {
            let (asked, core) = (engine.asked(), engine.contexts[who].core);
            let served = engine.reads(line, core, asked);
            if served.missed {
                engine.contexts[who].fetching = (line as u32, served.at);
            }
        }
    });
}

/// Reads or writes several lines of data that do not depend on each other: their misses overlap, as on an
/// out-of-order core.
pub(crate) fn touch(addresses: &[usize], writes: bool) {
    loop {
        let started = with(|engine, who| {
            let (now, core, asked) = (engine.now, engine.contexts[who].core, engine.asked());
            let (mut at, mut missed) = (now, false);
            for &address in addresses {
                let Some(line) = engine.line(address) else { continue };
                let served = if writes {
                    engine.directory.own(line, core, asked, 0)
                } else {
                    engine.reads(line, core, asked)
                };
                at = at.max(served.at);
                missed |= served.missed;
                engine.effort.memory_events += 1;
                engine.note(line as u64 | 4 << 32);
            }
            // Lines that are there already take their time, too: a section is never over in no time.
            let own = engine.machine.memory.hit + if writes { engine.machine.memory.store } else { 0 };
            engine.reach_access(at + own, missed)
        });
        if started != Some(false) || suspend() == told::DONE {
            return;
        }
    }
}

/// A full fence: waits for the context's own stores.
pub(crate) fn fence() {
    let wait = with(|engine, who| {
        let drained =
            if engine.contexts[who].stores.is_empty() { 0 } else { engine.contexts[who].stored_until + 1 };
        let at = engine.now.max(drained) + engine.machine.memory.fence;
        engine.contexts[who].runs_on_since = at;
        engine.reach_access(at, drained > engine.now)
    });
    if wait == Some(false) {
        while suspend() != told::DONE {
            // Put aside in the midst of it; the stores have drained by themselves meanwhile.
            if with(|engine, _| engine.reach(engine.now)) == Some(true) {
                break;
            }
        }
    }
}

/// The heavy side of an asymmetric fence: every store that any context has issued so far is visible
/// afterwards.
pub(crate) fn heavy_barrier() {
    let wait = with(|engine, _| match engine.machine.host.heavy_barrier {
        Some(cost) => {
            let drained = engine.contexts.iter().filter(|context| !context.stores.is_empty());
            let drained = drained.map(|context| context.stored_until + 1).max().unwrap_or(0);
            Some((cost, drained.saturating_sub(engine.now + cost)))
        }
        None => None,
    });
    match wait.flatten() {
        Some((cost, further)) => super::work::overhead(cost + further),
        None => fence(),
    }
}
