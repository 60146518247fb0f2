//! The programs that locks are put through.
use crate::world::{PLAIN, Settings};

/// What a context does, lock by number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// Acquires, enters the section, releases.
    Hold(usize),
    /// The same, and stays in the section until so many contexts wait. Nothing is explored before that, and contexts with greater
    /// numbers do not start. It is the first step of the first context.
    Gather(usize, usize),
    /// The same as `Hold`, once so many sections are over.
    After(usize, usize),
    /// The same as `Hold`, if a try succeeds.
    Try(usize),
    /// Holds the second lock within the section of the first.
    Nest(usize, usize),
}

use Step::{After, Gather, Hold, Nest, Try};

/// A program for a few contexts.
#[derive(Debug)]
pub struct Shape {
    /// The name on command lines.
    pub name: &'static str,
    /// What it is, in a line.
    pub about: &'static str,
    /// What each context does.
    pub contexts: &'static [&'static [Step]],
    /// What interrupts a context, the first time that it waits.
    pub handlers: &'static [(usize, Step)],
    /// What the machine is like.
    pub settings: Settings,
}

impl Shape {
    /// How many contexts wait before anything is explored, if that is so.
    pub(crate) fn gathered(&self) -> Option<usize> {
        match self.contexts.first()?.first()? {
            Gather(_, contexts) => Some(*contexts),
            _ => None,
        }
    }

    /// How many locks there are.
    pub fn locks(&self) -> usize {
        let steps = self.contexts.iter().flat_map(|steps| steps.iter()).copied();
        let handlers = self.handlers.iter().map(|(_, step)| *step);
        let last = |step| match step {
            Hold(lock) | Gather(lock, _) | After(lock, _) | Try(lock) => lock,
            Nest(outer, inner) => outer.max(inner),
        };
        steps.chain(handlers).map(last).max().map_or(0, |last| last + 1)
    }
}

const BASE: Shape = Shape { name: "", about: "", contexts: &[], handlers: &[], settings: PLAIN };

/// All shapes.
pub const SHAPES: &[Shape] = &[
    Shape {
        name: "two",
        about: "two contexts, one acquisition each",
        contexts: &[&[Hold(0)], &[Hold(0)]],
        ..BASE
    },
    Shape {
        name: "two-again",
        about: "two contexts, one of which comes back",
        contexts: &[&[Hold(0), Hold(0)], &[Hold(0)]],
        ..BASE
    },
    Shape {
        name: "two-twice",
        about: "two contexts, two acquisitions each",
        contexts: &[&[Hold(0), Hold(0)], &[Hold(0), Hold(0)]],
        ..BASE
    },
    Shape {
        name: "three",
        about: "three contexts, one acquisition each",
        contexts: &[&[Hold(0)], &[Hold(0)], &[Hold(0)]],
        ..BASE
    },
    Shape {
        name: "three-again",
        about: "three contexts, one of which comes back",
        contexts: &[&[Hold(0), Hold(0)], &[Hold(0)], &[Hold(0)]],
        ..BASE
    },
    Shape {
        name: "four",
        about: "four contexts, one acquisition each",
        contexts: &[&[Hold(0)], &[Hold(0)], &[Hold(0)], &[Hold(0)]],
        ..BASE
    },
    Shape {
        name: "try",
        about: "an acquisition, and a try followed by an acquisition",
        contexts: &[&[Hold(0)], &[Try(0), Hold(0)]],
        ..BASE
    },
    Shape {
        name: "three-try",
        about: "two acquisitions and a try",
        contexts: &[&[Hold(0)], &[Hold(0)], &[Try(0)]],
        ..BASE
    },
    Shape {
        name: "nested",
        about: "one lock within another, whose waiters also take the inner one",
        contexts: &[&[Nest(0, 1)], &[Hold(1), Hold(0)]],
        ..BASE
    },
    Shape {
        name: "interrupt",
        about: "a waiter is interrupted and takes another lock",
        contexts: &[&[Hold(0)], &[Hold(0), Hold(1)]],
        handlers: &[(0, Hold(1))],
        ..BASE
    },
    Shape {
        name: "numberless",
        about: "two contexts without numbers",
        contexts: &[&[Hold(0), Hold(0)], &[Hold(0)]],
        settings: Settings { numbered: false, ..PLAIN },
        ..BASE
    },
    Shape {
        name: "spurious",
        about: "two contexts; halts and heavy barriers fail once",
        contexts: &[&[Hold(0)], &[Hold(0)]],
        settings: Settings { spurious: 1, barrier_fails: 1, ..PLAIN },
        ..BASE
    },
    Shape {
        name: "preempted",
        about: "two contexts, of which each finds the other preempted",
        contexts: &[&[Hold(0), Hold(0)], &[Hold(0)]],
        settings: Settings { preempted: u8::MAX, ..PLAIN },
        ..BASE
    },
    Shape {
        name: "three-preempted",
        about: "three contexts, of which each finds the others preempted",
        contexts: &[&[Hold(0), Hold(0)], &[Hold(0)], &[Hold(0)]],
        settings: Settings { preempted: u8::MAX, ..PLAIN },
        ..BASE
    },
    Shape {
        name: "gathered",
        about: "three contexts, explored from where two of them wait; the holder comes back",
        contexts: &[&[Gather(0, 2), Hold(0)], &[Hold(0)], &[Hold(0)]],
        ..BASE
    },
    Shape {
        name: "latecomer",
        about: "four contexts, explored from where two of them wait",
        contexts: &[&[Gather(0, 2)], &[Hold(0)], &[Hold(0)], &[Hold(0)]],
        ..BASE
    },
    Shape {
        name: "let-out",
        about: "as gathered; the second waiter, which can be let out, is the only one that is preempted",
        contexts: &[&[Gather(0, 2), Hold(0)], &[Hold(0)], &[Hold(0)]],
        settings: Settings { preempted: 1 << 2, ..PLAIN },
        ..BASE
    },
    Shape {
        name: "let-out-middle",
        about: "the same with a further waiter behind",
        contexts: &[&[Gather(0, 3), Hold(0)], &[Hold(0)], &[Hold(0)], &[Hold(0)]],
        settings: Settings { preempted: 1 << 2, ..PLAIN },
        ..BASE
    },
    Shape {
        name: "let-out-latecomer",
        about: "the same, and that waiter queues meanwhile",
        contexts: &[&[Gather(0, 2), Hold(0)], &[Hold(0)], &[Hold(0)], &[Hold(0)]],
        settings: Settings { preempted: 1 << 2, ..PLAIN },
        ..BASE
    },
    Shape {
        name: "numa",
        about: "three contexts on two NUMA nodes",
        contexts: &[&[Hold(0)], &[Hold(0)], &[Hold(0)]],
        settings: Settings { nodes: 2, ..PLAIN },
        ..BASE
    },
    Shape {
        name: "numa-gathered",
        about: "four contexts on two NUMA nodes, explored from where three of them wait; two come back",
        contexts: &[&[Gather(0, 3), Hold(0)], &[Hold(0), After(0, 3)], &[Hold(0)], &[Hold(0)]],
        settings: Settings { nodes: 2, ..PLAIN },
        ..BASE
    },
];

/// The shape called `name`.
pub fn by_name(name: &str) -> Option<&'static Shape> {
    SHAPES.iter().find(|shape| shape.name == name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_distinct_and_loom_has_enough_threads() {
        for shape in SHAPES {
            assert_eq!(SHAPES.iter().filter(|other| other.name == shape.name).count(), 1, "{}", shape.name);
            assert!(shape.contexts.len() < loom::MAX_THREADS, "{}: one thread sets up", shape.name);
        }
        assert_eq!(by_name("nested").map(Shape::locks), Some(2));
    }
}
