//! The asymmetric fence: releases pay for a compiler barrier, a thread about to sleep pays for `membarrier`.
//!
//! Invariants:
//! - **A1** The state leaves `UNKNOWN` once and never changes after that.
//! - **A2** A release takes the light path only when it reads `ASYMMETRIC`, which is stored after registration succeeded;
//!   a heavy barrier decides the state first and then always uses what it says. So a light release never meets a heavy
//!   barrier that was only a fence.
use super::atomics::Cell8;
use core::sync::atomic::{AtomicU8, Ordering, compiler_fence, fence};
use rustix::thread::{MembarrierCommand, membarrier};

const UNKNOWN: u8 = 0;
const ASYMMETRIC: u8 = 1;
const FENCED: u8 = 2;

static STATE: AtomicU8 = AtomicU8::new(UNKNOWN);

/// See [`Platform::store_then_load`](stanchion_core::Platform::store_then_load).
#[inline(always)]
pub(super) fn store_then_load(first: &Cell8, value: u8, then: &Cell8) -> u8 {
    // ord: N16 alone: UNKNOWN and FENCED are always safe to assume (A2)
    match STATE.load(Ordering::Relaxed) {
        ASYMMETRIC => {
            // ord: N17 pairs N20: the heavy side's membarrier makes this pair as good as fenced
            first.0.store(value, Ordering::Release);
            // ord: N18 alone: keeps the compiler from reading first; the processor's part is membarrier's (N20)
            compiler_fence(Ordering::SeqCst);
            // ord: N19 alone: ordered after the store by N18 and N20
            then.0.load(Ordering::Relaxed)
        }
        FENCED => fenced(first, value, then),
        _ => {
            decide();
            fenced(first, value, then)
        }
    }
}

/// The symmetric form: an exchange is the cheapest full barrier on x86-64.
#[inline(always)]
fn fenced(first: &Cell8, value: u8, then: &Cell8) -> u8 {
    // ord: N21 pairs N23: either we see the mark, or the heavy side sees our store
    first.0.swap(value, Ordering::SeqCst);
    // ord: N22 alone: after N21 in the single total order
    then.0.load(Ordering::SeqCst)
}

/// See [`Platform::heavy_barrier`](stanchion_core::Platform::heavy_barrier).
pub(super) fn heavy_barrier() -> bool {
    // ord: N24 alone: decided before it is relied on (A2)
    if STATE.load(Ordering::Relaxed) == UNKNOWN {
        decide();
    }
    // ord: N23 pairs N21: the mark is in the single total order before the look at the lock
    fence(Ordering::SeqCst);
    // ord: N25 alone: does not change any more (A1)
    if STATE.load(Ordering::Relaxed) == FENCED {
        return true;
    }
    // ord: N20 pairs N17: every running thread of the process passes a full barrier between our mark and our look (no ordering argument: it is a system call)
    membarrier(MembarrierCommand::PrivateExpedited).is_ok()
        // A process may have lost its registration (a fork whose kernel does not inherit it).
        || (register() && membarrier(MembarrierCommand::PrivateExpedited).is_ok())
}

fn register() -> bool {
    membarrier(MembarrierCommand::RegisterPrivateExpedited).is_ok()
}

#[cold]
fn decide() {
    let state = if register() { ASYMMETRIC } else { FENCED };
    // ord: N26 alone: whoever loses finds the same or an equally safe answer (A1)
    let _ = STATE.compare_exchange(UNKNOWN, state, Ordering::Relaxed, Ordering::Relaxed);
}

/// Makes every release use the fenced form, for comparison. `false` if the process has already decided otherwise.
pub(super) fn force_fences() -> bool {
    // ord: N27 alone: the state changes once only (A1)
    STATE.compare_exchange(UNKNOWN, FENCED, Ordering::Relaxed, Ordering::Relaxed).unwrap_or_else(|now| now)
        != ASYMMETRIC
}

/// Whether releases are light.
pub(super) fn is_asymmetric() -> bool {
    // ord: N28 alone: only a report reads it
    STATE.load(Ordering::Relaxed) == ASYMMETRIC
}
