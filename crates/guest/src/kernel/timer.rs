//! One timer for each vCPU, shared by its periodic tick and by its alarm.
use super::arch::{self, cpuid};
use super::cpu::Cpu;
use super::{apic, clock};
use stanchion_guest::cells::Count;
use stanchion_guest::firmware::rate;

/// The rate of the controllers' timers; 0: they go off at time stamps.
static HZ: Count = Count::new(0);

/// Chooses how timers are told when to go off. By the first vCPU, before any other starts.
pub(super) fn choose(hz: u64) {
    let by_deadline = cpuid(1, 0).ecx & 1 << 24 != 0;
    HZ.set(if by_deadline { 0 } else { hz });
}

/// Prepares the calling vCPU's timer.
pub(super) fn prepare() {
    apic::prepare_timer(HZ.get() == 0);
}

/// Looks which of the vCPU's times are over, with interrupts disabled; whether the tick is.
pub(super) fn take_due(cpu: &Cpu) -> bool {
    let now = clock::now();
    if cpu.alarm.get() != 0 && cpu.alarm.get() <= now {
        cpu.alarm.set(0);
        cpu.kicked.set(true); // for an alarm that comes before the halt that it is to end
    }
    let is_due = cpu.tick_due.get() != 0 && cpu.tick_due.get() <= now;
    if is_due {
        // From now on, not from when it was due: a vCPU that did not run for a while is not to make up for
        // it.
        cpu.tick_due.set(now + cpu.tick_period.get());
        arm(cpu);
    }
    is_due
}

/// Makes the timer end the calling vCPU's halt at `time`; `false`: interrupts are disabled, so it cannot.
pub(super) fn set_alarm(cpu: &Cpu, time: u64) -> bool {
    let enabled = arch::disable_interrupts();
    if enabled {
        cpu.alarm.set(time);
        arm(cpu);
        arch::enable_interrupts();
    }
    enabled
}

/// Sets the calling vCPU's timer to the first of its times, with interrupts disabled.
pub(super) fn arm(cpu: &Cpu) {
    let next = [cpu.tick_due.get(), cpu.alarm.get()].into_iter().filter(|&time| time != 0).min();
    if HZ.get() == 0 {
        apic::set_deadline(next.map_or(0, |time| clock::stamp_at(time).max(1)));
    } else {
        // One that is over already goes off at once: a count of 0 would stop the timer.
        let count = next.map_or(0, |time| rate::ticks(time.saturating_sub(clock::now()), HZ.get()).max(1));
        // One that is too far away goes off early, and is set again.
        apic::set_count(u32::try_from(count).unwrap_or(u32::MAX));
    }
}
