//! What every mutual exclusion lock must do, written once for any lock in any world.
//!
//! A body knows the world that it runs in by [`World`] only, and the lock by [`RawLock`]. It asks for no
//! clock, and it waits for nothing but through [`World::until`], so a simulator can run its contexts as
//! coroutines. Of its own variables, those that are not atomic are protected by the lock under test.
use crate::words::{Torn, Words};
use crate::world::repeat;
use crate::{Context, Flag, Load, World};
use alloc::boxed::Box;
use alloc::format;
use alloc::string::String;
use alloc::sync::Arc;
use alloc::vec;
use alloc::vec::Vec;
use core::sync::atomic::{AtomicU32, Ordering};
use stanchion_core::{Machine as _, RawLock};
use stanchion_family::catalogue::{MUTEXES, Tail};

/// A lock and what it protects.
struct Protected<W: World, L> {
    lock: L,
    words: Words<W::Witness>,
    /// How many are inside. Relaxed, so that it orders nothing that the lock should order.
    inside: AtomicU32,
    /// How many are about to acquire, and how many will not acquire any more.
    at_the_door: AtomicU32,
    gone: AtomicU32,
}

impl<W: World, L: RawLock> Protected<W, L> {
    fn new() -> Arc<Self> {
        Arc::new(Self {
            lock: L::new(),
            words: Words::default(),
            inside: AtomicU32::new(0),
            at_the_door: AtomicU32::new(0),
            gone: AtomicU32::new(0),
        })
    }

    /// Checks the words and adds one to each. The caller holds the lock.
    fn add_one(&self) -> u64 {
        assert_eq!(self.inside.fetch_add(1, Ordering::Relaxed), 0, "{}: somebody else is inside", L::NAME);
        // SAFETY: the caller holds the lock, so no other reference to the words is alive if the lock
        // excludes.
        let now = unsafe { self.words.add_one() };
        self.inside.fetch_sub(1, Ordering::Relaxed);
        now.unwrap_or_else(|Torn| panic!("{}: somebody else was inside", L::NAME))
    }

    /// The sum. The caller holds the lock, or everybody is done.
    fn total(&self) -> u64 {
        // SAFETY: the caller holds the lock or is alone, so nobody changes the words if the lock excludes.
        unsafe { self.words.look() }.unwrap_or_else(|Torn| panic!("{}: a torn section", L::NAME))
    }

    fn acquire_at_the_door(&self) {
        self.at_the_door.fetch_add(1, Ordering::Relaxed);
        self.lock.acquire();
        self.at_the_door.fetch_sub(1, Ordering::Relaxed);
    }

    /// Acquires, stays inside until another context is at the door (unless all others are gone), and adds
    /// one. So the lock is contended on any machine, however the contexts are scheduled.
    fn add_one_in_company(&self, load: Load) {
        self.acquire_at_the_door();
        assert_eq!(self.inside.fetch_add(1, Ordering::Relaxed), 0, "{}: somebody else is inside", L::NAME);
        W::until("company", &mut || {
            self.at_the_door.load(Ordering::Relaxed) > 0
                || self.gone.load(Ordering::Relaxed) as usize == load.contexts - 1
        });
        self.inside.fetch_sub(1, Ordering::Relaxed);
        self.add_one();
        self.lock.release();
    }

    fn report(self: &Arc<Self>) -> impl Fn() -> String + use<W, L> {
        let this = Arc::clone(self);
        move || format!("{}: {:?}", L::NAME, this.lock.word())
    }
}

fn has_tickets(name: &str) -> bool {
    MUTEXES.iter().any(|facts| facts.name == name && matches!(facts.stated.tail, Tail::Tickets { .. }))
}

/// A free lock's word is all zero, but for a ticket lock's next ticket.
fn assert_free<L: RawLock>(lock: &L) {
    let word = lock.word();
    assert_eq!((word.pending, word.locked), (0, 0), "{}: free", L::NAME);
    assert!(word.tail == 0 || has_tickets(L::NAME), "{}: nobody is queued, yet {word:?}", L::NAME);
}

/// No two contexts are inside at once, and no acquisition is lost.
pub fn excludes<W: World, L: RawLock>(load: Load) {
    let shared = Protected::<W, L>::new();
    let contexts = repeat(load.contexts, |_| {
        let shared = Arc::clone(&shared);
        Box::new(move || {
            for round in 0..load.rounds {
                if load.company && round % 32 == 0 {
                    shared.add_one_in_company(load);
                } else {
                    shared.acquire_at_the_door();
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
pub fn excludes_with_tries<W: World, L: RawLock>(load: Load) {
    let shared = Protected::<W, L>::new();
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
pub fn tries_fail_while_held<W: World, L: RawLock>(load: Load) {
    let shared = Protected::<W, L>::new();
    let (held, tried) = (Arc::new(W::Flag::default()), Arc::new(W::Flag::default()));
    let holder: Context = {
        let (shared, held, tried) = (Arc::clone(&shared), Arc::clone(&held), Arc::clone(&tried));
        Box::new(move || {
            assert!(shared.lock.try_acquire(), "{}: free", L::NAME);
            assert!(!shared.lock.try_acquire(), "{}: held by ourselves", L::NAME);
            assert_eq!(shared.lock.word().locked, 1);
            held.set(1);
            W::until("the other one's try", &mut || tried.get() == 1);
            shared.lock.release();
            held.set(0);
        })
    };
    let trier: Context = {
        let shared = Arc::clone(&shared);
        Box::new(move || {
            W::until("the holder", &mut || held.get() == 1);
            for _ in 0..load.tries {
                assert!(!shared.lock.try_acquire(), "{}: held by another context", L::NAME);
            }
            tried.set(1);
            W::until("the release", &mut || held.get() == 0);
            assert!(shared.lock.try_acquire(), "{}: free again", L::NAME);
            shared.lock.release();
        })
    };
    W::run(&shared.report(), vec![holder, trier]);
    assert_free(&shared.lock);
}

/// A released lock is free, also after more acquisitions than any of its fields can count (where the load is
/// that great), and is acquired whatever the deadline.
pub fn free_after_release<W: World, L: RawLock>(load: Load) {
    let shared = Protected::<W, L>::new();
    let context: Context = {
        let shared = Arc::clone(&shared);
        Box::new(move || {
            assert_free(&shared.lock);
            for round in 0..load.alone {
                match round % 4 {
                    1 => assert!(shared.lock.try_acquire()),
                    3 => assert!(shared.lock.acquire_until(&L::Platform::after(0))),
                    _ => shared.lock.acquire(),
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
pub fn passes_to_and_fro<W: World, L: RawLock>(load: Load) {
    let shared = Protected::<W, L>::new();
    let contexts = repeat(2, |index| {
        let shared = Arc::clone(&shared);
        Box::new(move || {
            let mine = index as u64;
            for round in 0..load.rounds {
                // The sum says whose turn it is: even numbers are the first one's.
                W::until("our turn", &mut || {
                    shared.lock.acquire();
                    let ours = shared.total() == 2 * round + mine;
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
pub fn many_at_once<W: World, L: RawLock>(load: Load) {
    let all: Arc<Vec<Arc<Protected<W, L>>>> = Arc::new((0..load.locks).map(|_| Protected::new()).collect());
    let contexts = repeat(load.contexts, |index| {
        let all = Arc::clone(&all);
        Box::new(move || {
            for step in 0..load.locks {
                // Neighbours of a ring, started at different places, locked in ascending order: no deadlock.
                let first = (step + index) % (load.locks - 1);
                all[first].lock.acquire();
                all[first + 1].lock.acquire();
                all[first + 1].add_one();
                all[first + 1].lock.release();
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
    assert_eq!(total, 2 * (load.locks * load.contexts) as u64);
    all.iter().for_each(|shared| assert_free(&shared.lock));
}

/// A lock belongs to no context: another one may release it, while the acquirer already waits for it again.
pub fn released_by_another_context<W: World, L: RawLock>(load: Load) {
    let shared = Protected::<W, L>::new();
    let passed = Arc::new(W::Flag::default());
    let rounds = load.rounds.min(200) as u32;
    let acquirer: Context = {
        let (shared, passed) = (Arc::clone(&shared), Arc::clone(&passed));
        Box::new(move || {
            for round in 1..=rounds {
                shared.lock.acquire(); // waits for the other one's release, from the second round on
                shared.add_one();
                passed.set(round);
            }
        })
    };
    let releaser: Context = {
        let shared = Arc::clone(&shared);
        Box::new(move || {
            for round in 1..=rounds {
                W::until("the lock passed on", &mut || passed.get() == round);
                shared.add_one();
                shared.lock.release();
            }
        })
    };
    W::run(&shared.report(), vec![acquirer, releaser]);
    assert_eq!(shared.total(), 2 * u64::from(rounds));
    assert_free(&shared.lock);
}
