//! A plain spin-then-park futex mutex, written for the benchmark as the strongest simple baseline.
//!
//! The word is 0 (free), 1 (held) or 2 (held, and somebody may sleep): Drepper's third mutex with about
//! a hundred polls in front of the sleep. On machines with more threads than CPUs this was, with glibc's
//! adaptive mutex, the best of 33 lock configurations.
use crate::bench::contender::Contender;
use core::hint::spin_loop;
use core::sync::atomic::AtomicU32;
use core::sync::atomic::Ordering::{Acquire, Relaxed, Release};
use rustix::thread::futex;

const FREE: u32 = 0;
const HELD: u32 = 1;
const SLEEPERS: u32 = 2;

/// What std's mutex polls too, so that the two differ in nothing but the rest.
const POLLS: u32 = 100;

pub(crate) struct SpinPark(AtomicU32);

impl SpinPark {
    #[cold]
    fn acquire_slow(&self) {
        for _ in 0..POLLS {
            let word = self.0.load(Relaxed);
            if word == FREE && self.0.compare_exchange(FREE, HELD, Acquire, Relaxed).is_ok() {
                return;
            }
            // Somebody sleeps already: spinning would only overtake them.
            if word == SLEEPERS {
                break;
            }
            spin_loop();
        }
        // From here on the word is left at `SLEEPERS`, because we cannot know that we are the last one.
        while self.0.swap(SLEEPERS, Acquire) != FREE {
            // Both errors (the word changed, a signal came) mean: look again.
            let _ = futex::wait(&self.0, futex::Flags::PRIVATE, SLEEPERS, None);
        }
    }

    #[cold]
    fn wake_one(&self) {
        let _ = futex::wake(&self.0, futex::Flags::PRIVATE, 1);
    }
}

impl Contender for SpinPark {
    fn new() -> Self {
        Self(AtomicU32::new(FREE))
    }

    #[inline]
    fn write<R>(&self, critical: impl FnOnce() -> R) -> R {
        if self.0.compare_exchange(FREE, HELD, Acquire, Relaxed).is_err() {
            self.acquire_slow();
        }
        let result = critical();
        if self.0.swap(FREE, Release) == SLEEPERS {
            self.wake_one();
        }
        result
    }
}
