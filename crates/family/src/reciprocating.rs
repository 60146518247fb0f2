//! `reciprocating`: waiters arrive on a stack, and the lock is handed down one whole stack after the other.
//!
//! # Motivation
//!
//! A queue like that of [`qspin`](crate::qspin) makes each waiter write to the node in front of it and each
//! owner read its own node for who is behind. Here an arrival is one exchange at the lock, which also tells
//! the waiter who is next after it, so a hand-over is one store into the line that the next owner polls. It
//! serves newest first within a stack, but stacks in turn, so the order goes to and fro like a piston, and
//! nobody is passed twice by anybody.
//!
//! # Provenance
//!
//! Dice and Kogan, *Reciprocating Locks*, 2025 (arXiv 2501.02380). What differs, and why:
//!
//! - **A node belongs to a wait, not to a holder.** In the paper the owner of an uncontended lock leaves its
//!   node in the lock, where it marks the end of the stack above it. Each owner hands this mark on with the
//!   lock. A node here is given back before the section, so a free lock is taken by setting a mark that is no
//!   node, and the end of each stack is that same mark. Nothing has to be handed on but the lock.
//! - **An arrival is a compare-exchange**, since what it writes depends on whether the lock is free. So it
//!   may have to be tried again, where an exchange has not.
//! - **Who is next stands in the lock**, in a cell of its holder's, so that any context can release it.
//!
//! # Properties
//!
//! - Fairness: newest first among those who arrived while the same stack was served. Each other context
//!   acquires at most once more ahead of a waiter. Newcomers take a free lock only, and it is free only if
//!   nobody waits. Contexts without a node wait until it is free.
//! - Progress: none while the holder or the next in line is preempted.
//! - Memory: 4 bytes a lock, four nodes a context. A release touches nothing of the lock after the store that
//!   lets the next holder in.
//!
//! # The word, `(tail, -, locked)`
//!
//! `arrivals` is 0 while the lock is free, `LOCKED` while it is held and nobody has arrived since the stack
//! that is served was taken, or the newest arrival. It is shown as `tail`, without the mark, and `locked`,
//! which is 1 unless it is 0. `segment` is no part of it.
//!
//! | from | to | by |
//! |---|---|---|
//! | `0,0` | `0,1` | acquire |
//! | `o,1` | `n,1` | a waiter arrives; `o` is next after it |
//! | `n,1` | `0,1` | the owner at the end of a stack takes the next one, and hands the lock to `n` |
//! | `0,1` | `0,0` | release with nobody waiting |
//!
//! # The stacks
//!
//! ```text
//!   arrivals -----> newest ----> older ----> oldest ----> LOCKED        grows while the other is served
//!
//!   owner, segment -----> next ----> after it ----> LOCKED              from newest to oldest
//! ```
//!
//! # Invariants
//!
//! - **I1** The lock is free exactly while `arrivals` is 0. It is taken by compare-exchange from 0, or handed
//!   over.
//! - **I2** Only the holder touches `segment`, which names the next in the stack that is served, or is 0 at
//!   its end; it is 0 while the lock is free.
//! - **I3** A waiter is in one stack, and is granted once: by the owner that takes the stack, if it is the
//!   newest, else by the one above it.
//!
//! ## Memory orderings
//!
//! Two pairs hand sections on: a release of a free lock (RL5) with who takes it (RL1, RL3, RL4), and a grant
//! (RL9) with who waits for it (RL7). An arrival publishes its node (RL6) to the owner that takes the stack
//! (RL8): arrivals are exchanges of one cell, so taking the newest acquires from all of them, and each grant
//! passes that on.
use crate::platform::FamilyDomain;
use crate::platform::FamilyPlatform;
use crate::slow_path::{acquire_without_node, count_nesting};
use crate::tail::NodeCode;
use stanchion_core::events::Event;
use stanchion_core::lock::{ConstLock, RawLock};
use stanchion_core::machine::{Atomic, ConstAtomic};
use stanchion_core::order::{Acquire, Relaxed, Release};
use stanchion_core::transitions::{Field, Is, Row, Table, Word};

/// The reciprocating lock; see the [module](self).
#[repr(C, align(4))]
pub struct ReciprocatingLock<P: FamilyPlatform> {
    arrivals: P::U16,
    segment: P::U16,
}

/// `arrivals` of a free lock.
const FREE: u16 = 0;
/// `arrivals` of a lock that is held, and nobody has arrived. It names no node.
const LOCKED: u16 = 1;
const _: () = assert!(NodeCode::from_raw(LOCKED).is_none());

/// States of a node, as a report reads them.
const WAITS: u8 = 0;
const GRANTED: u8 = 2;

const TRANSITIONS: Table = Table(&[
    Row::claim("acquire: 0,0 -> 0,1"),
    Row::queue("arrive: o,1 -> n,1"),
    Row::named("take the stack: n,1 -> 0,1").tail(Is::NonZero, Is::Value(0)),
    Row::release("release: 0,1 -> 0,0"),
]);

/// The newest arrival, or zero.
fn newest(arrivals: u16) -> u16 {
    if arrivals == LOCKED { NodeCode::NONE } else { arrivals }
}

impl<P: FamilyPlatform> RawLock for ReciprocatingLock<P> {
    type Platform = P;
    const NAME: &'static str = "reciprocating";
    const TRANSITIONS: Table = TRANSITIONS;

    fn new() -> Self {
        Self { arrivals: P::U16::new(FREE), segment: P::U16::new(NodeCode::NONE) }
    }

    #[inline]
    fn acquire(&self) {
        // ord: RL1 pairs RL5: the previous holder's section comes before ours
        if self.arrivals.compare_exchange(FREE, LOCKED, Acquire, Relaxed).is_err() {
            self.acquire_slow();
        }
    }

    #[inline]
    fn try_acquire(&self) -> bool {
        // ord: RL2 alone: keeps a failing try from owning the line
        self.arrivals.load(Relaxed) == FREE
            // ord: RL3 pairs RL5: the previous holder's section comes before ours
            && self.arrivals.compare_exchange(FREE, LOCKED, Acquire, Relaxed).is_ok()
    }

    #[inline]
    fn release(&self) {
        debug_assert_ne!(self.arrivals.peek(), FREE, "released a lock that nobody holds (I1)");
        // ord: RL10 alone: the holder's own (I2)
        let next = self.segment.load(Relaxed);
        if let Some(next) = NodeCode::from_raw(next) {
            P::with_domain(|domain| grant::<P>(domain, next));
        // ord: RL5 pairs RL1, RL3, RL4, RL13: our section comes before the next holder's
        } else if self.arrivals.compare_exchange(LOCKED, FREE, Release, Relaxed).is_err() {
            self.take_the_stack();
        }
    }

    fn word(&self) -> Word {
        let arrivals = self.arrivals.peek();
        Word { tail: newest(arrivals), pending: 0, locked: u8::from(arrivals != FREE) }
    }
}

/// Hands the lock to the waiter with this node.
fn grant<P: FamilyPlatform>(domain: &P::Domain, next: NodeCode) {
    // ord: RL9 pairs RL7: our section, and what we know of the stack, come before what the next holder does
    domain.node(next).state.store(GRANTED, Release);
}

impl<P: FamilyPlatform> ReciprocatingLock<P> {
    #[cold]
    #[inline(never)] // so that the way to it is the same with and without events
    fn acquire_slow(&self) {
        P::count(Event::LockSlowpath);
        P::with_domain(|domain| {
            let Some(cpu) = P::this_cpu() else { return self.acquire_without_node() };
            let Some(nesting) = domain.cpu(cpu).enter() else { return self.acquire_without_node() };
            count_nesting::<P>(nesting.level());
            let node = nesting.node();
            // ord: RL11 alone: published by RL6
            node.state.store(WAITS, Relaxed);
            let Some(older) = self.arrive(NodeCode::new(cpu, nesting.level())) else { return };
            // ord: RL7 pairs RL9: the previous holder's section comes before ours
            node.state.wait_until(Acquire, |state| state == GRANTED);
            // ord: RL12 alone: the holder's own (I2)
            self.segment.store(newest(older), Relaxed);
        });
    }

    /// `0,0 -> 0,1`, or `o,1 -> me,1`: what stood there, or nothing if we have the lock.
    fn arrive(&self, me: NodeCode) -> Option<u16> {
        // ord: RL14 alone: the exchanges decide
        let mut seen = self.arrivals.load(Relaxed);
        loop {
            let tried = if seen == FREE {
                // ord: RL4 pairs RL5: the previous holder's section comes before ours
                self.arrivals.compare_exchange(FREE, LOCKED, Acquire, Relaxed)
            } else {
                TRANSITIONS.check(Field::Tail, || newest(seen), me.raw());
                // ord: RL6 pairs RL8: our node is ready before anybody can grant it
                self.arrivals.compare_exchange(seen, me.raw(), Release, Relaxed)
            };
            match tried {
                Ok(FREE) => return None,
                Ok(older) => return Some(older),
                Err(other) => seen = other,
            }
        }
    }

    /// `n,1 -> 0,1`: the stack that has grown meanwhile is served next, from its newest.
    #[cold]
    #[inline(never)]
    fn take_the_stack(&self) {
        // ord: RL8 pairs RL6: the nodes of the stack are ready
        let newest = NodeCode::from_raw(self.arrivals.swap(LOCKED, Acquire));
        debug_assert!(newest.is_some(), "a held lock without arrivals was released (I1)");
        if let Some(newest) = newest {
            P::with_domain(|domain| grant::<P>(domain, newest));
        }
    }

    /// The way of a context that has no node.
    fn acquire_without_node(&self) {
        acquire_without_node::<P, _>(&self.arrivals, FREE, || {
            // ord: RL13 pairs RL5: the previous holder's section comes before ours
            self.arrivals.compare_exchange(FREE, LOCKED, Acquire, Relaxed).is_ok()
        });
    }
}

impl<P: FamilyPlatform> ConstLock for ReciprocatingLock<P>
where
    P::U16: ConstAtomic<u16>,
{
    const NEW: Self = Self { arrivals: P::U16::ZERO, segment: P::U16::ZERO };
}
