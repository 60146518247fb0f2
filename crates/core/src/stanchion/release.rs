//! The release: stores that the lock is free, and looks whether somebody has to be roused.
use super::StanchionLock;
use super::turn;
use super::word::{FENCES, HELD, WAKE};
use crate::events::Event;
use crate::lock::RawLock;
use crate::machine::{Atomic, Released};
use crate::order::{Relaxed, SeqCst};
use crate::platform::{Domain as _, Platform};

impl<P: Platform, const IN_ORDER: bool> StanchionLock<P, IN_ORDER> {
    /// The owner stores that the lock is free, and looks at the flag *wake*: behind a fence if a flag says so
    /// (I7), else as the light side of the pair with ST7. It reads neither flag before: the line may be with
    /// somebody who polls, and is asked for once.
    #[inline(always)]
    pub(super) fn release_and_look(&self) -> Released {
        let free = self.count_when_free();
        if free & Self::RARELY == 0 {
            self.end_fences();
        }
        // ord: ST4 pairs ST1, ST7: our section comes before the next owner's; an heir that did not see this
        // left its flag for us
        match P::release_then_look(&self.count, free, &self.flags, WAKE | FENCES) {
            Released::Unmarked => Released::Unmarked,
            seen => self.look_again(seen, free),
        }
    }

    /// Each time the count begins anew, fenced releases end until another heir sleeps: 128 fences cost less
    /// than the interrupts of its barrier.
    #[cold]
    #[inline(never)]
    fn end_fences(&self) {
        if self.flags() & FENCES != 0 {
            self.change_flags(|flags| flags & !FENCES); // I7
        }
    }

    /// A release has seen one of two flags. If that is *fenced*, it looks at *wake* behind a fence; where
    /// nothing was stored yet, it stores now.
    #[inline(never)]
    fn look_again(&self, seen: Released, free: u8) -> Released {
        if self.flags() & FENCES != 0 {
            if seen == Released::Held {
                // ord: ST2 pairs ST1, ST7: as ST4, our section comes before the next owner's
                return P::release_fenced_then_look(&self.count, free, &self.flags, WAKE);
            }
            // ord: ST22 pairs ST21: either we see the flag, or its heir sees what ST4 has stored
            P::fence(SeqCst);
        }
        match seen {
            Released::Marked if self.flags() & WAKE == 0 => Released::Unmarked,
            seen => seen,
        }
    }

    /// What the owner releases the lock with: one more than its count. A context to which the lock was passed
    /// may have kept an older count; those who spin then count wrongly, once. It is even whatever the count
    /// is: a lock that nobody holds stays free.
    #[inline(always)]
    pub(super) fn count_when_free(&self) -> u8 {
        // ord: ST3 alone: the owner alone changes it
        let count = P::kept(&self.count).unwrap_or_else(|| self.count.load(Relaxed));
        (count | HELD).wrapping_add(1)
    }

    /// Ends an ownership that has to wake somebody.
    #[cold]
    #[inline(never)]
    pub(super) fn release_rousing(&self) {
        let wake = |heir| {
            P::count(Event::PvKickUnlock);
            P::wake(heir);
        };
        let mut roused = None;
        loop {
            // Nobody is woken before the lock is released: one more urgent than we would take our CPU, find
            // the lock held, ask for it, and be woken again, for ever.
            roused = P::with_domain(|domain| {
                if let Some(before) = roused.take() {
                    turn::put_back::<P>(domain.wait_node(before));
                }
                self.rouse_heir(domain)
            });
            let released = self.release_and_look();
            if released == Released::Held {
                continue; // somebody has asked meanwhile
            }
            roused.take().map(wake);
            if released == Released::Unmarked || !self.try_acquire() {
                return;
            }
        }
    }

    /// A flag was set while the lock was released. Only an owner rouses: takes the lock again for that,
    /// unless somebody else has it, who finds the flag then.
    #[cold]
    #[inline(never)]
    pub(super) fn rouse_after_release(&self) {
        if self.try_acquire() {
            self.release_rousing();
        }
    }
}
