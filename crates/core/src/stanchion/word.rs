//! The lock's word: what its bytes hold, and all that it may do.
use crate::transitions::{Is, Row, Table};

/// In the first byte: the lock is held. The rest of the byte counts acquisitions.
pub(super) const HELD: u8 = 1;

/// In the second byte: a release must wake somebody.
pub(super) const WAKE: u8 = 1;
/// In the second byte: a waiter whose turn has come asks newcomers to leave the lock to it.
pub(crate) const NO_BARGING: u8 = 2;
/// In the second byte: how often spins were in vain; see [`super::spin::Vain`].
pub(super) const VAIN: u8 = 0x0c;
/// In the second byte: acquisitions are quick, so owners look around in one of 128 (rule 4). Owners alone
/// change it.
pub(super) const QUICK: u8 = 0x10;
/// In the second byte: owners pass a fence when they release the lock, and an heir that is about to sleep
/// needs no heavy barrier (I7).
pub(super) const FENCES: u8 = 0x20;
/// In the second byte: there is a waiter of real-time priority, maybe.
pub(super) const URGENT: u8 = 0x40;
/// In the second byte: this lock's waiters never sleep, and nobody barges, for good.
pub(super) const SPINS: u8 = 0x80;

/// Those of the flags that wait for something to happen. The others may stay when nobody uses the lock.
pub(super) const MARKS: u8 = WAKE | NO_BARGING;

/// How many acquisitions there were between two looks at the first byte, modulo 128.
#[inline(always)]
pub(super) const fn acquisitions(before: u8, now: u8) -> u32 {
    (now.wrapping_sub(before) / 2) as u32
}

pub(super) const TRANSITIONS: Table = Table(&[
    Row::claim("acquire: t,f,free -> t,f,held"),
    Row::release("release: t,f,held -> t,f,free"),
    Row::queue("queue: o,f,* -> n,f,*"),
    Row::named("the owner takes the newest waiter out: n,f,held -> o,f,held").tail(Is::NonZero, Is::Any),
    Row::named("a waiter or the owner leaves a mark: *,f,* -> *,g,*").pending(Is::Any, Is::Any),
]);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn acquisitions_are_counted_across_the_end_of_the_byte() {
        assert_eq!(acquisitions(4, 4), 0);
        assert_eq!(acquisitions(4, 5), 0, "taken by somebody since: not over yet, and no overtaking");
        assert_eq!(acquisitions(5, 6), 0, "released");
        assert_eq!(acquisitions(5, 7), 1, "released and taken");
        assert_eq!(acquisitions(254, 2), 2);
        assert_eq!(acquisitions(255, 1), 1);
    }
}
