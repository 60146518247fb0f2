//! Looking at a held lock, and pausing in between.
use super::WaitPolicy;
use crate::platform::Platform;

/// What a waiter saw of the lock.
pub(super) enum Seen {
    /// Nobody holds it at this moment.
    Free,
    /// It is held; `moved`: and it was written to since this waiter looked last, so it changes hands fast.
    Held { moved: bool },
}

/// Pauses between two looks. They grow only while the lock changes hands between looks: each look at a line that its
/// owner is writing costs the owner a miss, whereas looking at a line that stays is free and finds the release at once.
pub(super) struct Backoff {
    next: u32,
    first: u32,
    longest: u32,
    spent: u32,
    looks: u32,
    moves: u32,
}

impl Backoff {
    pub(super) fn new<W: WaitPolicy>() -> Self {
        Self::starting_with::<W>(W::FIRST_PAUSE)
    }

    /// With a first pause of `pause` nanoseconds; one that is longer than the longest stays as it is.
    pub(super) fn starting_with<W: WaitPolicy>(pause: u32) -> Self {
        Self {
            next: pause,
            first: W::FIRST_PAUSE,
            longest: W::LONGEST_PAUSE.max(pause),
            spent: 0,
            looks: 0,
            moves: 0,
        }
    }

    /// Nanoseconds paused so far.
    pub(super) fn spent(&self) -> u32 {
        self.spent
    }

    /// Whether the lock has been changing hands. The first look fetches the line in any case, and so does one after an interrupt.
    pub(super) fn moved(&self) -> bool {
        self.moves > self.looks / 2
    }

    /// Pauses after a look. One at a line that stayed has taken its time already.
    pub(super) fn pause<P: Platform>(&mut self, moved: bool) {
        self.looks += 1;
        self.moves += u32::from(moved);
        if moved {
            P::relax(self.next);
            self.spent = self.spent.saturating_add(self.next);
            self.next = self.longest.min(self.next * 2);
        } else {
            self.spent = self.spent.saturating_add(self.first);
        }
    }
}
