//! Every field of a machine file in one table: its range, its place in the machine, and what it is.
use super::kind::{Kind, PROTOCOLS, Place, SCHEDULERS};
use crate::machine::{FairShare, Machine, PauseLoop, Quota, RoundRobin, SchedulerKind};
use crate::time::{MS, NS, US};
use Kind::{Choice, Count, Flag, FlagOr, Hops, MaybeTime, Name, Percent, Text, Time, Turbo};

/// A field of a machine file.
pub(super) struct Field {
    /// Its dotted path.
    pub(super) path: &'static str,
    /// What it may be.
    pub(super) kind: Kind,
    /// Where it is; `None`: this machine has no such part.
    pub(super) place: fn(&mut Machine) -> Option<Place<'_>>,
    /// What it is, for the documentation.
    pub(super) about: &'static str,
}

impl Field {
    /// The table that the field is in; empty at the top of the file.
    pub(super) fn table(&self) -> &'static str {
        self.path.rsplit_once('.').map_or("", |(table, _)| table)
    }

    /// Its name in that table.
    pub(super) fn name(&self) -> &'static str {
        self.path.rsplit('.').next().unwrap_or(self.path)
    }

    /// Whether the field is one number, which a fit can vary.
    pub(super) fn is_number(&self) -> bool {
        matches!(self.kind, Time(..) | Percent(..))
    }

    /// Whether the field is a latency, a cost or a capacity, which has to come from somewhere.
    pub(super) fn is_cost(&self) -> bool {
        matches!(self.kind, Time(..) | MaybeTime(..) | Percent(..) | Turbo)
            || (matches!(self.kind, Count(..)) && self.table() == "memory")
    }
}

/// A part of the machine that the file may leave out, with the function that puts a blank one in.
pub(super) struct OptionalTable {
    pub(super) path: &'static str,
    pub(super) open: fn(&mut Machine),
}

/// The tables that may be left out, whatever the scheduler.
pub(super) const OPTIONAL_TABLES: [OptionalTable; 2] = [
    OptionalTable {
        path: "host.fair-share.quota",
        open: |m| {
            if let SchedulerKind::FairShare(fair) = &mut m.host.scheduler {
                fair.quota = Some(Quota { period: 0, budget: 0 });
            }
        },
    },
    OptionalTable {
        path: "host.pause-loop",
        open: |m| m.host.pause_loop = Some(PauseLoop { window: 0, largest: None, gap: 0, exit: 0, guard: 0 }),
    },
];

fn fair(machine: &mut Machine) -> Option<&mut FairShare> {
    match &mut machine.host.scheduler {
        SchedulerKind::FairShare(fair) => Some(fair),
        _ => None,
    }
}

fn round(machine: &mut Machine) -> Option<&mut RoundRobin> {
    match &mut machine.host.scheduler {
        SchedulerKind::RoundRobin(round) => Some(round),
        _ => None,
    }
}

fn quota(machine: &mut Machine) -> Option<&mut Quota> {
    fair(machine)?.quota.as_mut()
}

fn pause_loop(machine: &mut Machine) -> Option<&mut PauseLoop> {
    machine.host.pause_loop.as_mut()
}

/// Rows of path, kind, kind of place and place, and meaning.
macro_rules! fields {
    ($($path:literal $kind:expr, $place:ident |$m:ident| $at:expr; $about:literal)*) => {
        &[$(Field { path: $path, kind: $kind, place: |$m| $at.map(Place::$place), about: $about }),*]
    };
}

/// The fields, in the order in which they are written. A scheduler comes before its parameters, and sockets
/// before hops.
pub(super) const FIELDS: &[Field] = fields! {
    "name" Name, Text |m| Some(&mut m.name);
    "The machine's name on command lines."
    "about" Text, Text |m| Some(&mut m.about);
    "What it is, in a line."

    "topology.sockets" Count(1, 64), Count |m| Some(&mut m.topology.sockets);
    "Sockets (NUMA nodes)."
    "topology.groups" Count(1, 64), Count |m| Some(&mut m.topology.groups);
    "Core groups of a socket, each with a last-level cache of its own."
    "topology.cores" Count(1, 512), Count |m| Some(&mut m.topology.cores);
    "Cores of a group."
    "topology.threads" Count(1, 64), Count |m| Some(&mut m.topology.threads);
    "Hardware threads of a core."
    "topology.hops" Hops, Hops |m| Some(&mut m.topology);
    "Links between each two sockets."

    "memory.protocol" Choice(&PROTOCOLS), Protocol |m| Some(&mut m.memory.protocol);
    "Which coherence protocol moves the lines."
    "memory.migratory" FlagOr(false), Flag |m| Some(&mut m.memory.migratory);
    "Whether a reader takes a line that another core has written, and may write it at once."
    "memory.hit" Time(50, 100 * NS), Time |m| Some(&mut m.memory.hit);
    "A load that hits the core's own cache, as far as it delays what follows."
    "memory.rmw" Time(100, 1000 * NS), Time |m| Some(&mut m.memory.rmw);
    "A read-modify-write of a line that the core owns."
    "memory.store" Time(50, 100 * NS), Time |m| Some(&mut m.memory.store);
    "Issuing a store; the line's arrival is not waited for."
    "memory.fence" Time(0, 1000 * NS), Time |m| Some(&mut m.memory.fence);
    "A full fence with an empty store buffer."
    "memory.poll" Time(100, 1000 * NS), Time |m| Some(&mut m.memory.poll);
    "One poll of a spinning loop: load, compare, spin hint."
    "memory.spin-exit" Time(0, 1000 * NS), Time |m| Some(&mut m.memory.spin_exit);
    "From the arrival of the awaited value to the first instruction after the loop."
    "memory.group-clean" Time(NS, 100 * US), Time |m| Some(&mut m.memory.group_clean);
    "A clean line from the cache that the core's group shares."
    "memory.group-dirty" Time(NS, 100 * US), Time |m| Some(&mut m.memory.group_dirty);
    "A dirty line from another core of the group."
    "memory.socket-dirty" Time(NS, 100 * US), Time |m| Some(&mut m.memory.socket_dirty);
    "A dirty line from another group of the socket."
    "memory.remote-dirty" Time(NS, 100 * US), Time |m| Some(&mut m.memory.remote_dirty);
    "A dirty line from a socket one hop away."
    "memory.hop" Time(0, 100 * US), Time |m| Some(&mut m.memory.hop);
    "What each further hop adds."
    "memory.memory" Time(NS, 100 * US), Time |m| Some(&mut m.memory.memory);
    "A line that no cache has."
    "memory.upgrade" Time(NS, 100 * US), Time |m| Some(&mut m.memory.upgrade);
    "Taking ownership of a line that other cores of the group share."
    "memory.upgrade-socket" Time(NS, 100 * US), Time |m| Some(&mut m.memory.upgrade_socket);
    "The same if another group of the socket shares it."
    "memory.upgrade-remote" Time(NS, 100 * US), Time |m| Some(&mut m.memory.upgrade_remote);
    "The same if a socket one hop away shares it."
    "memory.upgrade-per-socket" Time(0, 10 * US), Time |m| Some(&mut m.memory.upgrade_per_socket);
    "What each further socket with sharers adds to an upgrade."
    "memory.upgrade-per-core" Time(0, 10 * US), Time |m| Some(&mut m.memory.upgrade_per_core);
    "What each sharing core adds to an upgrade."
    "memory.group-occupancy" Time(0, 10 * US), Time |m| Some(&mut m.memory.group_occupancy);
    "How long a group's shared cache is busy with serving one reader of a line."
    "memory.outside-percent" Percent(0, 1000), Percent |m| Some(&mut m.memory.outside_percent);
    "For how much of group-occupancy a clean line is busy with serving another group or socket."
    "memory.occupancy-percent" Percent(0, 100), Percent |m| Some(&mut m.memory.occupancy_percent);
    "For how much of a dirty transfer nobody else is served from the line."
    "memory.snoop-percent" Percent(0, 100), Percent |m| Some(&mut m.memory.snoop_percent);
    "For how much of a dirty transfer to a writer the old owner still reads and writes the line."
    "memory.snoop-read-percent" Percent(0, 100), Percent |m| Some(&mut m.memory.snoop_read_percent);
    "For how much of a dirty transfer to a reader the old owner still writes the line."
    "memory.overlap-percent" Percent(0, 100), Percent |m| Some(&mut m.memory.overlap_percent);
    "How much of a missed load's latency an ownership request right behind it hides, if the core looks less far ahead."
    "memory.burst" Time(0, 100 * NS), Time |m| Some(&mut m.memory.burst);
    "An ownership request so soon after a missed load of the line was issued together with it."
    "memory.look-ahead" MaybeTime(NS, 10 * US), MaybeTime |m| Some(&mut m.memory.look_ahead);
    "How long before an instruction comes a core that has run on asks for its line; none: when it comes."
    "memory.store-buffer" Count(1, 1024), Count |m| Some(&mut m.memory.store_buffer);
    "Stores that may be on their way before the next has to wait."
    "memory.jitter-percent" Percent(0, 50), Percent |m| Some(&mut m.memory.jitter_percent);
    "Each transfer is longer or shorter by up to this."

    "speed.sibling-computes-percent" Percent(100, 1000), Percent |m| Some(&mut m.speed.sibling_computes_percent);
    "Time of a computation while a sibling thread computes, of its time alone."
    "speed.sibling-spins-percent" Percent(100, 1000), Percent |m| Some(&mut m.speed.sibling_spins_percent);
    "The same while siblings only spin."
    "speed.turbo" Turbo, Turbo |m| Some(&mut m.speed.turbo);
    "Time of a computation with at least so many cores of the socket busy, of its time with one busy."

    "host.scheduler" Choice(&SCHEDULERS), Scheduler |m| Some(&mut m.host.scheduler);
    "Who decides which vCPU or thread runs."
    "host.halt" Time(NS, 10 * MS), Time |m| Some(&mut m.host.halt);
    "Going to sleep: the futex call, or the exit for a HLT."
    "host.kick" Time(NS, 10 * MS), Time |m| Some(&mut m.host.kick);
    "What a kick costs the kicker if the target sleeps."
    "host.kick-across" MaybeTime(NS, 10 * MS), MaybeTime |m| Some(&mut m.host.kick_across);
    "The same if another CPU has to be interrupted for that; none: no difference."
    "host.idle-entry" MaybeTime(NS, 10 * MS), MaybeTime |m| Some(&mut m.host.idle_entry);
    "How long a CPU that falls idle still looks for work: a kick needs no interrupt, and the sleeper goes on at once; none: it is at rest at once."
    "host.kick-idle" Time(0, 10 * MS), Time |m| Some(&mut m.host.kick_idle);
    "What it costs if the target does not sleep."
    "host.wake-idle" Time(NS, 100 * MS), Time |m| Some(&mut m.host.wake_idle);
    "From the kick until the sleeper runs, if its CPU idles."
    "host.wake-busy" Time(0, 100 * MS), Time |m| Some(&mut m.host.wake_busy);
    "From the kick until the sleeper is queued, if its CPU runs somebody else."
    "host.switch" Time(NS, 10 * MS), Time |m| Some(&mut m.host.switch);
    "Switching a CPU from one context to another."
    "host.migrate" Time(0, 10 * MS), Time |m| Some(&mut m.host.migrate);
    "What a context that moves to another CPU pays for its cold caches."
    "host.yield" Time(NS, 10 * MS), Time |m| Some(&mut m.host.yield_cost);
    "A yield when nobody else can use the CPU."
    "host.heavy-barrier" MaybeTime(NS, 10 * MS), MaybeTime |m| Some(&mut m.host.heavy_barrier);
    "The expensive side of an asymmetric fence (membarrier); none: full fences on both sides."
    "host.preempted-hint" Flag, Flag |m| Some(&mut m.host.preempted_hint);
    "Whether a context can see that another one is preempted."
    "host.hypercalls" FlagOr(true), Flag |m| Some(&mut m.host.hypercalls);
    "Contexts are vCPUs: they see who is preempted, wherever, and can lend it their CPU. False: threads of a system."
    "host.start-spread" Time(0, 100 * MS), Time |m| Some(&mut m.host.start_spread);
    "Contexts start within this span, in seeded order."
    "host.tick-period" MaybeTime(10 * US, 1000 * MS), TimeOrZero |m| Some(&mut m.host.tick_period);
    "The CPU's regular interrupt."
    "host.tick-cost" Time(0, MS), Time |m| Some(&mut m.host.tick_cost);
    "What a tick costs whoever runs; less than half a period."

    "host.fair-share.slice" Time(US, 10_000 * MS), Time |m| fair(m).map(|fair| &mut fair.slice);
    "How long a context runs before another of the same CPU gets its turn."
    "host.fair-share.granularity" MaybeTime(US, 1000 * MS), TimeOrZero |m| fair(m).map(|fair| &mut fair.granularity);
    "Preemption happens at multiples of this (the scheduler's tick); none: at any moment."
    "host.fair-share.wake-preemption" MaybeTime(0, 1000 * MS), MaybeTime |m| fair(m).map(|fair| &mut fair.wake_preemption);
    "A woken context preempts one that is ahead of it by more than this; none: never."
    "host.fair-share.turn-noise" Time(0, 10 * MS), Time |m| fair(m).map(|fair| &mut fair.turn_noise);
    "By how much the account of a turn may be off."
    "host.fair-share.balance" MaybeTime(10 * US, 100_000 * MS), TimeOrZero |m| fair(m).map(|fair| &mut fair.balance);
    "How often queues are balanced; none: never."
    "host.fair-share.idle-pull" Flag, Flag |m| fair(m).map(|fair| &mut fair.idle_pull);
    "Whether a CPU that runs out of work pulls from another queue at once."
    "host.fair-share.pull-cost" Time(0, 100 * MS), Time |m| fair(m).map(|fair| &mut fair.pull_cost);
    "A CPU whose idle periods are shorter than this on the average does not pull."
    "host.fair-share.wake-to-idle" Flag, Flag |m| fair(m).map(|fair| &mut fair.wake_to_idle);
    "Whether a wake-up looks for an idle CPU: in the core group of where the sleeper ran, then of its waker."
    "host.fair-share.quota.period" Time(100 * US, 10_000 * MS), Time |m| quota(m).map(|quota| &mut quota.period);
    "The period of a CPU limit for all contexts together. Leave the table out for none."
    "host.fair-share.quota.budget" Time(10 * US, 10_000_000 * MS), Time |m| quota(m).map(|quota| &mut quota.budget);
    "CPU time that may be used in a period; no more than all CPUs have in it."
    "host.round-robin.slice" Time(US, 10_000 * MS), Time |m| round(m).map(|round| &mut round.slice);
    "How long a context runs while others wait."
    "host.round-robin.boost" Flag, Flag |m| round(m).map(|round| &mut round.boost);
    "Whether a woken context goes ahead of those that used up their slices."
    "host.round-robin.steal" Flag, Flag |m| round(m).map(|round| &mut round.steal);
    "Whether an idle CPU steals from other queues."
    "host.pause-loop.window" Time(10 * NS, 10 * MS), Time |m| pause_loop(m).map(|exits| &mut exits.window);
    "Spinning for this long without a pause leaves the guest. Leave the table out for none."
    "host.pause-loop.largest" MaybeTime(10 * NS, 10_000 * MS), MaybeTime |m| pause_loop(m).map(|exits| &mut exits.largest);
    "What the window grows to, doubling with each exit until the vCPU is dispatched anew; none: without end."
    "host.pause-loop.gap" Time(NS, MS), Time |m| pause_loop(m).map(|exits| &mut exits.gap);
    "Pauses that are nearer to each other than this belong to one loop."
    "host.pause-loop.exit" Time(10 * NS, 10 * MS), Time |m| pause_loop(m).map(|exits| &mut exits.exit);
    "What one exit costs."
    "host.pause-loop.guard" Time(0, 100 * MS), Time |m| pause_loop(m).map(|exits| &mut exits.guard);
    "A vCPU dispatched less than this ago is not put aside by a directed yield."
};

/// The field with that path.
pub(super) fn field(path: &str) -> Option<&'static Field> {
    FIELDS.iter().find(|field| field.path == path)
}
