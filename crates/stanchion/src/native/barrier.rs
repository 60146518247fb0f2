//! The asymmetric fence: releases pay for a compiler barrier, a thread about to sleep pays for `membarrier`.
//! A lock may have its releases fenced instead.
//!
//! Registering for `membarrier` is quick in a process with one thread, and takes tens of milliseconds in one
//! with many. So it is done when the program is loaded, or else by the first thread that is about to sleep. A
//! release, which holds the lock, never does it.
//!
//! Invariants:
//! - **IA1** A release takes the light path only when it reads `LIGHT`, which is stored only after
//!   registration succeeded.
//! - **IA2** A heavy barrier settles whether the process is registered before anything else, and uses
//!   `membarrier` if it is. So a light release never meets a heavy barrier that was only a fence, and a
//!   fenced release is right in any case.
use crate::os::{membarrier, register_barrier};
use core::sync::atomic::{AtomicU8, Ordering, compiler_fence, fence};
use stanchion_core::Atomic;
use stanchion_core::order::{Relaxed, Release, SeqCst};

/// Not settled: releases are fenced.
const UNKNOWN: u8 = 0;
/// Registered; releases are light.
const LIGHT: u8 = 1;
/// Not to be had; everybody fences.
const UNAVAILABLE: u8 = 2;
/// Registered, but releases are fenced by request.
const FORCED: u8 = 3;

static STATE: AtomicU8 = AtomicU8::new(UNKNOWN);

/// See [`Machine::store_then_load`](stanchion_core::Machine::store_then_load).
#[inline(always)]
pub(super) fn store_then_load<T: Copy + Eq, U: Copy + Eq>(
    first: &impl Atomic<T>,
    value: T,
    then: &impl Atomic<U>,
) -> U {
    // ord: N16 alone: every other state is safe to assume (IA2)
    if STATE.load(Ordering::Relaxed) == LIGHT {
        // ord: N17 pairs N20: the heavy side's membarrier makes this pair as good as fenced
        first.store(value, Release);
        // ord: N18 alone: keeps the compiler from reading first; the processor's part is membarrier's (N20)
        compiler_fence(Ordering::SeqCst);
        // ord: N19 alone: ordered after the store by N18 and N20
        then.load(Relaxed)
    } else {
        fenced(first, value, then)
    }
}

/// The symmetric form: an exchange is the cheapest full barrier on x86-64, and no dearer than another one on
/// aarch64.
#[inline(always)]
pub(super) fn fenced<T: Copy + Eq, U: Copy + Eq>(
    first: &impl Atomic<T>,
    value: T,
    then: &impl Atomic<U>,
) -> U {
    // ord: N21 pairs N23, ST21: either we see the mark, or the heavy side sees our store
    first.swap(value, SeqCst);
    // ord: N22 alone: after N21 in the single total order
    then.load(SeqCst)
}

/// See [`Machine::heavy_barrier`](stanchion_core::Machine::heavy_barrier).
pub(super) fn heavy_barrier() -> bool {
    let state = settle();
    // ord: N23 pairs N21: the mark is in the single total order before the look at the lock
    fence(Ordering::SeqCst);
    if state == UNAVAILABLE {
        return true;
    }
    // ord: N20 pairs N17: every running thread of the process passes a full barrier between our mark and our
    // look (no ordering argument: it is a system call)
    membarrier()
        // A process may have lost its registration (a fork whose kernel does not inherit it).
        || (register_barrier() && membarrier())
}

/// The state, settled if it was not.
pub(super) fn settle() -> u8 {
    // ord: N24 alone: a state other than UNKNOWN stays true (IA1)
    let state = STATE.load(Ordering::Relaxed);
    if state != UNKNOWN {
        return state;
    }
    let settled = if register_barrier() { LIGHT } else { UNAVAILABLE };
    // ord: N26 alone: whoever loses takes the winner's answer, which the process as a whole gave
    STATE.compare_exchange(UNKNOWN, settled, Ordering::Relaxed, Ordering::Relaxed).err().unwrap_or(settled)
}

/// Makes releases use the fenced form from now on, for comparison.
pub(super) fn force_fences() {
    if settle() == LIGHT {
        // ord: N27 alone: heavy barriers do not depend on how releases are done (IA2)
        STATE.store(FORCED, Ordering::Relaxed);
    }
}

/// Whether releases are light.
pub(super) fn is_asymmetric() -> bool {
    settle() == LIGHT
}
