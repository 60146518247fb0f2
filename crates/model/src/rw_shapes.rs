//! The programs that reader-writer locks are put through.
use crate::settings::{PLAIN, Settings};
use crate::shapes::Mode::{Read, Timed, TimedRead, Upgradable, Write};
use crate::shapes::Step::{
    Across, Again, Around, As, Gather, GatherRead, Hold, ReadUntil, Try, TryAs, TryUpgrade, WriteWithin,
};
use crate::shapes::{BASE, Mode, Second, Shape, Step};

/// One acquisition as a reader.
const fn read(lock: usize) -> Step {
    As(lock, &[Read])
}

/// A machine whose handlers must not wait behind others.
const PRIORITY: Settings = Settings { priority: true, ..PLAIN };

/// A machine without heavy barriers, once a lock has been written to.
const FENCED: Settings = Settings { fenced: true, ..PLAIN };

/// All of them.
pub(crate) const SHAPES: &[Shape] = &[
    Shape {
        name: "reader-writer",
        about: "a reader and a writer",
        contexts: &[&[read(0)], &[Hold(0)]],
        ..BASE
    },
    Shape {
        name: "reader-comes-back",
        about: "a reader that comes back, and a writer",
        contexts: &[&[read(0), read(0)], &[Hold(0)]],
        ..BASE
    },
    Shape {
        name: "writer-comes-back",
        about: "a reader, and a writer that comes back",
        contexts: &[&[read(0)], &[Hold(0), Hold(0)]],
        ..BASE
    },
    Shape {
        name: "reads-again",
        about: "a reader that reads again, whether a writer waits or not",
        contexts: &[&[Again(0)], &[Hold(0)]],
        ..BASE
    },
    Shape {
        name: "too-many",
        about: "a reader that reads once more as if it did not read, then writes, and a reader",
        contexts: &[&[Around(0, 0), Hold(0)], &[read(0)]],
        ..BASE
    },
    Shape {
        name: "rw-try",
        about: "a try to read and a try to write, each followed by the other acquisition",
        contexts: &[&[TryAs(0, Read), Hold(0)], &[Try(0), read(0)]],
        ..BASE
    },
    Shape {
        name: "timed-reader",
        about: "a reader that may give up and comes back, and a writer",
        contexts: &[&[As(0, &[TimedRead]), read(0)], &[Hold(0)]],
        ..BASE
    },
    Shape {
        name: "timed-writer",
        about: "a writer that may give up and reads, and one that reads and then writes",
        contexts: &[&[As(0, &[Timed]), read(0)], &[read(0), Hold(0)]],
        ..BASE
    },
    Shape {
        name: "timed-writer-between",
        about: "two readers, and a writer that may give up",
        contexts: &[&[read(0)], &[As(0, &[Timed])], &[read(0)]],
        ..BASE
    },
    Shape {
        name: "timed-reader-between",
        about: "two writers, and a reader that may give up",
        contexts: &[&[Hold(0)], &[As(0, &[TimedRead])], &[Hold(0)]],
        ..BASE
    },
    Shape {
        name: "rw-numberless",
        about: "a reader and a writer without numbers",
        contexts: &[&[read(0)], &[Hold(0)]],
        settings: Settings { numbered: false, ..PLAIN },
        ..BASE
    },
    Shape {
        name: "rw-spurious",
        about: "a reader that comes back, and a writer; halts and heavy barriers fail once",
        contexts: &[&[read(0), read(0)], &[Hold(0)]],
        settings: Settings { spurious: 1, barrier_fails: 1, ..PLAIN },
        ..BASE
    },
    Shape {
        name: "rw-early-kick",
        about: "a reader that comes back, and a writer; a kick that comes before the comparison of a halt is forgotten",
        contexts: &[&[read(0), read(0)], &[Hold(0)]],
        settings: Settings { forgets_kicks: true, ..PLAIN },
        ..BASE
    },
    Shape {
        name: "two-writers-early-kick",
        about: "a reader and two writers; a kick that comes before the comparison of a halt is forgotten",
        contexts: &[&[read(0)], &[Hold(0)], &[Hold(0)]],
        settings: Settings { forgets_kicks: true, ..PLAIN },
        ..BASE
    },
    Shape {
        name: "downgrade",
        about: "a writer that becomes a reader, and a reader and writer",
        contexts: &[&[As(0, &[Write, Read])], &[read(0), Hold(0)]],
        ..BASE
    },
    Shape {
        name: "two-readers",
        about: "two readers and a writer",
        contexts: &[&[read(0)], &[read(0)], &[Hold(0)]],
        ..BASE
    },
    Shape {
        name: "nobody-left-behind",
        about: "who wrote reads, and waits for a reader that waits behind a writer",
        contexts: &[&[Gather(0, 2), ReadUntil(0, 2)], &[Hold(0)], &[read(0)]],
        ..BASE
    },
    Shape {
        name: "two-writers",
        about: "a reader and two writers",
        contexts: &[&[read(0)], &[Hold(0)], &[Hold(0)]],
        ..BASE
    },
    Shape {
        name: "three-downgrade",
        about: "a writer that becomes a reader, a reader, and a writer",
        contexts: &[&[As(0, &[Write, Read])], &[read(0)], &[Hold(0)]],
        ..BASE
    },
    Shape {
        name: "gathered-writer",
        about: "explored from where a reader and a writer wait for a writer, which then reads",
        contexts: &[&[Gather(0, 2), read(0)], &[Hold(0)], &[read(0)]],
        ..BASE
    },
    Shape {
        name: "gathered-reader",
        about: "explored from where two writers wait for a reader, which comes back",
        contexts: &[&[GatherRead(0, 2), read(0)], &[Hold(0)], &[Hold(0)]],
        ..BASE
    },
    Shape {
        name: "upgrade",
        about: "an upgrade, and a reader and writer",
        contexts: &[&[As(0, &[Upgradable, Write])], &[read(0), Hold(0)]],
        ..BASE
    },
    Shape {
        name: "upgrades",
        about: "two upgrades",
        contexts: &[&[As(0, &[Upgradable, Write])], &[As(0, &[Upgradable, Write])]],
        ..BASE
    },
    Shape {
        name: "upgrade-reads-again",
        about: "an upgrade, and a reader that reads again",
        contexts: &[&[As(0, &[Upgradable, Write])], &[Again(0)]],
        ..BASE
    },
    Shape {
        name: "upgrade-downgrade",
        about: "a writer that becomes upgradable and then a reader, and an upgrade",
        contexts: &[&[As(0, &[Write, Upgradable, Read])], &[As(0, &[Upgradable, Write])]],
        ..BASE
    },
    Shape {
        name: "writer-to-upgradable",
        about: "a writer that becomes upgradable, and a reader",
        contexts: &[&[As(0, &[Write, Upgradable])], &[read(0)]],
        ..BASE
    },
    Shape {
        name: "upgrade-try",
        about: "tries to upgrade, and to hold upgradably, beside a reader and a writer",
        contexts: &[&[TryUpgrade(0)], &[read(0), TryAs(0, Upgradable), Hold(0)]],
        ..BASE
    },
    Shape {
        name: "three-upgrade",
        about: "an upgrade, a reader, and a writer",
        contexts: &[&[As(0, &[Upgradable, Write])], &[read(0)], &[Hold(0)]],
        ..BASE
    },
    Shape {
        name: "upgradables-beside-reader",
        about: "a reader, and two upgradable holders",
        contexts: &[&[read(0)], &[As(0, &[Upgradable])], &[As(0, &[Upgradable])]],
        ..BASE
    },
    Shape {
        name: "barrier-refused",
        about: "a writer, another that tries, and a reader; heavy barriers fail once",
        contexts: &[&[Hold(0)], &[Try(0)], &[read(0)]],
        settings: Settings { barrier_fails: 1, ..PLAIN },
        ..BASE
    },
    Shape {
        name: "fenced",
        about: "a reader that comes back, and a writer, in a lock whose readers fence",
        contexts: &[&[Gather(0, 0), Hold(0)], &[read(0), read(0)]],
        settings: FENCED,
        ..BASE
    },
    Shape {
        name: "fenced-two-readers",
        about: "two readers and a writer in a lock whose readers fence",
        contexts: &[&[Gather(0, 0), Hold(0)], &[read(0)], &[read(0)]],
        settings: FENCED,
        ..BASE
    },
    Shape {
        name: "two-locks-around",
        about: "a reader of two locks, who gives the second one up first, and their writer",
        contexts: &[&[Around(0, 1)], &[Hold(0), Hold(1)]],
        ..BASE
    },
    Shape {
        name: "two-locks-across",
        about: "a reader of two locks, who gives the first one up first, and their writer",
        contexts: &[&[Across(0, 1)], &[Hold(0), Hold(1)]],
        ..BASE
    },
    Shape {
        name: "two-locks-in-turn",
        about: "a reader of one lock and then the other, and their writer",
        contexts: &[&[read(0), read(1)], &[Hold(0), Hold(1)]],
        ..BASE
    },
    Shape {
        name: "two-locks-writers",
        about: "a reader of two locks, and a writer of each",
        contexts: &[&[Across(0, 1)], &[Hold(0)], &[Hold(1)]],
        ..BASE
    },
    Shape {
        name: "reader-writes",
        about: "a reader of one lock that writes to another, whose reader and writer waits",
        contexts: &[&[WriteWithin(0, 1)], &[read(1), Hold(1)]],
        ..BASE
    },
    Shape {
        name: "writer-interrupted",
        about: "a writer that waits is interrupted by a reader",
        contexts: &[&[Hold(0)], &[read(0), Hold(0)]],
        handlers: &[(0, As(0, &[Mode::Again]))],
        settings: PRIORITY,
        ..BASE
    },
    Shape {
        name: "reader-waits-interrupted",
        about: "a reader that waits is interrupted by another",
        contexts: &[&[read(0)], &[Hold(0)]],
        handlers: &[(0, read(0))],
        settings: PRIORITY,
        ..BASE
    },
    Shape {
        name: "reader-interrupted",
        about: "a reader is interrupted by another at any point",
        contexts: &[&[read(0)], &[Hold(0)]],
        anywhere: &[read(0)],
        settings: PRIORITY,
        ..BASE
    },
    Shape {
        name: "reader-interrupted-other",
        about: "a reader is interrupted at any point by one of another lock",
        contexts: &[&[read(0)], &[Hold(0), Hold(1)]],
        anywhere: &[read(1)],
        settings: PRIORITY,
        ..BASE
    },
    Shape {
        name: "reader-interrupted-twice",
        about: "a reader is interrupted by another at any point, and once more soon after",
        contexts: &[&[read(0)], &[Hold(0)]],
        anywhere: &[read(0), read(0)],
        second: Second::After(3),
        settings: PRIORITY,
        ..BASE
    },
    Shape {
        name: "handler-interrupted",
        about: "a reader is interrupted by another at any point, and that one at any point by a third",
        contexts: &[&[read(0)], &[Hold(0)]],
        anywhere: &[read(0), read(0)],
        second: Second::Within,
        settings: PRIORITY,
        ..BASE
    },
    Shape {
        name: "writer-interrupted-other",
        about: "a writer is interrupted at any point by a reader of another lock",
        contexts: &[&[Hold(0)], &[read(0), Hold(1)]],
        anywhere: &[read(1)],
        settings: PRIORITY,
        ..BASE
    },
];
