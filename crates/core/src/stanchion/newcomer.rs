//! Rules 1 and 2: those who find the lock held, and spin before they queue.
use super::StanchionLock;
use super::spin::{Looks, Seen, Vain, last_budget};
use crate::Tunable;
use crate::events::Event;
use crate::machine::{Atomic, micros};
use crate::order::Relaxed;
use crate::platform::Platform;

/// A newcomer that finds a free lock left to an heir looks so often before it takes it: the heir has no CPU
/// then.
pub(crate) const FREE_LOOKS: u32 = 16;

impl<P: Platform, const IN_ORDER: bool> StanchionLock<P, IN_ORDER> {
    /// Waits for the lock. Who gets it by a spin has barged, too, unless the lock is in order, and looks
    /// around as others do.
    #[cold]
    #[inline(never)]
    pub(super) fn acquire_contended(&self, count: u8) {
        if !self.spin_as_newcomer(count) {
            let owns = self.wait_in_queue(None);
            debug_assert!(owns, "without a deadline nobody gives up");
        } else if !self.is_in_order() && self.is_to_look_around(self.count_when_free().wrapping_sub(2)) {
            self.look_around();
        }
    }

    /// Waits for the lock until the deadline. Whether we own it.
    #[cold]
    #[inline(never)]
    pub(super) fn acquire_slow(&self, count: u8, until: &P::Deadline) -> bool {
        let start = (!self.is_in_order()).then(|| (micros::<P>(), P::remaining(until)));
        self.spin_as_newcomer(count)
            || self.wait_in_queue(Some(until))
            || start.is_some_and(|(began, limit)| self.spin_at_last(began, limit))
    }

    /// One try to take the lock, whatever the no-barging flag says.
    pub(super) fn try_now(&self) -> bool {
        // ord: ST14 alone: the claim decides
        self.claim(self.count.load(Relaxed))
    }

    /// Rule 2: tries for the lock without queueing. Whether we own it.
    pub(super) fn spin_as_newcomer(&self, count: u8) -> bool {
        if self.is_in_order() {
            return !self.has_queue() && self.try_now();
        }
        let full = P::tunable(Tunable::SpinNanos);
        let vain = Vain::of(self.flags());
        let mut looks = Looks::new(count);
        let owns = self.spin(&mut looks, vain.budget(full, count), P::tunable(Tunable::Overtakings));
        self.learn(vain, &looks, owns)
    }

    /// After the deadline and outside of the queue: spins once more as a newcomer, however often others
    /// acquire the lock meanwhile. Notes nothing in the lock. Whether we own it.
    fn spin_at_last(&self, began: u32, limit: u64) -> bool {
        let waited = micros::<P>().wrapping_sub(began);
        // ord: ST17 alone: where counting begins
        let mut looks = Looks::new(self.count.load(Relaxed));
        let budget = last_budget(P::tunable(Tunable::SpinNanos), waited, limit);
        self.spin(&mut looks, budget, u32::MAX)
    }

    /// Looks for `budget` nanoseconds, and writes nothing before we own the lock; not longer than until
    /// others have acquired it `most` times. Whether we own it.
    fn spin(&self, looks: &mut Looks, mut budget: u32, most: u32) -> bool {
        let mut free = 0;
        while looks.spent() < budget && looks.overtaken() < most {
            let before = looks.spent();
            match looks.look::<P>(&self.count) {
                Seen::Free if free < FREE_LOOKS && self.is_barging_forbidden() => {
                    free += 1;
                    budget = budget.saturating_add(looks.spent() - before); // however short spins are
                }
                Seen::Free if self.try_now() => {
                    P::count_if(Event::PvLockStealing, || self.has_queue());
                    return true;
                }
                _ => {}
            }
        }
        false
    }

    /// Notes in the lock how a spin went that began with `before`. It has paid off if it `owns` the lock now.
    /// It was too short if nobody else acquired the lock meanwhile. Returns `owns`.
    pub(super) fn learn(&self, before: Vain, looks: &Looks, owns: bool) -> bool {
        let now = if owns {
            before.paid_off(looks.spent(), P::tunable(Tunable::SpinNanos))
        } else if looks.overtaken() == 0 {
            before.in_vain()
        } else {
            before
        };
        if before != now && P::tunable(Tunable::Adapt) != 0 {
            self.change_flags(|flags| now.in_flags(flags));
        }
        owns
    }
}
