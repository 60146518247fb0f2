//! Acquisition from signal handlers that interrupt a thread inside a slow path, four levels deep and deeper.
#![cfg(feature = "std")]

#[path = "support/counts.rs"]
mod counts;
#[path = "support/sanitizer.rs"]
mod sanitizer;
#[path = "support/signal.rs"]
mod signal;
#[path = "support/suppressions.rs"]
mod suppressions;
#[path = "support/watch.rs"]
mod watch;

use core::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use core::time::Duration;
use counts::{count, turn};
use signal::{Target, install};
use stanchion::diagnose::describe;
use stanchion::events;
use stanchion::lock_api::Mutex;
use stanchion::native::{Counted, Native};
use stanchion::stanchion_core::{Event, RawLock};
use stanchion::stanchion_family::catalogue::{self, Facts, Programs, SecondByte, Tail, Waits};
use stanchion::stanchion_family::events::FamilyEvents as _;
use stanchion::{Raw, lock_api};
use std::sync::mpsc::channel;
use watch::{Crew, until};

/// Whether tests with signals are left out.
fn skipped() -> bool {
    sanitizer::skips("it delivers signals when a thread enters the system, not inside a slow path")
}

/// One more than the nodes of a thread: the last level finds none.
const LEVELS: usize = 5;

/// A lock under test: a mutex for each nesting level. The handler of level *n* adds one under mutex *n*.
trait Scene: 'static {
    type Lock: RawLock<Platform = Native<Counted>>;
    const FACTS: &Facts;
    /// Whether the second contender waits without a node, so that the victim must be the third.
    const HAS_PENDING: bool = matches!(Self::FACTS.stated.second_byte, SecondByte::Pends);
    /// Whether its waiters sleep.
    const SLEEPS: bool = matches!(Self::FACTS.waits, Waits::Sleep);
    /// How many threads a stress may have: two where waiters spin.
    const STRESS_THREADS: u64 = if Self::SLEEPS { 6 } else { 2 };
    fn mutexes() -> &'static [Mutex<Raw<Self::Lock>, u64>; LEVELS]
    where
        Raw<Self::Lock>: lock_api::RawMutex;
}

/// What is done with one lock.
struct Row {
    facts: &'static Facts,
    nesting: fn(&[usize; LEVELS]),
    first_slow_path: fn(),
    storm: fn(),
}

impl Row {
    /// Whether waiters need nodes, and the word's tail tells that somebody waits.
    fn has_nodes(&self) -> bool {
        let stated = &self.facts.stated;
        matches!(stated.tail, Tail::Nodes | Tail::Waits) || stated.programs.contains(&Programs::OwnedQueue)
    }
}

macro_rules! scenes {
    ([] $($row:ident $alias:ident [$lock:ty] $name:literal;)*) => {
        mod scene {
            use super::{Counted, Facts, LEVELS, Mutex, Native, Raw, Scene, catalogue};

            $(pub(super) enum $alias {}
            impl Scene for $alias {
                type Lock = $lock;
                const FACTS: &Facts = catalogue::mutex($name);
                fn mutexes() -> &'static [Mutex<Raw<$lock>, u64>; LEVELS] {
                    static MUTEXES: [Mutex<Raw<$lock>, u64>; LEVELS] = [const { Mutex::new(0) }; LEVELS];
                    &MUTEXES
                }
            })*
        }

        const ROWS: &[Row] = &[$(Row {
            facts: scene::$alias::FACTS,
            nesting: check_nesting::<scene::$alias>,
            first_slow_path: check_first_slow_path::<scene::$alias>,
            storm: check_storm::<scene::$alias>,
        }),*];
    };
}

stanchion::stanchion_family::for_each_mutex! { Native<Counted>; scenes; }

/// Does it with the locks of the catalogue that it is for, of the variants those only that programs can have
/// as they are.
fn check_each(is_for: impl Fn(&Row) -> bool, check: impl Fn(&Row)) {
    let rows = ROWS.iter().filter(|row| !row.facts.is_variant() || row.facts.holder.is_some());
    rows.filter(|row| is_for(row)).for_each(check);
}

#[test]
fn five_levels_deep_released_from_the_inside() {
    check_each(Row::has_nodes, |row| (row.nesting)(&[4, 3, 2, 1, 0]));
}

#[test]
fn five_levels_deep_released_from_the_outside() {
    check_each(Row::has_nodes, |row| (row.nesting)(&[0, 1, 2, 3, 4]));
}

#[test]
fn first_slow_path_in_a_handler() {
    check_each(Row::has_nodes, |row| (row.first_slow_path)());
}

#[test]
fn storm() {
    check_each(|_| true, |row| (row.storm)());
}

fn raw<R: lock_api::RawMutex>(mutex: &Mutex<R, u64>) -> &R {
    // SAFETY: the raw lock is looked at only, never locked or unlocked.
    unsafe { mutex.raw() }
}

extern "C" fn handler<S: Scene, const LEVEL: usize>(_signal: i32)
where
    Raw<S::Lock>: lock_api::RawMutex,
{
    *S::mutexes()[LEVEL].lock() += 1;
}

/// Handler *n* - 1 of the list belongs to level *n*.
fn install_handlers<S: Scene>()
where
    Raw<S::Lock>: lock_api::RawMutex,
{
    install(&[handler::<S, 1>, handler::<S, 2>, handler::<S, 3>, handler::<S, 4>]);
}

fn report<S: Scene>() -> String
where
    Raw<S::Lock>: lock_api::RawMutex,
{
    let words = S::mutexes().each_ref().map(|mutex| raw(mutex).inner().word());
    format!("{}\n{words:?}", describe(raw(&S::mutexes()[0])))
}

fn assert_all_free<S: Scene>()
where
    Raw<S::Lock>: lock_api::RawMutex,
{
    for mutex in S::mutexes() {
        let word = raw(mutex).inner().word();
        let waits = !matches!(S::FACTS.stated.tail, Tail::Tickets { .. }) && word.tail != 0;
        assert_eq!((waits, word.pending, word.locked), (false, 0, 0), "{}", report::<S>());
    }
    let in_use = describe(raw(&S::mutexes()[0]));
    assert!(!in_use.contains("node") && !in_use.contains("wait"), "a node is left in use: {}", report::<S>());
}

/// Fills the pending place of a held lock where there is one, so that the next waiter takes a node.
fn take_pending_place<S: Scene>(crew: &mut Crew<()>, level: usize)
where
    Raw<S::Lock>: lock_api::RawMutex,
{
    if S::HAS_PENDING {
        crew.spawn(move || *S::mutexes()[level].lock() += 1);
        let pending = || raw(&S::mutexes()[level]).inner().word().pending != 0;
        until("a pending waiter", report::<S>, pending);
    }
}

/// A thread waits for lock 0; a handler that interrupts it waits for lock 1, and so on; the fifth has no
/// node, unless nodes are leased.
fn check_nesting<S: Scene>(releases: &[usize; LEVELS])
where
    Raw<S::Lock>: lock_api::RawMutex,
{
    if skipped() {
        return;
    }
    let _turn = turn();
    install_handlers::<S>();
    events::reset();
    let totals_before = S::mutexes().each_ref().map(|mutex| *mutex.lock());
    let mut guards = S::mutexes().each_ref().map(|mutex| Some(mutex.lock()));
    let mut crew = Crew::new();
    take_pending_place::<S>(&mut crew, 0);
    let (tell, told) = channel();
    crew.spawn(move || {
        tell.send(Target::this_thread()).expect("the test listens");
        *S::mutexes()[0].lock() += 1;
    });
    let victim = told.recv().expect("the victim started");
    for (level, mutex) in S::mutexes().iter().enumerate().take(LEVELS - 1) {
        until("the victim in the queue", report::<S>, || raw(mutex).inner().word().tail != 0);
        if S::SLEEPS && S::FACTS.stated.fields.iter().any(|&(offset, _)| offset == 1) {
            // Interrupt it while it sleeps, not while it still polls.
            until("the victim asleep", report::<S>, || {
                (1..=123).contains(&raw(mutex).inner().word().pending)
            });
        }
        assert_eq!(count(Event::LockNoNode), 0, "level {level} has a node");
        // Not all at the beginning: who waits there spins.
        take_pending_place::<S>(&mut crew, level + 1);
        victim.interrupt(level + 1);
    }
    if S::FACTS.stated.tail == Tail::Waits {
        let last = raw(&S::mutexes()[LEVELS - 1]);
        until("the fifth level in the queue", report::<S>, || last.inner().word().tail != 0);
        assert_eq!(count(Event::LockNoNode), 0, "each wait has a node");
    } else {
        until("the fifth level polling", report::<S>, || count(Event::LockNoNode) == 1);
        for event in [Event::LockUseNode2, Event::LockUseNode3, Event::LockUseNode4] {
            assert_eq!(count(event), 1, "{}", event.name());
        }
    }
    for &level in releases {
        drop(guards[level].take());
    }
    crew.join(report::<S>);

    let waiters = 1 + u64::from(S::HAS_PENDING);
    for (mutex, before) in S::mutexes().iter().zip(totals_before) {
        assert_eq!(*mutex.lock(), before + waiters);
    }
    assert_all_free::<S>();
    check_stress::<S>();
}

/// All locks still exclude and lose nothing.
fn check_stress<S: Scene>()
where
    Raw<S::Lock>: lock_api::RawMutex,
{
    const ROUNDS: u64 = 30;
    let before = S::mutexes().each_ref().map(|mutex| *mutex.lock());
    let mut crew = Crew::new();
    for _ in 0..S::STRESS_THREADS {
        crew.spawn(|| {
            for _ in 0..ROUNDS {
                for mutex in S::mutexes() {
                    *mutex.lock() += 1;
                }
            }
        });
    }
    crew.join(report::<S>);
    for (mutex, before) in S::mutexes().iter().zip(before) {
        assert_eq!(*mutex.lock(), before + S::STRESS_THREADS * ROUNDS);
    }
    assert_all_free::<S>();
}

/// A thread that never waited has no number and no storage; it gets both in the handler.
fn check_first_slow_path<S: Scene>()
where
    Raw<S::Lock>: lock_api::RawMutex,
{
    if skipped() {
        return;
    }
    let _turn = turn();
    install_handlers::<S>();
    events::reset();
    let before = *S::mutexes()[1].lock();
    let (guard, outer) = (S::mutexes()[1].lock(), S::mutexes()[0].lock());
    let only_held = raw(&S::mutexes()[0]).inner().word();
    let mut crew = Crew::new();
    take_pending_place::<S>(&mut crew, 1);
    let (tell, told) = channel();
    let (finish, finished) = channel::<()>();
    crew.spawn(move || {
        tell.send(Target::this_thread()).expect("the test listens");
        let _ = finished.recv(); // the sender is only ever dropped
        *S::mutexes()[0].lock() += 1; // and it can wait outside a handler after that
    });
    told.recv().expect("the fresh thread started").interrupt(1);
    until("the handler in the queue", report::<S>, || raw(&S::mutexes()[1]).inner().word().tail != 0);
    assert_eq!(count(Event::LockNoNode), 0, "the handler got a number and a node");
    drop(guard);
    let waiters = 1 + u64::from(S::HAS_PENDING);
    until("the handler done", report::<S>, || *S::mutexes()[1].lock() == before + waiters);
    drop(finish);
    until("the fresh thread in the queue", report::<S>, || raw(&S::mutexes()[0]).inner().word() != only_held);
    drop(outer);
    crew.join(report::<S>);
    assert_all_free::<S>();
}

/// A waiter in a handler that is woken for the sake of the wait that it interrupted sleeps again, and does
/// not poll.
#[test]
fn a_nested_waiter_sleeps_again_after_a_kick_for_the_outer_one() {
    type S = scene::PvQSpinLock;
    if skipped() {
        return;
    }
    let _turn = turn();
    install_handlers::<S>();
    events::reset();
    let [outer, inner, ..] = S::mutexes();
    let (outer_guard, inner_guard) = (outer.lock(), inner.lock());
    let mut crew = Crew::new();
    let (tell, told) = channel();
    crew.spawn(move || {
        tell.send(Target::this_thread()).expect("the test listens");
        *outer.lock() += 1;
    });
    let victim = told.recv().expect("the victim started");
    until("the victim halting", report::<S>, || count(Event::PvWaitHead) == 1);
    victim.interrupt(1);
    until("the handler halting", report::<S>, || count(Event::PvWaitHead) == 2);
    drop(outer_guard); // kicks the victim's outer wait, which its handler has interrupted
    // How long we hold on decides only how clearly a waiter that polls would show: it would halt every 30 us.
    std::thread::sleep(Duration::from_millis(60));
    let halts = count(Event::PvWaitHead) + count(Event::PvWaitAgain);
    drop(inner_guard);
    crew.join(report::<S>);
    assert!(halts < 50, "the handler halted {halts} times instead of sleeping");
    assert_all_free::<S>();
}

/// Signals of all levels arrive at any moment, in threads that contend for all locks.
fn check_storm<S: Scene>()
where
    Raw<S::Lock>: lock_api::RawMutex,
{
    const SIGNALS: u64 = 480; // whole bursts in each scene
    if skipped() {
        return;
    }
    let _turn = turn();
    install_handlers::<S>();
    let before: u64 = S::mutexes().iter().map(|mutex| *mutex.lock()).sum();
    let stop: &'static AtomicBool = Box::leak(Box::new(AtomicBool::new(false)));
    let sections: &'static AtomicU64 = Box::leak(Box::new(AtomicU64::new(0)));
    let mut crew = Crew::new();
    let (tell, told) = channel();
    for _ in 0..S::STRESS_THREADS {
        let tell = tell.clone();
        crew.spawn(move || {
            tell.send(Target::this_thread()).expect("the test listens");
            while !stop.load(Ordering::Acquire) {
                *S::mutexes()[0].lock() += 1;
                sections.fetch_add(1, Ordering::Relaxed);
            }
        });
    }
    let targets: Vec<Target> = (0..S::STRESS_THREADS).map(|_| told.recv().expect("it started")).collect();
    let handled = || S::mutexes()[1..].iter().map(|mutex| *mutex.lock()).sum::<u64>();
    let handled_before = handled();
    let per_burst = S::STRESS_THREADS * (LEVELS as u64 - 1);
    for burst in 0..SIGNALS / per_burst {
        // In every other burst all locks are held meanwhile, so that handlers wait and interrupt one
        // another's waits.
        let mut guards = S::mutexes().each_ref().map(|mutex| (burst % 2 == 0).then(|| mutex.lock()));
        for target in &targets {
            (1..LEVELS).for_each(|level| target.interrupt(level));
        }
        for turn in 0..LEVELS {
            drop(guards[(turn + burst as usize) % LEVELS].take());
        }
        until("a burst handled", report::<S>, || handled() - handled_before == (burst + 1) * per_burst);
    }
    stop.store(true, Ordering::Release);
    crew.join(report::<S>);
    let after: u64 = S::mutexes().iter().map(|mutex| *mutex.lock()).sum();
    assert_eq!(after, before + SIGNALS + sections.load(Ordering::Relaxed));
    assert_all_free::<S>();
}
