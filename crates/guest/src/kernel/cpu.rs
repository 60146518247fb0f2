//! What the kernel keeps for each vCPU. GS points at the calling one's (IG7).
use super::arch;
use super::descriptors::{Gdt, Tss};
use super::kvm::StealTime;
use core::arch::asm;
use core::cell::{Cell, UnsafeCell};
use core::mem::offset_of;
use stanchion_guest::Meter;
use stanchion_guest::cells::Count;
use stanchion_guest::histogram::LiveHistogram;
use stanchion_guest::machine::Handler;

/// How many vCPUs can take part. APIC numbers of 8 bits end there.
pub(super) const MAX: usize = 255;

/// One vCPU's record. Only its vCPU and that one's handlers write it, but for what is marked.
#[repr(C, align(128))]
pub(super) struct Cpu {
    /// The record's own address, to be read through GS.
    own: Cell<*const Cpu>,
    /// The pointer to where the next interrupt's stack ends moves by stubs (IG5).
    pub(super) tss: UnsafeCell<Tss>,
    pub(super) gdt: UnsafeCell<Gdt>,
    index: Cell<u16>,
    pub(super) apic: Cell<u32>,
    pub(super) node: Cell<u16>,
    /// How many interrupt handlers that may take locks are active.
    pub(super) depth: Cell<u32>,
    /// When the periodic tick is due next and how often, in nanoseconds; 0: never.
    pub(super) tick_due: Cell<u64>,
    pub(super) tick_period: Cell<u64>,
    pub(super) tick: Cell<Option<Handler>>,
    /// When the vCPU wants to be woken, in nanoseconds; 0: never.
    pub(super) alarm: Cell<u64>,
    /// Set by the handlers of kicks and alarms, taken by halts: one that finds the vCPU running ends its next
    /// halt.
    pub(super) kicked: Cell<bool>,
    pub(super) meters: Meters,
    pub(super) steal: StealTime,
}

/// What is counted.
pub(super) struct Meters {
    pub(super) halts: Count,
    pub(super) halted_ns: Count,
    pub(super) kicks_sent: Count,
    pub(super) kicks_woke: Count,
    pub(super) ticks: Count,
    /// When the vCPU was kicked, written by whoever kicks.
    pub(super) kicked_at: Count,
    wakes: LiveHistogram,
}

impl Meters {
    /// Counts a halt.
    pub(super) fn halted(&self, began: u64, over: u64) {
        self.halts.take(1);
        self.halted_ns.take(over.saturating_sub(began));
    }

    /// Counts a halt that a kick ended, so long after it was sent.
    pub(super) fn woken(&self, latency: u64) {
        self.kicks_woke.take(1);
        self.wakes.record(latency);
    }

    /// What was counted so far.
    pub(super) fn read(&self) -> Meter {
        Meter {
            halts: self.halts.get(),
            halted_ns: self.halted_ns.get(),
            kicks_sent: self.kicks_sent.get(),
            kicks_woke: self.kicks_woke.get(),
            ticks: self.ticks.get(),
            wake: self.wakes.read(),
        }
    }
}

// SAFETY: plain cells are written by the record's own vCPU, which handlers only interrupt (IG7), or before
// that vCPU is started; other vCPUs read `apic`, `node` and `index`, which do not change any more by then,
// and what is atomic.
unsafe impl Sync for Cpu {}

static CPUS: [Cpu; MAX] = [const { Cpu::new() }; MAX];

/// Where in a record the address of the next interrupt's stack stands.
pub(super) const INTERRUPT_STACK: usize = offset_of!(Cpu, tss) + Tss::INTERRUPT_STACK;

impl Cpu {
    const fn new() -> Self {
        Self {
            own: Cell::new(core::ptr::null()),
            tss: UnsafeCell::new(Tss::NEW),
            gdt: UnsafeCell::new(Gdt::NEW),
            index: Cell::new(0),
            apic: Cell::new(0),
            node: Cell::new(0),
            depth: Cell::new(0),
            tick_due: Cell::new(0),
            tick_period: Cell::new(0),
            tick: Cell::new(None),
            alarm: Cell::new(0),
            kicked: Cell::new(false),
            meters: Meters {
                halts: Count::new(0),
                halted_ns: Count::new(0),
                kicks_sent: Count::new(0),
                kicks_woke: Count::new(0),
                ticks: Count::new(0),
                kicked_at: Count::new(0),
                wakes: LiveHistogram::NEW,
            },
            steal: StealTime::new(),
        }
    }

    /// The number by which locks and workloads know the vCPU.
    #[inline(always)]
    pub(super) fn index(&self) -> u16 {
        self.index.get()
    }

    /// Says who the vCPU is. Before it is started, by the first one.
    pub(super) fn name(&'static self, index: u16, apic: u32, node: u16) {
        self.own.set(self);
        self.index.set(index);
        self.apic.set(apic);
        self.node.set(node);
    }

    /// Makes this the calling vCPU's record.
    pub(super) fn adopt(&'static self) {
        const GS_BASE: u32 = 0xC000_0101;
        // SAFETY: the register is part of 64-bit mode; nothing but `this` and the interrupt stubs uses GS.
        unsafe { arch::write_msr(GS_BASE, core::ptr::from_ref(self).addr() as u64) };
    }
}

/// The record numbered `index`.
#[inline(always)]
pub(super) fn record(index: u16) -> &'static Cpu {
    &CPUS[usize::from(index)]
}

/// The calling vCPU's record.
#[inline(always)]
pub(super) fn this() -> &'static Cpu {
    let own: *const Cpu;
    // SAFETY: GS points at the calling vCPU's record, whose first word is its own address (IG7); a context
    // never changes its vCPU, so the answer may be kept, as `pure` says.
    unsafe {
        asm!("mov {}, gs:[0]", out(reg) own, options(pure, nomem, nostack, preserves_flags));
        &*own
    }
}
