//! What the workloads ask of the machine, beside what locks ask of it.
use crate::histogram::Histogram;
use core::fmt;
use stanchion_family::FamilyPlatform;

/// What an interrupt handler runs: something that lives for ever and that every vCPU may look at.
pub type Handler = &'static (dyn Fn() + Sync);

/// A machine of vCPUs with timers and a report channel.
pub trait Machine: FamilyPlatform {
    /// How many vCPUs are up. Never changes.
    fn vcpus() -> u16;

    /// The number of the calling one, below [`Machine::vcpus`].
    fn vcpu() -> u16;

    /// Puts one whole line on the report channel. Lines of several vCPUs, and of interrupt handlers, never
    /// mix.
    fn emit(line: fmt::Arguments<'_>);

    /// Halts this vCPU until the clock of [`stanchion_core::Machine::now`] shows `deadline`, or an earlier
    /// interrupt. May return early.
    fn halt_until(deadline: u64);

    /// From now on `handler` runs on this vCPU every `period_nanos`, in interrupt context, with interrupts
    /// off. `None`, or a period of zero, ends that: no handler starts after the call has returned. The
    /// interrupt is acknowledged before the handler runs, so that the handler may let further ones in. One
    /// that comes due while the handler runs with interrupts off is not lost, but several may become one.
    fn set_tick(period_nanos: u64, handler: Option<Handler>);

    /// Runs `f` with this vCPU's interrupts off, and then leaves them as they were. Halting in `f` must still
    /// notice kicks.
    fn with_interrupts_off<R>(f: impl FnOnce() -> R) -> R;

    /// Runs `f` with this vCPU's interrupts on, so that its tick's handler may be entered again (nested)
    /// while `f` runs, and then leaves them as they were. Only handlers call it, and never more than three
    /// deep.
    fn with_interrupts_on<R>(f: impl FnOnce() -> R) -> R;

    /// What the platform has counted for a vCPU since it came up. Any vCPU may ask; the numbers may come from
    /// different moments.
    fn meter(vcpu: u16) -> Meter;

    /// Ends the whole machine at once as failed: some vCPU is stuck and will never return. The records, `end`
    /// included, were emitted.
    fn abandon() -> !;
}

/// What a platform counts for one vCPU.
#[derive(Clone, Debug, Default)]
pub struct Meter {
    /// How often it halted.
    pub halts: u64,
    /// For how long, all in all, in nanoseconds.
    pub halted_ns: u64,
    /// Kicks that it sent.
    pub kicks_sent: u64,
    /// Kicks that woke it from a halt.
    pub kicks_woke: u64,
    /// Its timer interrupts.
    pub ticks: u64,
    /// Nanoseconds from a kick until it ran again, where it was halted.
    pub wake: Histogram,
}

impl Meter {
    /// What was counted after `earlier`, an older reading of the same meter.
    #[must_use]
    pub fn since(&self, earlier: &Self) -> Self {
        Self {
            halts: self.halts.saturating_sub(earlier.halts),
            halted_ns: self.halted_ns.saturating_sub(earlier.halted_ns),
            kicks_sent: self.kicks_sent.saturating_sub(earlier.kicks_sent),
            kicks_woke: self.kicks_woke.saturating_sub(earlier.kicks_woke),
            ticks: self.ticks.saturating_sub(earlier.ticks),
            wake: self.wake.since(&earlier.wake),
        }
    }
}
