//! Mutexes that libc's functions use beside ours.
//!
//! What a program calls by name comes to us. But a library that is opened with `RTLD_DEEPBIND` or `dlmopen`
//! calls libc, and so does who looks a function up in libc itself. Where both are used for one mutex, libc
//! finds its word free at all times that ours have it, and an owner that is none:
//!
//! | libc's function | with one that is free, or libc's | with one that a thread of ours holds |
//! |---|---|---|
//! | lock | takes it | ends the process: it asserts that a mutex that it has just taken has no owner |
//! | try, timed lock | takes it | takes it, and puts itself in the owner's place |
//! | unlock of a normal one, wait for a condition | gives it up | takes the owner away; waiters of ours do not learn of it |
//! | unlock of another kind | gives it up | `EPERM` |
//!
//! We look for libc's traces whenever we meet them:
//!
//! | libc's word | owner | our word | what we do |
//! |---|---|---|---|
//! | held | any | free | the mutex is libc's, from now on and for good: its kind says so |
//! | free | libc counts users | free | the same: somebody waits for a condition by libc's functions |
//! | free | libc took it away | held | we unlock it, as libc meant |
//! | held | libc took it away, and itself the place | held | as above, and then it is libc's |
//! | held | libc put itself in the place | held | two hold it: we end the process, with a line |
//!
//! A thread of ours that comes for a plain mutex puts [`TAKEN`] in libc's owner's place. Then it takes our
//! word, which is a read-modify-write, and looks at libc's. So one of two who come at the same moment sees
//! the other. Who holds the mutex takes [`TAKEN`] away when it unlocks; who has waited for that finds it
//! gone, puts it back, and passes a fence. For other kinds [`TAKEN`] comes after the word, and a fence before
//! the look at libc's word: a libc that takes it after that finds [`TAKEN`], and one that took it before is
//! seen.
//!
//! An unlock by libc wakes nobody of ours. So a thread that has slept for a second at the default lock looks
//! for traces, again each time that it has slept as long again, and once a minute in the end.
use crate::locks::Choice;
use crate::object::{Mutex, TAKEN};
use crate::say::die;
use crate::thread::{locked_by_libc, me};
use core::mem::offset_of;
use core::ptr::with_exposed_provenance;
use core::sync::atomic::{Ordering, fence};
use core::time::Duration;
use stanchion::deadline::sleep;

/// What is told of a mutex.
const HELD: &[u8] = b"a mutex that the program holds";

/// A mutex that is libc's for good: a bit of its kind that libc does not look at.
const LIBCS: i32 = 1 << 23;

/// Between taking our word and finding out about libc's lie a few instructions; a thread may lose its CPU
/// there. So long it is waited for.
pub(crate) const LOOKS: u32 = 10_000;
pub(crate) const PAUSE: Duration = Duration::from_micros(50);

/// A thread of ours has slept long in the queue of the default lock at this address, which is a mutex's:
/// those of reader-writer locks are of another kind, whose threads do not look around.
pub(crate) fn look_at(word: usize) {
    // SAFETY: the word is a mutex's, which lives while a thread waits for it, with the default lock.
    unsafe {
        let mutex = &*with_exposed_provenance::<Mutex>(word - offset_of!(Mutex, word));
        if mutex.is_disturbed() {
            mutex.settle(Choice::DEFAULT);
        }
    }
}

/// Ends the process, since an object that a thread of ours holds is held by libc's functions, too.
pub(crate) fn die_of_two(what: &[u8]) -> ! {
    die(&[
        b"stanchion: ",
        what,
        b" is used by a library that calls libc's locks (opened with RTLD_DEEPBIND or dlmopen, or by dlsym); ",
        b"run without the interposer, or with lock=libc",
    ])
}

impl Mutex {
    /// Whether libc's functions hold it.
    #[inline(always)]
    pub(crate) fn is_held_by_libc(&self) -> bool {
        // ord: TW1 alone: libc releases it by a read-modify-write, whose section comes before ours
        self.libcs_word.load(Ordering::Acquire) != 0
    }

    /// What stands in libc's owner's place.
    #[inline(always)]
    fn noted(&self) -> u32 {
        // ord: TW2 alone: see the module for what comes before and after
        self.libcs_owner.load(Ordering::Relaxed)
    }

    #[inline(always)]
    fn number(&self) -> u32 {
        // ord: TW7 alone: a hint; `settle` finds out, and changes it by exchanges
        self.owner.load(Ordering::Relaxed)
    }

    /// Whether libc's functions have left something here. May be `true` for no reason while threads of ours
    /// come and go.
    #[inline(always)]
    pub(crate) fn is_disturbed(&self) -> bool {
        let number = self.number();
        let noted = self.noted();
        self.is_held_by_libc() || noted != TAKEN && (noted | number) != 0
    }

    /// A thread of ours comes for a plain mutex. `false` if it is to be settled first.
    #[inline(always)]
    pub(crate) fn announce(&self) -> bool {
        let noted = self.noted();
        if noted == TAKEN {
            return true;
        }
        if (noted | self.number()) != 0 {
            return false;
        }
        // ord: TW8 alone: ordered against libc's word by the acquisition that follows
        self.libcs_owner.store(TAKEN, Ordering::Relaxed);
        true
    }

    /// A thread of ours has announced itself, and acquired our word. Whether the mutex is its own now; if
    /// not, it is libc's.
    #[inline(always)]
    pub(crate) fn enter(&self) -> bool {
        match self.noted() {
            TAKEN => {}
            0 => self.announce_again(),
            _ => return false,
        }
        if self.is_held_by_libc() || !self.is_normal() {
            return false;
        }
        // ord: M8 alone: see M7, others only learn that it is not them
        self.owner.store(me(), Ordering::Relaxed);
        true
    }

    /// Who held the mutex before has taken [`TAKEN`] away.
    #[cold]
    fn announce_again(&self) {
        // ord: TW9 alone: ordered against libc's word by the fence
        self.libcs_owner.store(TAKEN, Ordering::Relaxed);
        // ord: TW13 alone: libc's word is looked at after libc can see us; its own read-modify-write is what
        // this meets
        fence(Ordering::SeqCst);
    }

    /// As [`enter`](Self::enter), for one of any kind, and nobody has announced himself.
    #[inline(always)]
    pub(crate) fn enter_at_once(&self) -> bool {
        if self.is_libcs() {
            return false;
        }
        // ord: TW14 alone: ordered against libc's word by the fence
        self.libcs_owner.store(TAKEN, Ordering::Relaxed);
        // ord: TW15 alone: see M7, others only learn that it is not them
        self.owner.store(me(), Ordering::Relaxed);
        // ord: TW21 alone: as TW13, libc's word is looked at after libc can see us
        fence(Ordering::SeqCst);
        if self.is_held_by_libc() {
            die_of_two(HELD);
        }
        true
    }

    /// Whether the calling thread holds it, and libc has not touched that.
    #[inline(always)]
    pub(crate) fn is_mine_alone(&self) -> bool {
        self.noted() == TAKEN && self.is_mine()
    }

    /// The holder is about to release our word.
    #[inline(always)]
    pub(crate) fn leave(&self) {
        // ord: TW16 alone: see M7, others only learn that it is not them
        self.owner.store(0, Ordering::Relaxed);
        // ord: TW20 alone: a libc that comes now finds our word's owner gone, and our word released soon
        self.libcs_owner.store(0, Ordering::Relaxed);
    }

    /// Whether it is libc's for good, though it was ours at first.
    #[inline(always)]
    pub(crate) fn was_handed_over(&self) -> bool {
        // ord: TW3 alone: whoever misses it finds it under our lock, where it was written
        let kind = self.kind.load(Ordering::Relaxed);
        kind >= 0 && kind & LIBCS != 0
    }

    /// Whether a mutex whose lock the calling thread has just acquired is libc's: libc holds it, or it was
    /// handed over while we waited.
    #[inline(always)]
    pub(crate) fn is_libcs(&self) -> bool {
        self.is_held_by_libc() || self.was_handed_over()
    }

    /// Gives it to libc for good.
    ///
    /// # Safety
    ///
    /// The mutex must be ours with this lock, and the calling thread hold it, or release it for a thread that
    /// has given it up.
    #[cold]
    pub(crate) unsafe fn hand_over(&self, choice: Choice) {
        // ord: TW4 alone: published by the release below, to those who wait for it
        self.kind.fetch_or(LIBCS, Ordering::Relaxed);
        // SAFETY: the lock is held, so its relay is ours (L5). Those who are woken find that it is libc's, as
        // all who get the lock do.
        unsafe {
            while let Some(next) = self.relay.next() {
                next.wake();
            }
            choice.release(&raw const self.word);
        }
    }

    /// Finds out whose a mutex is at which libc's functions have left their traces, and puts it in order.
    /// Whether it is libc's.
    ///
    /// # Safety
    ///
    /// The mutex must be ours with this lock.
    #[cold]
    #[inline(never)]
    pub(crate) unsafe fn settle(&self, choice: Choice) -> bool {
        for look in 0..LOOKS {
            if self.was_handed_over() {
                return true;
            }
            if !self.is_disturbed() {
                return false;
            }
            let (number, noted) = (self.number(), self.noted());
            let times = locked_by_libc(number);
            // SAFETY: the mutex is ours with this lock. It is released once for each time that it is taken:
            // by us, or by a thread that libc has unlocked it for, which one of us gets by the exchange of
            // the owner.
            unsafe {
                if choice.try_acquire(&raw const self.word) {
                    if self.is_libcs() || number != 0 && times.is_none() {
                        self.hand_over(choice);
                        return true;
                    }
                    // What is left of an unlock too many. Nothing depends on it.
                    self.disown_if(number, 0);
                    choice.release(&raw const self.word);
                    return false;
                }
                match (self.is_held_by_libc(), times) {
                    (false, Some(..0)) if noted == 0 => {
                        if self.disown_if(number, 0) {
                            self.release_for_another(choice);
                        }
                    }
                    // Not at the first look: libc may be about to count itself.
                    (true, Some(..=0)) if noted != TAKEN && look > 3 => {
                        // libc is the only user.
                        if self.disown_if(number, 1) {
                            self.hand_over(choice);
                        }
                    }
                    (true, Some(1..)) => break,
                    _ => sleep(PAUSE),
                }
            }
        }
        die_of_two(HELD)
    }

    /// Puts `then` in the place of the owner, if that is still the same. Whether it was.
    fn disown_if(&self, number: u32, then: u32) -> bool {
        // ord: TW6 alone: one of those who try does it; the lock orders the rest
        self.owner.compare_exchange(number, then, Ordering::Relaxed, Ordering::Relaxed).is_ok()
    }

    /// Releases it for a thread that has given it up.
    ///
    /// # Safety
    ///
    /// As `Choice::release`, for the thread that holds it.
    unsafe fn release_for_another(&self, choice: Choice) {
        // SAFETY: nobody else releases it, as the caller promises, so its relay is ours (L5).
        unsafe {
            let next = self.relay.next();
            choice.release(&raw const self.word);
            if let Some(next) = next {
                next.wake();
            }
        }
    }
}
