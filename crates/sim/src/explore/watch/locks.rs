//! The locks that a run watches.
use crate::explore::rw_subjects::SteppedRw;
use crate::locks::AnyLock;
use stanchion_core::transitions::Word;
use std::rc::Rc;

/// The locks of a run, each on a line of its own.
#[derive(Clone)]
pub(in super::super) enum Locks {
    Mutexes(Rc<Vec<Box<dyn AnyLock>>>),
    Rw(Rc<Vec<Box<dyn SteppedRw>>>),
}

impl Locks {
    pub(super) fn len(&self) -> usize {
        match self {
            Self::Mutexes(locks) => locks.len(),
            Self::Rw(locks) => locks.len(),
        }
    }

    pub(super) fn word(&self, index: usize) -> Word {
        match self {
            Self::Mutexes(locks) => locks[index].word(),
            Self::Rw(locks) => locks[index].word(),
        }
    }

    /// The word of the lock that those wait in line for who wait for a reader-writer lock.
    pub(super) fn line(&self, index: usize) -> Option<Word> {
        match self {
            Self::Mutexes(_) => None,
            Self::Rw(locks) => locks[index].queue_word(),
        }
    }
}
