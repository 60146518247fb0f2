//! What programs are explored with: locks of either sort, asked for in one of several modes.
use crate::platform::Model;
use stanchion_core::transitions::Word;
use stanchion_core::{Downgrade, Machine, RawLock, Upgradable};

/// How a lock is held.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    /// Alone. The only mode that a lock has which is no reader-writer lock.
    Write,
    /// The same, unless so much time passes before that it has looked at the clock a few times.
    Timed,
    /// Alone, and released fairly.
    Fair,
    /// Beside other readers.
    Read,
    /// The same, for a limited time.
    TimedRead,
    /// The same, acquired without waiting behind writers that wait.
    Again,
    /// Beside readers, and able to become the writer.
    Upgradable,
}

/// A lock.
pub(crate) trait Subject: 'static {
    fn new() -> Self;
    /// How many readers it counts at most.
    fn most_readers() -> u32;
    /// Waits until it is held; `false` if there are too many readers, or time is over.
    fn acquire(&self, mode: Mode) -> bool;
    fn try_acquire(&self, mode: Mode) -> bool;
    fn release(&self, mode: Mode);
    /// Holds it in another mode from now on.
    fn turn(&self, from: Mode, to: Mode);
    /// Becomes the writer if there are no readers; whether it did.
    fn try_upgrade(&self) -> bool;
    fn word(&self) -> Word;
}

/// When whoever waits for a limited time gives up: the clock advances by a microsecond each time that
/// somebody looks at it.
fn soon(looks: u64) -> <Model as Machine>::Deadline {
    Model::after(looks * 1_000)
}

fn unsuited(mode: Mode) -> ! {
    panic!("the program is for other locks: this one cannot be held as {mode:?}")
}

/// A mutual exclusion lock.
pub(crate) struct Exclusive<L>(L);

impl<L: RawLock<Platform = Model>> Subject for Exclusive<L> {
    fn new() -> Self {
        Self(L::new())
    }

    fn most_readers() -> u32 {
        0
    }

    fn acquire(&self, mode: Mode) -> bool {
        match mode {
            Mode::Write | Mode::Fair => self.0.acquire(),
            Mode::Timed => return self.0.acquire_until(&soon(5)),
            other => unsuited(other),
        }
        true
    }

    fn try_acquire(&self, mode: Mode) -> bool {
        match mode {
            Mode::Write => self.0.try_acquire(),
            other => unsuited(other),
        }
    }

    fn release(&self, mode: Mode) {
        match mode {
            Mode::Fair => self.0.release_fair(),
            _ => self.0.release(),
        }
    }

    fn turn(&self, _from: Mode, to: Mode) {
        unsuited(to)
    }

    fn try_upgrade(&self) -> bool {
        unsuited(Mode::Upgradable)
    }

    fn word(&self) -> Word {
        self.0.word()
    }
}

/// A reader-writer lock.
pub(crate) struct Shared<L>(L);

impl<L: Downgrade<Platform = Model>> Subject for Shared<L> {
    fn new() -> Self {
        Self(L::new())
    }

    fn most_readers() -> u32 {
        L::MOST_READERS
    }

    fn acquire(&self, mode: Mode) -> bool {
        match mode {
            Mode::Write => {
                self.0.acquire_write();
                true
            }
            Mode::Read => self.0.acquire_read().is_ok(),
            Mode::Again => self.0.acquire_read_again().is_ok(),
            Mode::Timed => self.0.acquire_write_until(&soon(2)),
            Mode::TimedRead => self.0.acquire_read_until(&soon(2)) == Ok(true),
            Mode::Fair | Mode::Upgradable => unsuited(mode),
        }
    }

    fn try_acquire(&self, mode: Mode) -> bool {
        match mode {
            Mode::Write => self.0.try_acquire_write(),
            Mode::Read => self.0.try_acquire_read(),
            other => unsuited(other),
        }
    }

    fn release(&self, mode: Mode) {
        match mode {
            Mode::Write | Mode::Timed => self.0.release_write(),
            Mode::Read | Mode::TimedRead | Mode::Again => self.0.release_read(),
            Mode::Fair | Mode::Upgradable => unsuited(mode),
        }
    }

    fn turn(&self, from: Mode, to: Mode) {
        match (from, to) {
            (Mode::Write, Mode::Read) => self.0.downgrade(),
            _ => unsuited(to),
        }
    }

    fn try_upgrade(&self) -> bool {
        unsuited(Mode::Upgradable)
    }

    fn word(&self) -> Word {
        self.0.word()
    }
}

/// A reader-writer lock that can be held upgradably.
pub(crate) struct Upgrading<L>(Shared<L>);

impl<L: Upgradable<Platform = Model>> Subject for Upgrading<L> {
    fn new() -> Self {
        Self(Shared::new())
    }

    fn most_readers() -> u32 {
        L::MOST_READERS
    }

    fn acquire(&self, mode: Mode) -> bool {
        match mode {
            Mode::Upgradable => {
                self.0.0.acquire_upgradable();
                true
            }
            other => self.0.acquire(other),
        }
    }

    fn try_acquire(&self, mode: Mode) -> bool {
        match mode {
            Mode::Upgradable => self.0.0.try_acquire_upgradable(),
            other => self.0.try_acquire(other),
        }
    }

    fn release(&self, mode: Mode) {
        match mode {
            Mode::Upgradable => self.0.0.release_upgradable(),
            other => self.0.release(other),
        }
    }

    fn turn(&self, from: Mode, to: Mode) {
        match (from, to) {
            (Mode::Upgradable, Mode::Write) => self.0.0.upgrade(),
            (Mode::Write, Mode::Upgradable) => self.0.0.downgrade_to_upgradable(),
            (Mode::Upgradable, Mode::Read) => {
                assert!(self.0.0.downgrade_upgradable().is_ok(), "programs have fewer readers than that");
            }
            _ => self.0.turn(from, to),
        }
    }

    fn try_upgrade(&self) -> bool {
        self.0.0.try_upgrade()
    }

    fn word(&self) -> Word {
        self.0.word()
    }
}
