//! Where threads run: CPUs, and the NUMA nodes that those belong to.
//!
//! In the area of [`rseq`] the kernel keeps the number of the CPU that a thread runs on; reading it costs one
//! load. Where there is none (another C library, an emulator, a checker), the vDSO answers more slowly on
//! some architectures. On others it would take a system call, which is too much for a loop that waits: there
//! the CPU is unknown.
use super::processor::{HAS_VDSO_CPU, thread_pointer};
use super::rseq;
use rustix::fs::{Mode, OFlags};

/// Where `cpu_id` stands in the area, by the kernel's interface.
const CPU_ID: isize = 4;

#[inline]
pub(crate) fn cpu() -> Option<u32> {
    let Some(offset) = rseq::offset() else {
        return HAS_VDSO_CPU.then(|| rustix::thread::sched_getcpu() as u32);
    };
    let area = thread_pointer().wrapping_byte_offset(offset);
    #[expect(clippy::cast_ptr_alignment, reason = "the area is 32-byte aligned by the kernel's interface")]
    let cpu_id = area.wrapping_byte_offset(CPU_ID).cast::<u32>();
    // SAFETY: glibc says (non-zero `__rseq_size`) that each thread's area is registered at this offset from
    // its thread pointer; it lives as long as the thread, and the kernel writes it only while this thread is
    // not running.
    Some(unsafe { cpu_id.read_volatile() })
}

#[inline]
pub(crate) fn cpu_for_sure() -> u32 {
    cpu().unwrap_or_else(|| rustix::thread::sched_getcpu() as u32)
}

pub(crate) fn cpu_is_at_hand() -> bool {
    rseq::offset().is_some()
}

/// Control blocks of threads are further apart than 64 bytes, and all within 128 GB but for those of odd
/// programs.
#[inline]
pub(crate) fn some_number() -> u32 {
    (thread_pointer().addr() >> 6) as u32 | 1
}

pub(crate) fn cpus_of_node(node: u8, buffer: &mut [u8; 1024]) -> Option<&[u8]> {
    let mut path = *b"/sys/devices/system/node/node???/cpulist\0";
    let mut name = [0_u8; 48];
    let digits = [node / 100, node / 10 % 10, node % 10];
    let leading = digits.iter().take(2).take_while(|&&digit| digit == 0).count();
    let mut length = 0;
    let (mut skip, mut next) = (leading, 0);
    for byte in &mut path {
        let byte = match *byte {
            b'?' if skip > 0 => {
                skip -= 1;
                next += 1;
                continue;
            }
            b'?' => {
                next += 1;
                b'0' + digits[next - 1]
            }
            byte => byte,
        };
        name[length] = byte;
        length += 1;
    }
    let path = core::ffi::CStr::from_bytes_until_nul(&name).ok()?;
    let file = rustix::fs::open(path, OFlags::RDONLY | OFlags::CLOEXEC, Mode::empty()).ok()?;
    let length = rustix::io::read(&file, &mut *buffer).ok()?;
    buffer.get(..length)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_cpu_is_one_that_exists() {
        let online = std::thread::available_parallelism().expect("known").get() as u32;
        let cpu = cpu_for_sure();
        assert!(cpu < online.max(1024), "cpu {cpu} of {online}");
        assert!(!cpu_is_at_hand() || rseq::known_offset() % 8 == 0, "an aligned area");
    }

    #[test]
    fn threads_have_numbers_of_their_own() {
        let mine = some_number();
        assert_ne!(mine, 0);
        assert_ne!(std::thread::spawn(some_number).join().expect("no panic"), mine);
    }
}
