//! Locks that are broken on purpose, each in one way, to show that torture (or a sanitizer) would notice.
//!
//! Every file says what is broken and which detector has to catch it; `registry.rs` repeats the detector as
//! data, and the integration tests hold torture to it. A detector that lets its lock through fails the build.
#![expect(
    unsafe_code,
    reason = "`lock_api::RawMutex` is an unsafe trait, and releasing is unsafe; these locks break promises on purpose"
)]
mod check_then_set;
mod double_grant;
mod lost_wakeup;
mod none;
mod relaxed;
mod rw_count;
mod rw_percpu;
mod try_lies;

pub(crate) use check_then_set::CheckThenSet;
pub(crate) use double_grant::DoubleGrant;
pub(crate) use lost_wakeup::LostWakeup;
pub(crate) use none::NoExclusion;
pub(crate) use relaxed::{AllRelaxed, Sound};
pub(crate) use rw_count::{RwCount, flaw};
pub(crate) use rw_percpu::PerCpuCells;
pub(crate) use try_lies::TryLies;

/// Waits a little, and after many polls gives the CPU away: these locks are to be caught, not to burn time.
fn relax(polls: &mut u32) {
    *polls += 1;
    if polls.is_multiple_of(64) {
        std::thread::yield_now();
    } else {
        core::hint::spin_loop();
    }
}
