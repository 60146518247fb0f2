//! What the engine knows of a context: a vCPU or thread of the simulated machine.
use super::cause::{Cause, Spent};
use crate::random::Random;
use crate::time::Time;
use std::collections::VecDeque;

/// What a suspended context is told when it goes on.
pub(super) mod told {
    use crate::coroutine::Message;

    /// What it waited for is done.
    pub(in crate::engine) const DONE: Message = 0;
    /// It was put aside in the midst of an access: do it again.
    pub(in crate::engine) const AGAIN: Message = 1;
    /// The spin budget is used up.
    pub(in crate::engine) const TIMEOUT: Message = 2;
}

/// What a context is in the midst of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Doing {
    /// Its code runs at this moment, or will when it is dispatched.
    Running,
    /// A computation, or work in the kernel, that ends at this time if nothing interferes. Not running: so
    /// much is left.
    Computing(Time),
    /// An access that completes at a time of its own; if it is put aside, the instruction starts again.
    Accessing,
    /// Waits for a line to change.
    Spinning,
    /// Sleeps until it is kicked.
    Halted,
    /// Sleeps until its timer runs out, or until another context wakes it.
    Sleeping,
    /// Sleeps still, but its wake-up is on its way.
    Waking,
    /// Has ended.
    Ended,
}

impl Doing {
    /// Whether the context would run if it had a CPU.
    pub(super) fn is_runnable(self) -> bool {
        !matches!(self, Self::Halted | Self::Sleeping | Self::Waking | Self::Ended)
    }
}

/// How a context weighs on the other threads of its core.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Presence {
    /// Not at all: it waits for memory, or is not there.
    Quiet,
    /// It computes.
    Computes,
    /// It spins.
    Spins,
}

/// A store on its way: issued, not yet visible to others.
#[derive(Clone, Copy)]
pub(super) struct Posted {
    pub(super) address: usize,
    pub(super) line: u32,
    pub(super) bytes: u8,
    pub(super) value: u64,
}

/// The question that a spinning context asks of its cell. Points into the stack of the suspended context.
pub(super) type Check = *mut (dyn FnMut() -> bool + 'static);

#[expect(
    clippy::struct_excessive_bools,
    reason = "they are independent of each other; a state machine of 32 states would hide it"
)]
pub(super) struct Context {
    pub(super) doing: Doing,
    /// The CPU it runs on; `None` while it waits for one or sleeps.
    pub(super) cpu: Option<usize>,
    /// The CPU it runs on or ran on last, or from where it was kicked since: what other threads know.
    pub(super) ran_on: Option<usize>,
    /// The core of that CPU.
    pub(super) core: usize,
    /// Whether it has begun to run since it was chosen; until then `doing` says what it will go on with.
    pub(super) live: bool,
    pub(super) presence: Presence,
    /// What the work under way counts as, to go on with it after it was put aside.
    pub(super) work: (Cause, Presence),
    /// Events made before the last change of plan are void.
    pub(super) generation: u32,
    /// What to tell it when it is dispatched.
    pub(super) tell: u32,
    /// Time taken from it while it was doing something that ends at a fixed time.
    pub(super) delay: Time,
    /// It executes nothing before this.
    pub(super) not_before: Time,
    /// When the access under way is over.
    pub(super) access_until: Time,
    pub(super) stores: VecDeque<Posted>,
    /// When the youngest of its stores becomes visible.
    pub(super) stored_until: Time,
    /// While spinning: what it waits for, at which line, until when. Put aside: how long it would spin on.
    pub(super) check: Option<Check>,
    pub(super) line: u32,
    pub(super) deadline: Time,
    /// Whether a read of the line it waits at is under way.
    pub(super) rereads: bool,
    /// The last load that missed: line, completion, latency.
    pub(super) missed: (u32, Time, Time),
    /// Since when it has run on, without a call, a fence, a pause or a waiting loop: so far back the core can
    /// have looked ahead.
    pub(super) runs_on_since: Time,
    /// A line that was asked for ahead of time, and when it arrives.
    pub(super) fetching: (u32, Time),
    pub(super) kicked: bool,
    /// When it was last kicked.
    pub(super) kicked_at: Time,
    /// Somebody wanted to wake it from a sleep without end before it slept.
    pub(super) woken: bool,
    /// When it began to pause without a pause, and when it last did: for pause-loop exits.
    pub(super) pausing_since: Time,
    pub(super) paused_until: Time,
    /// When it began to run on its CPU.
    pub(super) dispatched: Time,
    /// Whether it left its CPU because it was seen spinning, and whether it may be chosen nevertheless the
    /// next time.
    pub(super) gave_way: bool,
    pub(super) eligible: bool,
    /// How long the hypervisor lets it spin before it looks; grows with each exit.
    pub(super) window: Time,
    pub(super) spent: Spent,
    pub(super) random: Random,
}

impl Context {
    pub(super) fn new(index: usize, seed: u64) -> Self {
        Self {
            doing: Doing::Running,
            cpu: None,
            ran_on: None,
            core: 0,
            live: false,
            presence: Presence::Quiet,
            work: (Cause::Computing, Presence::Quiet),
            generation: 0,
            tell: told::DONE,
            delay: 0,
            not_before: 0,
            access_until: 0,
            stores: VecDeque::new(),
            stored_until: 0,
            check: None,
            line: 0,
            deadline: Time::MAX,
            rereads: false,
            missed: (u32::MAX, 0, 0),
            fetching: (u32::MAX, 0),
            runs_on_since: 0,
            kicked: false,
            kicked_at: Time::MAX,
            woken: false,
            pausing_since: 0,
            paused_until: 0,
            dispatched: 0,
            gave_way: false,
            eligible: false,
            window: 0,
            spent: Spent::default(),
            random: Random::new(seed, 1 + index as u64),
        }
    }

    /// What it would load from a store of its own that nobody else sees yet.
    #[inline]
    pub(super) fn forwarded(&self, address: usize) -> Option<u64> {
        self.stores.iter().rev().find(|store| store.address == address).map(|store| store.value)
    }
}
