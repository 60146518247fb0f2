//! What every reader-writer lock must do, written once for any lock in any world, as `mutex` is for the
//! others.
mod changes;

use crate::words::{Torn, Words};
use crate::world::repeat;
use crate::{Context, Flag, Load, World};
use alloc::boxed::Box;
use alloc::format;
use alloc::string::String;
use alloc::sync::Arc;
use alloc::vec;
use alloc::vec::Vec;
pub use changes::{downgraded_beside_readers, downgrades, upgradable_beside_readers, upgrades};
use core::sync::atomic::{AtomicU32, Ordering};
use stanchion_core::RawRwLock;

/// A lock and what it protects.
struct Protected<W: World, L> {
    lock: L,
    words: Words<W::Witness>,
    /// Who is inside. Relaxed, so that it orders nothing that the lock should order.
    readers: AtomicU32,
    writers: AtomicU32,
    /// How many are about to acquire, and how many will not acquire any more.
    at_the_door: AtomicU32,
    gone: AtomicU32,
}

impl<W: World, L: RawRwLock> Protected<W, L> {
    fn new() -> Arc<Self> {
        Arc::new(Self {
            lock: L::new(),
            words: Words::default(),
            readers: AtomicU32::new(0),
            writers: AtomicU32::new(0),
            at_the_door: AtomicU32::new(0),
            gone: AtomicU32::new(0),
        })
    }

    /// Checks the words and adds one to each. The caller holds the lock alone.
    fn write(&self) {
        assert_eq!(self.writers.fetch_add(1, Ordering::Relaxed), 0, "{}: two writers", L::NAME);
        assert_eq!(self.readers.load(Ordering::Relaxed), 0, "{}: a writer beside readers", L::NAME);
        // SAFETY: the caller holds the lock alone, so no other reference to the words is alive if the lock
        // excludes.
        let written = unsafe { self.words.add_one() };
        self.writers.fetch_sub(1, Ordering::Relaxed);
        assert!(written.is_ok(), "{}: somebody else was writing", L::NAME);
    }

    /// Checks the words. The caller holds the lock in some way.
    fn read(&self) -> u64 {
        self.readers.fetch_add(1, Ordering::Relaxed);
        assert_eq!(self.writers.load(Ordering::Relaxed), 0, "{}: a reader beside a writer", L::NAME);
        let seen = self.total();
        self.readers.fetch_sub(1, Ordering::Relaxed);
        seen
    }

    /// The sum. The caller holds the lock in some way, or everybody is done.
    fn total(&self) -> u64 {
        // SAFETY: the caller holds the lock or is alone, so nobody changes the words if the lock excludes.
        unsafe { self.words.look() }.unwrap_or_else(|Torn| panic!("{}: a torn section", L::NAME))
    }

    /// Acquires, being seen at the door.
    fn enter(&self, acquire: impl FnOnce(&L)) {
        self.at_the_door.fetch_add(1, Ordering::Relaxed);
        acquire(&self.lock);
        self.at_the_door.fetch_sub(1, Ordering::Relaxed);
    }

    /// Stays inside until another context is at the door or comes in, or all others are gone. So the lock is
    /// contended on any machine, and it shows if somebody comes in who may not. The caller is a reader, or
    /// holds the lock alone.
    fn stay(&self, load: Load, as_whom: &AtomicU32) {
        as_whom.fetch_add(1, Ordering::Relaxed);
        let inside = || (self.readers.load(Ordering::Relaxed), self.writers.load(Ordering::Relaxed));
        W::until("company", &mut || {
            let (readers, writers) = inside();
            self.at_the_door.load(Ordering::Relaxed) > 0
                || readers + writers > 1
                || self.gone.load(Ordering::Relaxed) as usize == load.contexts - 1
        });
        let (readers, writers) = inside();
        as_whom.fetch_sub(1, Ordering::Relaxed);
        assert!(
            writers == 0 || readers + writers == 1,
            "{}: {readers} readers and {writers} writers inside",
            L::NAME
        );
    }

    fn read_locked(&self) -> u64 {
        self.lock.acquire_read().expect("few readers");
        let seen = self.read();
        self.lock.release_read();
        seen
    }

    fn write_locked(&self) {
        self.lock.acquire_write();
        self.write();
        self.lock.release_write();
    }

    fn report(self: &Arc<Self>) -> impl Fn() -> String + use<W, L> {
        let this = Arc::clone(self);
        move || format!("{}: {:?}", L::NAME, this.lock.word())
    }

    fn assert_free(&self) {
        let word = self.lock.word();
        assert_eq!((word.tail, word.pending, word.locked), (0, 0, 0), "{}: free", L::NAME);
        assert!(self.lock.try_acquire_write(), "{}: nobody holds it", L::NAME);
        self.lock.release_write();
    }
}

/// Writers exclude everybody, and no section is lost. Every context reads and writes; contexts differ in how
/// often.
pub fn excludes<W: World, L: RawRwLock>(load: Load) {
    let shared = Protected::<W, L>::new();
    let writes = |index: usize, round: u64| round.is_multiple_of(1 << (2 * (index % 3)));
    let contexts = repeat(load.contexts, |index| {
        let shared = Arc::clone(&shared);
        Box::new(move || {
            let mut last = 0;
            for round in 0..load.rounds {
                let stays = load.company && round % 32 < 2;
                if writes(index, round) {
                    shared.enter(L::acquire_write);
                    if stays {
                        shared.stay(load, &shared.writers);
                    }
                    shared.write();
                    shared.lock.release_write();
                } else {
                    shared.enter(|lock| lock.acquire_read().expect("few readers"));
                    if stays {
                        shared.stay(load, &shared.readers);
                    }
                    let seen = shared.read();
                    shared.lock.release_read();
                    assert!(seen >= last, "{}: what was read before is gone", L::NAME);
                    last = seen;
                }
            }
            shared.gone.fetch_add(1, Ordering::Relaxed);
        })
    });
    W::run(&shared.report(), contexts);
    let expected = (0..load.contexts).flat_map(|index| (0..load.rounds).map(move |round| (index, round)));
    assert_eq!(shared.read(), expected.filter(|&(index, round)| writes(index, round)).count() as u64);
    shared.assert_free();
}

/// As exclusion, with contexts that try first, and one that only tries.
pub fn excludes_with_tries<W: World, L: RawRwLock>(load: Load) {
    let shared = Protected::<W, L>::new();
    let contexts = repeat(load.contexts, |index| {
        let shared = Arc::clone(&shared);
        Box::new(move || {
            for round in 0..load.rounds {
                if round % 2 == 0 {
                    if index == 0 {
                        W::until("a try to write that succeeds", &mut || shared.lock.try_acquire_write());
                    } else if !shared.lock.try_acquire_write() {
                        shared.lock.acquire_write();
                    }
                    shared.write();
                    shared.lock.release_write();
                } else {
                    if index == 0 {
                        W::until("a try to read that succeeds", &mut || shared.lock.try_acquire_read());
                    } else if !shared.lock.try_acquire_read() {
                        shared.lock.acquire_read().expect("few readers");
                    }
                    shared.read();
                    shared.lock.release_read();
                }
            }
        })
    });
    W::run(&shared.report(), contexts);
    assert_eq!(shared.read(), load.rounds.div_ceil(2) * load.contexts as u64);
    shared.assert_free();
}

/// Two contexts read at the same time: each stays until it has seen the other inside.
pub fn readers_are_in_together<W: World, L: RawRwLock>(load: Load) {
    let shared = Protected::<W, L>::new();
    let inside = Arc::new(W::Flag::default());
    let contexts = repeat(load.contexts, |_| {
        let (shared, inside, all) = (Arc::clone(&shared), Arc::clone(&inside), load.contexts as u32);
        Box::new(move || {
            shared.lock.acquire_read().expect("few readers");
            inside.add_one();
            W::until("all readers inside", &mut || inside.get() == all);
            assert!(!shared.lock.try_acquire_write(), "{}: there are readers", L::NAME);
            shared.read();
            shared.lock.release_read();
        })
    });
    W::run(&shared.report(), contexts);
    shared.assert_free();
}

/// A try fails exactly while another context holds the lock in a way that excludes it.
pub fn tries_fail_while_held<W: World, L: RawRwLock>(load: Load) {
    let shared = Protected::<W, L>::new();
    let stage = Arc::new(W::Flag::default());
    let reach = |stage: &W::Flag, number: u32| {
        W::until("the next stage", &mut || stage.get() == number);
    };
    let holder: Context = {
        let (shared, stage) = (Arc::clone(&shared), Arc::clone(&stage));
        Box::new(move || {
            assert!(shared.lock.try_acquire_write(), "{}: free", L::NAME);
            assert!(!shared.lock.try_acquire_read(), "{}: written by ourselves", L::NAME);
            assert!(!shared.lock.try_acquire_write(), "{}: written by ourselves", L::NAME);
            stage.set(1);
            reach(&stage, 2);
            shared.lock.release_write();
            assert!(shared.lock.try_acquire_read(), "{}: free again", L::NAME);
            stage.set(3);
            reach(&stage, 4);
            shared.lock.release_read();
            stage.set(5);
        })
    };
    let trier: Context = {
        let shared = Arc::clone(&shared);
        Box::new(move || {
            reach(&stage, 1);
            for _ in 0..load.tries {
                assert!(!shared.lock.try_acquire_read(), "{}: another context writes", L::NAME);
                assert!(!shared.lock.try_acquire_write(), "{}: another context writes", L::NAME);
            }
            stage.set(2);
            reach(&stage, 3);
            for _ in 0..load.tries {
                assert!(!shared.lock.try_acquire_write(), "{}: another context reads", L::NAME);
                assert!(shared.lock.try_acquire_read(), "{}: another context only reads", L::NAME);
                shared.lock.release_read();
            }
            stage.set(4);
            reach(&stage, 5);
            assert!(shared.lock.try_acquire_write(), "{}: free again", L::NAME);
            shared.lock.release_write();
        })
    };
    W::run(&shared.report(), vec![holder, trier]);
    shared.assert_free();
}

/// A context that reads may read again, also when a writer waits, and each release counts.
pub fn reads_again_while_a_writer_waits<W: World, L: RawRwLock>(load: Load) {
    let shared = Protected::<W, L>::new();
    let (reading, comes) = (Arc::new(W::Flag::default()), Arc::new(W::Flag::default()));
    let reader: Context = {
        let (shared, reading, comes) = (Arc::clone(&shared), Arc::clone(&reading), Arc::clone(&comes));
        Box::new(move || {
            shared.lock.acquire_read().expect("few readers");
            reading.set(1);
            W::until("a writer about to wait", &mut || comes.get() == 1);
            for depth in 1..=load.rounds.min(3) {
                for _ in 0..depth {
                    shared.lock.acquire_read_again().expect("few readers");
                    shared.read();
                }
                for _ in 0..depth {
                    shared.lock.release_read();
                    shared.read();
                }
            }
            shared.lock.release_read();
        })
    };
    let writer: Context = {
        let shared = Arc::clone(&shared);
        Box::new(move || {
            W::until("a reader", &mut || reading.get() == 1);
            comes.set(1);
            shared.write_locked();
        })
    };
    W::run(&shared.report(), vec![reader, writer]);
    assert_eq!(shared.read(), 1);
    shared.assert_free();
}

/// Several locks held together for reading and given back in every order, beside writers of each.
pub fn released_in_any_order<W: World, L: RawRwLock>(load: Load) {
    const ORDERS: [[usize; 3]; 6] = [[0, 1, 2], [0, 2, 1], [1, 0, 2], [1, 2, 0], [2, 0, 1], [2, 1, 0]];
    let all: Arc<Vec<Arc<Protected<W, L>>>> = Arc::new((0..3).map(|_| Protected::new()).collect());
    let rounds = load.rounds.min(200);
    let contexts = repeat(load.contexts, |index| {
        let all = Arc::clone(&all);
        Box::new(move || {
            for round in 0..rounds as usize {
                if (round + index) % 4 == 0 {
                    all[(round / 4) % 3].write_locked();
                    continue;
                }
                for shared in all.iter() {
                    shared.lock.acquire_read().expect("few readers");
                }
                for &which in &ORDERS[(round + index) % ORDERS.len()] {
                    all[which].read();
                    all[which].lock.release_read();
                }
            }
        })
    });
    let report = {
        let all = Arc::clone(&all);
        move || format!("{:?}", all.iter().map(|shared| shared.lock.word()).collect::<Vec<_>>())
    };
    W::run(&report, contexts);
    let written: u64 = all.iter().map(|shared| shared.read()).sum();
    let expected =
        (0..load.contexts).map(|index| (0..rounds as usize).filter(|round| (round + index) % 4 == 0).count());
    assert_eq!(written, expected.sum::<usize>() as u64);
    all.iter().for_each(|shared| shared.assert_free());
}
