//! What every mutual exclusion lock must do, written once for any lock in any world.
//!
//! A body knows the world that it runs in by [`World`] only, and the lock by [`RawLock`]. It asks for no clock, and it
//! waits for nothing but through [`World::until`], so a simulator can run its contexts as coroutines. Its own variables
//! are the standard library's; those that are not atomic are protected by the lock under test.
use core::cell::UnsafeCell;
use core::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use stanchion_core::RawLock;
use std::sync::Arc;

/// One context's work.
pub(crate) type Context = Box<dyn FnOnce() + Send>;

/// What a body needs of the world around the locks.
pub(crate) trait World {
    /// Runs the contexts at the same time, each to its end. Panics, with `report`, if one panics or never ends.
    fn run(report: &dyn Fn() -> String, contexts: Vec<Context>);

    /// Lets the calling context wait until `done`. Panics if that never comes.
    fn until(what: &str, done: &mut dyn FnMut() -> bool);
}

/// How much a body does.
#[derive(Clone, Copy)]
pub(crate) struct Load {
    pub(crate) contexts: usize,
    pub(crate) rounds: u64,
}

/// A lock and several plain words that it protects. The words are equal whenever nobody is inside.
struct Protected<L> {
    lock: L,
    words: UnsafeCell<[u64; WORDS]>,
    /// How many are inside. Relaxed, so that it orders nothing that the lock should order.
    inside: AtomicU32,
    /// How many are about to acquire, and how many will not acquire any more.
    at_the_door: AtomicU32,
    gone: AtomicU32,
}

/// More than a cache line, so that a torn section shows.
const WORDS: usize = 12;

// SAFETY: the words are reached through `add_one` and `total` only, whose callers hold the lock or are alone.
unsafe impl<L: Sync> Sync for Protected<L> {}

impl<L: RawLock> Protected<L> {
    fn new() -> Arc<Self> {
        Arc::new(Self {
            lock: L::new(),
            words: UnsafeCell::new([0; WORDS]),
            inside: AtomicU32::new(0),
            at_the_door: AtomicU32::new(0),
            gone: AtomicU32::new(0),
        })
    }

    /// Checks the words and adds one to each. The caller holds the lock.
    fn add_one(&self) -> u64 {
        assert_eq!(self.inside.fetch_add(1, Ordering::Relaxed), 0, "{}: somebody else is inside", L::NAME);
        // SAFETY: the caller holds the lock, so no other reference to the words is alive if the lock excludes.
        let words = unsafe { &mut *self.words.get() };
        let before = words[0];
        for word in words.iter_mut() {
            assert_eq!(*word, before, "{}: somebody else was inside", L::NAME);
            *word = before + 1;
        }
        self.inside.fetch_sub(1, Ordering::Relaxed);
        before + 1
    }

    /// Acquires, stays inside until another context is at the door (unless all others are gone), and adds one. So the
    /// lock is contended on any machine, however the contexts are scheduled.
    fn add_one_in_company<W: World>(&self, load: Load) {
        self.at_the_door.fetch_add(1, Ordering::Relaxed);
        self.lock.acquire();
        self.at_the_door.fetch_sub(1, Ordering::Relaxed);
        assert_eq!(self.inside.fetch_add(1, Ordering::Relaxed), 0, "{}: somebody else is inside", L::NAME);
        W::until("company", &mut || {
            self.at_the_door.load(Ordering::Relaxed) > 0
                || self.gone.load(Ordering::Relaxed) as usize == load.contexts - 1
        });
        self.inside.fetch_sub(1, Ordering::Relaxed);
        self.add_one();
        self.lock.release();
    }

    fn locked_add_one(&self) -> u64 {
        self.lock.acquire();
        let now = self.add_one();
        self.lock.release();
        now
    }

    /// The sum, when everybody else is done.
    fn total(&self) -> u64 {
        // SAFETY: every context has ended, so this is the only reference to the words.
        let words = unsafe { *self.words.get() };
        assert!(words.iter().all(|&word| word == words[0]), "{}: a torn section", L::NAME);
        words[0]
    }

    fn report(self: &Arc<Self>) -> impl Fn() -> String + use<L> {
        let this = Arc::clone(self);
        move || format!("{}: {:?}", L::NAME, this.lock.word())
    }
}

/// A free lock's word is all zero, but for a ticket lock's next ticket.
fn assert_free<L: RawLock>(lock: &L) {
    let word = lock.word();
    assert_eq!((word.pending, word.locked), (0, 0), "{}: free", L::NAME);
    assert!(word.tail == 0 || L::NAME.contains("ticket"), "{}: nobody is queued, yet {word:?}", L::NAME);
}

fn repeat(count: usize, context: impl Fn(usize) -> Context) -> Vec<Context> {
    (0..count).map(context).collect()
}

/// No two contexts are inside at once, and no acquisition is lost.
pub(crate) fn check_exclusion<W: World, L: RawLock>(load: Load) {
    let shared = Protected::<L>::new();
    let contexts = repeat(load.contexts, |_| {
        let shared = Arc::clone(&shared);
        Box::new(move || {
            for round in 0..load.rounds {
                if round % 32 == 0 {
                    shared.add_one_in_company::<W>(load);
                } else {
                    shared.at_the_door.fetch_add(1, Ordering::Relaxed);
                    shared.lock.acquire();
                    shared.at_the_door.fetch_sub(1, Ordering::Relaxed);
                    shared.add_one();
                    shared.lock.release();
                }
            }
            shared.gone.fetch_add(1, Ordering::Relaxed);
        })
    });
    W::run(&shared.report(), contexts);
    assert_eq!(shared.total(), load.rounds * load.contexts as u64);
    assert_free(&shared.lock);
}

/// As exclusion, with contexts that try first, and one that only tries.
pub(crate) fn check_tries_exclude<W: World, L: RawLock>(load: Load) {
    let shared = Protected::<L>::new();
    let contexts = repeat(load.contexts, |index| {
        let shared = Arc::clone(&shared);
        Box::new(move || {
            for _ in 0..load.rounds {
                if index == 0 {
                    W::until("a try that succeeds", &mut || shared.lock.try_acquire());
                } else if !shared.lock.try_acquire() {
                    shared.lock.acquire();
                }
                shared.add_one();
                shared.lock.release();
            }
        })
    });
    W::run(&shared.report(), contexts);
    assert_eq!(shared.total(), load.rounds * load.contexts as u64);
    assert_free(&shared.lock);
}

/// A try fails exactly while the lock is held, by its own context or by another one.
pub(crate) fn check_try<W: World, L: RawLock>(_load: Load) {
    let shared = Protected::<L>::new();
    let (held, tried) = (Arc::new(AtomicBool::new(false)), Arc::new(AtomicBool::new(false)));
    let holder: Context = {
        let (shared, held, tried) = (Arc::clone(&shared), Arc::clone(&held), Arc::clone(&tried));
        Box::new(move || {
            assert!(shared.lock.try_acquire(), "{}: free", L::NAME);
            assert!(!shared.lock.try_acquire(), "{}: held by ourselves", L::NAME);
            assert_eq!(shared.lock.word().locked, 1);
            held.store(true, Ordering::Release);
            W::until("the other one's try", &mut || tried.load(Ordering::Acquire));
            shared.lock.release();
            held.store(false, Ordering::Release);
        })
    };
    let trier: Context = {
        let shared = Arc::clone(&shared);
        Box::new(move || {
            W::until("the holder", &mut || held.load(Ordering::Acquire));
            for _ in 0..100 {
                assert!(!shared.lock.try_acquire(), "{}: held by another context", L::NAME);
            }
            tried.store(true, Ordering::Release);
            W::until("the release", &mut || !held.load(Ordering::Acquire));
            assert!(shared.lock.try_acquire(), "{}: free again", L::NAME);
            shared.lock.release();
        })
    };
    W::run(&shared.report(), vec![holder, trier]);
    assert_free(&shared.lock);
}

/// A released lock is free, also after more acquisitions than any of its fields can count.
pub(crate) fn check_free_again<W: World, L: RawLock>(_load: Load) {
    let shared = Protected::<L>::new();
    let context: Context = {
        let shared = Arc::clone(&shared);
        Box::new(move || {
            assert_free(&shared.lock);
            for round in 0..70_000_u32 {
                if round % 2 == 0 {
                    shared.lock.acquire();
                } else {
                    assert!(shared.lock.try_acquire());
                }
                assert_eq!(shared.lock.word().locked, 1);
                shared.lock.release();
                assert_free(&shared.lock);
            }
        })
    };
    W::run(&shared.report(), vec![context]);
    assert_free(&shared.lock);
}

/// Two contexts take turns: each sees what the other wrote and gets the lock again.
pub(crate) fn check_ping_pong<W: World, L: RawLock>(load: Load) {
    let shared = Protected::<L>::new();
    let contexts = repeat(2, |index| {
        let shared = Arc::clone(&shared);
        Box::new(move || {
            let mine = index as u64;
            for round in 0..load.rounds {
                // The sum says whose turn it is: even numbers are the first one's.
                W::until("our turn", &mut || {
                    shared.lock.acquire();
                    // SAFETY: we hold the lock, so nobody else refers to the words if it excludes.
                    let ours = unsafe { (*shared.words.get())[0] } == 2 * round + mine;
                    if ours {
                        shared.add_one();
                    }
                    shared.lock.release();
                    ours
                });
            }
        })
    });
    W::run(&shared.report(), contexts);
    assert_eq!(shared.total(), 2 * load.rounds);
    assert_free(&shared.lock);
}

/// Many locks at once; each context holds two and waits for the second while it holds the first.
pub(crate) fn check_many_locks<W: World, L: RawLock>(load: Load) {
    const LOCKS: usize = 300;
    let all: Arc<Vec<Arc<Protected<L>>>> = Arc::new((0..LOCKS).map(|_| Protected::new()).collect());
    let contexts = repeat(load.contexts, |index| {
        let all = Arc::clone(&all);
        Box::new(move || {
            for step in 0..LOCKS {
                // Neighbours of a ring, started at different places, locked in ascending order: no deadlock.
                let first = (step + index) % (LOCKS - 1);
                all[first].lock.acquire();
                all[first + 1].locked_add_one();
                all[first].add_one();
                all[first].lock.release();
            }
        })
    });
    let report = {
        let all = Arc::clone(&all);
        move || {
            let held = all.iter().enumerate().filter(|(_, shared)| shared.lock.word().locked != 0);
            held.map(|(index, shared)| format!("{index}: {:?}", shared.lock.word()))
                .collect::<Vec<_>>()
                .join("\n")
        }
    };
    W::run(&report, contexts);
    let total: u64 = all.iter().map(|shared| shared.total()).sum();
    assert_eq!(total, 2 * (LOCKS * load.contexts) as u64);
    all.iter().for_each(|shared| assert_free(&shared.lock));
}

/// A lock belongs to no context: another one may release it, while the acquirer already waits for it again.
pub(crate) fn check_release_elsewhere<W: World, L: RawLock>(load: Load) {
    let shared = Protected::<L>::new();
    let passed = Arc::new(AtomicU32::new(0));
    let rounds = load.rounds.min(200) as u32;
    let acquirer: Context = {
        let (shared, passed) = (Arc::clone(&shared), Arc::clone(&passed));
        Box::new(move || {
            for round in 1..=rounds {
                shared.lock.acquire(); // waits for the other one's release, from the second round on
                shared.add_one();
                passed.store(round, Ordering::Release);
            }
        })
    };
    let releaser: Context = {
        let shared = Arc::clone(&shared);
        Box::new(move || {
            for round in 1..=rounds {
                W::until("the lock passed on", &mut || passed.load(Ordering::Acquire) == round);
                shared.add_one();
                shared.lock.release();
            }
        })
    };
    W::run(&shared.report(), vec![acquirer, releaser]);
    assert_eq!(shared.total(), 2 * u64::from(rounds));
    assert_free(&shared.lock);
}
