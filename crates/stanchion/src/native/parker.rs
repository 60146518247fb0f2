//! Halting and kicking a thread: a futex word with a sticky kick, in three states.
//!
//! | state | meaning |
//! |---|---|
//! | `RUNNING` | not halted, nobody kicked since the last halt |
//! | `KICKED` | kicked: the next halt returns at once |
//! | `HALTED` | sleeping, or about to |
//!
//! Invariants:
//! - **IK1** A kick after the comparison of the halt's cell is not lost: it leaves `KICKED`, which a halt
//!   that has not gone to sleep yet finds, and which wakes one that has.
//! - **IK2** A halt inside a signal handler that interrupted a halt ends that one, because the kick that it
//!   consumed may have been meant for it. It does so without leaving a kick behind, so that the handler
//!   itself can halt again.
//! - **IK3** Whoever finds a kick that was not consumed wakes, too: the first kicker may have been
//!   interrupted between the two, by a handler that waits for what the halted thread does next.
use crate::deadline::Deadline;
use crate::os;
use core::sync::atomic::{AtomicU32, Ordering};

const RUNNING: u32 = 0;
const KICKED: u32 = 1;
const HALTED: u32 = 2;

/// The place where one thread halts. All-zero is a valid one.
pub(super) struct Parker {
    state: AtomicU32,
    /// How many halts of this thread are over. One that sees it change was interrupted by another (IK2).
    over: AtomicU32,
}

impl Parker {
    /// Halts the calling thread, whose parker this is, unless it was kicked or `still` says no; until the
    /// deadline at the latest. May return spuriously.
    pub(super) fn halt_while(&self, still: impl Fn() -> bool, until: Option<&Deadline>) {
        // ord: N9 alone: private to this thread and its handlers
        let over = self.over.load(Ordering::Relaxed);
        // The cell is compared before the state changes to HALTED: a kick in between leaves KICKED and is
        // found (IK1).
        // ord: N11 pairs N14: a kick that we find was sent after what its sender wrote
        if still()
            && self.state.compare_exchange(RUNNING, HALTED, Ordering::AcqRel, Ordering::Acquire)
                != Err(KICKED)
        {
            // Also with HALTED: a handler that interrupted a halt just before it slept. A handler that halts
            // between this check and the wait leaves RUNNING, so that the wait returns at once.
            // ord: N12 pairs N14: as N11, a kick that we find was sent after what its sender wrote
            // ord: N10 alone: private to this thread and its handlers
            while self.state.load(Ordering::Acquire) == HALTED
                && self.over.load(Ordering::Relaxed) == over
                && still()
            {
                // EINTR and EAGAIN are the spurious returns that the loop is there for.
                if !os::wait(&self.state, HALTED, until) {
                    break;
                }
            }
        }
        // ord: N13 pairs N14: a kick that we consume was sent after what its sender wrote
        self.state.swap(RUNNING, Ordering::AcqRel);
        // ord: N15 alone: private to this thread and its handlers
        self.over.fetch_add(1, Ordering::Relaxed);
    }

    /// Ends the thread's halt, or makes its next one return at once.
    pub(super) fn kick(&self) {
        // ord: N14 pairs N11, N12, N13: what we wrote comes before the kicked thread looks
        if self.state.swap(KICKED, Ordering::AcqRel) != RUNNING {
            os::wake(&self.state, 1);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use core::sync::atomic::AtomicBool;
    use core::time::Duration;

    fn parker() -> Parker {
        Parker { state: AtomicU32::new(RUNNING), over: AtomicU32::new(0) }
    }

    #[test]
    fn an_early_kick_is_kept_for_the_next_halt() {
        let parker = parker();
        parker.kick();
        // Without the kick it would never return.
        parker.halt_while(|| true, None);
        assert_eq!(parker.state.load(Ordering::Relaxed), RUNNING, "and consumed it");
    }

    #[test]
    fn a_halt_whose_condition_is_over_returns_at_once() {
        let parker = parker();
        parker.halt_while(|| false, None);
        assert_eq!(parker.state.load(Ordering::Relaxed), RUNNING);
    }

    #[test]
    fn a_kick_wakes_a_sleeping_thread() {
        let parker = parker();
        let armed = AtomicBool::new(true);
        std::thread::scope(|scope| {
            let sleeper = scope.spawn(|| {
                while armed.load(Ordering::Acquire) {
                    parker.halt_while(|| armed.load(Ordering::Acquire), None);
                }
            });
            std::thread::sleep(Duration::from_millis(20));
            armed.store(false, Ordering::Release);
            parker.kick();
            assert!(sleeper.join().is_ok());
        });
    }

    #[test]
    fn a_nested_halt_ends_the_one_that_it_interrupted() {
        let parker = parker();
        let nested = AtomicBool::new(false);
        // The closure stands for a signal that arrives after the outer comparison: it is called inside the
        // outer halt.
        parker.halt_while(
            || {
                if !nested.swap(true, Ordering::Relaxed) {
                    parker.kick(); // meant for either of the two
                    parker.halt_while(|| true, None);
                }
                true
            },
            None,
        );
        assert!(nested.load(Ordering::Relaxed), "and the outer halt came back");
        assert_eq!(parker.state.load(Ordering::Relaxed), RUNNING, "without a kick for later halts");
    }
}
