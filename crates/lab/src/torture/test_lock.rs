//! A lock under torture together with what it protects, and the checks made inside.
#![expect(
    unsafe_code,
    reason = "the protected words are plain memory on purpose; only the lock under torture guards them"
)]
use super::slot::Breaches;
use core::cell::UnsafeCell;
use core::sync::atomic::{AtomicU64, Ordering::Relaxed};

const WORDS: usize = 7;

/// The flags are atomics, and see two holders at once whatever the memory orderings. The words are plain
/// memory: on a weakly ordered machine a lock without acquire or release lets a holder see them half written,
/// and ThreadSanitizer reports the race on any machine.
#[repr(align(128))]
pub(crate) struct TestLock<L: ?Sized> {
    /// On lines of their own, as the words are: checking should not change the lock's traffic.
    flags: Flags,
    words: Words,
    pub(crate) lock: L,
}

#[derive(Default)]
#[repr(align(128))]
struct Flags {
    /// Which context holds it for writing (its number plus one), or 0.
    write_held: AtomicU64,
    /// How many contexts hold it for reading.
    readers: AtomicU64,
}

#[repr(align(128))]
struct Words(UnsafeCell<[u64; WORDS]>);

// SAFETY: the words are only touched between `enter_…` and `leave_…`, which the worker calls while it holds
// the lock, so a lock that keeps its promise makes every access exclusive. A lock that breaks it makes the
// accesses race: that is what is being looked for, and they are volatile single-word accesses so that all a
// race can do on supported machines is to deliver a stale or new word, never anything else.
unsafe impl Sync for Words {}

/// What a word must be when the sections were entered `count` times.
fn word(count: u64, index: usize) -> u64 {
    // The first word is the plain counter; the others are derived so that no two are ever equal by chance.
    if index == 0 { count } else { count.rotate_left(9 * index as u32) ^ (0x5d_u64 << (8 * index)) }
}

impl<L> TestLock<L> {
    pub(crate) fn new(lock: L) -> Self {
        let words = core::array::from_fn(|index| word(0, index));
        Self { flags: Flags::default(), words: Words(UnsafeCell::new(words)), lock }
    }
}

impl<L: ?Sized> TestLock<L> {
    fn read(&self, index: usize) -> u64 {
        // SAFETY: in bounds of a live array (`index < WORDS` in every caller), aligned, initialised;
        // exclusive while the caller holds the lock, see `Sync for Words` for a lock that lies.
        unsafe { self.words.0.get().cast::<u64>().add(index).read_volatile() }
    }

    fn write(&self, index: usize, value: u64) {
        // SAFETY: in bounds of a live array (`index < WORDS` in every caller) and aligned; exclusive while
        // the caller holds the lock, see `Sync for Words` for a lock that lies.
        unsafe { self.words.0.get().cast::<u64>().add(index).write_volatile(value) }
    }

    fn torn(&self) -> u64 {
        let count = self.read(0);
        u64::from((1..WORDS).any(|index| self.read(index) != word(count, index)))
    }

    /// Who else is inside, seen by a writer: `flag` is what the writers' flag has to be.
    fn others(&self, flag: u64) -> u64 {
        let Flags { write_held, readers } = &self.flags;
        u64::from(write_held.load(Relaxed) != flag) + u64::from(readers.load(Relaxed) != 0)
    }

    /// A writer is in: checks the flags and the words, raises its flag and updates the first half of the
    /// words.
    pub(crate) fn enter_write(&self, context: u64) -> Breaches {
        let exclusion = self.others(0);
        self.flags.write_held.store(context + 1, Relaxed);
        let torn = self.torn();
        let next = self.read(0).wrapping_add(1);
        for index in 0..WORDS / 2 {
            self.write(index, word(next, index));
        }
        Breaches { exclusion, torn }
    }

    /// The writer leaves: completes the words and lowers its flag.
    pub(crate) fn leave_write(&self, context: u64) -> Breaches {
        let count = self.read(0);
        for index in WORDS / 2..WORDS {
            self.write(index, word(count, index));
        }
        // The flag must still be ours: this catches an intruder that came *and went* while we were inside.
        let exclusion = self.others(context + 1);
        self.flags.write_held.store(0, Relaxed);
        Breaches { exclusion, torn: 0 }
    }

    /// A reader is in: a writer may not be. Also tells whether there are other readers.
    pub(crate) fn enter_read(&self) -> (Breaches, bool) {
        let others = self.flags.readers.fetch_add(1, Relaxed) != 0;
        let exclusion = u64::from(self.flags.write_held.load(Relaxed) != 0);
        (Breaches { exclusion, torn: self.torn() }, others)
    }

    pub(crate) fn leave_read(&self) -> Breaches {
        let exclusion = u64::from(self.flags.write_held.load(Relaxed) != 0);
        self.flags.readers.fetch_sub(1, Relaxed);
        Breaches { exclusion, torn: 0 }
    }

    pub(crate) fn readers(&self) -> u64 {
        self.flags.readers.load(Relaxed)
    }

    /// How often a writer entered, as the protected counter has it. Only meaningful to who holds the lock, or
    /// when all threads were joined.
    pub(crate) fn counted(&self) -> u64 {
        self.read(0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const CLEAN: Breaches = Breaches { exclusion: 0, torn: 0 };

    #[test]
    fn writers_one_after_the_other_are_clean_and_counted() {
        let test_lock = TestLock::new(());
        for context in 0..5 {
            assert_eq!(test_lock.enter_write(context), CLEAN);
            assert_eq!(test_lock.leave_write(context), CLEAN);
        }
        assert_eq!(test_lock.enter_read(), (CLEAN, false));
        assert_eq!(test_lock.leave_read(), CLEAN);
        assert_eq!(test_lock.counted(), 5);
    }

    #[test]
    fn a_second_writer_inside_is_seen_by_both() {
        let test_lock = TestLock::new(());
        assert_eq!(test_lock.enter_write(0), CLEAN);
        assert_eq!(
            test_lock.enter_write(1),
            Breaches { exclusion: 1, torn: 1 },
            "flag up, words half written"
        );
        assert_eq!(test_lock.leave_write(1), CLEAN);
        assert_eq!(
            test_lock.leave_write(0),
            Breaches { exclusion: 1, torn: 0 },
            "came and went while 0 was in"
        );
    }

    #[test]
    fn a_reader_sees_a_writer_and_a_writer_a_reader() {
        let test_lock = TestLock::new(());
        assert_eq!(test_lock.enter_write(0), CLEAN);
        assert_eq!(test_lock.enter_read(), (Breaches { exclusion: 1, torn: 1 }, false));
        assert_eq!(test_lock.leave_write(0), Breaches { exclusion: 1, torn: 0 }, "the reader is still in");
        let test_lock = TestLock::new(());
        assert_eq!(test_lock.enter_read(), (CLEAN, false));
        assert_eq!(test_lock.enter_write(0), Breaches { exclusion: 1, torn: 0 });
        assert_eq!(test_lock.leave_read(), Breaches { exclusion: 1, torn: 0 }, "the writer is still in");
    }

    #[test]
    fn readers_see_each_other_and_mind_not() {
        let test_lock = TestLock::new(());
        assert_eq!(test_lock.enter_read(), (CLEAN, false));
        assert_eq!(test_lock.enter_read(), (CLEAN, true));
        assert_eq!(test_lock.readers(), 2);
        assert_eq!((test_lock.leave_read(), test_lock.leave_read()), (CLEAN, CLEAN));
        assert_eq!((test_lock.enter_write(0), test_lock.leave_write(0)), (CLEAN, CLEAN));
    }

    #[test]
    fn no_two_words_are_equal() {
        for count in [0, 1, 255, 65_536, u64::MAX] {
            let mut words: Vec<u64> = (0..WORDS).map(|index| word(count, index)).collect();
            words.sort_unstable();
            words.dedup();
            assert_eq!(words.len(), WORDS, "at count {count}");
        }
    }
}
