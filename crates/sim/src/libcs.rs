//! What programs have today, to compare with: glibc's default mutex and reader-writer lock, on futexes.
//!
//! The mutex is the third of Drepper's "Futexes are tricky" (2005), which glibc has had since: free, held,
//! held and perhaps awaited. It does not spin, and hands nothing over: who is woken competes with who comes.
//!
//! The reader-writer lock is that of glibc since 2.25 as its comments describe it, of the default kind: a
//! phase is the readers' or the writers', and there is one writer at a time that has the lock or is the next
//! one. While the phase is the readers', they pass a writer that waits. It sleeps at once, and **the last of
//! them leaves the lock to it**: until it has got its CPU back and is through, everybody sleeps. A writer
//! that leaves lets in all readers that wait, or keeps the phase for whoever comes next. Nobody spins.
//!
//! The kernel's queues are lists here; what a call costs is the machine's `host.halt`, `host.kick`,
//! `host.kick-across`, and `host.kick-idle` where nobody sleeps yet, or any more. The mutex cannot tell that
//! from its word, as in glibc: who says that it waits, and finds the word changed by the time of its call,
//! has cost the owner a call for nobody.
// Its orderings have no tags: one host thread runs everything, and the product has no such locks.
use crate::arena::{Arena, Placed};
use crate::engine;
use crate::locks::{AnyLock, LockKind};
use crate::platform::Sim32;
use crate::rw_locks::{AnyRwLock, RwKind};
use core::cell::{Cell, RefCell};
use stanchion_core::order::{AcqRel, Acquire, Relaxed, Release, RmwOrder};
use stanchion_core::transitions::{Table, Word};
use stanchion_core::{Atomic, TooManyReaders};
use std::collections::VecDeque;
use std::rc::Rc;

/// glibc's mutex.
pub(crate) const MUTEX: LockKind = LockKind {
    name: "libc-mutex",
    transitions: Table(&[]),
    variant: true,
    tunings: &[],
    make: |arena| Box::new(FutexMutex { word: arena.place(Sim32::new(FREE)), queue: Queue::default() }),
    lines: 1,
};

/// glibc's reader-writer lock.
pub(crate) const RWLOCK: RwKind = RwKind { name: "libc-rwlock", variant: true, make: rwlock };

fn rwlock(arena: &Rc<Arena>, _class: usize) -> Box<dyn AnyRwLock> {
    let words = arena.place(Words {
        word: Sim32::new(0),
        owner: Sim32::new(0),
        phase: Sim32::new(0),
        next: Sim32::new(0),
    });
    Box::new(FutexRwLock { words, at_phase: Queue::default(), writers: Queue::default() })
}

/// Who sleeps at a futex, in the order in which they came.
#[derive(Default)]
struct Queue {
    sleepers: RefCell<VecDeque<usize>>,
    /// Somebody is about to sleep. Who changes the futex calls the kernel then, also if that comes too late.
    announced: Cell<bool>,
}

impl Queue {
    /// Sleeps if `unchanged` says so at the last moment, until woken, or for no reason.
    fn sleep(&self, unchanged: impl Fn() -> bool) {
        let me = engine::with(|_, who| who).unwrap_or(0);
        if unchanged() {
            self.announced.set(true);
        }
        engine::halt(|| {
            let sleeps = unchanged();
            if sleeps {
                self.sleepers.borrow_mut().push_back(me);
            }
            sleeps
        });
        // Whoever was woken by something else still stands there.
        self.sleepers.borrow_mut().retain(|&who| who != me);
    }

    /// A call that wakes the first `count`, or nobody.
    fn wake(&self, count: usize) {
        self.announced.set(false);
        let mut sleepers = self.sleepers.borrow_mut();
        let first: Vec<usize> = (0..count).map_while(|_| sleepers.pop_front()).collect();
        drop(sleepers);
        if first.is_empty() {
            engine::kick_nobody();
        }
        first.into_iter().for_each(engine::kick);
    }

    /// The same, if anybody sleeps, or is about to.
    fn wake_announced(&self, count: usize) {
        if self.announced.get() || !self.sleepers.borrow().is_empty() {
            self.wake(count);
        }
    }
}

const FREE: u32 = 0;
const HELD: u32 = 1;
const AWAITED: u32 = 2;

struct FutexMutex {
    word: Placed<Sim32>,
    queue: Queue,
}

impl AnyLock for FutexMutex {
    fn acquire(&self) {
        if self.try_acquire() {
            return;
        }
        if self.word.load(Relaxed) == AWAITED {
            self.queue.sleep(|| self.word.peek() == AWAITED);
        }
        while self.word.swap(AWAITED, Acquire) != FREE {
            self.queue.sleep(|| self.word.peek() == AWAITED);
        }
    }
    fn try_acquire(&self) -> bool {
        self.word.compare_exchange(FREE, HELD, Acquire, Relaxed).is_ok()
    }
    /// Nobody replays waits with a deadline.
    fn acquire_within(&self, _nanos: u64) -> bool {
        self.try_acquire()
    }
    fn release(&self) {
        if self.word.swap(FREE, Release) == AWAITED {
            self.queue.wake(1);
        }
    }
    fn release_fair(&self) {
        self.release();
    }
    fn word(&self) -> Word {
        Word { tail: 0, pending: 0, locked: self.word.peek() as u8 }
    }
}

/// The phase is the writers'.
const WRITING: u32 = 1;
/// A writer holds the lock, or is the next one to.
const WRITER: u32 = 2;
/// One that reads, or waits for the writers' phase to end.
const READER: u32 = 4;

fn readers(word: u32) -> u32 {
    word / READER
}

/// What stands on the lock's line.
struct Words {
    word: Sim32,
    /// Who writes, by which a thread finds that it has the lock already. Each call begins with it.
    owner: Sim32,
    /// Where sleep, as the kernel sees it: readers in the writers' phase, and the next writer in theirs.
    phase: Sim32,
    /// The same of writers that are not the next one.
    next: Sim32,
}

struct FutexRwLock {
    words: Placed<Words>,
    at_phase: Queue,
    writers: Queue,
}

impl FutexRwLock {
    /// The phase is another one: who sleeps until then is told.
    fn turn(&self, phase: u32) {
        self.words.phase.swap(phase, Relaxed);
        self.at_phase.wake_announced(usize::MAX);
    }

    /// Changes the word as `change` says; what it was, and is now.
    fn change(&self, order: impl RmwOrder, change: impl Fn(u32) -> u32) -> (u32, u32) {
        let mut seen = self.words.word.load(Relaxed);
        loop {
            let new = change(seen);
            match self.words.word.compare_exchange(seen, new, order, Relaxed) {
                Ok(_) => return (seen, new),
                Err(now) => seen = now,
            }
        }
    }

    fn is(&self, bit: u32) -> bool {
        self.words.word.peek() & bit != 0
    }
}

impl AnyRwLock for FutexRwLock {
    fn acquire_read(&self) -> Result<(), TooManyReaders> {
        self.words.owner.load(Relaxed);
        let mut seen = self.words.word.fetch_add(READER, Acquire) + READER;
        // Nobody writes any more: who finds that first ends the phase.
        while seen & (WRITING | WRITER) == WRITING {
            match self.words.word.compare_exchange(seen, seen & !WRITING, Acquire, Relaxed) {
                Ok(_) => {
                    self.turn(0);
                    return Ok(());
                }
                Err(now) => seen = now,
            }
        }
        while seen & WRITING != 0 {
            self.at_phase.sleep(|| self.is(WRITING));
            seen = self.words.word.load(Acquire);
        }
        Ok(())
    }
    fn release_read(&self) {
        self.words.owner.load(Relaxed);
        let (_, now) = self.change(AcqRel, |seen| {
            let left = seen - READER;
            if readers(left) == 0 && left & WRITER != 0 { left | WRITING } else { left }
        });
        if now & WRITING != 0 {
            self.turn(1);
        }
    }
    fn acquire_write(&self) {
        self.words.owner.load(Relaxed);
        let (mut seen, _) = self.change(Acquire, |seen| seen | WRITER);
        let slept = seen & WRITER != 0;
        while seen & WRITER != 0 {
            self.writers.sleep(|| self.is(WRITER));
            (seen, _) = self.change(Acquire, |seen| seen | WRITER);
        }
        self.words.next.store(1, Relaxed);
        if slept {
            // Others may sleep, too: who slept calls for them when it leaves.
            self.writers.announced.set(true);
        }
        seen |= WRITER;
        while seen & WRITING == 0 && readers(seen) == 0 {
            match self.words.word.compare_exchange(seen, seen | WRITING, Acquire, Relaxed) {
                Ok(_) => {
                    self.words.phase.store(1, Relaxed);
                    seen |= WRITING;
                }
                Err(now) => seen = now,
            }
        }
        while seen & WRITING == 0 {
            self.at_phase.sleep(|| !self.is(WRITING));
            seen = self.words.word.load(Acquire);
        }
        self.words.owner.store(1, Relaxed);
    }
    fn release_write(&self) {
        self.words.owner.load(Relaxed);
        self.words.owner.store(0, Relaxed);
        self.words.next.swap(0, Relaxed);
        let (_, now) = self.change(AcqRel, |seen| {
            let left = seen & !WRITER;
            if readers(left) == 0 { left } else { left & !WRITING }
        });
        if now & WRITING == 0 {
            self.turn(0);
        }
        self.writers.wake_announced(1);
    }
    fn word(&self) -> Word {
        let word = self.words.word.peek();
        Word {
            tail: readers(word) as u16,
            pending: (word & WRITING) as u8,
            locked: u8::from(word & WRITER != 0),
        }
    }
}
