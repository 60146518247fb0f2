//! What a signal handler may take without waiting for its own thread.
use super::lock::Side;
use super::test_locks::{HANDLER_LEVELS, TEST_LOCKS};
use core::sync::atomic::{AtomicU32, Ordering::Relaxed, Ordering::SeqCst, compiler_fence};

/// What the contexts stacked on one thread hold and want: the worker, then the handlers by depth. Each writes
/// its own.
///
/// Test locks are taken in ascending order. A handler may take what comes after everything that its thread
/// holds or wants (under a mutex its depth decides which); or read once more what its thread
///
/// - **holds** for reading, which needs no waiting if the lock says so
///   ([`Skills::reads_again`](super::lock::Skills::reads_again)); or
/// - is **about to** take or give back for reading, if nothing after it is claimed: it waits for a writer who
///   is in, and who waits for later test locks only.
///
/// Anything else, above all what its thread writes or is about to write, would make a thread wait for itself.
#[derive(Default)]
pub(crate) struct Claims([AtomicU32; HANDLER_LEVELS + 1]);

/// The claims of several contexts, in three bytes that have a bit for each test lock.
#[derive(Clone, Copy)]
pub(crate) struct Claimed(u32);

const _: () = assert!(TEST_LOCKS <= 8, "a byte has a bit for each test lock");

/// The byte of what is held for reading, and not about to be given back.
const READS: usize = 0;
/// The byte of what is about to be taken or given back for reading.
const CHANGES: usize = 1;
/// The byte of what is held, wanted or about to be given back in any other way.
const OTHERS: usize = 2;

impl Claimed {
    /// The first test lock that comes after everything claimed.
    pub(crate) fn first_free(self) -> usize {
        let any = self.0.to_le_bytes().into_iter().fold(0, |any, set| any | set);
        u8::BITS as usize - any.leading_zeros() as usize
    }

    pub(crate) fn readable_again(self) -> impl Iterator<Item = usize> {
        (0..TEST_LOCKS).filter(move |&test_lock| {
            let has = |set: usize| self.0 >> (8 * set + test_lock) & 1 != 0;
            let last = test_lock + 1 == self.first_free();
            !has(OTHERS) && (has(READS) || has(CHANGES) && last)
        })
    }
}

impl Claims {
    /// The context at `depth` is about to take `test_lock`, to give it back, or to change how it has it.
    pub(crate) fn about_to(&self, depth: usize, test_lock: usize, side: Side) {
        self.change(depth, test_lock, Some(if side.reads() { CHANGES } else { OTHERS }));
    }

    pub(crate) fn holds(&self, depth: usize, test_lock: usize, side: Side) {
        self.change(depth, test_lock, Some(if side.reads() { READS } else { OTHERS }));
    }

    pub(crate) fn gone(&self, depth: usize, test_lock: usize) {
        self.change(depth, test_lock, None);
    }

    /// What the contexts that a handler at `depth` interrupted claim.
    pub(crate) fn below(&self, depth: usize) -> Claimed {
        Claimed(self.0[..depth].iter().fold(0, |sum, claims| sum | claims.load(Relaxed)))
    }

    fn change(&self, depth: usize, test_lock: usize, now: Option<usize>) {
        // Our handlers read this: the compiler is not to move it across the acquisition or release.
        compiler_fence(SeqCst);
        let bit = |set: usize| 1_u32 << (8 * set + test_lock);
        let others = self.0[depth].load(Relaxed) & !(bit(READS) | bit(CHANGES) | bit(OTHERS));
        self.0[depth].store(others | now.map_or(0, bit), Relaxed);
        compiler_fence(SeqCst);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn again(claims: &Claims, depth: usize) -> Vec<usize> {
        claims.below(depth).readable_again().collect()
    }

    #[test]
    fn what_is_held_for_reading_may_be_read_again_and_what_is_written_may_not() {
        let claims = Claims::default();
        assert_eq!((claims.below(1).first_free(), again(&claims, 1)), (0, vec![]));
        claims.about_to(0, 0, Side::Reads);
        assert_eq!((claims.below(1).first_free(), again(&claims, 1)), (1, vec![0]), "in the midst of it");
        claims.holds(0, 0, Side::Reads);
        claims.about_to(0, 1, Side::Writes);
        assert_eq!((claims.below(1).first_free(), again(&claims, 1)), (2, vec![0]));
        claims.holds(0, 1, Side::Writes);
        claims.about_to(0, 2, Side::Reads);
        assert_eq!((claims.below(1).first_free(), again(&claims, 1)), (3, vec![0, 2]));
        claims.gone(0, 2);
        assert_eq!((claims.below(1).first_free(), again(&claims, 1)), (2, vec![0]));
    }

    #[test]
    fn what_is_about_to_go_is_left_alone_while_something_later_is_claimed() {
        let claims = Claims::default();
        claims.holds(0, 0, Side::Reads);
        claims.holds(0, 3, Side::Reads);
        claims.about_to(0, 0, Side::Reads);
        assert_eq!(again(&claims, 1), [3], "a writer of 0 may wait for 3");
    }

    #[test]
    fn a_handler_counts_all_contexts_below_it_and_not_itself() {
        let claims = Claims::default();
        claims.about_to(0, 1, Side::Upgrades);
        claims.about_to(1, 4, Side::Reads);
        claims.holds(2, 5, Side::Writes);
        assert_eq!((claims.below(1).first_free(), again(&claims, 1)), (2, vec![]));
        assert_eq!((claims.below(2).first_free(), again(&claims, 2)), (5, vec![4]));
        assert_eq!((claims.below(3).first_free(), again(&claims, 3)), (6, vec![]));
    }

    #[test]
    fn a_lock_that_one_context_reads_and_another_wants_to_write_is_left_alone() {
        let claims = Claims::default();
        claims.holds(0, 2, Side::Reads);
        claims.about_to(1, 2, Side::Writes);
        assert_eq!(again(&claims, 2), [0_usize; 0]);
    }
}
