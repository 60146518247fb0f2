//! What one schedule is made of. Everything follows from the options and the schedule's seed.
use super::fault::{Fault, Faults};
use super::machine::Machine;
use super::subjects::Subject;
use super::{CONTEXTS, Ctx};
use crate::random::{Random, mix};
use stanchion_family::catalogue::Tail;

/// How turns are given.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Strategy {
    /// Whoever can run, with equal chances; each schedule has its own inclination to stay with whoever runs.
    Random,
    /// Probabilistic concurrency testing: random priorities that change at a few random steps.
    Pct,
    /// Each schedule draws one of the two.
    Mix,
}

impl Strategy {
    /// Every strategy.
    pub const ALL: [Self; 3] = [Self::Random, Self::Pct, Self::Mix];

    /// The name on command lines.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Random => "random",
            Self::Pct => "pct",
            Self::Mix => "mix",
        }
    }
}

/// What is to be explored.
#[derive(Clone, Debug, PartialEq)]
pub struct Options {
    /// At most so many contexts; schedules draw fewer now and then.
    pub contexts: usize,
    /// At most so many acquisitions by each of them, tries not counted.
    pub rounds: u32,
    /// How turns are given.
    pub strategy: Strategy,
    /// The greatest number of priority levels, that is, priority changes plus one, of a PCT schedule.
    pub depth: u32,
    /// Every schedule has exactly these; `None`: each draws its own.
    pub faults: Option<Faults>,
}

impl Default for Options {
    fn default() -> Self {
        Self { contexts: 4, rounds: 4, strategy: Strategy::Mix, depth: 4, faults: None }
    }
}

/// How turns are given in one schedule.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Choosing {
    /// Chooses anew once in so many steps.
    Random { stay: u64 },
    /// Priorities change at these steps.
    Pct { changes: Vec<u64> },
}

/// One schedule's outline. What the seed leaves open is decided by the strategy's stream of the same seed.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Plan {
    pub(super) seed: u64,
    /// Acquisitions of each context; the length is their number.
    pub(super) rounds: Vec<u32>,
    pub(super) choosing: Choosing,
    pub(super) faults: Faults,
    /// A buffered store becomes visible once in so many steps.
    pub(super) drain: u64,
    /// The first absence begins at this step, and the next so many later.
    pub(super) absence_every: u64,
    /// For how many steps a context is away.
    pub(super) absence: u64,
    /// Whom [`Fault::Starve`] starves.
    pub(super) victim: Ctx,
    /// Which turns it has all the same.
    pub(super) luck: Luck,
    /// How deep handlers nest.
    pub(super) levels: u8,
    /// A context is interrupted once in so many steps.
    pub(super) interrupt: u64,
    /// The machine, if every fault is there; see [`Plan::machine`].
    pub(super) machine: Machine,
}

/// Which turns a context has that is starved, while others can run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Luck {
    None,
    /// Those while somebody else holds the lock: it can look and ask, and finds it held.
    WhileHeld,
    /// One each time that the lock is taken or given back: what it finds free is taken when it comes to take
    /// it.
    AtChanges,
}

/// Which question a coin answers; see [`Plan::coin`].
#[derive(Clone, Copy)]
pub(super) enum Coin {
    Preempted,
    BarrierFails,
    KickDelay,
    Round,
    Linger,
    Switch,
    SleepsOn,
    Home,
    Urgent,
    Awaits,
    Timeout,
    Thief,
    Timed,
    Haste,
    Fair,
    Moves,
}

/// Once in so many schedules with [`Fault::Starve`] there are many rounds, of fewer contexts perhaps: bounds
/// are long.
const LONG_ONE_IN: u64 = 3;
/// How many rounds they have then.
const LONG_ROUNDS: u32 = 48;
/// Where contexts give up, the heavy barrier fails, and nobody may halt, once in so many schedules each.
const HARD_ONE_IN: u64 = 4;

impl Plan {
    /// The outline of schedule `seed`.
    pub(super) fn draw(subject: &Subject, options: &Options, seed: u64) -> Self {
        let mut random = Random::new(seed, 1);
        let most = options.contexts.clamp(1, CONTEXTS) as u64;
        // Half of the schedules are as large as they may be.
        let contexts = if random.once_in(2) { most } else { most - random.below(most.div_ceil(2)) };
        let rounds =
            if random.once_in(2) { options.rounds } else { 1 + random.below(options.rounds.into()) as u32 };
        let mut faults = options.faults.unwrap_or_else(|| Self::draw_faults(&mut random, seed));
        if !subject.numberless {
            faults = faults.without(Fault::NoNumber);
        }
        if subject.stated.tail != Tail::Waits {
            faults = faults.without(Fault::Timed);
        }
        let victim = random.below(contexts) as Ctx;
        let mut rounds = vec![rounds; contexts as usize];
        let luck = [Luck::None, Luck::None, Luck::WhileHeld, Luck::AtChanges][random.below(4) as usize];
        if faults.has(Fault::Starve) && contexts > 1 && random.once_in(LONG_ONE_IN) {
            let thieves = 1 + random.below(contexts - 1) as usize;
            rounds.fill(0);
            // The thief is to meet the victim more than once.
            rounds[victim] = LONG_ROUNDS / 4;
            for next in 1..=thieves {
                rounds[(victim + next) % contexts as usize] = LONG_ROUNDS;
            }
        }
        Self {
            seed,
            choosing: Choosing::draw(options, &mut random),
            drain: [2, 8, 64][random.below(3) as usize],
            absence_every: 4 << random.below(6),
            absence: 16 << random.below(6),
            victim,
            luck,
            levels: if random.once_in(4) { 4 } else { 1 },
            interrupt: [4, 16, 64][random.below(3) as usize],
            machine: Machine::draw(subject, rounds.len(), victim, &mut random),
            rounds,
            faults,
        }
    }

    /// Those that few locks can have come from a stream of their own, so that the schedules of the others do
    /// not depend on them. Who gives up meets more often what makes that difficult.
    fn draw_faults(random: &mut Random, seed: u64) -> Faults {
        let all = Fault::ALL.into_iter().filter(|&fault| fault != Fault::Timed);
        let all = all.filter(|fault| random.once_in(fault.rarity())).collect::<Faults>();
        let mut own = Random::new(seed, 3);
        if !own.once_in(Fault::Timed.rarity()) {
            return all;
        }
        let hard = [Fault::NoBarrier, Fault::NoHalts].into_iter().filter(|_| own.once_in(HARD_ONE_IN));
        hard.fold(all.with(Fault::Timed), Faults::with)
    }

    /// No contexts, no faults.
    pub(super) fn empty() -> Self {
        Self {
            seed: 0,
            rounds: Vec::new(),
            choosing: Choosing::Random { stay: 1 },
            faults: Faults::NONE,
            drain: 1,
            absence_every: u64::MAX,
            absence: 0,
            victim: 0,
            luck: Luck::None,
            levels: 0,
            interrupt: 0,
            machine: Machine::PLAIN,
        }
    }

    /// What the machine is like.
    pub(super) fn machine(&self) -> Machine {
        self.machine.with(self.faults, self.contexts())
    }

    /// How many contexts there are.
    pub(super) fn contexts(&self) -> usize {
        self.rounds.len()
    }

    /// Answers a question that has no true answer. It depends on the seed, on who asks and on how often that
    /// context asked before, but not on what others did meanwhile, so that a shorter schedule gets the same
    /// answers.
    #[inline]
    pub(super) fn coin(&self, coin: Coin, who: Ctx, times: u32, below: u64) -> u64 {
        // Of the seeds as they are, neighbours would draw the same numbers in another order.
        mix(mix(self.seed) ^ (coin as u64) << 56 ^ (who as u64) << 48 ^ u64::from(times)) % below
    }

    /// Whether contexts that have many rounds hold reader-writer locks alone each time: those that take turns
    /// with readers wait behind the victim themselves.
    pub(super) fn thieves_write(&self, ctx: Ctx) -> bool {
        self.rounds[ctx] == LONG_ROUNDS && self.coin(Coin::Thief, 0, 0, 2) == 0
    }

    /// Whether `ctx` releases this lock fairly. No other answer depends on that.
    pub(super) fn releases_fairly(&self, ctx: Ctx, lock: usize) -> bool {
        self.coin(Coin::Fair, CONTEXTS, 0, 4) == 0 && self.coin(Coin::Fair, ctx, lock as u32, 2) == 0
    }

    /// Whether some waiters are of real-time priority.
    pub(super) fn has_urgent(&self) -> bool {
        self.coin(Coin::Urgent, 0, 0, 3) == 0
    }

    /// Whether contexts move to other NUMA nodes, between any two questions where they are.
    pub(super) fn moves(&self) -> bool {
        self.coin(Coin::Moves, CONTEXTS, 0, 4) == 0
    }

    /// Whether `ctx` moves before it asks for the `times`th time on which NUMA node it is.
    pub(super) fn moves_before(&self, ctx: Ctx, times: u32) -> bool {
        self.moves() && self.coin(Coin::Moves, ctx, times, 3) == 0
    }

    /// How many locks contexts and handlers use: the lock under test, a second one, one for each level of
    /// handlers.
    pub(super) fn locks(&self) -> usize {
        if self.faults.has(Fault::Interrupts) {
            2 + usize::from(self.levels)
        } else if self.faults.has(Fault::TwoLocks) {
            2
        } else {
            1
        }
    }
}

impl Choosing {
    fn draw(options: &Options, random: &mut Random) -> Self {
        let pct = match options.strategy {
            Strategy::Random => false,
            Strategy::Pct => true,
            Strategy::Mix => random.once_in(2),
        };
        if !pct {
            return Self::Random { stay: 1 << random.below(5) };
        }
        // How long the schedule will be is not known; a change that comes too late is none.
        let span = 16 << random.below(6);
        let mut changes: Vec<u64> =
            (0..random.below(options.depth.max(1).into())).map(|_| random.below(span)).collect();
        changes.sort_unstable();
        Self::Pct { changes }
    }
}
