//! What workloads ask of the machine.
use super::cpu::{record, this};
use super::platform::Guest;
use super::{arch, clock, exit, serial, smp, timer};
use core::fmt;
use stanchion_guest::machine::Handler;
use stanchion_guest::{Machine, Meter};

impl Machine for Guest {
    fn vcpus() -> u16 {
        smp::vcpus()
    }

    fn vcpu() -> u16 {
        this().index()
    }

    fn emit(line: fmt::Arguments<'_>) {
        serial::line(line);
    }

    fn halt_until(deadline: u64) {
        let cpu = this();
        arch::undisturbed(|| {
            let began = clock::now();
            if began >= deadline {
                return;
            }
            cpu.alarm.set(deadline);
            timer::arm(cpu);
            arch::halt();
            cpu.alarm.set(0);
            cpu.meters.halted(began, clock::now());
        });
    }

    fn set_tick(period_nanos: u64, handler: Option<Handler>) {
        let cpu = this();
        arch::undisturbed(|| {
            let ticks = period_nanos != 0 && handler.is_some();
            cpu.tick.set(handler);
            cpu.tick_period.set(period_nanos);
            cpu.tick_due.set(if ticks { clock::now() + period_nanos } else { 0 });
            timer::arm(cpu);
        });
    }

    fn with_interrupts_off<R>(f: impl FnOnce() -> R) -> R {
        arch::undisturbed(f)
    }

    fn with_interrupts_on<R>(f: impl FnOnce() -> R) -> R {
        let enabled = arch::disable_interrupts();
        arch::enable_interrupts();
        let result = f();
        if !enabled {
            arch::disable_interrupts();
        }
        result
    }

    fn meter(vcpu: u16) -> Meter {
        record(vcpu).meters.read()
    }

    fn abandon() -> ! {
        exit::failed()
    }
}
