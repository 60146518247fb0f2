//! What the machine of one schedule is like: how much there is of everything, and how large its numbers are.
use super::fault::{Fault, Faults};
use super::subjects::Subject;
use super::{CONTEXTS, Ctx};
use crate::random::Random;
use stanchion_core::CpuId;
use stanchion_family::parking::SLOTS_PER_ROW;

/// How many rows of parking slots a machine has at most.
const ROWS: u64 = 3;
/// Parking slots of a row, and entries of the hash table, where there are enough for all: a handler that
/// waits needs one more.
const ENOUGH: usize = 16;

/// The first numbers of contexts that are numbered high: so that the numbers, and the codes of the nodes that
/// go with them, stop fitting into a byte among them; so that some do not fit into the tail of `owner-qspin`;
/// and the last ones that there are.
const HIGH: [u16; 4] = [61, 254, 8_189, CpuId::LIMIT - CONTEXTS as u16];
/// The same for locks whose releases look at the places of all contexts: only those that are not too many.
const HIGH_WHERE_ALL_ARE_LOOKED_AT: [u16; 2] = [61, 254];

/// One machine. Nothing of it changes during a schedule.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Machine {
    /// How many rows of parking slots there are; locks share them in turn.
    pub(super) rows: usize,
    /// How many parking slots of each row can be taken.
    pub(super) slots: usize,
    /// How many in front of those are taken for good.
    pub(super) slots_taken: usize,
    /// How many nodes of waits can be leased at a time.
    pub(super) waits: usize,
    /// How many entries the hash table has: a power of two.
    pub(super) heads: usize,
    /// Whether all locks hash to the same entry.
    pub(super) collides: bool,
    /// The lowest number of a context.
    pub(super) first_number: u16,
    /// How many numbers there are. With fewer than contexts, whoever comes first has one until it ends.
    pub(super) numbers: usize,
    /// How many NUMA nodes there are; contexts are on them in turn, unless one of them has one for itself.
    pub(super) nodes: u16,
    /// Who is on a NUMA node alone; the others are on another one.
    pub(super) alone: Option<Ctx>,
    /// A context that must not be made to wait behind others.
    pub(super) priority: Option<Ctx>,
    /// Whether waiters may halt.
    pub(super) paravirt: bool,
    /// Whether a release looks for marks before it releases, in one step.
    pub(super) restarts: bool,
    /// What the clock says at first, in nanoseconds.
    pub(super) clock: u64,
    /// The first ticket of locks that have tickets, which some count in twos.
    pub(super) ticket: u16,
}

/// Where microseconds end that are counted in 32 bits, and where the difference of two changes its sign.
const CLOCK_ENDS: [u64; 2] = [1 << 32, 1 << 31];
/// The clock passes one of them within so many microseconds.
const BEFORE_CLOCK_ENDS: u64 = 64;
/// Tickets end after so many twos at most.
const BEFORE_TICKETS_END: u64 = 8;
/// The one that may be starved is alone on its NUMA node once in so many schedules.
const ALONE_ONE_IN: u64 = 3;
/// There is a context that must not wait behind others once in so many schedules.
const PRIORITY_ONE_IN: u64 = 6;

impl Machine {
    /// One where nothing is scarce and all numbers are small.
    pub(super) const PLAIN: Self = Self {
        rows: ROWS as usize,
        slots: ENOUGH,
        slots_taken: 0,
        waits: usize::MAX,
        heads: ENOUGH,
        collides: false,
        first_number: 0,
        numbers: CONTEXTS,
        nodes: 2,
        alone: None,
        priority: None,
        paravirt: true,
        restarts: false,
        clock: 0,
        ticket: 0,
    };

    /// Draws what a schedule with so many contexts, of which `victim` may be starved, would find with every
    /// fault; see [`Machine::with`].
    pub(super) fn draw(subject: &Subject, contexts: usize, victim: Ctx, random: &mut Random) -> Self {
        let high = if subject.stated.looks_at_all { &HIGH_WHERE_ALL_ARE_LOOKED_AT[..] } else { &HIGH[..] };
        Self {
            rows: 1 + random.below(ROWS) as usize,
            slots: 1 + random.below(2) as usize,
            slots_taken: 0,
            heads: 1 << random.below(2),
            collides: random.once_in(2),
            first_number: high[random.below(high.len() as u64) as usize],
            numbers: random.below(contexts as u64) as usize,
            nodes: [1, 2, 2, 2, 3, 3][random.below(6) as usize],
            alone: random.once_in(ALONE_ONE_IN).then_some(victim),
            priority: random.once_in(PRIORITY_ONE_IN).then(|| random.below(contexts as u64) as Ctx),
            paravirt: false,
            clock: (CLOCK_ENDS[random.below(2) as usize] - random.below(BEFORE_CLOCK_ENDS)) * 1_000,
            ticket: (2 * (1 + random.below(BEFORE_TICKETS_END)) as u16).wrapping_neg(),
            waits: 1 + random.below(3) as usize,
            restarts: random.once_in(2),
        }
    }

    /// The NUMA node of a context that has moved so often, if contexts move.
    pub(super) fn node_of(&self, ctx: Ctx, moved: u16) -> u16 {
        let first = match self.alone {
            Some(alone) => u16::from(alone == ctx),
            None => ctx as u16,
        };
        (first + moved) % self.nodes
    }

    /// The machine that was drawn, without what belongs to faults that are not among `faults`.
    pub(super) fn with(self, faults: Faults, contexts: usize) -> Self {
        let mut machine = self;
        if faults.has(Fault::FewPlaces) {
            machine.rows = 1;
        } else {
            (machine.slots, machine.waits, machine.heads) = (ENOUGH, usize::MAX, ENOUGH);
        }
        if faults.has(Fault::LargeNumbers) {
            machine.slots_taken = SLOTS_PER_ROW - machine.slots; // the last ones are free
        } else {
            (machine.first_number, machine.clock, machine.ticket) = (0, 0, 0);
        }
        machine.paravirt = !faults.has(Fault::NoHalts);
        if !faults.has(Fault::NoNumber) {
            machine.numbers = contexts;
        }
        machine
    }
}

/// What there is of each, in a line for whoever reads a schedule.
impl core::fmt::Display for Machine {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        let Self { rows, slots, slots_taken, heads, collides, first_number, numbers, nodes, .. } = *self;
        let Self { alone, priority, paravirt, clock, ticket, waits, restarts, .. } = *self;
        if let Some(ctx) = alone {
            write!(f, "c{ctx} is on a NUMA node of its own, ")?;
        }
        if let Some(ctx) = priority {
            write!(f, "c{ctx} has priority, ")?;
        }
        if !paravirt {
            f.write_str("nobody may halt, ")?;
        }
        if waits != usize::MAX {
            write!(f, "{waits} nodes for waits, ")?;
        }
        if restarts {
            f.write_str("releases look for marks first, ")?;
        }
        let collide = if collides { ", all locks at the same" } else { "" };
        write!(
            f,
            "{rows} rows of {slots} parking slots from {} on, {heads} hash entries{collide}, {numbers} context numbers from {first_number} \
             on, {nodes} NUMA nodes, {} us at first, ticket {ticket}",
            slots_taken + 1,
            clock / 1_000
        )
    }
}
