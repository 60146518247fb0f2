//! When exploring begins, and when it ends.
use super::World;

impl World {
    /// Makes all choices possible that contexts have. To be called when they have been started and none has
    /// run.
    pub(crate) fn mint(&self) {
        for context in &self.contexts {
            context.spurious.mint();
            context.barrier.mint();
        }
    }

    /// Everything is set up: from here on every order of steps is explored.
    pub(crate) fn explore(&self) {
        self.exploring.set(true);
        loom::explore();
    }

    /// Waits until so many contexts wait.
    pub(crate) fn until_waiting(&self, contexts: usize) {
        while self.waiting() < contexts {
            loom::thread::yield_now();
        }
    }

    /// Waits until so many contexts wait. From then on everything is explored.
    pub(crate) fn gather(&self, contexts: usize) {
        self.until_waiting(contexts);
        self.pass_barrier();
        self.explore();
    }

    /// Waits until everything is explored.
    pub(crate) fn hold_back(&self) {
        while !self.exploring.get() {
            loom::thread::yield_now();
        }
        self.pass_barrier();
    }

    /// What the last heavy barrier did to those who come later, if it was the last: they see all that came
    /// before it.
    fn pass_barrier(&self) {
        if self.settings.fenced {
            drop(self.began.lock());
        }
    }

    /// All is over that is explored.
    pub(crate) fn rest(&self) {
        self.exploring.set(false);
        loom::stop_exploring();
    }
}
