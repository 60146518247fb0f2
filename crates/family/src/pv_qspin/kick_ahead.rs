//! Kick-ahead: a release also wakes the next few sleepers behind the head, so that their wake-up overlaps
//! with the sections in front of them.
//!
//! The links are followed *before* the releasing store: nodes leave the queue only by way of the lock, so its
//! holder finds the queue standing still; afterwards any of them may be in another queue. Whoever is to be
//! kicked is taken from HALTED to ROUSED first: then it does not halt if it was just about to, and its
//! predecessor will not take it for a sleeper. Between that and the kick it may already be head and still
//! asleep; nothing is lost, because the kick is on its way.
//!
//! ROUSED is a state of its own, and not WAIT. A waiter that finds itself head after a halt must know whether
//! the owner in front has taken a place for it: it has if the waiter was HALTED, and has not if it was
//! ROUSED. With WAIT the waiter would wait for ever for a place that nobody tells it, as the schedule
//! explorer shows within ten schedules.
use super::waiter::{HALTED, ROUSED};
use super::word::{NO_STEALING, OPEN, PENDING, SPINS};
use super::{PvQSpinLock, SleeperLookup, WaitPolicy};
use crate::events::FamilyEvents as _;
use crate::platform::FamilyDomain;
use crate::platform::FamilyPlatform;
use crate::tail::NodeCode;
use crate::tunables::FamilyTunables as _;
use stanchion_core::Tunable;
use stanchion_core::events::Event;
use stanchion_core::machine::Atomic;
use stanchion_core::numbers::CpuId;
use stanchion_core::order::{Acquire, Relaxed};

/// No more than so many are woken ahead, whatever the tunable says.
const MOST: usize = 8;

impl<P: FamilyPlatform, W: WaitPolicy> PvQSpinLock<P, W> {
    /// Whether the head of the queue sleeps, as far as its mark tells.
    pub(super) fn head_sleeps(&self) -> bool {
        // ord: V47 alone: a hint; a mark that comes later is found after the release (V4)
        !matches!(self.head.load(Relaxed), OPEN | NO_STEALING | SPINS | PENDING)
    }

    #[cold]
    pub(super) fn release_kicking_ahead(&self) {
        P::with_domain(|domain| {
            let ahead = self.sleepers_behind_the_head(domain);
            self.release_and_kick_the_head();
            for cpu in ahead.into_iter().flatten() {
                P::count(Event::PvKickAhead);
                P::kick(cpu);
            }
        });
    }

    /// Takes on the duty to kick the next sleepers. The caller holds the lock.
    fn sleepers_behind_the_head(&self, domain: &P::Domain) -> [Option<CpuId>; MOST] {
        let mut ahead = [None; MOST];
        let mut code = self.sleeping_head(domain).and_then(|head| Self::behind(domain, head));
        let most = (P::tunable(Tunable::KickAhead) as usize).min(MOST);
        for place in &mut ahead[..most] {
            let Some(node) = code else { break };
            // ord: V50 alone: says that a kick is on its way, and publishes nothing
            if domain.node(node).state.compare_exchange(HALTED, ROUSED, Relaxed, Relaxed).is_ok() {
                *place = Some(node.cpu());
            }
            code = Self::behind(domain, node);
        }
        ahead
    }

    /// The head of the queue, if it sleeps or is just waking up.
    ///
    /// Holding the lock makes the answer right. The last head cleared its mark before it released, so a mark
    /// that the holder reads is the present head's. That head keeps its place until it leaves the queue, and
    /// it cannot leave without the lock.
    fn sleeping_head(&self, domain: &P::Domain) -> Option<NodeCode> {
        // ord: R4 pairs V9: the place is the present head's from before its mark, and not still that of
        // another lock's head
        W::SleeperLookup::occupant(self.at(domain), self.head.load(Acquire))
    }

    /// For the holder: the waiter behind the one at `code`, if it has linked itself.
    fn behind(domain: &P::Domain, code: NodeCode) -> Option<NodeCode> {
        // ord: R1 pairs V7: the waiter behind was ready before it linked itself
        NodeCode::from_raw(domain.node(code).next.load(Acquire))
    }
}
