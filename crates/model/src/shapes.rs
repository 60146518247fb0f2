//! The programs that locks are put through.
pub use crate::interrupts::Second;
use crate::rw_shapes;
use crate::settings::{PLAIN, Settings};
pub use crate::subject::Mode;

/// What a context does, lock by number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// Acquires, enters the section, releases.
    Hold(usize),
    /// The same, and stays in the section until so many contexts wait. Nothing is explored before that, and
    /// contexts with greater numbers do not start. It is the first step of the first context. Where there are
    /// absences (`Settings::absences`) it is absent, too.
    Gather(usize, usize),
    /// The same as `Gather`, and releases fairly.
    GatherFair(usize, usize),
    /// The same as `Gather`, and so many sections are over before, so that nodes and parking slots have been
    /// used. All contexts start.
    GatherAfter(usize, usize, usize),
    /// The same as `Hold`, and stays in the section until so many contexts wait.
    Await(usize, usize),
    /// The same as `Hold`, once so many sections are over.
    After(usize, usize),
    /// The same as `Hold`, if a try succeeds.
    Try(usize),
    /// Holds the second lock within the section of the first.
    Nest(usize, usize),
    /// The same as `Hold`, and is off its CPU throughout the section, and again after the release, for good.
    Absent(usize),
    /// Holds a reader-writer lock in each of these modes in turn, without giving it up in between. (All steps
    /// above hold such a lock as a writer.)
    As(usize, &'static [Mode]),
    /// The same in one mode, if a try succeeds.
    TryAs(usize, Mode),
    /// As `Gather`, as a reader.
    GatherRead(usize, usize),
    /// Reads, and stays in the section until that context has been in one.
    ReadUntil(usize, usize),
    /// Reads, and reads again within the section.
    Again(usize),
    /// Reads the second lock within its section as a reader of the first.
    Around(usize, usize),
    /// Reads the first lock, then the second, and gives the first one up first.
    Across(usize, usize),
    /// Writes to the second lock within its section as a reader of the first.
    WriteWithin(usize, usize),
    /// Holds a lock upgradably, and becomes the writer if a try succeeds.
    TryUpgrade(usize),
}

use Step::{
    Absent, Across, After, Again, Around, As, Await, Gather, GatherAfter, GatherFair, GatherRead, Hold, Nest,
    ReadUntil, Try, TryAs, TryUpgrade, WriteWithin,
};

/// A program for a few contexts.
#[derive(Debug)]
pub struct Shape {
    /// The name on command lines.
    pub name: &'static str,
    /// What it is, in a line.
    pub about: &'static str,
    /// What each context does.
    pub contexts: &'static [&'static [Step]],
    /// What interrupts a context, the first time that it waits, or is about to halt (`Settings::hard_halts`).
    pub handlers: &'static [(usize, Step)],
    /// What interrupts the first context, one handler after the other, at every point of its program.
    pub anywhere: &'static [Step],
    /// When the second of them comes.
    pub second: Second,
    /// What the machine is like.
    pub settings: Settings,
}

impl Shape {
    /// The last context that starts before anything is explored, if that is so.
    pub(crate) fn gathered(&self) -> Option<usize> {
        match self.contexts.first()?.first()? {
            Gather(_, last) | GatherFair(_, last) | GatherRead(_, last) => Some(*last),
            GatherAfter(..) => Some(self.contexts.len()),
            _ => None,
        }
    }

    /// How many locks there are.
    pub fn locks(&self) -> usize {
        let steps = self.contexts.iter().flat_map(|steps| steps.iter()).copied();
        let handlers = self.handlers.iter().map(|(_, step)| *step);
        let last = |step| match step {
            Hold(lock)
            | Try(lock)
            | Gather(lock, _)
            | GatherFair(lock, _)
            | GatherAfter(lock, ..)
            | After(lock, _)
            | Await(lock, _)
            | Absent(lock)
            | As(lock, _)
            | TryAs(lock, _)
            | GatherRead(lock, _)
            | ReadUntil(lock, _)
            | Again(lock)
            | TryUpgrade(lock) => lock,
            Nest(one, other) | Around(one, other) | Across(one, other) | WriteWithin(one, other) => {
                one.max(other)
            }
        };
        steps.chain(handlers).chain(self.anywhere.iter().copied()).map(last).max().map_or(0, |last| last + 1)
    }
}

pub(crate) const BASE: Shape = Shape {
    name: "",
    about: "",
    contexts: &[],
    handlers: &[],
    anywhere: &[],
    second: Second::Within,
    settings: PLAIN,
};

/// All shapes.
pub fn all() -> impl Iterator<Item = &'static Shape> {
    SHAPES.iter().chain(rw_shapes::SHAPES)
}

/// The shapes that every lock could go through.
const SHAPES: &[Shape] = &[
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
        name: "timed",
        about: "an acquisition, and one that may be given up; both come back",
        contexts: &[&[Hold(0), Hold(0)], &[As(0, &[Mode::Timed]), Hold(0)]],
        ..BASE
    },
    Shape {
        name: "timed-gathered",
        about: "three contexts, explored from where two of them wait, the last behind a place that it gave up",
        contexts: &[&[Gather(0, 2)], &[Hold(0)], &[As(0, &[Mode::Timed]), Hold(0)]],
        ..BASE
    },
    Shape {
        name: "fair",
        about: "two contexts, explored from where one waits; the holder releases fairly and comes back",
        contexts: &[&[GatherFair(0, 1), Hold(0)], &[Hold(0)]],
        ..BASE
    },
    Shape {
        name: "fair-awake",
        about: "as fair-heir, on two CPUs: the holder gives way to nobody, and hands over to an heir that is awake",
        contexts: &[&[Gather(0, 1), As(0, &[Mode::Fair])], &[Hold(0)]],
        settings: Settings { nodes: 2, ..PLAIN },
        ..BASE
    },
    Shape {
        name: "fair-heir",
        about: "two contexts, explored from where one waits; the holder comes back, and releases fairly then",
        contexts: &[&[Gather(0, 1), As(0, &[Mode::Fair])], &[Hold(0)]],
        ..BASE
    },
    Shape {
        name: "fair-timed",
        about: "the same with a waiter that may give up, and comes back",
        contexts: &[&[GatherFair(0, 1), Hold(0)], &[As(0, &[Mode::Timed]), Hold(0)]],
        ..BASE
    },
    Shape {
        name: "fair-gathered",
        about: "three contexts, explored from where two of them wait; the holder releases fairly",
        contexts: &[&[GatherFair(0, 2)], &[Hold(0)], &[Hold(0)]],
        ..BASE
    },
    Shape {
        name: "urgent",
        about: "three contexts, of which the last is of real-time priority",
        contexts: &[&[Hold(0)], &[Hold(0)], &[Hold(0)]],
        settings: Settings { urgent: 1 << 2, ..PLAIN },
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
        name: "early-kick",
        about: "two contexts, one of which comes back; a kick that comes before the comparison of a halt is forgotten",
        contexts: &[&[Hold(0), Hold(0)], &[Hold(0)]],
        settings: Settings { forgets_kicks: true, ..PLAIN },
        ..BASE
    },
    Shape {
        name: "three-early-kick",
        about: "three contexts; a kick that comes before the comparison of a halt is forgotten",
        contexts: &[&[Hold(0)], &[Hold(0)], &[Hold(0)]],
        settings: Settings { forgets_kicks: true, ..PLAIN },
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
        name: "elsewhere",
        about: "four contexts; the head that sleeps has its parking slot from one that the waiter behind it stood behind at another \
                lock; explored from where both wait",
        contexts: &[
            &[GatherAfter(0, 2, 4)],
            &[Await(1, 2), After(2, 3), Hold(0)],
            &[Hold(1)],
            &[Hold(1), After(0, 4)],
        ],
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
    Shape {
        name: "numa-latecomer",
        about: "as latecomer, on two NUMA nodes; queue nodes have been in use, and their links lead astray",
        contexts: &[&[Gather(0, 2)], &[Hold(0)], &[Hold(0)], &[Hold(0)]],
        settings: Settings { nodes: 2, used_nodes: true, ..PLAIN },
        ..BASE
    },
    Shape {
        name: "absent",
        about: "two contexts, of which one comes back and the other is off its CPU now and then",
        contexts: &[&[Hold(0), Hold(0)], &[Absent(0)]],
        settings: Settings { absences: true, ..PLAIN },
        ..BASE
    },
    Shape {
        name: "absent-latecomer",
        about: "three contexts, explored from where one of them waits; the holder is off its CPU, also after it",
        contexts: &[&[Gather(0, 1)], &[Hold(0)], &[Hold(0)]],
        settings: Settings { absences: true, ..PLAIN },
        ..BASE
    },
    Shape {
        name: "interrupted-halt",
        about: "a waiter is interrupted right before it halts, and waits for another lock",
        contexts: &[&[Hold(0)], &[Hold(0)], &[Hold(1)]],
        handlers: &[(1, Hold(1))],
        settings: Settings { hard_halts: true, ..PLAIN },
        ..BASE
    },
    Shape {
        name: "handed-on",
        about: "as interrupted-halt; the other lock's holder waits for the first one, behind the waiter",
        contexts: &[&[Gather(0, 0)], &[Hold(0)], &[Nest(1, 0)]],
        handlers: &[(1, Hold(1))],
        settings: Settings { hard_halts: true, ..PLAIN },
        ..BASE
    },
];

/// The shape called `name`.
pub fn by_name(name: &str) -> Option<&'static Shape> {
    all().find(|shape| shape.name == name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_distinct_and_loom_has_enough_threads() {
        for shape in all() {
            assert_eq!(all().filter(|other| other.name == shape.name).count(), 1, "{}", shape.name);
            assert!(shape.contexts.len() < loom::MAX_THREADS, "{}: one thread sets up", shape.name);
        }
        assert_eq!(by_name("nested").map(Shape::locks), Some(2));
        assert_eq!(by_name("reader-interrupted-other").map(Shape::locks), Some(2));
    }
}
