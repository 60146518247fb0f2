//! The clock: the time stamp counter, whose rate is told by the processor or the hypervisor, or measured.
use super::apic;
use super::arch::{self, cpuid, ticks};
use stanchion_guest::cells::Count;
use stanchion_guest::firmware::rate::{self, Scale};

/// For how long counters are compared, in ticks of ACPI's timer: 20 ms.
const SPAN: u64 = rate::PM_TIMER_HZ / 50;

static BEGAN: Count = Count::new(0);
static SCALE: Count = Count::new(0);
static HZ: Count = Count::new(0);

/// What the clock needs to know, found out by the first vCPU before any other starts.
pub(super) struct Rates {
    /// Of the time stamp counter, in a second.
    pub(super) tsc: u64,
    /// Of the interrupt controller's timer.
    pub(super) timer: u64,
}

/// Notes when the kernel began: its clock's zero.
pub(super) fn begin() {
    BEGAN.set(ticks());
}

/// Finds both rates, by ACPI's timer at `port` where nobody tells. The clock runs from then on.
pub(super) fn calibrate(port: Option<u16>) -> Result<Rates, &'static str> {
    let told = told();
    let rates = if let Some(port) = port {
        let measured = measure(port);
        Rates { tsc: told.unwrap_or(measured.tsc), timer: measured.timer }
    } else {
        let tsc = told.ok_or("there is no timer (FADT) to measure the time stamp counter by")?;
        Rates { tsc, timer: against_tsc(tsc) }
    };
    if rates.tsc < 1_000_000 || rates.timer < 10_000 {
        return Err("the time stamp counter or the interrupt controller's timer stands still");
    }
    HZ.set(rates.tsc);
    SCALE.set(Scale::of_hz(rates.tsc).bits());
    Ok(rates)
}

/// Ticks of the time stamp counter in a second.
pub(super) fn hz() -> u64 {
    HZ.get()
}

/// Nanoseconds since the kernel began; 0 until the rate is known.
#[inline]
pub(super) fn now() -> u64 {
    Scale::from_bits(SCALE.get()).nanos(ticks().saturating_sub(BEGAN.get()))
}

/// The time stamp at which the clock shows `nanos`.
#[inline]
pub(super) fn stamp_at(nanos: u64) -> u64 {
    BEGAN.get().saturating_add(rate::ticks(nanos, HZ.get()))
}

/// The rate that processor or hypervisor tell.
fn told() -> Option<u64> {
    let leaves = cpuid(0, 0).eax;
    let crystal =
        (leaves >= 0x15).then(|| cpuid(0x15, 0)).and_then(|it| rate::of_crystal(it.eax, it.ebx, it.ecx));
    let is_guest = cpuid(1, 0).ecx >> 31 != 0;
    let by_hypervisor = || {
        let hypervisor =
            (is_guest && cpuid(0x4000_0000, 0).eax >= 0x4000_0010).then(|| cpuid(0x4000_0010, 0).eax);
        hypervisor.map(|khz| u64::from(khz) * 1000).filter(|&hz| hz != 0)
    };
    crystal.or_else(by_hypervisor)
}

/// Readings of ACPI's timer, the time stamp counter and the controller's timer at about the same moment.
struct Reading {
    pm: u32,
    tsc: u64,
    timer: u32,
}

/// The closest of a few: the host may take the CPU away between two of the three.
fn reading(port: u16) -> Reading {
    let attempt = || {
        let before = ticks();
        let (pm, timer) = (arch::in32(port), apic::counted());
        let after = ticks();
        (after - before, Reading { pm, tsc: before + (after - before) / 2, timer })
    };
    let mut best = attempt();
    for _ in 0..4 {
        let next = attempt();
        if next.0 < best.0 {
            best = next;
        }
    }
    best.1
}

fn measure(port: u16) -> Rates {
    apic::count_down();
    let from = reading(port);
    while rate::pm_ticks(from.pm, arch::in32(port)) < SPAN {
        core::hint::spin_loop();
    }
    let to = reading(port);
    let pm = rate::pm_ticks(from.pm, to.pm);
    apic::set_count(0);
    Rates {
        tsc: rate::by_pm_timer(to.tsc - from.tsc, pm),
        timer: rate::by_pm_timer(u64::from(to.timer - from.timer), pm),
    }
}

/// The rate of the controller's timer, measured by a time stamp counter of `hz`.
fn against_tsc(hz: u64) -> u64 {
    apic::count_down();
    let (from, counted) = (ticks(), apic::counted());
    while ticks() - from < hz / 50 {
        core::hint::spin_loop();
    }
    let (span, counted) = (ticks() - from, apic::counted() - counted);
    apic::set_count(0);
    u64::try_from(u128::from(counted) * u128::from(hz) / u128::from(span)).unwrap_or(u64::MAX)
}
