//! A queued spin lock, and what may be wrong with it: `qspin` without the pending bit.
use super::{BLIND_CLEAR, BROKEN, DEAF, GREEDY, HEEDS, LEVELLESS_TAIL, SHARED_NODE};
use stanchion_core::order::{AcqRel, Acquire, Relaxed, Release};
use stanchion_core::transitions::{Table, Word};
use stanchion_core::{Atomic, Event, RawLock};
use stanchion_family::tail::NodeCode;
use stanchion_family::{FamilyDomain, FamilyPlatform, QSpinLock};

const fn steals(flaw: usize) -> bool {
    matches!(flaw, GREEDY | DEAF | HEEDS)
}

/// The head of the queue asks newcomers for the lock.
const fn asks(flaw: usize) -> bool {
    matches!(flaw, DEAF | HEEDS)
}

/// The lock.
#[repr(C)]
pub struct Queued<P: FamilyPlatform, const FLAW: usize> {
    locked: P::U8,
    /// 1 while the head asks for the lock.
    asked: P::U8,
    tail: P::U16,
}

const WAIT: u8 = 0;
const HEAD: u8 = 2;

impl<P: FamilyPlatform, const FLAW: usize> Queued<P, FLAW> {
    fn claim(&self) -> bool {
        self.locked.compare_exchange(0, 1, Acquire, Relaxed).is_ok()
    }
}

impl<P: FamilyPlatform, const FLAW: usize> RawLock for Queued<P, FLAW> {
    type Platform = P;
    const NAME: &'static str = BROKEN[FLAW].name;
    const TRANSITIONS: Table = <QSpinLock<P> as RawLock>::TRANSITIONS;

    fn new() -> Self {
        Self { locked: P::U8::new(0), asked: P::U8::new(0), tail: P::U16::new(0) }
    }

    fn acquire(&self) {
        if self.try_acquire() {
            return;
        }
        P::with_domain(|domain| {
            let cpu = P::this_cpu().expect("there are numbers for all contexts");
            let percpu = domain.cpu(cpu);
            let Some(nesting) = percpu.enter() else {
                P::count(Event::LockNoNode);
                while !self.claim() {
                    self.locked.wait_until(Relaxed, |locked| locked == 0);
                }
                return;
            };
            // BUG: the node is in another queue.
            let level = if FLAW == SHARED_NODE { 0 } else { nesting.level() };
            // BUG: all nodes of a context look the same.
            let named = if FLAW == LEVELLESS_TAIL { 0 } else { level };
            let (node, me) = (percpu.node(level), NodeCode::new(cpu, named));
            node.next.store(NodeCode::NONE, Relaxed);
            node.state.store(WAIT, Relaxed);
            if let Some(before) = NodeCode::from_raw(self.tail.swap(me.raw(), AcqRel)) {
                domain.node(before).next.store(me.raw(), Release);
                node.state.wait_until(Acquire, |state| state == HEAD);
            }
            if asks(FLAW) {
                self.asked.store(1, Relaxed);
            }
            while !self.claim() {
                self.locked.wait_until(Relaxed, |locked| locked == 0);
            }
            if asks(FLAW) {
                self.asked.store(0, Relaxed);
            }
            if FLAW == BLIND_CLEAR && node.next.load(Acquire) == NodeCode::NONE {
                self.tail.store(NodeCode::NONE, Relaxed); // BUG: it may be somebody else's by now
                return;
            }
            if self.tail.compare_exchange(me.raw(), NodeCode::NONE, Relaxed, Relaxed).is_err() {
                let next = node.next.wait_until(Acquire, |next| next != NodeCode::NONE);
                let next = NodeCode::from_raw(next).expect("a link names a node");
                domain.node(next).state.store(HEAD, Release);
            }
        });
    }

    fn try_acquire(&self) -> bool {
        let queue = self.tail.load(Relaxed) != NodeCode::NONE;
        // BUG with `GREEDY`: there is no bound on it. With `DEAF`: the head is not heard.
        let refused = queue && (!steals(FLAW) || (FLAW == HEEDS && self.asked.load(Relaxed) == 1));
        !refused && self.claim()
    }

    fn release(&self) {
        self.locked.store(0, Release);
    }

    fn word(&self) -> Word {
        Word { tail: self.tail.peek(), pending: self.asked.peek(), locked: self.locked.peek() }
    }
}
