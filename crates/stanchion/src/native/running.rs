//! Where threads run: the OS CPU of the calling thread, and how long one spin hint takes.
//!
//! glibc registers a *restartable sequences* area for each thread, in which the kernel keeps the number of the CPU that
//! the thread runs on; reading it costs one load. Where there is none, `sched_getcpu` answers more slowly.
use core::hint::spin_loop;
use core::sync::atomic::{AtomicIsize, AtomicU32, Ordering};
use rustix::time::{ClockId, clock_gettime};

/// Offset of the area from the thread pointer; [`ABSENT`] and [`UNKNOWN`] are no multiples of its alignment.
static RSEQ_OFFSET: AtomicIsize = AtomicIsize::new(UNKNOWN);
const UNKNOWN: isize = 1;
const ABSENT: isize = 2;
/// Where `cpu_id` stands in the area, by the kernel's interface.
const CPU_ID: isize = 4;

/// The OS CPU that the calling thread runs on at this moment.
pub(super) fn os_cpu() -> u32 {
    // ord: N29 alone: the offset is the same for the whole process
    match RSEQ_OFFSET.load(Ordering::Relaxed) {
        ABSENT => rustix::thread::sched_getcpu() as u32,
        UNKNOWN => {
            // ord: N30 alone: every thread finds the same offset
            RSEQ_OFFSET.store(find_rseq().unwrap_or(ABSENT), Ordering::Relaxed);
            os_cpu()
        }
        offset => {
            let area = thread_pointer().wrapping_byte_offset(offset);
            #[expect(
                clippy::cast_ptr_alignment,
                reason = "the area is 32-byte aligned by the kernel's interface"
            )]
            let cpu_id = area.wrapping_byte_offset(CPU_ID).cast::<u32>();
            // SAFETY: glibc says (non-zero `__rseq_size`) that each thread's area is registered at this offset from its
            // thread pointer; it lives as long as the thread, and the kernel writes it only while this thread is not running.
            unsafe { cpu_id.read_volatile() }
        }
    }
}

/// Whether the kernel keeps the number for us, so that reading it costs one load.
pub(super) fn has_rseq() -> bool {
    os_cpu();
    // ord: N31 alone: only a report reads it
    RSEQ_OFFSET.load(Ordering::Relaxed) != ABSENT
}

/// The offset of the area from the thread pointer, if [`has_rseq`].
#[inline(always)]
pub(super) fn rseq_offset() -> isize {
    // ord: N73 alone: the offset is the same for the whole process
    RSEQ_OFFSET.load(Ordering::Relaxed)
}

/// The offset that glibc 2.35 and later announce, if the kernel took the registration.
fn find_rseq() -> Option<isize> {
    // SAFETY: both names are NUL-terminated, and the default handle searches what is loaded already.
    let (size, offset) = unsafe {
        (
            libc::dlsym(libc::RTLD_DEFAULT, c"__rseq_size".as_ptr()).cast::<u32>(),
            libc::dlsym(libc::RTLD_DEFAULT, c"__rseq_offset".as_ptr()).cast::<isize>(),
        )
    };
    if size.is_null() || offset.is_null() || !HAS_THREAD_POINTER {
        return None;
    }
    // SAFETY: glibc defines the two symbols as constant objects of these types (`unsigned int`, `ptrdiff_t`).
    unsafe { (size.read() > 0).then(|| offset.read()) }
}

const HAS_THREAD_POINTER: bool = cfg!(any(target_arch = "x86_64", target_arch = "aarch64"));

#[inline(always)]
fn thread_pointer() -> *const u8 {
    let pointer: *const u8;
    #[cfg(target_arch = "x86_64")]
    // SAFETY: on x86-64 Linux the first word of the thread control block, at `fs:0`, is its own address.
    unsafe {
        core::arch::asm!("mov {}, fs:0", out(reg) pointer, options(nostack, preserves_flags, readonly, pure));
    }
    #[cfg(target_arch = "aarch64")]
    // SAFETY: reading the user thread pointer register has no effect but its result.
    unsafe {
        core::arch::asm!("mrs {}, tpidr_el0", out(reg) pointer, options(nostack, preserves_flags, nomem, pure));
    }
    #[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
    {
        pointer = core::ptr::null();
    }
    pointer
}

/// Nanoseconds of the monotonic clock.
#[inline]
pub(super) fn now() -> u64 {
    let time = clock_gettime(ClockId::Monotonic);
    time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64
}

/// Spin hints in 1024 ns; 0 until measured. Processors differ by a factor of fourteen.
static HINTS_PER_1024NS: AtomicU32 = AtomicU32::new(0);
const CALIBRATION_HINTS: u32 = 32;

/// Lets about `nanos` nanoseconds pass with spin hints.
#[inline]
pub(super) fn relax(nanos: u32) {
    // ord: N32 alone: any thread's measurement will do
    let mut rate = HINTS_PER_1024NS.load(Ordering::Relaxed);
    if rate == 0 {
        rate = calibrate();
    }
    for _ in 0..hints(nanos, rate) {
        spin_loop();
    }
}

fn hints(nanos: u32, rate: u32) -> u64 {
    (u64::from(nanos) * u64::from(rate) / 1024).max(1)
}

/// Times a few hints. A preemption makes a round too long, never too short, so the shortest of three counts.
#[cold]
fn calibrate() -> u32 {
    let round = || {
        let began = now();
        for _ in 0..CALIBRATION_HINTS {
            spin_loop();
        }
        now() - began
    };
    let shortest = round().min(round()).min(round()).max(1);
    let rate = (u64::from(CALIBRATION_HINTS) * 1024 / shortest).clamp(1, 1024) as u32;
    // ord: N33 alone: any thread's measurement will do
    HINTS_PER_1024NS.store(rate, Ordering::Relaxed);
    rate
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_cpu_is_one_that_exists() {
        let online = std::thread::available_parallelism().expect("known").get() as u32;
        assert!(os_cpu() < online.max(1024), "cpu {} of {online}", os_cpu());
        assert_eq!(has_rseq(), RSEQ_OFFSET.load(Ordering::Relaxed) != ABSENT);
    }

    #[test]
    fn pauses_are_turned_into_hints() {
        assert_eq!(hints(1024, 40), 40);
        assert_eq!(hints(1, 40), 1, "at least one");
        assert!(calibrate() >= 1);
    }
}
