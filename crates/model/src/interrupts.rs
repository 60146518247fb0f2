//! Interrupts of one context: the handlers that are to run, and when.
//!
//! A handler runs to its end on top of what it interrupts. Either it comes when its context first waits, or
//! at a *point*: before a given access of lock code by its context, counted from the start of its program. A
//! program with such handlers is explored once for each point ([`Points`]), until no execution gets there.
//! What lies between two accesses cannot be told apart, so no point is left out; that a compiler might move
//! accesses across one is not modelled.
use crate::{run, world};
use core::cell::{Cell, RefCell};
use std::collections::VecDeque;

/// What an interrupt does.
pub(crate) type Handler = Box<dyn FnOnce()>;

/// Handlers of one context.
#[derive(Default)]
pub(crate) struct Interrupts {
    waiting: RefCell<Option<Handler>>,
    anywhere: RefCell<VecDeque<Handler>>,
    /// Accesses since the start, or since the last handler started.
    accesses: Cell<usize>,
    fired: Cell<usize>,
    running: Cell<usize>,
}

impl Interrupts {
    /// Sets what comes when the context first waits.
    pub(crate) fn when_waiting(&self, handler: Handler) {
        self.waiting.replace(Some(handler));
    }

    /// Adds what comes at the next of the points.
    pub(crate) fn at_a_point(&self, handler: Handler) {
        self.anywhere.borrow_mut().push_back(handler);
    }

    /// Whether a handler runs.
    pub(crate) fn running(&self) -> bool {
        self.running.get() > 0
    }

    fn run(&self, handler: Handler) {
        self.running.set(self.running.get() + 1);
        handler();
        self.running.set(self.running.get() - 1);
    }

    /// The context waits; whether a handler was due and has run.
    pub(crate) fn wait(&self) -> bool {
        let handler = self.waiting.take();
        handler.is_some_and(|handler| {
            self.run(handler);
            true
        })
    }

    /// The context is about to access a cell.
    fn access(&self) {
        if self.anywhere.borrow().is_empty() {
            return;
        }
        if self.fired.get() > 0 && self.running() != run::points_nest() {
            return;
        }
        self.accesses.set(self.accesses.get() + 1);
        if run::point(self.fired.get()) == Some(self.accesses.get()) {
            let handler = self.anywhere.borrow_mut().pop_front();
            self.accesses.set(0);
            self.fired.set(self.fired.get() + 1);
            run::fired(self.fired.get());
            if let Some(handler) = handler {
                self.run(handler);
            }
        }
    }
}

/// Lock code of the calling context is about to access a cell.
pub(crate) fn access() {
    if run::has_points()
        && !std::thread::panicking()
        && let Some((world, me)) = world::try_here()
    {
        world.interrupts(me).access();
    }
}

/// At which accesses the handlers come: the first one counted from the start; the second one either comes
/// within the first, counted from that one's start, or comes after it, counted from its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Points {
    handlers: usize,
    at: [usize; 2],
    second: Second,
}

/// When a second handler comes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Second {
    /// It interrupts the first one.
    Within,
    /// It comes so many accesses after the first one's end at most.
    After(usize),
}

impl Points {
    pub(crate) fn new(handlers: usize, second: Second) -> Self {
        assert!(handlers <= 2, "a program has two handlers at most");
        Self { handlers, at: [1; 2], second }
    }

    /// Whether the second handler interrupts the first one.
    pub(crate) fn nest(self) -> bool {
        self.second == Second::Within
    }

    /// The point of the handler `number`.
    pub(crate) fn of(self, number: usize) -> Option<usize> {
        self.at.get(..self.handlers)?.get(number).copied()
    }

    /// Goes on to the next points, after an exploration in which `fired` handlers ran at most; `None` if
    /// there are none.
    pub(crate) fn next(self, fired: usize) -> Option<Self> {
        let [first, second] = self.at;
        let at = match (self.handlers, fired) {
            (0, _) | (_, 0) => return None,
            (2, 2) if self.second != Second::After(second) => [first, second + 1],
            _ => [first + 1, 1],
        };
        Some(Self { at, ..self })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Explores programs in which the context makes `accesses` accesses and its first handler `within` more.
    fn explored(handlers: usize, second: Second, accesses: usize, within: usize) -> Vec<[usize; 2]> {
        let mut points = Some(Points::new(handlers, second));
        let mut all = Vec::new();
        while let Some(now) = points {
            all.push(now.at);
            let first = now.at[0] <= accesses;
            let left = if now.nest() { within } else { accesses + 1 - now.at[0].min(accesses) };
            let second = handlers == 2 && first && now.at[1] <= left;
            points = now.next(usize::from(first) + usize::from(second));
        }
        all
    }

    #[test]
    fn every_point_is_explored_and_one_behind_the_last() {
        assert_eq!(explored(0, Second::Within, 3, 0), [[1, 1]]);
        assert_eq!(explored(1, Second::Within, 3, 0), [[1, 1], [2, 1], [3, 1], [4, 1]]);
        let nested = [[1, 1], [1, 2], [1, 3], [2, 1], [2, 2], [2, 3], [3, 1]];
        assert_eq!(explored(2, Second::Within, 2, 2), nested);
        assert_eq!(explored(2, Second::After(2), 2, 9), [[1, 1], [1, 2], [2, 1], [2, 2], [3, 1]]);
        assert_eq!(explored(2, Second::After(1), 2, 9), [[1, 1], [2, 1], [3, 1]]);
    }
}
