//! What the machine of a program is like, and where it leaves something to chance.
use crate::cells::CellU8;
use core::cell::Cell;
use core::sync::atomic::Ordering::Relaxed;
use stanchion_core::Atomic;

/// What a program finds its machine to be.
#[derive(Clone, Copy, Debug)]
#[expect(clippy::struct_excessive_bools, reason = "each is a question of its own")]
pub struct Settings {
    /// NUMA nodes; contexts are on them in turn.
    pub nodes: u16,
    /// How many halts of each context may return for no reason.
    pub spurious: u8,
    /// How many heavy barriers of each context may fail.
    pub barrier_fails: u8,
    /// Which contexts are said to be preempted: a bit for each.
    pub preempted: u8,
    /// Which contexts are of real-time priority: a bit for each.
    pub urgent: u8,
    /// Whether contexts have numbers.
    pub numbered: bool,
    /// Whether queue nodes have been in use before: their links lead to the first context.
    pub used_nodes: bool,
    /// Whether contexts are off their CPUs now and then; see [`Step::Absent`](crate::shapes::Step::Absent).
    pub absences: bool,
    /// Whether a kick that comes before the comparison of a halt is forgotten.
    pub forgets_kicks: bool,
    /// The same, and interrupts come right before the comparison, and only there.
    pub hard_halts: bool,
    /// Whether handlers must not wait behind others.
    pub priority: bool,
    /// Whether, from when exploring begins, the light sides of asymmetric pairs are no more than they seem,
    /// and no heavy barrier can be had; a per-CPU lock that was written to before has its readers fence.
    pub fenced: bool,
}

/// The plainest machine.
pub(crate) const PLAIN: Settings = Settings {
    nodes: 1,
    spurious: 0,
    barrier_fails: 0,
    preempted: 0,
    urgent: 0,
    numbered: true,
    used_nodes: false,
    absences: false,
    forgets_kicks: false,
    hard_halts: false,
    priority: false,
    fenced: false,
};

/// Coins of one kind that one context can toss: each falls on either side, in different executions.
///
/// Nothing but loom can choose, and it chooses which of several stores a load reads: a coin holds two, and
/// its context has seen neither.
pub(crate) struct Coins {
    coins: Vec<CellU8>,
    tossed: Cell<usize>,
}

impl Coins {
    pub(crate) fn new(number: u8) -> Self {
        Self { coins: (0..number).map(|_| CellU8::new(0)).collect(), tossed: Cell::new(0) }
    }

    /// Makes both sides possible. To be called when the contexts have been started and none has run.
    pub(crate) fn mint(&self) {
        for coin in &self.coins {
            coin.plain_store(1, Relaxed);
        }
    }

    pub(crate) fn toss(&self) -> bool {
        let Some(coin) = self.coins.get(self.tossed.get()) else { return false };
        self.tossed.set(self.tossed.get() + 1);
        coin.plain_load(Relaxed) == 1
    }
}
