//! Who is doing what, for reports of stalls, and what everybody has achieved.
//!
//! A *slot* is one context: a vCPU's task, or its interrupt handler at some depth. Only the context itself
//! writes to its slot. A *test lock* is a lock under test together with what it protects.
use crate::cells::Count;
use crate::histogram::LiveHistogram;
use alloc::boxed::Box;
use core::fmt::{self, Display, Formatter};
use stanchion_core::transitions::Word;

/// What a context does with a test lock.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub(crate) enum Activity {
    /// It is at no test lock.
    Elsewhere,
    /// It waits for the lock.
    Waits,
    /// It holds the lock.
    Holds,
    /// It gives the lock back.
    Releases,
}

impl Activity {
    const ALL: [Self; 4] = [Self::Elsewhere, Self::Waits, Self::Holds, Self::Releases];

    fn words(self) -> &'static str {
        match self {
            Self::Elsewhere => "is elsewhere",
            Self::Waits => "waits",
            Self::Holds => "holds the lock",
            Self::Releases => "releases the lock",
        }
    }
}

/// One context.
#[derive(Debug)]
#[repr(align(128))]
pub(crate) struct Slot {
    /// Test lock and activity.
    doing: Count,
    /// Since when.
    since: Count,
    /// Acquisitions to write, by test lock.
    wrote: Box<[Count]>,
    /// Acquisitions to read, by test lock.
    read: Box<[Count]>,
    /// What it saw that no lock may let happen.
    pub(crate) breaches: Count,
    /// How long its acquisitions took.
    pub(crate) waits: LiveHistogram,
    /// Nanoseconds in acquisitions that took long.
    pub(crate) slow: Count,
    /// Nanoseconds of its work, without those.
    pub(crate) worked: Count,
    /// Nanoseconds without work, between tasks.
    pub(crate) idle: Count,
}

impl Slot {
    fn new(test_locks: usize) -> Self {
        let counts = || (0..test_locks).map(|_| Count::default()).collect();
        Self {
            doing: Count::default(),
            since: Count::default(),
            wrote: counts(),
            read: counts(),
            breaches: Count::default(),
            waits: LiveHistogram::NEW,
            slow: Count::default(),
            worked: Count::default(),
            idle: Count::default(),
        }
    }

    /// Says what the context does from `now` on.
    #[inline]
    pub(crate) fn does(&self, activity: Activity, test_lock: usize, now: u64) {
        self.since.set(now);
        self.doing.set((test_lock as u64) << 8 | activity as u64);
    }

    /// What it does, where, and since when; the three may come from different moments.
    fn doing(&self) -> (Activity, usize, u64) {
        let doing = self.doing.get();
        (Activity::ALL[(doing & 3) as usize], (doing >> 8) as usize, self.since.get())
    }

    /// Counts an acquisition.
    #[inline]
    pub(crate) fn count(&self, test_lock: usize, writes: bool) {
        let counts = if writes { &self.wrote } else { &self.read };
        counts[test_lock].add(1);
    }

    /// Its acquisitions to write at all test locks.
    pub(crate) fn wrote(&self) -> u64 {
        self.wrote.iter().map(Count::get).sum()
    }

    /// Its acquisitions to read at all test locks.
    pub(crate) fn read(&self) -> u64 {
        self.read.iter().map(Count::get).sum()
    }
}

/// All slots, and what was last seen to move.
pub(crate) struct Board {
    slots: Box<[Slot]>,
    /// Contexts of one vCPU.
    levels: usize,
    test_locks: Box<[LastSeen]>,
    stall: u64,
}

/// What the watch remembers of a test lock. Whoever looks writes it, several at a time at worst, which only
/// makes them patient.
#[derive(Debug, Default)]
struct LastSeen {
    /// How often it was acquired.
    acquired: Count,
    /// When that was seen to have changed.
    at: Count,
}

impl Board {
    /// Slots for `vcpus` vCPUs with `levels` contexts each, at so many test locks. Nobody may get a wanted
    /// lock for `stall` nanoseconds before that is a stall.
    pub(crate) fn new(vcpus: u16, levels: usize, test_locks: usize, stall: u64) -> Self {
        Self {
            slots: (0..usize::from(vcpus) * levels).map(|_| Slot::new(test_locks)).collect(),
            levels,
            test_locks: (0..test_locks).map(|_| LastSeen::default()).collect(),
            stall,
        }
    }

    /// The slot of a vCPU's task (depth 0) or handler.
    #[inline]
    pub(crate) fn slot(&self, vcpu: u16, depth: usize) -> &Slot {
        &self.slots[self.number(vcpu, depth)]
    }

    /// Its number.
    #[inline]
    pub(crate) fn number(&self, vcpu: u16, depth: usize) -> usize {
        usize::from(vcpu) * self.levels + depth
    }

    /// The slots of each vCPU, its task's first.
    pub(crate) fn vcpus(&self) -> impl Iterator<Item = &[Slot]> {
        self.slots.chunks(self.levels)
    }

    /// All slots.
    pub(crate) fn slots(&self) -> &[Slot] {
        &self.slots
    }

    /// How often a test lock was acquired to write.
    pub(crate) fn writes_at(&self, test_lock: usize) -> u64 {
        self.slots.iter().map(|slot| slot.wrote[test_lock].get()).sum()
    }

    /// A test lock that somebody has wanted for too long while nobody got it. Cheap enough for some times a
    /// second.
    pub(crate) fn stalled(&self, now: u64) -> Option<usize> {
        let long_ago = |then: u64| now.saturating_sub(then) > self.stall;
        for (test_lock, last) in self.test_locks.iter().enumerate() {
            let read: u64 = self.slots.iter().map(|slot| slot.read[test_lock].get()).sum();
            let acquired = self.writes_at(test_lock) + read;
            if acquired != last.acquired.get() || last.at.get() == 0 {
                last.acquired.set(acquired);
                last.at.set(now);
            }
        }
        // The deepest context of a vCPU first: the ones that it has interrupted wait for it.
        self.slots.iter().rev().find_map(|slot| {
            let (activity, test_lock, since) = slot.doing();
            let stuck = matches!(activity, Activity::Waits | Activity::Releases) && long_ago(since);
            (stuck && long_ago(self.test_locks[test_lock].at.get())).then_some(test_lock)
        })
    }
}

/// A stall in words: the lock, and everybody who is at a test lock.
pub(crate) struct Stall<'a> {
    /// Where everybody is.
    pub(crate) board: &'a Board,
    /// The test lock that stands still.
    pub(crate) test_lock: usize,
    /// Its lock's word.
    pub(crate) word: Word,
    /// The present.
    pub(crate) now: u64,
}

impl Display for Stall<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let Self { board, test_lock, word, now } = self;
        let Word { tail, pending, locked } = word;
        write!(f, "nobody gets lock {test_lock} (tail {tail:#06x}, pending {pending}, locked {locked})")?;
        for (number, slot) in board.slots.iter().enumerate() {
            let (activity, place, since) = slot.doing();
            if activity == Activity::Elsewhere {
                continue;
            }
            let (vcpu, depth) = (number / board.levels, number % board.levels);
            write!(f, "; vCPU {vcpu}")?;
            if depth > 0 {
                write!(f, " in interrupt {depth}")?;
            }
            let ms = now.saturating_sub(since) / 1_000_000;
            write!(f, " {} at {place} since {ms} ms", activity.words())?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::string::ToString;

    #[test]
    fn a_wanted_lock_that_nobody_gets_is_stalled() {
        let board = Board::new(2, 2, 3, 1_000);
        board.slot(0, 0).does(Activity::Waits, 2, 10);
        board.slot(1, 1).does(Activity::Holds, 1, 10);
        assert_eq!(board.stalled(20), None, "not long enough");
        assert_eq!(board.stalled(1_015), None, "not long enough since the first look");
        assert_eq!(board.stalled(1_030), Some(2));
        let word = Word { tail: 4, pending: 0, locked: 1 };
        let message = Stall { board: &board, test_lock: 2, word, now: 7_000_010 }.to_string();
        assert_eq!(
            message,
            "nobody gets lock 2 (tail 0x0004, pending 0, locked 1); vCPU 0 waits at 2 since 7 ms; vCPU 1 in interrupt 1 holds the lock at 1 \
             since 7 ms"
        );
    }

    #[test]
    fn a_lock_that_others_get_is_not() {
        let board = Board::new(2, 1, 1, 1_000);
        board.slot(0, 0).does(Activity::Waits, 0, 10);
        for now in (20..50_000).step_by(500) {
            assert_eq!(board.stalled(now), None);
            board.slot(1, 0).count(0, now % 1_000 == 20);
        }
        assert_eq!(board.writes_at(0), 50);
        assert_eq!((board.slot(1, 0).wrote(), board.slot(1, 0).read()), (50, 50));
    }

    #[test]
    fn a_holder_may_take_its_time() {
        let board = Board::new(1, 1, 1, 1_000);
        board.slot(0, 0).does(Activity::Holds, 0, 10);
        assert_eq!((board.stalled(20), board.stalled(1_000_000)), (None, None));
    }
}
