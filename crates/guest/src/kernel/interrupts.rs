//! Handlers of interrupts and exceptions.
use super::arch;
use super::cpu::this;
use super::stubs::Frame;
use super::{apic, exit, timer};
use core::fmt;

/// Class of interrupts that wait while the vCPU halts with interrupts disabled: all but kicks and what is
/// above them.
pub(super) const ALL_BUT_KICKS: u64 = 0xD;

/// Ticks in ticks that are handled; whatever comes in on top has to wait for the next one.
const DEEPEST: u32 = 4;

/// A kick: the halt that it interrupted ends, or the next one will.
pub(super) extern "C" fn kick() {
    this().kicked.set(true);
    apic::acknowledge();
}

/// The vCPU's timer. The tick's handler runs with interrupts disabled, but the interrupt is acknowledged, so
/// it may enable them.
pub(super) extern "C" fn timer() {
    apic::acknowledge();
    let cpu = this();
    let tick = timer::take_due(cpu);
    if tick && cpu.depth.get() < DEEPEST {
        cpu.meters.ticks.take(1);
        if let Some(handler) = cpu.tick.get() {
            cpu.depth.set(cpu.depth.get() + 1);
            handler();
            cpu.depth.set(cpu.depth.get() - 1);
        }
    }
    timer::arm(cpu);
}

/// The processor cannot go on: says where, and ends the run.
pub(super) extern "C" fn exception(frame: &Frame) -> ! {
    exit::fatal("exception", format_args!("on vcpu {}: {}", this().index(), Described(frame)))
}

const NAMES: [&str; 32] = [
    "division error",
    "debug exception",
    "non-maskable interrupt",
    "breakpoint",
    "overflow",
    "out of bounds",
    "invalid instruction",
    "no coprocessor",
    "double fault",
    "coprocessor overrun",
    "invalid task state",
    "segment not present",
    "stack fault",
    "general protection",
    "page fault",
    "reserved",
    "floating-point error",
    "misaligned access",
    "machine check",
    "SIMD floating-point error",
    "virtualisation exception",
    "control protection",
    "reserved",
    "reserved",
    "reserved",
    "reserved",
    "reserved",
    "reserved",
    "hypervisor injection",
    "VMM communication",
    "security exception",
    "reserved",
];

struct Described<'a>(&'a Frame);

impl fmt::Display for Described<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let frame = self.0;
        let name = NAMES.get(frame.vector as usize).copied().unwrap_or("unknown");
        let (vector, error, rip, rsp) = (frame.vector, frame.error, frame.rip, frame.rsp);
        write!(f, "exception {vector} ({name}) at rip {rip:#x}, error code {error:#x}, rsp {rsp:#x}")?;
        if frame.vector == 14 {
            write!(f, ", address {:#x}", arch::fault_address())?;
        }
        write!(f, ", flags {:#x}, cs {:#x}, ss {:#x}, registers", frame.flags, frame.cs, frame.ss)?;
        for value in frame.registers {
            write!(f, " {value:#x}")?;
        }
        Ok(())
    }
}
