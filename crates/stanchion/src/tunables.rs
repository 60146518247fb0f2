//! What can be changed while locks are in use: tunables, and whether paravirtual locks may halt.
//!
//! ```
//! use stanchion::tunables::{self, Tunable};
//! tunables::set(Tunable::TurnMicros, 400);
//! assert_eq!(tunables::get(Tunable::TurnMicros), 400);
//! tunables::set(Tunable::TurnMicros, Tunable::TurnMicros.default());
//! ```
use crate::native;
use crate::rows;
pub use rows::tunables::ALL;
pub use stanchion_core::Tunable;

/// What a tunable is set to.
pub fn get(tunable: Tunable) -> u32 {
    native::tunable(tunable)
}

/// Sets a tunable for all locks of the process. Waiters may work with the old value for one more round.
pub fn set(tunable: Tunable, value: u32) {
    native::set_tunable(tunable, value);
}

/// Whether paravirtual locks may halt: `true` unless [`set_paravirt`] or the word `nopv` in the environment
/// variable `STANCHION` says otherwise. A single lock is made without it by `without_paravirt`.
pub fn paravirt() -> bool {
    native::paravirt()
}

/// Turns halting on or off for all locks of the process, from each waiter's next wait on: the kernel's
/// `nopvspin`. Without it, waiters spin; for machines on which every thread has a CPU of its own.
pub fn set_paravirt(on: bool) {
    native::set_paravirt(on);
}
