//! A hot sleeping mutex of a program: its waiters meet at one futex hash chain, whose spin lock is the lock
//! under test.
//!
//! The mutex itself is the one of the C library: a word that is free, held, or held with waiters; who finds
//! it held says so and sleeps in the chain; who releases it with waiters wakes the first. An operation takes
//! the mutex some times, with work between.
use super::Lives;
use super::parameters::parameters;
use crate::here::Here;
use crate::time::{MS, Time};
use core::cell::{Cell, RefCell};
use std::collections::VecDeque;

parameters! {
    /// Parameters of a hot futex chain.
    FutexChain {
        /// Sections of the mutex in an operation.
        sections: u32 = "sections" Count(1, 64);
        /// Work while holding the mutex, each time.
        critical: Time = "critical" Span(0, 10 * MS);
        /// Work of an operation without the mutex, spread evenly between its sections.
        think: Time = "think" Span(0, 100 * MS);
        /// How much longer or shorter that work may be, each time.
        varies_percent: u32 = "varies-percent" Percent(100), or 0;
        /// Work of a futex call before and after its section on the chain.
        call: Time = "call" Span(0, MS);
        /// Work inside of a section on the chain.
        chain: Time = "chain" Span(0, MS);
        /// Lines of the chain and its entries that such a section writes.
        lines: u32 = "lines" Count(0, 16);
        /// Lines that the program's mutex protects.
        data: u32 = "data" Count(0, 16), or 1;
    }
}

/// States of the mutex's word.
const FREE: u8 = 0;
const HELD: u8 = 1;
const AWAITED: u8 = 2;

/// The chain with the mutex that uses it.
pub(super) struct Running {
    with: FutexChain,
    word: Cell<u8>,
    asleep: RefCell<VecDeque<usize>>,
}

impl Lives for FutexChain {
    fn locks(&self, _contexts: usize) -> usize {
        1
    }

    /// The mutex's word, the data, the chain.
    fn lines(&self, _contexts: usize) -> usize {
        (1 + self.data + self.lines) as usize
    }

    fn live(&self, here: &Here) {
        Running::new(self.clone()).live(here);
    }
}

impl Running {
    pub(super) fn new(with: FutexChain) -> Self {
        Self { with, word: Cell::new(FREE), asleep: RefCell::default() }
    }

    /// The chain's lines, written under its lock.
    fn walks_chain(&self, here: &Here) {
        let first = 1 + self.with.data as usize;
        here.touch(first..first + self.with.lines as usize, true);
        here.compute(self.with.chain);
    }

    fn lock(&self, here: &Here) {
        here.touch(0..1, true);
        if self.word.get() == FREE {
            self.word.set(HELD);
            return;
        }
        while self.word.replace(AWAITED) != FREE {
            here.compute(self.with.call);
            here.acquire(0);
            self.walks_chain(here);
            let sleeps = self.word.get() == AWAITED;
            if sleeps {
                self.asleep.borrow_mut().push_back(here.index());
            }
            here.release(0);
            if sleeps {
                here.sleep_until_woken();
            }
            here.compute(self.with.call);
            here.touch(0..1, true);
        }
    }

    fn unlock(&self, here: &Here) {
        here.touch(0..1, true);
        if self.word.replace(FREE) != AWAITED {
            return;
        }
        here.compute(self.with.call);
        here.acquire(0);
        self.walks_chain(here);
        let first = self.asleep.borrow_mut().pop_front();
        here.release(0);
        if let Some(first) = first {
            here.wake(first);
        }
        here.compute(self.with.call);
    }
}

impl Lives for Running {
    fn locks(&self, contexts: usize) -> usize {
        self.with.locks(contexts)
    }

    fn lines(&self, contexts: usize) -> usize {
        self.with.lines(contexts)
    }

    fn live(&self, here: &Here) {
        let think = self.with.think / Time::from(self.with.sections);
        loop {
            for _ in 0..self.with.sections {
                here.compute(here.about(think, u64::from(self.with.varies_percent)));
                self.lock(here);
                here.touch(1..1 + self.with.data as usize, true);
                here.compute(self.with.critical);
                self.unlock(here);
            }
            here.op();
        }
    }
}
