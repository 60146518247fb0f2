//! Segments, task states and the table of interrupt handlers.
//!
//! Each vCPU has a table of segments and a task state of its own, as the latter holds its interrupt stacks
//! (IG5). The table of handlers is one for all.
use super::cpu::Cpu;
use super::stubs;
use core::arch::asm;
use core::cell::UnsafeCell;
use core::mem::offset_of;

/// The selector of 64-bit code, in the boot table, too.
pub(super) const CODE: u16 = 0x08;
const TASK: u16 = 0x18;

/// A present task state segment of 64 bits, in its descriptor.
const AVAILABLE: u64 = 0x89 << 40;

/// Which of the task state's stacks exceptions run on, counted from 1; interrupts have the first.
const EXCEPTIONS: u8 = 2;
const INTERRUPTS: u8 = 1;

/// A task state segment: nothing but stacks, in 64-bit mode.
#[repr(C, packed(4))]
pub(super) struct Tss {
    reserved: u32,
    privileged: [u64; 3],
    also_reserved: u64,
    stacks: [u64; 7],
    reserved_at_last: [u16; 5],
    port_map: u16,
}

impl Tss {
    pub(super) const NEW: Self = Self {
        reserved: 0,
        privileged: [0; 3],
        also_reserved: 0,
        stacks: [0; 7],
        reserved_at_last: [0; 5],
        port_map: size_of::<Self>() as u16,
    };

    /// Where the address of the interrupts' stack stands.
    pub(super) const INTERRUPT_STACK: usize = offset_of!(Self, stacks);
}

/// A table of segments: none, code, data, and the task state in two places.
pub(super) struct Gdt([u64; 5]);

impl Gdt {
    pub(super) const NEW: Self = Self([0, 0x00af_9a00_0000_ffff, 0x00cf_9200_0000_ffff, 0, 0]);
}

/// What the processor's table registers take.
#[repr(C, packed)]
struct Pointer {
    limit: u16,
    base: u64,
}

/// Where a handler is.
#[derive(Clone, Copy)]
#[repr(C)]
struct Gate([u64; 2]);

impl Gate {
    const fn to(handler: usize, stack: u8) -> Self {
        const PRESENT_INTERRUPT: u64 = 0x8E00;
        let handler = handler as u64;
        let low = handler & 0xffff
            | (CODE as u64) << 16
            | (stack as u64) << 32
            | PRESENT_INTERRUPT << 32
            | (handler >> 16 & 0xffff) << 48;
        Self([low, handler >> 32])
    }
}

struct Handlers(UnsafeCell<[Gate; 256]>);

// SAFETY: written by the first vCPU before any other is started (`fill`), and only read by processors from
// then on (IG3).
unsafe impl Sync for Handlers {}

static HANDLERS: Handlers = Handlers(UnsafeCell::new([Gate([0; 2]); 256]));

/// Fills the table of handlers. By the first vCPU, before interrupts are enabled anywhere.
pub(super) fn fill() {
    // SAFETY: only the first vCPU runs, without interrupts, so nobody else looks at the table.
    let gates = unsafe { &mut *HANDLERS.0.get() };
    for (vector, gate) in gates.iter_mut().enumerate().take(32) {
        *gate = Gate::to(stubs::exception(vector), EXCEPTIONS);
    }
    for (vector, stub) in stubs::interrupts() {
        gates[usize::from(vector)] = Gate::to(stub, INTERRUPTS);
    }
}

/// Loads the tables on the calling vCPU, whose record `cpu` is, with stacks for interrupts and exceptions
/// that end at the given addresses.
pub(super) fn load(cpu: &'static Cpu, interrupts: usize, exceptions: usize) {
    let tss = cpu.tss.get();
    let gdt = cpu.gdt.get();
    let address = tss.addr() as u64;
    let limit = size_of::<Tss>() as u64 - 1;
    // SAFETY: nobody uses the two yet: this is their vCPU, before it has loaded them (IG3).
    unsafe {
        (*tss).stacks[usize::from(INTERRUPTS) - 1] = interrupts as u64;
        (*tss).stacks[usize::from(EXCEPTIONS) - 1] = exceptions as u64;
        (*gdt).0[3] = limit | (address & 0xff_ffff) << 16 | AVAILABLE | (address >> 24 & 0xff) << 56;
        (*gdt).0[4] = address >> 32;
    }
    let segments = Pointer { limit: size_of::<Gdt>() as u16 - 1, base: gdt.addr() as u64 };
    let handlers =
        Pointer { limit: size_of::<[Gate; 256]>() as u16 - 1, base: HANDLERS.0.get().addr() as u64 };
    // SAFETY: code and data segments are those that are loaded already, at the same selectors; the tables
    // stand for ever (IG3).
    unsafe {
        asm!(
            "lgdt [{segments}]",
            "lidt [{handlers}]",
            "ltr {task:x}",
            segments = in(reg) &raw const segments,
            handlers = in(reg) &raw const handlers,
            task = in(reg) TASK,
            options(nostack, preserves_flags),
        );
    }
}
