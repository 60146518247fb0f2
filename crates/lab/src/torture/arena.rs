//! Everything the threads of one run share, which is leaked: a stuck thread may look at it for as long as it
//! likes. The locks under torture with what they protect; and what each context does around a section.
#![expect(
    unsafe_code,
    reason = "locks are given back by unsafe functions, and the words that they protect are plain memory on purpose"
)]
use super::claims::Claims;
use super::lock::{Side, Skills, Tortured};
use super::orders::Orders;
use super::slot::{Activity, Breaches, Slot, one_more};
use super::tally::Tally;
use super::test_locks::HANDLER_LEVELS;
use core::cell::UnsafeCell;
use core::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};
use crossbeam_utils::CachePadded;

/// All test locks of a run, in the order of their numbers.
pub(super) type Places = Vec<&'static TestLock<dyn Tortured>>;

pub(super) struct Arena {
    pub(super) orders: Orders,
    pub(super) skills: Skills,
    pub(super) test_locks: Places,
    /// The writers, then the readers, then the tormentor if there is one.
    pub(super) slots: Vec<Slot>,
    pub(super) switches: Switches,
}

/// What the supervisor switches and everybody else looks at.
#[derive(Default)]
#[repr(align(128))]
pub(super) struct Switches {
    pub(super) stop: AtomicBool,
    /// The stutter holds everybody back.
    pub(super) pause: AtomicBool,
    /// Something looks stuck: send no signals at all, they might cure it.
    pub(super) hush: AtomicBool,
}

impl Arena {
    pub(super) fn leak(orders: Orders, skills: Skills, test_locks: Places) -> &'static Self {
        let slots = orders.writers + orders.readers + usize::from(orders.extras.signals);
        let slots = (0..slots).map(|_| Slot::default()).collect();
        Box::leak(Box::new(Self { orders, skills, test_locks, slots, switches: Switches::default() }))
    }

    pub(super) fn workers(&self) -> &[Slot] {
        &self.slots[..self.orders.writers + self.orders.readers]
    }

    pub(super) fn writes(&self, slot: usize) -> bool {
        slot < self.orders.writers
    }

    pub(super) fn name(&self, slot: usize) -> String {
        match slot.checked_sub(self.orders.writers) {
            None => format!("writer {slot}"),
            Some(reader) if reader < self.orders.readers => format!("reader {reader}"),
            Some(_) => "tormentor".to_owned(),
        }
    }

    pub(super) fn stopping(&self) -> bool {
        self.switches.stop.load(Relaxed)
    }

    pub(super) fn tallies(&self) -> (Tally, Tally) {
        let (writers, readers) = self.workers().split_at(self.orders.writers);
        (Tally::of(writers, readers, Slot::written), Tally::of(readers, writers, Slot::read))
    }
}

/// A worker, a handler on its thread, or the tormentor: says what it does, checks what locks protect, counts.
#[derive(Clone, Copy)]
pub(super) struct Context {
    pub(super) arena: &'static Arena,
    /// Where it says what it does, and the number of that.
    pub(super) slot: &'static Slot,
    pub(super) number: usize,
    /// How many contexts of its thread it has interrupted.
    pub(super) depth: usize,
}

impl Context {
    pub(super) fn of(arena: &'static Arena, number: usize) -> Self {
        Self { arena, slot: &arena.slots[number], number, depth: 0 }
    }

    pub(super) fn does(self, activity: Activity, test_lock: usize) {
        self.slot.does(self.depth, activity, test_lock);
    }

    /// Takes a test lock by `acquire`, and looks around inside.
    #[inline(always)]
    pub(super) fn enter<L: ?Sized>(self, place: &TestLock<L>, side: Side, acquire: impl FnOnce()) {
        let number = place.section.number();
        self.claims(|claims| claims.about_to(self.depth, number, side));
        acquire();
        self.claims(|claims| claims.holds(self.depth, number, side));
        self.does(Activity::Holding, number);
        self.begin(&place.section, side);
    }

    /// The section begins: what is there to see is booked.
    pub(super) fn begin(self, section: &Section, side: Side) {
        let writes = side == Side::Writes;
        let seen = if writes {
            section.enter_write(self.id())
        } else {
            let (mut seen, others) = section.enter_read();
            match (others, self.arena.skills.shares) {
                // A handler may have met its own thread's reader.
                (true, true) if self.depth == 0 => one_more(&self.slot.shared.together),
                (_, true) => {}
                (others, false) => seen.exclusion += u64::from(others),
            }
            seen
        };
        self.slot.charge(seen);
        self.slot.count(self.depth, section.number(), writes);
    }

    pub(super) fn end(self, section: &Section, side: Side) {
        self.slot.charge(match side {
            Side::Writes => section.leave_write(self.id()),
            Side::Reads | Side::ReadsAgain | Side::Upgrades => section.leave_read(),
        });
    }

    #[inline(always)]
    pub(super) fn leave<L: Tortured + ?Sized>(self, place: &TestLock<L>, side: Side) {
        let number = place.section.number();
        self.end(&place.section, side);
        self.does(Activity::Releasing, number);
        self.claims(|claims| claims.about_to(self.depth, number, side));
        // SAFETY: this context entered on that side, or changed to it since.
        unsafe { place.lock.release(side) };
        self.claims(|claims| claims.gone(self.depth, number));
    }

    /// Handlers look at claims only where readers share.
    #[inline(always)]
    fn claims(self, change: impl FnOnce(&Claims)) {
        if self.arena.skills.shares {
            change(&self.slot.claims);
        }
    }

    /// Whether it waits as the last that a thread has a level for, all those that it interrupted waiting too.
    pub(super) fn waits_fifth(self) -> bool {
        let doing = self.slot.doing();
        self.depth == HANDLER_LEVELS && doing.contexts().all(|(activity, _)| activity == Activity::Waiting)
    }

    /// Unique per slot and depth.
    pub(super) fn id(self) -> u64 {
        (self.number * (HANDLER_LEVELS + 1) + self.depth) as u64
    }
}

const WORDS: usize = 7;

/// A lock under torture, and what it protects.
pub(crate) struct TestLock<L: ?Sized> {
    pub(crate) section: Section,
    /// On lines of its own, as `section` fills whole ones.
    pub(crate) lock: L,
}

/// What a test lock protects, and the flags that show who is inside. It is the same for each type of lock, so
/// it is compiled once.
///
/// The flags are atomics, and see two holders at once whatever the memory orderings. The words are plain
/// memory: on a weakly ordered machine a lock without acquire or release lets a holder see them half written,
/// and ThreadSanitizer reports the race on any machine.
pub(crate) struct Section {
    /// On lines of their own, as the words are: checking should not change the lock's traffic.
    flags: Flags,
    words: Words,
    /// Which test lock it is. Nobody writes to this line.
    number: CachePadded<usize>,
}

#[derive(Default)]
#[repr(align(128))]
struct Flags {
    /// Which context holds it for writing (its number plus one), or 0.
    write_held: AtomicU64,
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
    pub(crate) fn new(number: usize, lock: L) -> Self {
        Self { section: Section::new(number), lock }
    }
}

impl Section {
    fn new(number: usize) -> Self {
        let words = Words(UnsafeCell::new(core::array::from_fn(|index| word(0, index))));
        Self { flags: Flags::default(), words, number: CachePadded::new(number) }
    }

    pub(crate) fn number(&self) -> usize {
        *self.number
    }

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

    /// A writer is in: checks flags and words, raises its flag and updates the first half of the words.
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

    /// The protected counter of writers; for who holds the lock, or when all threads were joined.
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
        let section = Section::new(0);
        for context in 0..5 {
            assert_eq!(section.enter_write(context), CLEAN);
            assert_eq!(section.leave_write(context), CLEAN);
        }
        assert_eq!(section.enter_read(), (CLEAN, false));
        assert_eq!(section.leave_read(), CLEAN);
        assert_eq!(section.counted(), 5);
    }

    #[test]
    fn a_second_writer_inside_is_seen_by_both() {
        let section = Section::new(0);
        assert_eq!(section.enter_write(0), CLEAN);
        assert_eq!(section.enter_write(1), Breaches { exclusion: 1, torn: 1 }, "flag up, words half written");
        assert_eq!(section.leave_write(1), CLEAN);
        assert_eq!(
            section.leave_write(0),
            Breaches { exclusion: 1, torn: 0 },
            "came and went while 0 was in"
        );
    }

    #[test]
    fn a_reader_sees_a_writer_and_a_writer_a_reader() {
        let section = Section::new(0);
        assert_eq!(section.enter_write(0), CLEAN);
        assert_eq!(section.enter_read(), (Breaches { exclusion: 1, torn: 1 }, false));
        assert_eq!(section.leave_write(0), Breaches { exclusion: 1, torn: 0 }, "the reader is still in");
        let section = Section::new(0);
        assert_eq!(section.enter_read(), (CLEAN, false));
        assert_eq!(section.enter_write(0), Breaches { exclusion: 1, torn: 0 });
        assert_eq!(section.leave_read(), Breaches { exclusion: 1, torn: 0 }, "the writer is still in");
    }

    #[test]
    fn readers_see_each_other_and_mind_not() {
        let section = Section::new(0);
        assert_eq!(section.enter_read(), (CLEAN, false));
        assert_eq!(section.enter_read(), (CLEAN, true));
        assert_eq!(section.readers(), 2);
        assert_eq!((section.leave_read(), section.leave_read()), (CLEAN, CLEAN));
        assert_eq!((section.enter_write(0), section.leave_write(0)), (CLEAN, CLEAN));
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
