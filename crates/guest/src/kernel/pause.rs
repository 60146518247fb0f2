//! The pause of a spinning vCPU.
//!
//! PAUSE is the hint for it, and takes 10 to 50 ns on hardware. QEMU's translator leaves the translated code
//! for it and takes the lock that all its vCPUs share: 120 ns alone, and 500 ns when four vCPUs spin, which
//! also slows down whoever halts or kicks. There, reading the clock takes a pause's time and disturbs nobody.
use super::arch;
use core::hint::{black_box, spin_loop};
use stanchion_guest::cells::Count;

static TRANSLATED: Count = Count::new(0);

/// Finds out which it is. By the first vCPU, before any other starts.
pub(super) fn choose(translated: bool) {
    TRANSLATED.set(translated.into());
}

/// Lets a moment pass.
#[inline(always)]
pub(super) fn pause() {
    if TRANSLATED.get() == 0 {
        spin_loop();
    } else {
        // Twice: once takes 10 to 20 ns.
        black_box((arch::ticks(), arch::ticks()));
    }
}
