//! Locks whose waiters say where they block: the switches that keep them from halting, and handlers that
//! block under a wait.
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

use core::sync::atomic::{AtomicBool, Ordering};
use core::time::Duration;
use counts::{count, turn};
use signal::{Target, install};
use stanchion::lock::{XenPvLock, counted};
use stanchion::lock_api::{Mutex, RawMutex};
use stanchion::native::{Counted, Native};
use stanchion::stanchion_core::{ConstParavirtual, Event, Machine, Paravirtual, RawLock, Tunable};
use stanchion::stanchion_family::FamilyDomain;
use stanchion::stanchion_family::PvQSpinLock;
use stanchion::stanchion_family::events::FamilyEvents as _;
use stanchion::stanchion_family::tunables::FamilyTunables as _;
use stanchion::{Excludes, Raw, events, tunables};
use std::sync::mpsc::channel;
use watch::{Crew, until};

/// Long enough for a waiter that halts at all to have done so many times.
const LONG: Duration = Duration::from_millis(40);

/// Tunables and the switch are the process's; back to what they were when dropped.
struct Settings;

impl Settings {
    /// Waiters halt after a few polls.
    fn impatient() -> Self {
        tunables::set(Tunable::XenTimeout, 16);
        tunables::set(Tunable::SpinThreshold, 16);
        Self
    }
}

impl Drop for Settings {
    fn drop(&mut self) {
        tunables::set_paravirt(true);
        for tunable in [Tunable::XenTimeout, Tunable::SpinThreshold] {
            tunables::set(tunable, tunable.default());
        }
    }
}

fn word<L: RawLock>(mutex: &Mutex<Raw<L>, u64>) -> String
where
    Raw<L>: RawMutex,
{
    // SAFETY: the raw lock is looked at only, never locked or unlocked.
    format!("{:?}", unsafe { mutex.raw() }.inner().word())
}

/// Lets a thread wait for a held lock, and does something `meanwhile`.
fn wait_while_held<L>(shared: &'static Mutex<Raw<L>, u64>, meanwhile: impl FnOnce())
where
    L: RawLock<Platform = Native<Counted>> + Excludes,
{
    events::reset();
    let before = *shared.lock();
    let guard = shared.lock();
    let mut crew = Crew::new();
    crew.spawn(|| *shared.lock() += 1);
    until("a waiter", || word(shared), || count(Event::LockSlowpath) == 1);
    meanwhile();
    drop(guard);
    crew.join(|| word(shared));
    assert_eq!(*shared.lock(), before + 1);
}

/// `paravirtual` halts and says so by `halted`, but not while the world's switch is off; `without` never
/// does.
fn check_switches<L>(
    paravirtual: &'static Mutex<Raw<L>, u64>,
    without: [&'static Mutex<Raw<L>, u64>; 2],
    halted: Event,
) where
    L: RawLock<Platform = Native<Counted>> + Excludes,
{
    let _turn = turn();
    let _settings = Settings::impatient();
    wait_while_held(paravirtual, || until("a halt", || word(paravirtual), || count(halted) > 0));
    for shared in without {
        wait_while_held(shared, || std::thread::sleep(LONG));
        assert_eq!(count(halted), 0, "made not to halt");
    }
    tunables::set_paravirt(false);
    wait_while_held(paravirtual, || {
        std::thread::sleep(LONG);
        assert_eq!(count(halted), 0, "the world's switch is off");
        tunables::set_paravirt(true);
        until("a halt after all", || word(paravirtual), || count(halted) > 0);
    });
}

macro_rules! switches {
    ($($name:ident: $lock:ty, $halted:ident;)*) => {$(
        #[test]
        fn $name() {
            static PARAVIRTUAL: Mutex<$lock, u64> = Mutex::new(0);
            static WITHOUT: Mutex<$lock, u64> = Mutex::from_raw(<$lock>::WITHOUT_PARAVIRT, 0);
            let made = Box::leak(Box::new(Mutex::from_raw(<$lock>::without_paravirt(), 0)));
            check_switches(&PARAVIRTUAL, [&WITHOUT, made], Event::$halted);
        }
    )*};
}

switches! {
    xen_pv_halts_unless_switched_off: counted::XenPvLock, XenTakenSlow;
    pv_ticket_halts_unless_switched_off: counted::PvTicketLock, TicketTakenSlow;
    // Its only waiter is near its turn, and so polls 2^19 times as long as the others.
    pv_ticket_opportunistic_halts_unless_switched_off: counted::PvTicketOpportunisticLock, TicketTakenSlow;
}

#[test]
fn xen_pv_never_blocks_with_the_greatest_timeout() {
    static SHARED: Mutex<counted::XenPvLock, u64> = Mutex::new(0);
    let _turn = turn();
    let _settings = Settings::impatient();
    tunables::set(Tunable::XenTimeout, u32::MAX);
    wait_while_held(&SHARED, || std::thread::sleep(LONG));
    assert_eq!(count(Event::XenTakenSlow), 0);
}

#[test]
fn a_lock_without_paravirt_is_free_and_four_bytes() {
    fn check<L: ConstParavirtual>() {
        assert_eq!((size_of::<L>(), L::WITHOUT_PARAVIRT.word().locked), (4, 0), "{}", L::NAME);
        let lock = L::without_paravirt();
        for _ in 0..3 {
            assert!(lock.try_acquire());
            assert!(!lock.try_acquire());
            lock.release();
        }
        assert_eq!((lock.word().locked, lock.word().tail & 1), (0, 0), "the switch is no part of a ticket");
    }
    check::<stanchion_family::XenPvLock<Native>>();
    check::<stanchion_family::PvTicketLock<Native>>();
}

static OUTER_TICKET: Mutex<counted::PvTicketLock, u64> = Mutex::new(0);
static INNER_TICKET: Mutex<counted::PvTicketLock, u64> = Mutex::new(0);
static INNERMOST_TICKET: Mutex<counted::PvTicketLock, u64> = Mutex::new(0);

extern "C" fn ticket_handler(_signal: i32) {
    *INNER_TICKET.lock() += 1;
}

extern "C" fn innermost_ticket_handler(_signal: i32) {
    *INNERMOST_TICKET.lock() += 1;
}

/// What a nested wait leaves for the wait under it must not end its own halts, once one of them has ended for
/// no reason (here because of a handler under which it was the outer wait).
#[test]
fn a_handler_that_waits_for_a_ticket_sleeps_and_does_not_poll() {
    if sanitizer::skips("it delivers signals when a thread enters the system, not inside a slow path") {
        return;
    }
    let _turn = turn();
    let _settings = Settings::impatient();
    install(&[ticket_handler, innermost_ticket_handler]);
    events::reset();
    let report = || format!("outer {}, inner {}", word(&OUTER_TICKET), word(&INNER_TICKET));
    let (outer, inner) = (OUTER_TICKET.lock(), INNER_TICKET.lock());
    let innermost = INNERMOST_TICKET.lock();
    let mut crew = Crew::new();
    let (tell, told) = channel();
    crew.spawn(move || {
        tell.send(Target::this_thread()).expect("the test listens");
        *OUTER_TICKET.lock() += 1;
    });
    let victim = told.recv().expect("the victim started");
    until("the victim halting", report, || count(Event::TicketTakenSlow) == 1);
    victim.interrupt(1);
    until("the handler halting", report, || count(Event::TicketTakenSlow) >= 2);
    victim.interrupt(2);
    until("the second handler halting", report, || count(Event::TicketTakenSlow) >= 3);
    drop(innermost);
    until("the second handler done", report, || *INNERMOST_TICKET.lock() == 1);
    std::thread::sleep(LONG); // how long decides only how clearly a waiter that polls would show
    let halts = count(Event::TicketTakenSlow);
    drop(outer); // in vain, as long as the handler waits
    drop(inner);
    crew.join(report);
    assert!(halts < 50, "the handler halted {halts} times instead of sleeping");
    assert_eq!((*OUTER_TICKET.lock(), *INNER_TICKET.lock()), (1, 1));
}

static OUTER: Mutex<XenPvLock, u64> = Mutex::new(0);
static INNER: Mutex<XenPvLock, u64> = Mutex::new(0);
static IN_HANDLER: AtomicBool = AtomicBool::new(false);
static HANDLER_GOES_ON: AtomicBool = AtomicBool::new(false);

extern "C" fn handler(_signal: i32) {
    IN_HANDLER.store(true, Ordering::Release);
    while !HANDLER_GOES_ON.load(Ordering::Acquire) {
        std::thread::yield_now();
    }
    *INNER.lock() += 1;
}

/// A release wakes one context, and this one's handler is about to block for a lock whose holder sleeps on
/// the released one: the handler hands the wake-up on.
#[test]
fn a_wake_up_that_a_handler_cannot_use_is_handed_on() {
    if sanitizer::skips("it delivers signals when a thread enters the system, not inside a slow path") {
        return;
    }
    let _turn = turn();
    install(&[handler]);
    let spinners = || {
        // SAFETY: the raw lock is looked at only, never locked or unlocked.
        unsafe { OUTER.raw() }.inner().word().tail
    };
    let report = || format!("outer {}, inner {}", word(&OUTER), word(&INNER));
    let guard = OUTER.lock();
    let mut crew = Crew::new();
    let (tell, told) = channel();
    // It waits first, so its number is the lower one, and it is found first.
    crew.spawn(move || {
        tell.send(Target::this_thread()).expect("the test listens");
        *OUTER.lock() += 1;
    });
    let victim = told.recv().expect("the victim started");
    until("the victim blocked", report, || spinners() == 1);
    crew.spawn(|| {
        let mut inner = INNER.lock();
        *OUTER.lock() += 1;
        *inner += 1;
    });
    until("another one blocked, holding the inner lock", report, || spinners() == 2);
    std::thread::sleep(LONG); // until both sleep; if they do not yet, nothing is shown
    victim.interrupt(1);
    until("the victim in its handler", report, || IN_HANDLER.load(Ordering::Acquire));
    drop(guard);
    HANDLER_GOES_ON.store(true, Ordering::Release);
    crew.join(report);
    assert_eq!((*OUTER.lock(), *INNER.lock()), (2, 2));
}

/// A context that is nested too deeply to queue waits for a lock that never halts, as for any other.
#[test]
fn a_context_without_a_node_gets_a_lock_that_spins() {
    type Here = Native;
    type Lock = PvQSpinLock<Here>;
    static TAKEN: AtomicBool = AtomicBool::new(false);
    let lock: &'static Lock = Box::leak(Box::new(Lock::without_paravirt()));
    lock.acquire();
    let mut crew = Crew::new();
    crew.spawn(|| {
        Here::with_domain(|domain| {
            let mine = FamilyDomain::<Here>::cpu(domain, Here::this_cpu().expect("few threads"));
            let _levels: [_; 4] = core::array::from_fn(|_| mine.enter().expect("four levels"));
            TAKEN.store(true, Ordering::Release);
            lock.acquire();
            lock.release();
        });
    });
    until("the nodes taken", || format!("{:?}", lock.word()), || TAKEN.load(Ordering::Acquire));
    lock.release();
    crew.join(|| format!("{:?}", lock.word()));
}
