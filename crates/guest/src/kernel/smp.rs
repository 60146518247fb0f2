//! Starting the other vCPUs, one after the other, and letting all of them into the workload at once.
use super::boot::{TRAMPOLINE, trampoline_end, trampoline_start};
use super::cells::Cell32;
use super::cpu::{Cpu, MAX, record};
use super::platform::{Guest, rouse};
use super::stacks::Stacks;
use super::{apic, arch, clock, descriptors, kvm, timer};
use alloc::boxed::Box;
use core::hint::spin_loop;
use core::ptr;
use core::sync::atomic::{AtomicPtr, AtomicU64, AtomicUsize, Ordering};
use stanchion_core::order::{Acquire, Release};
use stanchion_core::{Atomic, ConstAtomic, Machine};
use stanchion_guest::cells::Count;
use stanchion_guest::firmware::acpi::{Board, Vcpu};

/// What the trampoline takes over: where the vCPU's stack ends, and what `other_vcpu` is given.
pub(super) static STACK: AtomicU64 = AtomicU64::new(0);
pub(super) static CPU: AtomicPtr<Newcomer> = AtomicPtr::new(ptr::null_mut());

/// How many vCPUs have come up.
static UP: AtomicUsize = AtomicUsize::new(0);
static VCPUS: Count = Count::new(1);
static NODES: Count = Count::new(1);

/// Whether the others may go on.
static GO: Cell32 = Cell32::ZERO;

/// After a reset, a processor may need so long to wait to be started, in nanoseconds; and so long to come up.
const RESET_TAKES: u64 = 10_000_000;
const START_TAKES: u64 = 5_000_000_000;
/// It is told a second time if it is not up after this.
const TELL_AGAIN_AFTER: u64 = 100_000_000;

/// Somebody who is being started.
pub(super) struct Newcomer {
    cpu: &'static Cpu,
    stacks: Stacks,
}

/// How many vCPUs take part.
#[inline(always)]
pub(super) fn vcpus() -> u16 {
    VCPUS.get() as u16
}

/// On how many NUMA nodes they are.
#[inline(always)]
pub(super) fn nodes() -> u16 {
    NODES.get() as u16
}

/// Starts all vCPUs of `board` but the calling one, whose controller is numbered `own`. The error is the
/// index of one that does not come up, or that there are too many.
pub(super) fn start_others(board: &Board, own: u32) -> Result<(), u16> {
    if board.vcpus.len() > MAX {
        return Err(MAX as u16);
    }
    let node = board.vcpus.iter().find(|vcpu| vcpu.apic == own).map_or(0, |vcpu| vcpu.node);
    record(0).name(0, own, node);
    NODES.set(board.nodes.into());
    let others = || board.vcpus.iter().filter(|vcpu| vcpu.apic != own);
    let newcomers: alloc::vec::Vec<_> =
        (1..).zip(others()).map(|(index, vcpu)| prepare(index, *vcpu)).collect();
    copy_trampoline();
    for vcpu in others() {
        apic::reset(vcpu.apic);
    }
    Guest::relax(RESET_TAKES as u32);
    for newcomer in newcomers {
        let index = newcomer.cpu.index();
        start(newcomer).map_err(|()| index)?;
    }
    VCPUS.set(others().count() as u64 + 1);
    Ok(())
}

/// All that has to be there before a vCPU starts; guard pages in particular.
fn prepare(index: u16, vcpu: Vcpu) -> Newcomer {
    let cpu = record(index);
    cpu.name(index, vcpu.apic, vcpu.node);
    Newcomer { cpu, stacks: Stacks::new() }
}

fn copy_trampoline() {
    let (from, to) =
        (&raw const trampoline_start, ptr::with_exposed_provenance_mut::<u8>(TRAMPOLINE as usize));
    let bytes = (&raw const trampoline_end).addr() - from.addr();
    // SAFETY: the code lies between the two symbols, and the page it goes to is conventional memory of the
    // first MiB that nobody uses any more once the kernel runs, mapped (IG2) and far from the image.
    unsafe { ptr::copy_nonoverlapping(from, to, bytes) };
}

/// Starts one vCPU and waits until it is up.
fn start(newcomer: Newcomer) -> Result<(), ()> {
    let apic = newcomer.cpu.apic.get();
    let wanted = usize::from(newcomer.cpu.index());
    // ord: AB18 alone: read by the trampoline, after the interrupt that starts it; x86 keeps stores in order
    STACK.store(newcomer.stacks.main as u64, Ordering::Release);
    // ord: AB19 alone: as AB18, read after the interrupt
    CPU.store(Box::into_raw(Box::new(newcomer)), Ordering::Release);
    let began = clock::now();
    apic::start(apic, TRAMPOLINE);
    let mut told_again = false;
    // ord: AB20 pairs AB21: what the vCPU has set up is there
    while UP.load(Ordering::Acquire) != wanted {
        spin_loop();
        let waited = clock::now() - began;
        if waited > START_TAKES {
            return Err(());
        }
        if waited > TELL_AGAIN_AFTER && !told_again {
            apic::start(apic, TRAMPOLINE);
            told_again = true;
        }
    }
    Ok(())
}

/// Where the trampoline leads to: sets the calling vCPU up, waits for the others, and takes part.
pub(super) extern "C" fn other_vcpu(newcomer: *const Newcomer) -> ! {
    // SAFETY: the trampoline read the pointer that `start` has written, of a box that is never freed, with
    // all that it points to.
    let newcomer = unsafe { &*newcomer };
    set_up(newcomer.cpu, &newcomer.stacks);
    // ord: AB21 pairs AB20: the first vCPU goes on when we are set up
    UP.fetch_add(1, Ordering::AcqRel);
    // ord: AB22 pairs AB23: what the first vCPU has prepared for all is there
    while GO.load(Acquire) == 0 {
        Guest::halt_while(&GO, 0);
    }
    super::take_part();
    loop {
        Guest::halt_while(&GO, 1);
    }
}

/// Tables, controller and timer of the calling vCPU; interrupts come in from then on.
pub(super) fn set_up(cpu: &'static Cpu, stacks: &Stacks) {
    cpu.adopt();
    descriptors::load(cpu, stacks.interrupts, stacks.exceptions);
    apic::enable();
    timer::prepare();
    kvm::register(cpu);
    arch::enable_interrupts();
}

/// Lets all others go on.
pub(super) fn go() {
    // ord: AB23 pairs AB22: the others see what was prepared
    GO.store(1, Release);
    for vcpu in 1..vcpus() {
        rouse(record(vcpu));
    }
}
