//! What the second byte of the lock may hold, and all that the word may do.
use crate::parking::SLOTS_PER_ROW;
use stanchion_core::transitions::{Is, Row, Table};

/// Nothing to tell.
pub(super) const OPEN: u8 = 0;
/// The head of the queue sleeps; where, is to be looked up. (1 to 123 say where: see [`crate::parking`].)
pub(super) const SLOW: u8 = 124;
/// Without a queue, one waiter polls the lock itself.
pub(super) const PENDING: u8 = 125;
/// The head of the queue is running and has waited long enough; do not steal.
pub const NO_STEALING: u8 = 126;
/// For good: this lock's waiters never halt, and nobody steals.
pub(super) const SPINS: u8 = u8::MAX;
const _: () = assert!(SLOTS_PER_ROW < SLOW as usize);

pub(super) const TRANSITIONS: Table = Table(&[
    Row::claim("claim or steal: t,h,0 -> t,h,1"),
    Row::queue("queue: p,*,* -> n,*,*"),
    Row::named("the head stops thieves: n,0,* -> n,126,*")
        .pending(Is::Value(OPEN as u16), Is::Value(NO_STEALING as u16)),
    Row::named("the head sleeps at a parking slot: n,*,* -> n,s,*")
        .pending(Is::Any, Is::Within(1, SLOW as u16)),
    Row::named("a waiter becomes pending: t,0,* -> t,125,*")
        .pending(Is::Value(OPEN as u16), Is::Value(PENDING as u16)),
    Row::named("the head woke up or acquired, or nobody is pending: t,*,* -> t,0,*")
        .pending(Is::Any, Is::Value(OPEN as u16)),
    Row::named("the head was the last: n,0,1 -> 0,0,1").tail(Is::NonZero, Is::Value(0)),
    Row::release("release: t,h,1 -> t,h,0"),
]);
