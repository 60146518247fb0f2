//! Running something once: [`Once`], in four bytes, with the states that parking_lot tells.
//!
//! The low two bits of the word are the state; bit 2 says that somebody sleeps, or is about to, until that
//! changes.
use crate::os;
use core::fmt;
use core::sync::atomic::{AtomicU32, Ordering};

const NEW: u32 = 0;
const POISONED: u32 = 1;
const IN_PROGRESS: u32 = 2;
const DONE: u32 = 3;
const STATE: u32 = 3;
const SLEPT_ON: u32 = 4;

/// What has become of a [`Once`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OnceState {
    /// Nothing has run yet.
    New,
    /// What ran panicked.
    Poisoned,
    /// A thread is at it.
    InProgress,
    /// Something has run to its end.
    Done,
}

impl OnceState {
    const fn of(word: u32) -> Self {
        match word & STATE {
            NEW => Self::New,
            POISONED => Self::Poisoned,
            IN_PROGRESS => Self::InProgress,
            _ => Self::Done,
        }
    }

    /// Whether what ran last panicked.
    pub const fn is_poisoned(self) -> bool {
        matches!(self, Self::Poisoned)
    }

    /// The same, by its older name.
    pub const fn poisoned(self) -> bool {
        self.is_poisoned()
    }

    /// Whether something has run to its end.
    pub const fn is_completed(self) -> bool {
        matches!(self, Self::Done)
    }

    /// The same, by its older name.
    pub const fn done(self) -> bool {
        self.is_completed()
    }
}

/// Lets one thread run something, once; the others wait for it. Who calls the same `Once` from what it runs
/// waits for itself.
///
/// ```
/// static READY: stanchion::Once = stanchion::Once::new();
///
/// READY.call_once(|| println!("only once"));
/// READY.call_once(|| unreachable!());
/// assert!(READY.is_completed());
/// ```
pub struct Once(AtomicU32);

impl Once {
    /// One of which nothing has run.
    pub const fn new() -> Self {
        Self(AtomicU32::new(NEW))
    }

    /// One that runs nothing any more.
    pub const fn new_completed() -> Self {
        Self(AtomicU32::new(DONE))
    }

    /// What has become of it by now.
    pub fn state(&self) -> OnceState {
        OnceState::of(self.seen())
    }

    /// Whether something has run to its end. What that wrote can be read then.
    #[inline]
    pub fn is_completed(&self) -> bool {
        self.seen() == DONE
    }

    /// Runs `f` if nothing has run yet, or waits for what runs.
    ///
    /// # Panics
    ///
    /// If what ran panicked.
    #[inline]
    pub fn call_once<F: FnOnce()>(&self, f: F) {
        if !self.is_completed() {
            let mut f = Some(f);
            self.call(false, &mut |_| f.take().map_or((), |f| f()));
        }
    }

    /// As [`call_once`](Self::call_once), but what panicked is as if it had not run. `f` is told whether
    /// there was such.
    #[inline]
    pub fn call_once_force<F: FnOnce(OnceState)>(&self, f: F) {
        if !self.is_completed() {
            let mut f = Some(f);
            self.call(true, &mut |state| f.take().map_or((), |f| f(state)));
        }
    }

    /// Waits until something has run to its end.
    ///
    /// # Panics
    ///
    /// If what ran panicked.
    pub fn wait(&self) {
        self.wait_for_end(false);
    }

    /// Waits until something has run to its end, whatever panicked before.
    pub fn wait_force(&self) {
        self.wait_for_end(true);
    }

    #[inline]
    fn seen(&self) -> u32 {
        // ord: ON1 pairs ON2: what ran comes before what we do next
        self.0.load(Ordering::Acquire)
    }

    fn wait_for_end(&self, force: bool) {
        loop {
            match self.seen() {
                DONE => return,
                word if word & STATE == POISONED && !force => refuse(),
                word => self.sleep(word),
            }
        }
    }

    #[cold]
    fn call(&self, force: bool, f: &mut dyn FnMut(OnceState)) {
        loop {
            let word = self.seen();
            match word & STATE {
                DONE => return,
                POISONED if !force => refuse(),
                IN_PROGRESS => self.sleep(word),
                before if self.begin(word) => {
                    let mut end = End { once: self, state: POISONED };
                    f(OnceState::of(before));
                    end.state = DONE;
                    return;
                }
                _ => {}
            }
        }
    }

    fn begin(&self, word: u32) -> bool {
        let began = IN_PROGRESS | word & SLEPT_ON;
        // ord: ON3 pairs ON2: what ran and panicked comes before what runs now
        self.0.compare_exchange(word, began, Ordering::Acquire, Ordering::Relaxed).is_ok()
    }

    /// Sleeps while the word is `word`. May return for no reason.
    fn sleep(&self, word: u32) {
        let slept_on = word | SLEPT_ON;
        // ord: ON4 alone: a request to be woken; what is waited for is read by ON1
        if word == slept_on
            || self.0.compare_exchange(word, slept_on, Ordering::Relaxed, Ordering::Relaxed).is_ok()
        {
            // EINTR and EAGAIN are returns for no reason.
            os::wait(&self.0, slept_on, None);
        }
    }
}

impl Default for Once {
    fn default() -> Self {
        Self::new()
    }
}

impl fmt::Debug for Once {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Once").field("state", &self.state()).finish()
    }
}

/// Says how it ended when it goes, in a panic, too.
struct End<'a> {
    once: &'a Once,
    state: u32,
}

impl Drop for End<'_> {
    fn drop(&mut self) {
        // ord: ON2 pairs ON1, ON3: what ran comes before what those do who see its end
        if self.once.0.swap(self.state, Ordering::Release) & SLEPT_ON != 0 {
            os::wake(&self.once.0, i32::MAX.cast_unsigned());
        }
    }
}

#[cold]
fn refuse() -> ! {
    panic!("what this Once ran has panicked before; use call_once_force or wait_force to go on all the same")
}
