//! The rows of the mutexes.
use super::{bounds, stated};
use stanchion_core::catalogue::{
    Facts,
    InHandlers::All,
    Outnumbered::{Collapses, Falls, Holds},
    Overtaking::{self, AtMost, Unbounded},
    Timed::ByTries,
    Waits::{Sleep, Spin, Yield},
};

/// Hands all mutexes to another macro, as [`stanchion_core::for_each_mutex!`] does with those of the product,
/// which come first.
#[macro_export]
macro_rules! for_each_mutex {
    ($platform:ty; $($callback:tt)::+; $($argument:tt)*) => {
        $crate::mutex_rows! { $platform; $crate::stanchion_core::mutex_types; $($callback)::+; $($argument)* }
    };
}

/// The rows of all mutexes in full, as [`stanchion_core::mutex_rows!`] has those of the product.
#[macro_export]
macro_rules! mutex_rows {
    ($platform:ty; $($callback:tt)::+; $($argument:tt)*) => {
        $crate::stanchion_core::mutex_rows! {
            $platform; $crate::with_family_mutexes; $platform; $($callback)::+; $($argument)*
        }
    };
}

/// The rows of this crate behind others: what [`mutex_rows!`](crate::mutex_rows) hands to the callback.
#[doc(hidden)]
#[macro_export]
macro_rules! with_family_mutexes {
    ([$platform:ty; $($callback:tt)::+; $($argument:tt)*] $($product:tt)*) => {
        $($callback)::+! { [$($argument)*] $($product)*

        byte ByteLock [$crate::byte::ByteLock<$platform>] "byte"
            is "Whoever finds the byte free takes it; waiters spin."
            for "the unfair yardstick"
            c [stanchion_byte_t] preload [0xff] {
            bytes: 4, bytes_a_context: 0, bytes_a_class: 0,
            waits: Spin, waiting: "spin", outnumbered: Falls,
            overtaken: "any number of times", starves: true, bound: Overtaking::NO_QUEUE,
            holder_away: "all spin", next_away: "somebody else acquires",
            timed: ByTries, in_handlers: All, shares: None, not_preloaded: None, variant_of: None,
            source: "the unfair byte lock in Waiman Long, paravirtual qspinlock and queued unfair lock, v2, 2015",
            stated: stated::BYTE,
        }

        ticket TicketLock [$crate::ticket::TicketLock<$platform>] "ticket"
            is "Tickets in order of arrival; all waiters spin on one line."
            for "the fair yardstick, lost when threads outnumber CPUs"
            c [stanchion_ticket_t] preload [] {
            bytes: 4, bytes_a_context: 0, bytes_a_class: 0,
            waits: Spin, waiting: "spin", outnumbered: Collapses,
            overtaken: "never", starves: false, bound: AtMost(0),
            holder_away: "all spin", next_away: "all spin",
            timed: ByTries, in_handlers: All, shares: None, variant_of: None,
            not_preloaded: Some("the child of a fork could not forget its waiters"),
            source: "Nick Piggin's ticket spin locks, Linux 2.6.25; measured in Jeremy Fitzhardinge, Some initial measurements comparing spinlock algorithms, 2008",
            stated: stated::TICKET,
        }

        twa TwaLock [$crate::twa::TwaLock<$platform>] "twa"
            is "Tickets in order of arrival; only the next in line polls the lock."
            for "as `ticket`, with more CPUs"
            c [stanchion_twa_t] preload [] {
            bytes: 4, bytes_a_context: 128, bytes_a_class: 0,
            waits: Spin, waiting: "spin at an array of cells, the next in line at the lock", outnumbered: Collapses,
            overtaken: "never", starves: false, bound: AtMost(0),
            holder_away: "all spin", next_away: "all spin",
            timed: ByTries, in_handlers: All, shares: None, variant_of: None,
            not_preloaded: Some("the child of a fork could not forget its waiters"),
            source: "Dice and Kogan, TWA: Ticket Locks Augmented with a Waiting Array, Euro-Par 2019",
            stated: stated::TWA,
        }

        qspin QSpinLock [$crate::qspin::QSpinLock<$platform>] "qspin"
            is "The waiters form a queue, and each spins on a line of its own."
            for "at most one thread a CPU, and none of them preempted"
            c [stanchion_qspin_t] preload [0xff] {
            bytes: 4, bytes_a_context: 128, bytes_a_class: 0,
            waits: Spin, waiting: "spin on a line of their own", outnumbered: Collapses,
            overtaken: "once each, and only who was past its check", starves: false, bound: AtMost(1),
            holder_away: "all spin", next_away: "all spin",
            timed: ByTries, in_handlers: All, shares: None, not_preloaded: None, variant_of: None,
            source: "Waiman Long and Peter Zijlstra, queued spin locks, Linux 4.2, 2015",
            stated: stated::QSPIN,
        }

        cna CnaLock [$crate::cna::CnaLock<$platform>] "cna"
            is "A queue of spinners that serves its own NUMA node first, for 1 ms."
            for "as `qspin`, on several NUMA nodes: waiters nearby first"
            c [stanchion_cna_t] preload [0xff] {
            bytes: 4, bytes_a_context: 128, bytes_a_class: 0,
            waits: Spin, waiting: "as `qspin`", outnumbered: Collapses,
            overtaken: "as `qspin`; a waiter of another node is passed over for 1 ms at most (`cna_threshold_us`)", starves: false,
            bound: bounds::BY_NUMA_NODE,
            holder_away: "all spin", next_away: "all spin",
            timed: ByTries, in_handlers: All, shares: None, not_preloaded: None, variant_of: None,
            source: "Dice and Kogan, Compact NUMA-aware Locks, EuroSys 2019; Alex Kogan, Add NUMA-awareness to qspinlock, v15, 2021",
            stated: stated::CNA,
        }

        hmcs HmcsLock [$crate::hmcs::HmcsLock<$platform>] "hmcs"
            is "A queue on each NUMA node, and a queue of the NUMA nodes."
            for "as `cna`: each NUMA node has its turn, and a line of 64 bytes in the lock"
            c [stanchion_hmcs_t: [u32; 144]] preload [] {
            bytes: 576, bytes_a_context: 128, bytes_a_class: 0,
            waits: Spin, waiting: "as `qspin`", outnumbered: Collapses,
            overtaken: "once its NUMA node has queued, for 64 acquisitions of each of the others, and once by who was past its check; until then, any number of times",
            starves: false, bound: bounds::BY_NUMA_TURN,
            holder_away: "all spin", next_away: "all spin",
            timed: ByTries, in_handlers: All, shares: None, variant_of: None,
            not_preloaded: Some("it has 576 bytes, and the word of a pthread mutex has 4"),
            source: "Chabbi, Fagan and Mellor-Crummey, High performance locks for multi-level NUMA systems, PPoPP 2015, two levels",
            stated: stated::HMCS,
        }

        reciprocating ReciprocatingLock [$crate::reciprocating::ReciprocatingLock<$platform>] "reciprocating"
            is "Waiters arrive on a stack, and one stack after the other is served."
            for "as `qspin`: each hand-over is one store into the line of the next"
            c [stanchion_reciprocating_t] preload [] {
            bytes: 4, bytes_a_context: 128, bytes_a_class: 0,
            waits: Spin, waiting: "spin on a line of their own", outnumbered: Collapses,
            overtaken: "once each", starves: false, bound: AtMost(1),
            holder_away: "all spin", next_away: "all spin",
            timed: ByTries, in_handlers: All, shares: None, variant_of: None,
            not_preloaded: Some("the child of a fork could not forget its waiters"),
            source: "Dice and Kogan, Reciprocating Locks, 2025 (arXiv 2501.02380)",
            stated: stated::RECIPROCATING,
        }

        malthusian MalthusianLock [$crate::malthusian::MalthusianLock<$platform>] "malthusian"
            is "A queue that sets surplus waiters aside, to sleep for long."
            for "more threads than CPUs, a lock that is always wanted: few threads take turns"
            c [stanchion_malthusian_t: [u32; 2]] preload [] {
            bytes: 8, bytes_a_context: 128, bytes_a_class: 0,
            waits: Sleep, waiting: "spin 8192 polls, then sleep", outnumbered: Holds,
            overtaken: "never in the queue; one that is set aside, for 1000 releases for each that was set aside before it", starves: false,
            bound: bounds::ASIDE,
            holder_away: "all sleep", next_away: "all sleep until it ran",
            timed: ByTries, in_handlers: All, shares: None, variant_of: None,
            not_preloaded: Some("it has 8 bytes, and the word of a pthread mutex has 4"),
            source: "Dave Dice, Malthusian Locks, EuroSys 2017 (MCSCR-STP)",
            stated: stated::MALTHUSIAN,
        }

        unfair_q UnfairQueuedLock [$crate::unfair_q::UnfairQueuedLock<$platform>] "unfair-q"
            is "A queue of spinners who steal, those in front more often."
            for "more threads than CPUs, without sleeping; no bound on a wait"
            c [stanchion_unfair_q_t] preload [0xff] {
            bytes: 4, bytes_a_context: 128, bytes_a_class: 0,
            waits: Spin, waiting: "spin on a line of their own, and try now and then", outnumbered: Holds,
            overtaken: "any number of times; waiters in front try more often", starves: true,
            bound: Unbounded("newcomers and waiters behind take a free lock, however often"),
            holder_away: "all spin", next_away: "somebody else acquires",
            timed: ByTries, in_handlers: All, shares: None, not_preloaded: None, variant_of: None,
            source: "Waiman Long, paravirtual qspinlock and queued unfair lock, v2, 2015",
            stated: stated::UNFAIR_Q,
        }

        ppc_simple OwnerYieldLock [$crate::owner_yield::OwnerYieldLock<$platform>] "ppc-simple"
            is "The word names its owner, and waiters give it their time."
            for "the unfair yardstick where time can be given to the owner"
            c [stanchion_ppc_simple_t] preload [0xffff_ffff] {
            bytes: 4, bytes_a_context: 0, bytes_a_class: 0,
            waits: Yield, waiting: "spin, and confer to the owner", outnumbered: Holds,
            overtaken: "any number of times", starves: true, bound: Overtaking::NO_QUEUE,
            holder_away: "gets the waiters' time", next_away: "somebody else acquires",
            timed: ByTries, in_handlers: All, shares: None, not_preloaded: None, variant_of: None,
            source: "the baseline of Nick Piggin, powerpc/64s: Implement queued spinlocks and rwlocks, 2020",
            stated: stated::PPC_SIMPLE,
        }

        owner_qspin OwnerQueuedLock [$crate::owner_queued::OwnerQueuedLock<$platform>] "owner-qspin"
            is "A queue that gives its owner time; newcomers steal for a while."
            for "more threads than CPUs, where time can be given to the owner"
            c [stanchion_owner_qspin_t] preload [0xffff] {
            bytes: 4, bytes_a_context: 128, bytes_a_class: 0,
            waits: Yield, waiting: "spin, and confer", outnumbered: Holds,
            overtaken: "any number of times until the head forbids it (256 polls), then once each", starves: false,
            bound: Unbounded("each head in turn lets newcomers pass until it has polled for long enough, and a poll that finds a preempted owner \
                              need not count; it is heeded once it forbids that"),
            holder_away: "gets the waiters' time", next_away: "gets its successors' time",
            timed: ByTries, in_handlers: All, shares: None, not_preloaded: None, variant_of: None,
            source: "Nick Piggin's native queued spin locks for 64-bit powerpc, Linux 6.2, 2022",
            stated: stated::OWNER_QSPIN,
        }

        xen_pv XenPvLock [$crate::xen_pv::XenPvLock<$platform>] "xen-pv"
            is "Whoever finds the byte free takes it; waiters sleep after a while."
            for "more threads than CPUs; unfair, a full fence at each release"
            c [stanchion_xen_pv_t] preload [] {
            bytes: 4, bytes_a_context: 128, bytes_a_class: 0,
            waits: Sleep, waiting: "spin 1024 polls, then sleep", outnumbered: Holds,
            overtaken: "any number of times", starves: true, bound: Overtaking::NO_QUEUE,
            holder_away: "all sleep", next_away: "somebody else acquires",
            timed: ByTries, in_handlers: All, shares: None, variant_of: None,
            not_preloaded: Some("a release reads the lock when somebody else may have destroyed it"),
            source: "Jeremy Fitzhardinge, xen: implement Xen-specific spinlocks, Linux 2d9e1e2f58, 2008",
            stated: stated::XEN_PV,
        }

        pv_ticket PvTicketLock [$crate::pv_ticket::PvTicketLock<$platform, $crate::pv_ticket::Plain>] "pv-ticket"
            is "Tickets in order of arrival; waiters sleep after a while."
            for "more threads than CPUs; strictly first come, first served"
            c [stanchion_pv_ticket_t] preload [] {
            bytes: 4, bytes_a_context: 128, bytes_a_class: 0,
            waits: Sleep, waiting: "spin 32768 polls, then sleep", outnumbered: Falls,
            overtaken: "never", starves: false, bound: AtMost(0),
            holder_away: "all sleep", next_away: "all sleep until it ran",
            timed: ByTries, in_handlers: All, shares: None, variant_of: None,
            not_preloaded: Some("the child of a fork could not forget its waiters"),
            source: "Fitzhardinge and Raghavendra, paravirtual ticket spin locks, Linux 3.12, in the form of 4.0",
            stated: stated::PV_TICKET,
        }

        pv_ticket_opportunistic PvTicketOpportunisticLock [$crate::pv_ticket::PvTicketLock<$platform, $crate::pv_ticket::Opportunistic>] "pv-ticket-opportunistic"
            is "As pv-ticket, and waiters near their turn hardly ever sleep."
            for "comparisons with `pv-ticket`"
            c [stanchion_pv_ticket_opportunistic_t] preload [] {
            bytes: 4, bytes_a_context: 128, bytes_a_class: 0,
            waits: Sleep, waiting: "spin 32768 polls or many times that near their turn, then sleep", outnumbered: Collapses,
            overtaken: "never", starves: false, bound: AtMost(0),
            holder_away: "those far from their turn sleep", next_away: "those far from their turn sleep",
            timed: ByTries, in_handlers: All, shares: None, variant_of: Some("pv-ticket"),
            not_preloaded: Some("the child of a fork could not forget its waiters"),
            source: "oticket in Kashyap, Min and Kim, Scalability in the Clouds! A Myth or Reality?, 2015",
            stated: stated::PV_TICKET_OPPORTUNISTIC,
        }

        pv_qspin PvQSpinLock [$crate::pv_qspin::PvQSpinLock<$platform, $crate::pv_qspin::Merged>] "pv-qspin"
            is "Newcomers steal, others queue and sleep: the form of Linux 4.15."
            for "more threads than CPUs, as in a kernel; no bound on a wait; in C it may be destroyed as early as `stanchion_mutex_t`"
            c [stanchion_pv_qspin_t] preload [0xff] {
            waiting: "spin 20 µs for the lock, 50 µs in the queue, then sleep", outnumbered: Holds,
            overtaken: "any number of times while the head sleeps, else once each", starves: true,
            bound: Unbounded("whoever runs takes a free lock while the head sleeps; one that is awake is heeded"),
            next_away: "somebody else acquires", not_preloaded: None, variant_of: None,
            source: "Waiman Long, locking/pvqspinlock: Implement hybrid PV queued/unfair locks, Linux 11752adb, 2017",
            stated: stated::PV_QSPIN, ..ANNOUNCED
        }

        pv_qspin_eager PvQSpinEagerLock [$crate::pv_qspin::PvQSpinLock<$platform, $crate::pv_qspin::EagerKick>] "pv-qspin-eager"
            is "Whoever becomes head of the queue is woken at once (4.2-rc1)."
            for "comparisons: what was there before the 2015 series"
            c [stanchion_pv_qspin_eager_t] preload [] {
            source: "Waiman Long, locking/pvqspinlock: Implement simple paravirt support for the qspinlock, Linux 4.2-rc1, 2015", ..ANNOUNCED
        }

        pv_qspin_kick_at_unlock PvQSpinKickAtUnlockLock [$crate::pv_qspin::PvQSpinLock<$platform, $crate::pv_qspin::KickAtUnlock>] "pv-qspin-kick-at-unlock"
            is "Nobody steals; a release wakes the head of the queue if it sleeps."
            for "comparisons: patch 1 of the 2015 series"
            c [stanchion_pv_qspin_kick_at_unlock_t] preload [0xff] {
            not_preloaded: None, stated: stated::PV_QSPIN_KICK_AT_UNLOCK,
            source: "Waiman Long, locking/pvqspinlock: Only kick CPU at unlock time, Linux 75d2270280, 2015", ..ANNOUNCED
        }

        pv_qspin_kick_ahead PvQSpinKickAheadLock [$crate::pv_qspin::PvQSpinLock<$platform, $crate::pv_qspin::KickAhead>] "pv-qspin-kick-ahead"
            is "As kick-at-unlock, and a release wakes the next few sleepers, too."
            for "comparisons: patches 1 and 2 of the 2015 series"
            c [stanchion_pv_qspin_kick_ahead_t] preload [] {
            stated: stated::PV_QSPIN_KICK_AHEAD, ..ANNOUNCED
        }

        pv_qspin_wait_early PvQSpinWaitEarlyLock [$crate::pv_qspin::PvQSpinLock<$platform, $crate::pv_qspin::WaitEarlyAtOnce>] "pv-qspin-wait-early"
            is "As kick-ahead, and whoever queues behind a sleeper sleeps at once."
            for "comparisons: patches 1 to 3 of the 2015 series"
            c [stanchion_pv_qspin_wait_early_t] preload [] { ..ANNOUNCED }

        pv_qspin_wait_early_sampled PvQSpinWaitEarlySampledLock [$crate::pv_qspin::PvQSpinLock<$platform, $crate::pv_qspin::WaitEarlySampled>] "pv-qspin-wait-early-sampled"
            is "As kick-ahead; waiters look now and then if the one ahead sleeps."
            for "comparisons: `pv-qspin-wait-early` as it was merged"
            c [stanchion_pv_qspin_wait_early_sampled_t] preload [] {
            source: "Waiman Long, locking/pvqspinlock: Queue node adaptive spinning, Linux cd0272fa, 2015", ..ANNOUNCED
        }

        pv_qspin_only_wait_early PvQSpinOnlyWaitEarlyLock [$crate::pv_qspin::PvQSpinLock<$platform, $crate::pv_qspin::OnlyWaitEarly>] "pv-qspin-only-wait-early"
            is "As kick-at-unlock; whoever queues behind a sleeper sleeps at once."
            for "comparisons: patches 1 and 3 of the 2015 series"
            c [stanchion_pv_qspin_only_wait_early_t] preload [] { ..ANNOUNCED }

        pv_qspin_pending PvQSpinPendingLock [$crate::pv_qspin::PvQSpinLock<$platform, $crate::pv_qspin::FirstPends>] "pv-qspin-pending"
            is "As kick-at-unlock, and the first waiter needs no place in the queue."
            for "comparisons: patches 1 and 5 of the 2015 series"
            c [stanchion_pv_qspin_pending_t] preload [] { stated: stated::PV_QSPIN_PENDING, ..ANNOUNCED }

        pv_qspin_patched PvQSpinPatchedLock [$crate::pv_qspin::PvQSpinLock<$platform, $crate::pv_qspin::Patched>] "pv-qspin-patched"
            is "Kick at unlock, kick ahead, wait early and a pending waiter."
            for "comparisons: the 2015 series as a whole"
            c [stanchion_pv_qspin_patched_t] preload [] { stated: stated::PV_QSPIN_PENDING, ..ANNOUNCED }

        pv_qspin_hash PvQSpinHashLock [$crate::pv_qspin::PvQSpinLock<$platform, $crate::pv_qspin::Hashed>] "pv-qspin-hash"
            is "As kick-at-unlock; a release finds the sleeper in a hash table."
            for "comparisons: how a release finds a sleeper"
            c [stanchion_pv_qspin_hash_t] preload [] {
            source: "the table of Waiman Long's paravirtual qspinlock, Linux 4.2, 2015", stated: stated::PV_QSPIN_HASH, ..ANNOUNCED
        }

        pv_qspin_pointer PvQSpinPointerLock [$crate::pv_qspin::PvQSpinLock<$platform, $crate::pv_qspin::Pointed>] "pv-qspin-pointer"
            is "As kick-at-unlock; the lock points at the sleeper, in 8 bytes."
            for "comparisons: how a release finds a sleeper"
            c [] preload [] {
            bytes: 8, not_preloaded: Some("it has 8 bytes, and the word of a pthread mutex has 4"), source: "this project", ..ANNOUNCED
        }

        ppc_qspin PpcQSpinLock [$crate::pv_qspin::PvQSpinLock<$platform, $crate::pv_qspin::Conferring>] "ppc-qspin"
            is "As kick-at-unlock, and waiters yield instead of sleeping."
            for "comparisons: queued locks on POWER from 2020 to 2022"
            c [stanchion_ppc_qspin_t] preload [] {
            waits: Yield, waiting: "spin 32768 polls, then yield", holder_away: "all yield", next_away: "all yield", variant_of: None,
            source: "Nick Piggin, powerpc/64s: Implement queued spinlocks and rwlocks, Linux aa65ff6b, 2020", stated: stated::PPC_QSPIN, ..ANNOUNCED
        }

        }
    };
}

/// A policy of `pv-qspin` as it was announced, with the bound of `qspin`.
const ANNOUNCED: Facts = Facts {
    name: "",
    alias: "",
    path: "",
    about: "",
    suits: "",
    bytes: 4,
    bytes_a_context: 128,
    bytes_a_class: 0,
    waits: Sleep,
    waiting: "spin 32768 polls, then sleep",
    outnumbered: Falls,
    overtaken: "once each",
    starves: false,
    bound: AtMost(1),
    holder_away: "all sleep",
    next_away: "all sleep until it ran",
    timed: ByTries,
    in_handlers: All,
    shares: None,
    upgrades: false,
    holder: None,
    not_preloaded: Some("it is there to be compared with others, in the laboratory"),
    variant_of: Some("pv-qspin"),
    source: "Waiman Long, paravirtual qspinlock and queued unfair lock, v2, 2015",
    stated: stated::PV_QSPIN_POLICY,
};

with_family_mutexes! { [(); stanchion_core::lock_facts; ] }
