//! What programs have today, to compare with: glibc's default mutex and reader-writer lock, on futexes.
//!
//! The mutex is the third of Drepper's "Futexes are tricky" (2005), which glibc has had since: free, held,
//! held and perhaps awaited. It does not spin, and hands nothing over: who is woken competes with who comes.
//! The reader-writer lock prefers readers as glibc's default kind does: they pass waiting writers, and a
//! writer that leaves lets all waiting readers in. The kernel's queues are lists here; what a call costs is
//! the machine's `host.halt` and `host.kick`.
// tidy: ordering-definitions: one host thread runs everything, and the product has no such locks
use crate::arena::{Arena, Placed};
use crate::engine;
use crate::locks::{AnyLock, LockKind};
use crate::platform::Sim32;
use crate::rw_locks::{AnyRwLock, RwKind};
use core::cell::RefCell;
use stanchion_core::order::{AcqRel, Acquire, Relaxed, Release};
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
    let word = arena.place(Sim32::new(0));
    Box::new(FutexRwLock { word, readers: Queue::default(), writers: Queue::default() })
}

/// Who sleeps at a futex, in the order in which they came.
#[derive(Default)]
struct Queue(RefCell<VecDeque<usize>>);

impl Queue {
    /// Sleeps if `unchanged` says so at the last moment, until woken, or for no reason.
    fn sleep(&self, unchanged: impl Fn() -> bool) {
        let me = engine::with(|_, who| who).unwrap_or(0);
        engine::halt(|| {
            let sleeps = unchanged();
            if sleeps {
                self.0.borrow_mut().push_back(me);
            }
            sleeps
        });
        // Whoever was woken by something else still stands there.
        self.0.borrow_mut().retain(|&who| who != me);
    }

    /// Wakes the first.
    fn wake_one(&self) {
        let first = self.0.borrow_mut().pop_front();
        if let Some(first) = first {
            engine::kick(first);
        }
    }

    fn wake_all(&self) {
        let all = core::mem::take(&mut *self.0.borrow_mut());
        all.into_iter().for_each(engine::kick);
    }

    fn is_empty(&self) -> bool {
        self.0.borrow().is_empty()
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
            self.queue.wake_one();
        }
    }
    fn release_fair(&self) {
        self.release();
    }
    fn word(&self) -> Word {
        Word { tail: 0, pending: 0, locked: self.word.peek() as u8 }
    }
}

/// Set while a writer is inside; below it, readers that are inside or wait for the writer to leave.
const WRITER: u32 = 1 << 31;

struct FutexRwLock {
    word: Placed<Sim32>,
    readers: Queue,
    writers: Queue,
}

impl AnyRwLock for FutexRwLock {
    fn acquire_read(&self) -> Result<(), TooManyReaders> {
        let mut seen = self.word.fetch_add(1, Acquire);
        while seen & WRITER != 0 {
            self.readers.sleep(|| self.word.peek() & WRITER != 0);
            seen = self.word.load(Acquire);
        }
        Ok(())
    }
    fn release_read(&self) {
        if self.word.fetch_add(u32::MAX, AcqRel) == 1 && !self.writers.is_empty() {
            self.writers.wake_one();
        }
    }
    fn acquire_write(&self) {
        while self.word.compare_exchange(0, WRITER, Acquire, Relaxed).is_err() {
            self.writers.sleep(|| self.word.peek() != 0);
        }
    }
    fn release_write(&self) {
        // The readers that wait are counted already; the phase is theirs.
        if self.word.fetch_add(WRITER, AcqRel) != WRITER {
            self.readers.wake_all();
        } else if !self.writers.is_empty() {
            self.writers.wake_one();
        }
    }
    fn word(&self) -> Word {
        let word = self.word.peek();
        Word { tail: word as u16, pending: 0, locked: u8::from(word & WRITER != 0) }
    }
}
