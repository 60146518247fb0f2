//! The kernel: a machine of vCPUs without an operating system, as QEMU starts it.
//!
//! Invariants, which `SAFETY` comments cite:
//! - **IG1** All compiled code runs in 64-bit mode at ring 0, from `first_vcpu` and `other_vcpu` on.
//! - **IG2** The first 4 GiB of physical memory are mapped onto themselves, for ever, but for guard pages,
//!   which the first vCPU takes out before any other starts. Nothing above is used.
//! - **IG3** Segments, task state and handlers are loaded before a vCPU enables interrupts, and stand in
//!   statics. Nobody changes them, but for IG5.
//! - **IG4** An interrupt handler leaves all registers as it found them, SSE included, and the vCPU's task
//!   priority.
//! - **IG5** Interrupts and exceptions run on stacks of their own, so that nobody writes below a stack
//!   pointer that he does not own. A handler that is interrupted keeps its slice: the stub moves the pointer
//!   to the next one before interrupts can come in.
//! - **IG6** No device is told to write to memory.
//! - **IG7** From `Cpu::adopt` on, GS points at the record of the calling vCPU, a static. No context ever
//!   moves to another vCPU.
//!
//! The first vCPU: boot code, `first_vcpu`, tables of the firmware, clock, the other vCPUs one by one, then
//! the workload with all of them at once.
mod apic;
mod arch;
mod boot;
mod cells;
mod clock;
mod cpu;
mod descriptors;
mod domain;
mod exit;
mod heap;
mod interrupts;
mod kvm;
mod locked;
mod machine;
mod memory;
mod paging;
mod pause;
mod platform;
mod provoke;
mod serial;
mod smp;
mod stacks;
mod stubs;
mod timer;

use alloc::boxed::Box;
use core::sync::atomic::{AtomicPtr, Ordering};
use platform::Guest;
use stacks::Stacks;
use stanchion_guest::firmware::{Physical, acpi, pvh};
use stanchion_guest::record::{Hardware, Record, VERSION};
use stanchion_guest::{Order, Shared, Verdict};

/// What all vCPUs take part in.
struct Work {
    order: Order,
    shared: Shared<Guest>,
}

static WORK: AtomicPtr<Work> = AtomicPtr::new(core::ptr::null_mut());

/// Physical memory where it is mapped.
struct Memory;

/// The end of what is mapped (IG2).
const MAPPED: u64 = 1 << 32;

impl Physical for Memory {
    fn bytes(&self, address: u64, length: usize) -> Option<&[u8]> {
        let end = address.checked_add(length as u64)?;
        // SAFETY: the range is mapped (IG2), and not at address 0; what the firmware left there nobody
        // changes while the kernel reads it.
        (address != 0 && end <= MAPPED).then(|| unsafe {
            core::slice::from_raw_parts(core::ptr::with_exposed_provenance(address as usize), length)
        })
    }
}

/// Where the boot code leads to, with the address of the start information.
extern "C" fn first_vcpu(info: u64) -> ! {
    clock::begin();
    serial::prepare();
    let cpu = cpu::record(0);
    cpu.name(0, 0, 0);
    cpu.adopt();
    let end = (&raw const boot::image_end).addr();
    let Some((start, bytes)) = pvh::largest(&Memory, info, end as u64, MAPPED) else {
        exit::fatal("boot", format_args!("there is no start information of PVH, or no memory in it"));
    };
    // SAFETY: usable memory behind the image, which is where the boot code and all statics are; QEMU puts
    // what it tells us below 1 MiB.
    unsafe { heap::give(start as usize, bytes as usize) };
    let line = pvh::line(&Memory, info).unwrap_or_default();
    let (provoked, line) = provoke::split(&line);
    let order = Order::parse(&line).unwrap_or_else(|error| refuse(&error));
    let rsdp = pvh::rsdp(&Memory, info).or_else(|| acpi::search(&Memory));
    let board = rsdp.ok_or("there are no ACPI tables").and_then(|rsdp| acpi::read(&Memory, rsdp));
    let board = board.unwrap_or_else(|error| exit::fatal("boot", format_args!("{error}")));

    apic::choose();
    kvm::ask();
    pause::choose(kvm::hypervisor() == Some(*b"TCGTCGTCGTCG"));
    paging::forbid(0);
    let boot_stack = (&raw const boot::boot_stack).addr();
    paging::forbid(boot_stack);
    let stacks = Stacks::for_first(boot_stack);
    descriptors::fill();
    apic::enable();
    let rates =
        clock::calibrate(board.timer).unwrap_or_else(|error| exit::fatal("boot", format_args!("{error}")));
    timer::choose(rates.timer);
    smp::set_up(cpu, &stacks);
    if let Err(index) = smp::start_others(&board, apic::own()) {
        exit::fatal("boot", format_args!("vcpu {index} does not come up, or is one too many"));
    }
    hello();
    if let Some(what) = provoked {
        provoke::provoke(what).unwrap_or_else(|error| refuse(error));
    }
    let work = Box::new(Work { order, shared: Shared::new() });
    // ord: AB24 pairs AB25: whoever takes part finds what stands there
    WORK.store(Box::into_raw(work), Ordering::Release);
    smp::go();
    exit::over(take_part())
}

/// The calling vCPU's part in the workload.
fn take_part() -> Verdict {
    // SAFETY: vCPUs are let in after the pointer was stored, to a box that is never freed.
    // ord: AB25 pairs AB24: what the first vCPU has prepared is there
    let work = unsafe { &*WORK.load(Ordering::Acquire) };
    stanchion_guest::take_part(&work.order, &work.shared)
}

fn refuse(error: &str) -> ! {
    exit::fatal("command line", format_args!("{error}"))
}

/// The record of the machine.
fn hello() {
    let name = kvm::hypervisor();
    let hypervisor = match name
        .as_ref()
        .map(|name| core::str::from_utf8(name).unwrap_or("unknown").trim_end_matches('\0'))
    {
        Some("KVMKVMKVM") => "KVM",
        Some("TCGTCGTCGTCG") => "TCG",
        Some(other) => other,
        None => "none",
    };
    let record = Record::Boot(Hardware {
        version: VERSION,
        vcpus: smp::vcpus(),
        nodes: smp::nodes(),
        hypervisor,
        tsc_hz: clock::hz(),
        x2apic: apic::is_x2(),
        steal_time: kvm::has_steal_time(),
        kick_hypercall: kvm::has_kick(),
        yield_hypercall: kvm::has_yield(),
        boot_ns: clock::now(),
        free_memory: Some(heap::untouched() as u64),
    });
    serial::line(format_args!("{record}"));
}
