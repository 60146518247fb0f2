//! Reading in signal handlers the very lock that the interrupted thread reads, or is in the midst of taking
//! or giving back.
#![cfg(feature = "std")]

#[path = "support/sanitizer.rs"]
mod sanitizer;
#[path = "support/signal.rs"]
mod signal;
#[path = "support/suppressions.rs"]
mod suppressions;
#[path = "support/watch.rs"]
mod watch;

use core::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed, Ordering::SeqCst};
use core::time::Duration;
use signal::{Target, install};
use stanchion::ReadAgain;
use stanchion::lock::{PerCpuRwLock, PerCpuSimpleRwLock, QueuedRwLock, QueuedSpinRwLock};
use stanchion::lock_api::RwLock;
use stanchion::percpu;
use std::sync::mpsc::channel;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Instant;
use watch::{Crew, until};

const READERS: u64 = 2;
/// Signals in a storm, but no more than can be had in [`LONGEST`] on a machine that is busy.
const SIGNALS: u64 = 20_000;
const LONGEST: Duration = Duration::from_secs(3);
/// Signals that may be on their way.
const UNDERWAY: u64 = 16;

/// Words that are equal whenever nobody writes. Atomics, since a lock that is broken lets readers see a
/// writer at work.
struct Words([AtomicU64; 12]);

impl Words {
    const fn new() -> Self {
        Self([const { AtomicU64::new(0) }; 12])
    }

    fn add_one(&self) {
        for word in &self.0 {
            word.store(word.load(Relaxed) + 1, Relaxed);
        }
    }

    /// Looks until the last word was read once more, so that a writer that comes in meanwhile shows.
    fn look(&self) {
        let first = self.0[0].load(Relaxed);
        for word in self.0.iter().rev().chain(&self.0) {
            if word.load(Relaxed) != first {
                TORN.fetch_add(1, Relaxed);
            }
        }
    }
}

static TORN: AtomicU64 = AtomicU64::new(0);
static HANDLED: AtomicU64 = AtomicU64::new(0);

/// A lock under test with what it protects.
trait Scene: 'static {
    fn read();
    fn read_again();
    fn write();
}

/// Scenes that go by the same methods.
macro_rules! scenes {
    ($($name:ident: $scene:ident, $lock:ty, $new:expr;)*) => {$(
        enum $scene {}
        impl $scene {
            fn lock() -> &'static $lock {
                static LOCK: $lock = $new;
                &LOCK
            }
        }
        impl Scene for $scene {
            fn read() {
                Self::lock().read().look();
            }
            fn read_again() {
                Self::lock().read_again().look();
            }
            fn write() {
                Self::lock().write().add_one();
            }
        }

        #[test]
        fn $name() {
            if skipped() {
                return;
            }
            let _turn = turn();
            assert_eq!(storm::<$scene>(), 0, "torn views");
        }
    )*};
}

static CLASS: percpu::Class = percpu::Class::new();

scenes! {
    percpu_rw: PerCpu, RwLock<PerCpuRwLock, Words>, RwLock::new(Words::new());
    percpu_rw_simple: PerCpuSimple, RwLock<PerCpuSimpleRwLock, Words>, RwLock::new(Words::new());
    percpu_rw_in_a_class: Classed, percpu::PerCpuRwLock<Words>, percpu::PerCpuRwLock::new(&CLASS, Words::new());
    qrw: Queued, RwLock<QueuedRwLock, Words>, RwLock::new(Words::new());
    qrw_spin: QueuedSpin, RwLock<QueuedSpinRwLock, Words>, RwLock::new(Words::new());
}

/// Signals and their counts belong to the whole process.
fn turn() -> MutexGuard<'static, ()> {
    static TURN: Mutex<()> = Mutex::new(());
    TURN.lock().unwrap_or_else(PoisonError::into_inner) // a failed test does not fail the others
}

fn skipped() -> bool {
    sanitizer::skips("it delivers signals when a thread enters the system, not inside an acquisition")
}

extern "C" fn handler<S: Scene>(_signal: i32) {
    S::read_again();
    HANDLED.fetch_add(1, Relaxed);
}

/// The same a level deeper: it may interrupt the first one's acquisition.
extern "C" fn deeper<S: Scene>(_signal: i32) {
    S::read_again();
    HANDLED.fetch_add(1, Relaxed);
}

/// Readers are interrupted thousands of times wherever they are, by handlers that read, while a writer
/// writes. How many torn views there were.
fn storm<S: Scene>() -> u64 {
    install(&[handler::<S>, deeper::<S>]);
    TORN.store(0, SeqCst);
    HANDLED.store(0, SeqCst);
    let stop: &'static AtomicBool = Box::leak(Box::new(AtomicBool::new(false)));
    let report = || format!("{} signals handled", HANDLED.load(SeqCst));
    let mut crew = Crew::new();
    let (tell, told) = channel();
    for _ in 0..READERS {
        let tell = tell.clone();
        crew.spawn(move || {
            tell.send(Target::this_thread()).expect("the test listens");
            while !stop.load(Relaxed) {
                S::read();
            }
        });
    }
    let targets: Vec<Target> = (0..READERS).map(|_| told.recv().expect("it started")).collect();
    crew.spawn(move || {
        while !stop.load(Relaxed) {
            S::write();
            // Readers are to be in the fast path as well as in the slow one.
            (0..200).for_each(|_| core::hint::spin_loop());
        }
    });
    let (mut sent, began) = (0, Instant::now());
    while sent < SIGNALS && began.elapsed() < LONGEST {
        for target in &targets {
            target.interrupt(1);
            target.interrupt(2);
            sent += 2;
        }
        // Not at once: the next ones are to find the readers somewhere else.
        (0..sent % 512).for_each(|_| core::hint::spin_loop());
        until("the signals handled", report, || HANDLED.load(Relaxed) + UNDERWAY >= sent);
    }
    until("the last signals handled", report, || HANDLED.load(Relaxed) == sent);
    stop.store(true, Relaxed);
    crew.join(report);
    println!("{sent} signals");
    TORN.load(SeqCst)
}

/// A handler that reads again has interrupted the first of those who wait. It gets in beside a writer that
/// has the lock nearly all the time: it must not look ever more rarely.
#[test]
fn a_handler_gets_in_while_a_writer_comes_again_and_again() {
    if skipped() {
        return;
    }
    let _turn = turn();
    install(&[handler::<Queued>]);
    HANDLED.store(0, SeqCst);
    let stop: &'static AtomicBool = Box::leak(Box::new(AtomicBool::new(false)));
    let report = || format!("{} signals handled", HANDLED.load(SeqCst));
    let mut crew = Crew::new();
    let held = Queued::lock().write();
    // The head, so that the reader comes to be the first once it has gone.
    crew.spawn(Queued::write);
    std::thread::sleep(Duration::from_millis(20));
    let (tell, told) = channel();
    crew.spawn(move || {
        tell.send(Target::this_thread()).expect("the test listens");
        Queued::read();
        until("the end", || "a reader that waits to be joined".to_owned(), || stop.load(Relaxed));
    });
    let reader = told.recv().expect("it started");
    std::thread::sleep(Duration::from_millis(20)); // it queues behind the head
    reader.interrupt(1);
    std::thread::sleep(Duration::from_millis(20));
    drop(held);
    let began = Instant::now();
    while HANDLED.load(Relaxed) == 0 {
        let held = Queued::lock().write();
        let since = Instant::now();
        while since.elapsed() < Duration::from_micros(200) {
            core::hint::spin_loop();
        }
        drop(held);
        assert!(began.elapsed() < watch::limit(), "the handler does not get in");
    }
    stop.store(true, Relaxed);
    crew.join(report);
}

/// The storm would let any lock pass if it saw nothing.
mod detector {
    use super::*;
    use core::cell::Cell;

    /// A lock with a cell for each thread whose handlers leave the cell empty, though the thread that they
    /// interrupted reads.
    enum Careless {}

    static WRITES: AtomicBool = AtomicBool::new(false);
    static CELLS: [AtomicBool; READERS as usize] = [const { AtomicBool::new(false) }; READERS as usize];
    static NUMBERS: AtomicU64 = AtomicU64::new(0);
    static WORDS: Words = Words::new();

    thread_local! {
        static NUMBER: Cell<Option<usize>> = const { Cell::new(None) };
    }

    impl Scene for Careless {
        fn read() {
            let number = NUMBER.get().unwrap_or_else(|| NUMBERS.fetch_add(1, Relaxed) as usize);
            NUMBER.set(Some(number));
            loop {
                CELLS[number].store(true, SeqCst);
                if !WRITES.load(SeqCst) {
                    break;
                }
                CELLS[number].store(false, SeqCst);
                std::thread::yield_now();
            }
            WORDS.look();
            CELLS[number].store(false, SeqCst);
        }
        fn read_again() {
            if NUMBER.get().is_some() {
                Self::read();
            }
        }
        fn write() {
            WRITES.store(true, SeqCst);
            while CELLS.iter().any(|cell| cell.load(SeqCst)) {
                std::thread::yield_now();
            }
            WORDS.add_one();
            WRITES.store(false, SeqCst);
        }
    }

    #[test]
    fn a_handler_that_leaves_no_trace_of_whom_it_interrupted_is_caught() {
        if skipped() {
            return;
        }
        let _turn = turn();
        let torn = (0..20).find_map(|_| {
            NUMBERS.store(0, SeqCst);
            Some(storm::<Careless>()).filter(|&torn| torn > 0)
        });
        assert!(
            torn.is_some(),
            "a reader that a writer does not know of sees it at work within twenty storms"
        );
    }
}
