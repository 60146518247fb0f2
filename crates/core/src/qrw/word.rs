//! The word: its fields, what it may do, and what a context may do with it.
use crate::numbers::CpuId;
use crate::transitions::{Is, Row, Table};

/// The number of the sleeping head plus one.
pub(super) const SLEEPER: u32 = (1 << 14) - 1;
/// The head lets nobody pass.
pub(super) const WAITING: u32 = 1 << 14;
/// A writer is in, or an upgrade waits for readers to leave.
pub(super) const WRITER: u32 = 1 << 15;
/// There is an upgradable holder.
pub(super) const UPGRADABLE: u32 = 1 << 16;
/// One reader.
pub(super) const READER: u32 = 1 << 17;
/// As many readers as are let in. The count has room for 16 383 more, for those that find out (their
/// additions are taken back).
pub(super) const MOST: u32 = 1 << 14;

const _: () = assert!(CpuId::LIMIT as u32 <= SLEEPER, "the greatest number plus one fits");

pub(super) const fn readers(count: u32) -> u32 {
    count / READER
}

pub(super) const TRANSITIONS: Table = Table(&[
    Row::named("a reader comes: r,*,w -> r+1,*,w").tail(Is::Any, Is::NonZero).pending(Is::Any, Is::Any),
    Row::named("a reader leaves: r,*,w -> r-1,*,w").tail(Is::NonZero, Is::Any),
    Row::named("the head or an upgradable holder says so: r,*,w -> r,*,w").pending(Is::Any, Is::Any),
    Row::named("a writer: 0,*,0 -> 0,*,1")
        .tail(Is::Value(0), Is::Value(0))
        .pending(Is::Any, Is::Any)
        .locked(Is::Value(0), Is::Value(1)),
    Row::named("an upgrade begins: r,u,0 -> r,u,1")
        .pending(Is::Within(4, 7), Is::Within(4, 7))
        .locked(Is::Value(0), Is::Value(1)),
    Row::named("a writer leaves: r,*,1 -> r,*,0")
        .pending(Is::Any, Is::Any)
        .locked(Is::Value(1), Is::Value(0)),
    Row::named("a writer becomes a reader: r,*,1 -> r+1,*,0")
        .tail(Is::Any, Is::NonZero)
        .locked(Is::Value(1), Is::Value(0)),
]);

/// What a context waits for.
#[derive(Clone, Copy)]
pub(super) enum Want {
    Read,
    /// As `Read`, also beside readers whom an upgrade waits for.
    ReadAgain,
    /// Only waited for: to reserve a place as a reader, unless an upgrade waits for readers.
    Reserve,
    Write,
    Upgradable,
}

impl Want {
    /// Whether the word lets one go in, or reserve. Whether one may pass the head is another question.
    #[inline(always)]
    pub(super) fn can_go(self, count: u32) -> bool {
        match self {
            Want::Read => count & WRITER == 0,
            Want::ReadAgain => count & WRITER == 0 || (count & UPGRADABLE != 0 && readers(count) != 0),
            Want::Reserve => count & (WRITER | UPGRADABLE) != WRITER | UPGRADABLE,
            Want::Write => count & (WRITER | UPGRADABLE) == 0 && readers(count) == 0,
            Want::Upgradable => count & (WRITER | UPGRADABLE) == 0,
        }
    }

    /// Whether a newcomer may go ahead of the head of the queue, if the word lets it go in. Anybody may until
    /// the head forbids barging. A writer also may while the head halts, or has no CPU yet since it was
    /// kicked.
    #[inline(always)]
    fn may_pass(self, count: u32) -> bool {
        count & WAITING == 0 || (matches!(self, Want::Write) && count & SLEEPER != 0)
    }

    /// Whether a newcomer that cannot go in polls in vain: a head without a CPU comes first, so the
    /// newcomer's is of more use to others.
    #[inline(always)]
    pub(super) fn is_in_vain(self, count: u32) -> bool {
        count & WAITING != 0 && count & SLEEPER != 0 && !self.may_pass_in(count)
    }

    /// Whether a newcomer can go in, ahead of the head of the queue if there is one.
    #[inline(always)]
    pub(super) fn may_pass_in(self, count: u32) -> bool {
        self.may_pass(count) && self.can_go(count)
    }

    /// Whether one would be counted, and is one more than `most`.
    #[inline(always)]
    pub(super) fn is_too_many(self, count: u32, most: u32) -> bool {
        matches!(self, Want::Read | Want::ReadAgain | Want::Reserve) && readers(count) >= most
    }

    /// The word once one is in.
    #[inline(always)]
    pub(super) fn gone(self, count: u32) -> u32 {
        match self {
            Want::Read | Want::ReadAgain | Want::Reserve => count + READER,
            Want::Write => count | WRITER,
            Want::Upgradable => count | UPGRADABLE,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_writers_pass_a_head_that_forbids_it_and_only_while_it_has_no_cpu() {
        for want in [Want::Read, Want::Upgradable, Want::Write] {
            assert!(want.may_pass_in(0), "a free lock");
            assert!(want.may_pass_in(SLEEPER), "a head that has not set the flag");
            assert!(!want.may_pass_in(WAITING), "a head that runs, and has set the flag");
            assert_eq!(want.may_pass_in(WAITING | SLEEPER), matches!(want, Want::Write));
            assert!(!want.may_pass_in(WAITING | SLEEPER | WRITER), "a writer is in");
        }
        assert!(!Want::Write.may_pass_in(WAITING | SLEEPER | READER), "a reader is in");
    }

    #[test]
    fn newcomers_poll_while_that_may_help() {
        assert!(!Want::Read.is_in_vain(WRITER) && !Want::Read.is_in_vain(WAITING), "the head runs");
        assert!(Want::Read.is_in_vain(WAITING | SLEEPER));
        assert!(Want::Write.is_in_vain(WAITING | SLEEPER | READER));
        assert!(!Want::Write.is_in_vain(WAITING | SLEEPER), "it can go in");
    }
}
