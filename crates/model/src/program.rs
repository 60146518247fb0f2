//! One execution of a shape: what its contexts do, and what must be true at its end.
use crate::run;
use crate::shapes::{Shape, Step};
use crate::subject::{Mode, Subject};
use crate::world::{self, World};
use core::cell::Cell;
use loom::cell::UnsafeCell;
use stanchion_core::transitions::Word;
use std::rc::Rc;

/// What a lock of one execution protects. Loom notices accesses that no order of the language separates.
struct Data {
    /// Read by readers, written by writers.
    section: UnsafeCell<()>,
    /// Written by whoever may become the writer, too.
    upgradable: UnsafeCell<()>,
    /// How many read locks are held.
    readers: Cell<u32>,
}

/// The locks of one execution.
struct Program<S> {
    locks: Vec<S>,
    data: Vec<Data>,
    /// Sections entered, and sections owed.
    entered: Cell<usize>,
    /// Contexts that have been in a section: a bit for each.
    been_in: Cell<u32>,
    owed: Cell<usize>,
}

/// With room for so few readers, a program has to reckon with being refused.
const FEW: u32 = 2;

impl<S: Subject> Program<S> {
    fn new(locks: usize) -> Self {
        let lock = |_| {
            run::begin_group(0);
            S::new()
        };
        let data =
            |_| Data { section: UnsafeCell::new(()), upgradable: UnsafeCell::new(()), readers: Cell::new(0) };
        Self {
            locks: (0..locks).map(lock).collect(),
            data: (0..locks).map(data).collect(),
            entered: Cell::new(0),
            been_in: Cell::new(0),
            owed: Cell::new(0),
        }
    }

    fn touch(&self, lock: usize, mode: Mode) {
        let data = &self.data[lock];
        match mode {
            Mode::Write | Mode::Timed | Mode::Fair => data.section.with_mut(|_| ()),
            Mode::Read | Mode::TimedRead | Mode::Again | Mode::Upgradable => data.section.with(|_| ()),
        }
        if matches!(mode, Mode::Write | Mode::Timed | Mode::Fair | Mode::Upgradable) {
            data.upgradable.with_mut(|_| ());
        }
    }

    fn section(&self, lock: usize, mode: Mode, within: impl FnOnce()) {
        self.touch(lock, mode);
        within();
        self.touch(lock, mode);
        self.entered.set(self.entered.get() + 1);
        self.been_in.set(self.been_in.get() | 1 << world::here().1);
    }

    fn owe(&self) {
        self.owed.set(self.owed.get() + 1);
    }

    /// Acquires a lock; whether it is held.
    fn acquire(&self, lock: usize, mode: Mode) -> bool {
        self.owe();
        let acquired = self.locks[lock].acquire(mode);
        if acquired {
            self.acquired(lock, mode);
        } else {
            let may_give_up = matches!(mode, Mode::Timed | Mode::TimedRead);
            assert!(may_give_up || S::most_readers() <= FEW, "a reader was refused");
            self.owed.set(self.owed.get() - 1);
        }
        acquired
    }

    fn acquired(&self, lock: usize, mode: Mode) {
        if matches!(mode, Mode::Read | Mode::TimedRead | Mode::Again) {
            let readers = &self.data[lock].readers;
            readers.set(readers.get() + 1);
            assert!(readers.get() <= S::most_readers(), "more readers than are let in");
        }
    }

    fn release(&self, lock: usize, mode: Mode) {
        if matches!(mode, Mode::Read | Mode::TimedRead | Mode::Again) {
            let readers = &self.data[lock].readers;
            readers.set(readers.get() - 1);
        }
        self.locks[lock].release(mode);
    }

    fn hold(&self, lock: usize, mode: Mode, within: impl FnOnce()) {
        let (world, me) = world::here();
        world.engage(me, 1);
        if self.acquire(lock, mode) {
            self.section(lock, mode, within);
            self.release(lock, mode);
        }
        world.engage(me, -1);
    }

    /// Holds the lock. Where contexts are absent, the caller is throughout the section, and again after the
    /// release.
    fn hold_absently(&self, lock: usize, within: impl FnOnce(&World)) {
        let (world, me) = world::here();
        self.hold(lock, Mode::Write, || {
            world.come_or_go(me);
            within(&world);
            world.come_or_go(me);
        });
        world.come_or_go(me);
    }

    fn until_over(&self, sections: usize) {
        while self.entered.get() < sections {
            loom::thread::yield_now();
        }
    }

    /// Enters a section in each mode in turn, without giving the lock up between them.
    fn turn(&self, lock: usize, modes: &[Mode]) {
        let Some((&first, later)) = modes.split_first() else { return };
        if !self.acquire(lock, first) {
            return;
        }
        self.section(lock, first, || ());
        let mut now = first;
        for &mode in later {
            self.owe();
            self.locks[lock].turn(now, mode);
            self.acquired(lock, mode);
            self.section(lock, mode, || ());
            now = mode;
        }
        self.release(lock, now);
    }

    fn perform(&self, step: Step) {
        match step {
            Step::Hold(lock) => self.hold(lock, Mode::Write, || ()),
            Step::Gather(lock, contexts) => self.hold_absently(lock, |world| world.gather(contexts)),
            Step::GatherFair(lock, contexts) => {
                self.hold(lock, Mode::Fair, || world::here().0.gather(contexts));
            }
            Step::GatherAfter(lock, contexts, sections) => self.hold(lock, Mode::Write, || {
                self.until_over(sections);
                world::here().0.gather(contexts);
            }),
            Step::Await(lock, contexts) => {
                self.hold(lock, Mode::Write, || world::here().0.until_waiting(contexts));
            }
            Step::Absent(lock) => self.hold_absently(lock, |_| ()),
            Step::GatherRead(lock, contexts) => {
                self.hold(lock, Mode::Read, || world::here().0.gather(contexts));
            }
            Step::After(lock, sections) => {
                self.until_over(sections);
                self.hold(lock, Mode::Write, || ());
            }
            Step::Nest(outer, inner) => {
                self.hold(outer, Mode::Write, || self.hold(inner, Mode::Write, || ()));
            }
            Step::Try(lock) => self.attempt(lock, Mode::Write),
            Step::As(lock, modes) => self.turn(lock, modes),
            Step::TryAs(lock, mode) => self.attempt(lock, mode),
            Step::ReadUntil(lock, context) => self.hold(lock, Mode::Read, || {
                while self.been_in.get() & 1 << context == 0 {
                    loom::thread::yield_now();
                }
            }),
            Step::Again(lock) => {
                self.hold(lock, Mode::Read, || self.hold(lock, Mode::Again, || ()));
            }
            Step::Around(outer, inner) => {
                self.hold(outer, Mode::Read, || self.hold(inner, Mode::Read, || ()));
            }
            Step::Across(first, second) => {
                if self.acquire(first, Mode::Read) {
                    let mut both = false;
                    self.section(first, Mode::Read, || both = self.acquire(second, Mode::Read));
                    self.release(first, Mode::Read);
                    if both {
                        self.section(second, Mode::Read, || ());
                        self.release(second, Mode::Read);
                    }
                }
            }
            Step::WriteWithin(outer, inner) => {
                self.hold(outer, Mode::Read, || self.hold(inner, Mode::Write, || ()));
            }
            Step::TryUpgrade(lock) => self.try_upgrade(lock),
        }
    }

    fn attempt(&self, lock: usize, mode: Mode) {
        if self.locks[lock].try_acquire(mode) {
            self.owe();
            self.acquired(lock, mode);
            self.section(lock, mode, || ());
            self.release(lock, mode);
        }
    }

    fn try_upgrade(&self, lock: usize) {
        self.acquire(lock, Mode::Upgradable);
        self.section(lock, Mode::Upgradable, || ());
        if self.locks[lock].try_upgrade() {
            self.owe();
            self.section(lock, Mode::Write, || ());
            self.release(lock, Mode::Write);
        } else {
            self.release(lock, Mode::Upgradable);
        }
    }

    fn check_end(&self, world: &World, is_free: fn(Word) -> bool) {
        for lock in &self.locks {
            assert!(is_free(lock.word()), "the lock is not free at the end: {:?}", lock.word());
        }
        assert_eq!(self.entered.get(), self.owed.get(), "sections entered, sections owed");
        world.check_storage();
    }
}

/// One execution.
pub(crate) fn execution<S: Subject>(shape: &'static Shape, is_free: fn(Word) -> bool) {
    let program = Rc::new(Program::<S>::new(shape.locks()));
    let world = Rc::new(World::new(shape.contexts.len(), shape.settings));
    let handler = |step: Step| {
        let program = Rc::clone(&program);
        Box::new(move || program.perform(step))
    };
    if shape.settings.used_nodes {
        world.use_nodes();
    }
    for &(context, step) in shape.handlers {
        world.interrupts(context).when_waiting(handler(step));
    }
    for &step in shape.anywhere {
        world.interrupts(0).at_a_point(handler(step));
    }
    for (me, steps) in shape.contexts.iter().enumerate() {
        let (program, world) = (Rc::clone(&program), Rc::clone(&world));
        loom::thread::spawn(move || {
            world::enter(Rc::clone(&world), me);
            if shape.gathered().is_some_and(|gathered| me > gathered) {
                world.hold_back();
            }
            steps.iter().for_each(|&step| program.perform(step));
            if world.finish() {
                program.check_end(&world, is_free);
            }
        });
    }
    world.mint();
    if shape.gathered().is_none() {
        world.explore();
    }
}
