//! Rotation: a holder whose stint is over lets a waiter out of the queue to take its CPU.
//!
//! The head of the queue is woken by releases and stands in the run queue of one CPU. A context on *another* CPU cannot
//! give its place to that head: it would leave a CPU idle for milliseconds while two contexts share the other one. So it
//! acquires the lock, takes out of the queue a waiter that sleeps and is at home on its own CPU, releases the lock, kicks
//! that waiter, and queues itself. The one that was let out runs in its place, as a newcomer with a fresh stint.
//!
//! ```text
//!   before:   head ──> a ──> v ──> b         v sleeps, and last ran on the holder's CPU
//!   after:    head ──> a ──────> b           v tries for the lock like a newcomer
//! ```
//!
//! Only the holder of the lock takes waiters out, and only a holder leaves the queue, so the links that it follows cannot
//! change under it; the one race is with a context that queues behind the last waiter, and is decided by the tail. (The
//! queued unfair lock removes its thieves by the same argument.)
use super::waiter::{HALTED, REMOVED};
use super::word::{TRANSITIONS, said};
use super::{PvQSpinLock, Signpost, WaitPolicy};
use crate::events::Event;
use crate::order::{Acquire, Relaxed, Release};
use crate::percpu::{Domain, QNode};
use crate::platform::{Atomic, CpuId, Platform};
use crate::tail::NodeCode;
use crate::transitions::Field;

impl<P: Platform, W: WaitPolicy> PvQSpinLock<P, W> {
    /// For the holder: lets out the first of the foremost waiters that sleeps and is at home on this CPU. The caller must
    /// kick it once it has released the lock: a waiter that is kicked earlier may preempt the holder.
    #[must_use]
    pub(super) fn let_out_a_waiter(&self, domain: &P::Domain) -> Option<CpuId> {
        let mut before = self.sleeping_head(domain)?;
        for _ in 0..W::LOOK_AHEAD {
            let code = Self::behind(domain, before)?;
            let node = domain.node(code);
            // ord: R2 alone: a hint; the swap below decides who is told what
            if node.state.load(Relaxed) == HALTED && P::is_preempted(code.cpu()) {
                self.unlink(domain.node(before), before, node, code);
                // ord: R3 pairs V8, V11, V12, V39, V40: we are done with its links before it uses the node again
                node.state.swap(REMOVED, Release);
                P::count(Event::PvLetOut);
                return Some(code.cpu());
            }
            before = code;
        }
        None
    }

    /// The head of the queue, if it sleeps or is just waking up.
    ///
    /// Holding the lock makes the answer right: the last head cleared its mark before it released, so a mark that the
    /// holder reads is the present head's; that head keeps its spot until it leaves the queue, and it cannot leave without
    /// the lock.
    pub(super) fn sleeping_head(&self, domain: &P::Domain) -> Option<NodeCode> {
        // ord: R4 pairs V9, V58: the place is the present head's from before its mark, and not still that of another lock's head
        W::Signpost::occupant(self.at(domain), said(self.head.load(Acquire)))
    }

    /// For the holder: the waiter behind the one at `code`, if it has linked itself.
    pub(super) fn behind(domain: &P::Domain, code: NodeCode) -> Option<NodeCode> {
        // ord: R1 pairs V7: the waiter behind was ready before it linked itself
        NodeCode::from_raw(domain.node(code).next.load(Acquire))
    }

    /// Takes `node` out from behind `before`.
    fn unlink(&self, before: &QNode<P>, before_code: NodeCode, node: &QNode<P>, code: NodeCode) {
        // n,*,1 -> p,*,1
        // ord: R6 alone: a read-modify-write carries the release of V6 on to whoever displaces that node
        let last = self.tail.compare_exchange(code.raw(), before_code.raw(), Relaxed, Relaxed);
        if let Ok(tail) = last {
            TRANSITIONS.check(Field::Tail, || tail, before_code.raw());
            // Fails if somebody has queued behind `before` and linked itself already, which is as good.
            // ord: R7 alone: the link goes away; a link that replaced it is its writer's
            let _ = before.next.compare_exchange(code.raw(), NodeCode::NONE, Relaxed, Relaxed);
            return;
        }
        // ord: R8 pairs V7: the waiter behind was ready before it linked itself
        let next = node.next.wait_until(Acquire, |next| next != NodeCode::NONE);
        // ord: R9 alone: links are followed by holders only, and they come after our release (V4)
        before.next.store(next, Relaxed);
    }
}
