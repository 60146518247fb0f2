//! Mutexes that libc's functions use beside ours.
//!
//! What a program calls by name comes to us. But a library that is opened with `RTLD_DEEPBIND` or `dlmopen` calls libc, and so does who looks
//! a function up in libc itself. Where both are used for one mutex, libc finds it free, since its word is 0 at all times that ours have it,
//! and with an owner, since ours are noted where libc notes its own:
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
//! | its word | owner | our word | what we do |
//! |---|---|---|---|
//! | held | any | free | the mutex is libc's, from now on and for good: its kind says so |
//! | free | libc took it away | held | we unlock it, as libc meant |
//! | held | libc took it away, and itself the place | held | as above, and then it is libc's |
//! | held | libc put itself in the place | held | two hold it: we end the process, with a line |
//!
//! A thread of ours that has taken our word looks at libc's, and whether the mutex is libc's by now, before it notes itself as the owner. So one that two are after at the same moment
//! may let both in for once; whoever unlocks finds that out.
use crate::locks::Choice;
use crate::object::Mutex;
use crate::say::die;
use crate::thread::{is_ours, locked_by_libc};
use core::sync::atomic::Ordering;
use core::time::Duration;
use stanchion::deadline::sleep;

/// A mutex that is libc's for good: a bit of its kind that libc does not look at.
const LIBCS: i32 = 1 << 23;

/// Between taking our word and finding out about libc's lie a few instructions; a thread may lose its CPU there. So long it is waited for.
pub(crate) const LOOKS: u32 = 10_000;
pub(crate) const PAUSE: Duration = Duration::from_micros(50);

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

    /// Whether somebody is noted as its owner who is no thread of ours.
    #[inline(always)]
    pub(crate) fn has_foreign_owner(&self) -> bool {
        // ord: TW2 alone: a hint; who is noted is found out by `settle`
        let owner = self.owner.load(Ordering::Relaxed);
        owner != 0 && !is_ours(owner)
    }

    /// Whether it is libc's for good, though it was ours at first.
    #[inline(always)]
    pub(crate) fn was_handed_over(&self) -> bool {
        // ord: TW3 alone: whoever misses it finds it under our lock, where it was written
        let kind = self.kind.load(Ordering::Relaxed);
        kind >= 0 && kind & LIBCS != 0
    }

    /// Whether a mutex whose lock the calling thread has just acquired is libc's: libc holds it, or it was handed over while we waited.
    #[inline(always)]
    pub(crate) fn is_libcs(&self) -> bool {
        self.is_held_by_libc() || self.was_handed_over()
    }

    /// Gives it to libc for good.
    ///
    /// # Safety
    ///
    /// The mutex must be ours with this lock, and the calling thread hold it, or release it for a thread that has given it up.
    #[cold]
    pub(crate) unsafe fn hand_over(&self, choice: Choice) {
        // ord: TW4 alone: published by the release below, to those who wait for it
        self.kind.fetch_or(LIBCS, Ordering::Relaxed);
        // SAFETY: the lock is held, so its relay is ours (L5). Those who are woken find that it is libc's, as all who get the lock do.
        unsafe {
            while let Some(next) = self.relay.next() {
                next.wake();
            }
            choice.release(&raw const self.word);
        }
    }

    /// Finds out whose a mutex is at which libc's functions have left their traces, and puts it in order. Whether it is libc's.
    ///
    /// # Safety
    ///
    /// The mutex must be ours with this lock.
    #[cold]
    #[inline(never)]
    pub(crate) unsafe fn settle(&self, choice: Choice) -> bool {
        for _ in 0..LOOKS {
            if self.was_handed_over() {
                return true;
            }
            if !self.is_held_by_libc() && !self.has_foreign_owner() {
                return false;
            }
            // ord: TW5 alone: the exchange decides
            let owner = self.owner.load(Ordering::Relaxed);
            // SAFETY: the mutex is ours with this lock. It is released once for each time that it is taken: by us, or by a thread that
            // libc has unlocked it for, which one of us gets by the exchange of the owner.
            unsafe {
                if choice.try_acquire(&raw const self.word) {
                    if self.is_libcs() {
                        self.hand_over(choice);
                        return true;
                    }
                    // What is left of an unlock too many. Nothing depends on it.
                    self.disown_if(owner, 0);
                    choice.release(&raw const self.word);
                    return false;
                }
                match (self.is_held_by_libc(), locked_by_libc(owner).filter(|_| !is_ours(owner))) {
                    (false, Some(..0)) => {
                        if self.disown_if(owner, 0) {
                            self.release_for_another(choice);
                        }
                    }
                    (true, Some(..=0)) => {
                        // libc's own owner stays, as the only user.
                        if self.disown_if(owner, owner & 0xffff_ffff | 1 << 32) {
                            self.hand_over(choice);
                        }
                    }
                    (true, Some(1..)) => break,
                    _ => sleep(PAUSE),
                }
            }
        }
        die_of_two(b"a mutex that the program holds")
    }

    /// Puts `then` in the place of the owner, if that is still the same. Whether it was.
    fn disown_if(&self, owner: usize, then: usize) -> bool {
        // ord: TW6 alone: one of those who try does it; the lock orders the rest
        self.owner.compare_exchange(owner, then, Ordering::Relaxed, Ordering::Relaxed).is_ok()
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
