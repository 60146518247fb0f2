//! What a lock of the bodies protects: several plain words, which are equal whenever nobody changes them.
use crate::Witness;
use core::cell::UnsafeCell;

/// More than a cache line, so that a torn section shows.
const WORDS: usize = 12;

/// The words, and who else looks at what is done with them.
#[derive(Default)]
pub(crate) struct Words<T> {
    words: UnsafeCell<[u64; WORDS]>,
    witness: T,
}

// SAFETY: the words are reached through `add_one` and `look` only, whose callers answer for there being no
// access at the same time that conflicts; the witness is shared as its trait says.
unsafe impl<T: Witness> Sync for Words<T> {}

/// The words differ: somebody was at them at the same time.
#[derive(Debug)]
pub(crate) struct Torn;

impl<T: Witness> Words<T> {
    /// Adds one to each word; what they are now.
    ///
    /// # Safety
    ///
    /// The lock has to keep everybody else from the words. A lock that does not is what the bodies are there
    /// to find, and nothing depends on the words but their outcome.
    pub(crate) unsafe fn add_one(&self) -> Result<u64, Torn> {
        self.witness.write();
        // SAFETY: the caller answers for no other reference to the words being alive.
        let words = unsafe { &mut *self.words.get() };
        let before = words[0];
        for word in words.iter_mut() {
            if *word != before {
                return Err(Torn);
            }
            *word = before + 1;
        }
        self.witness.write();
        Ok(before + 1)
    }

    /// What the words are.
    ///
    /// # Safety
    ///
    /// The lock has to keep everybody from changing the words, as in [`Words::add_one`].
    pub(crate) unsafe fn look(&self) -> Result<u64, Torn> {
        self.witness.read();
        // SAFETY: the caller answers for nobody changing the words.
        let words = unsafe { &*self.words.get() };
        let all_equal = words.iter().all(|&word| word == words[0]);
        self.witness.read();
        if all_equal { Ok(words[0]) } else { Err(Torn) }
    }
}
