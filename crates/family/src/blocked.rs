//! Where a context says which lock it blocks on, so that a releaser finds it by the lock's address: for locks
//! whose four bytes hold no queue, [`xen_pv`](crate::xen_pv) and [`pv_ticket`](crate::pv_ticket).
//!
//! Each context has one such place, in its [`PerCpu`]: the lock's address, the ticket that it waits for (if
//! the lock has tickets), and its *event*, which is 1 while a wake-up is pending. A handler that blocks in
//! the midst of a wait uses the place meanwhile and puts everything back; releases of the outer lock do not
//! find the context as long.
//!
//! # Invariants
//!
//! - **I1** Only its own context writes `blocked_on` and `wanted`. A handler leaves both as it found them.
//! - **I2** A release of the outer lock may have looked for the context in vain while a handler used its
//!   place. So the handler leaves the event pending *and kicks its own context*: no outer wait sleeps before
//!   it has looked at its lock again. The event alone is too little if the handler came between the
//!   comparison of the outer halt and the halt, and did not halt itself. The kick alone is too little if it
//!   came before the comparison, and a later handler uses it up.
//! - **I3** A wake-up that a nested wait finds pending may be the only one of a release of the outer lock,
//!   and the interrupted context cannot use it before its handler is done. The nested wait hands it on to
//!   another waiter of that lock.
//!
//! ## Memory orderings
//!
//! Releaser: change the lock, full fence (X4, K5), look at the places (Z5). Waiter: its place (Z2, Z3), full
//! fence (Z4), look at the lock. So the waiter sees the lock changed or the releaser sees the waiter. The
//! same for a handler that puts back what it found (Z6): after it, the outer wait looks at its lock again.
//!
//! Nothing here is ordered by more than these fences. A releaser may read one half of a place old and the
//! other one new. Then the waiter's fence comes after the releaser's, and it sees the lock changed. The kick
//! that is sent or not makes no difference. A wake-up is sent behind one fence (Z8) and found before another
//! (Z7, Z9), so what its sender saw is seen behind that one.
use crate::percpu::PerCpu;
use crate::platform::FamilyDomain;
use crate::platform::FamilyPlatform;
use stanchion_core::machine::Atomic;
use stanchion_core::numbers::CpuId;
use stanchion_core::order::{Relaxed, SeqCst};

/// In `blocked_on`: the context blocks nowhere.
const NOWHERE: usize = 0;

/// One wait of a context that says where it blocks.
#[must_use]
pub(crate) struct Blocking<'a, P: FamilyPlatform> {
    me: CpuId,
    percpu: &'a PerCpu<P>,
    /// What an interrupted wait had said.
    outer: (usize, u16),
}

impl<'a, P: FamilyPlatform> Blocking<'a, P> {
    /// Context `me`, which calls, says that it waits for ticket `wanted` of `lock`.
    pub(crate) fn begin(domain: &'a P::Domain, me: CpuId, lock: usize, wanted: u16) -> Self {
        let percpu = domain.cpu(me);
        // ord: Z1 alone: private to this context, handlers put back what they change (I1)
        let outer = (percpu.blocked_on.load(Relaxed), percpu.wanted.load(Relaxed));
        let blocking = Self { me, percpu, outer };
        blocking.say(lock, wanted);
        blocking
    }

    fn say(&self, lock: usize, wanted: u16) {
        // ord: Z2 alone: the fence that follows makes it visible; before the address, so that few are kicked
        // in vain
        self.percpu.wanted.store(wanted, Relaxed);
        // ord: Z3 alone: the fence that follows makes it visible
        self.percpu.blocked_on.store(lock, Relaxed);
    }

    /// Whether this wait interrupted another one.
    pub(crate) fn is_nested(&self) -> bool {
        self.outer.0 != NOWHERE
    }

    /// Clears the event, before the look at the lock: a wake-up that comes later stays. In the other order
    /// the kick alone would be left of it, and a handler that halts for a lock of another kind uses that up.
    pub(crate) fn clear_event(&self, domain: &P::Domain) {
        // ord: Z7 alone: the fences on both sides order a wake-up (Z4)
        let pending = self.percpu.event.swap(0, Relaxed) != 0;
        // ord: Z4 pairs X4, K5, K11: either we see the lock released, or its releaser sees where we block,
        // and its wake-up comes after the clearing; who hands a wake-up on sees whom its releaser would have
        // seen
        P::fence(SeqCst);
        if pending && self.is_nested() {
            // (I3)
            if let Some((cpu, percpu)) = blocked_on::<P>(domain, self.outer.0).next() {
                wake(cpu, percpu);
            }
        }
    }

    /// Waits until a wake-up is pending or for no reason. Whether one is.
    pub(crate) fn halt(&self) -> bool {
        P::halt_while(&self.percpu.event, 0);
        // ord: Z9 alone: ends the wait, the claim decides; a further wait passes the fence Z4 first
        self.percpu.event.load(Relaxed) != 0
    }

    /// The wait is over.
    pub(crate) fn end(self) {
        self.say(self.outer.0, self.outer.1);
        if self.is_nested() {
            // ord: Z6 pairs X4, K5: either the outer wait sees its lock released, or the releaser sees where
            // it blocks
            P::fence(SeqCst);
            wake(self.me, self.percpu); // (I2)
        }
    }
}

/// The contexts that say that they block on `lock`, by number. The caller has changed the lock before, and
/// passed a full fence. A handler may be at work in one of them already: I2 sees to that.
pub(crate) fn blocked_on<P: FamilyPlatform>(
    domain: &P::Domain,
    lock: usize,
) -> impl Iterator<Item = (CpuId, &PerCpu<P>)> {
    let all = (0..domain.contexts()).filter_map(CpuId::new).map(move |cpu| (cpu, domain.cpu(cpu)));
    // ord: Z5 alone: the caller's full fence decides whom it sees
    all.filter(move |(_, percpu)| percpu.blocked_on.load(Relaxed) == lock)
}

/// The ticket that a context waits for, if it blocks on a lock that has tickets.
pub(crate) fn wanted<P: FamilyPlatform>(percpu: &PerCpu<P>) -> u16 {
    // ord: Z10 alone: as Z5, behind the caller's full fence; another wait's ticket causes a spurious kick at
    // worst
    percpu.wanted.load(Relaxed)
}

/// Makes a wake-up pending for `cpu`, and ends its halt.
pub(crate) fn wake<P: FamilyPlatform>(cpu: CpuId, percpu: &PerCpu<P>) {
    // ord: Z8 alone: the sender has passed a full fence since the lock was released
    percpu.event.store(1, Relaxed);
    P::kick(cpu);
}
