//! A lock under torture together with what it protects, and the checks made inside.
use crate::cells::Count;
use crate::subject::Subject;
use core::array;

/// How many words must agree.
const WORDS: usize = 7;

/// One lock, its flags and its protected words. All of them are written in two steps, so that two holders at
/// once spoil them.
#[repr(align(128))]
pub(super) struct TestLock<S> {
    pub(super) lock: S,
    /// The flags are not on the lock's cache line: checking them should not change the lock's traffic.
    flags: Flags,
    words: Words,
}

#[derive(Default)]
#[repr(align(128))]
struct Flags {
    /// Which context holds it for writing (its number plus one), or 0.
    writer: Count,
    /// How many contexts hold it for reading. They may be several, so this is counted in one step.
    readers: Count,
}

#[repr(align(128))]
struct Words([Count; WORDS]);

/// What word `index` must be when the section was entered `count` times: the first is the count, no two are
/// ever equal by chance.
fn word(count: u64, index: usize) -> u64 {
    if index == 0 { count } else { count.rotate_left(9 * index as u32) ^ (0x5d_u64 << (8 * index)) }
}

impl<S: Subject> TestLock<S> {
    /// A test lock around a free lock.
    pub(super) fn new() -> Self {
        let words = array::from_fn(|index| Count::new(word(0, index)));
        Self { lock: S::new(), flags: Flags::default(), words: Words(words) }
    }
}

impl<S> TestLock<S> {
    fn torn(&self) -> u64 {
        let count = self.counted();
        u64::from((1..WORDS).any(|index| self.words.0[index].get() != word(count, index)))
    }

    fn someone_else(&self, writer: u64) -> u64 {
        u64::from(self.flags.writer.get() != writer) + u64::from(self.flags.readers.get() != 0)
    }

    /// A writer is in: checks flags and words, raises its flag and updates the first half of the words. How
    /// much was wrong.
    pub(super) fn enter_write(&self, context: u64) -> u64 {
        let wrong = self.someone_else(0) + self.torn();
        self.flags.writer.set(context + 1);
        let next = self.counted().wrapping_add(1);
        for index in 0..WORDS / 2 {
            self.words.0[index].set(word(next, index));
        }
        wrong
    }

    /// The writer leaves: completes the words and lowers its flag, which must still be its own: somebody may
    /// have come and gone.
    pub(super) fn leave_write(&self, context: u64) -> u64 {
        let count = self.counted();
        for index in WORDS / 2..WORDS {
            self.words.0[index].set(word(count, index));
        }
        let wrong = self.someone_else(context + 1);
        self.flags.writer.set(0);
        wrong
    }

    /// A reader is in: a writer may not be.
    pub(super) fn enter_read(&self) -> u64 {
        self.flags.readers.take(1);
        u64::from(self.flags.writer.get() != 0) + self.torn()
    }

    /// The reader leaves.
    pub(super) fn leave_read(&self) -> u64 {
        let wrong = u64::from(self.flags.writer.get() != 0);
        self.flags.readers.take(u64::MAX); // one less
        wrong
    }

    /// How often a writer entered. Only meaningful to who holds the lock, or when nobody does any more.
    pub(super) fn counted(&self) -> u64 {
        self.words.0[0].get()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn test_lock() -> TestLock<()> {
        let words = array::from_fn(|index| Count::new(word(0, index)));
        TestLock { lock: (), flags: Flags::default(), words: Words(words) }
    }

    #[test]
    fn writers_one_after_the_other_are_clean_and_counted() {
        let test_lock = test_lock();
        for context in 0..5 {
            assert_eq!((test_lock.enter_write(context), test_lock.leave_write(context)), (0, 0));
        }
        assert_eq!(
            (test_lock.enter_read(), test_lock.enter_read()),
            (0, 0),
            "readers do not mind each other"
        );
        assert_eq!((test_lock.leave_read(), test_lock.leave_read()), (0, 0));
        assert_eq!(test_lock.counted(), 5);
        assert_eq!((test_lock.enter_write(0), test_lock.leave_write(0)), (0, 0));
    }

    #[test]
    fn a_second_writer_inside_is_seen_by_both() {
        let test_lock = test_lock();
        assert_eq!(test_lock.enter_write(0), 0);
        assert_eq!(test_lock.enter_write(1), 2, "flag up, words half written");
        assert_eq!(test_lock.leave_write(1), 0);
        assert_eq!(test_lock.leave_write(0), 1, "somebody came and went");
    }

    #[test]
    fn a_reader_sees_a_writer_and_a_writer_a_reader() {
        let first = test_lock();
        assert_eq!(first.enter_write(0), 0);
        assert_eq!(first.enter_read(), 2);
        assert_eq!(first.leave_write(0), 1, "the reader is still in");
        let second = test_lock();
        assert_eq!(second.enter_read(), 0);
        assert_eq!(second.enter_write(0), 1);
        assert_eq!(second.leave_read(), 1, "the writer is still in");
    }
}
