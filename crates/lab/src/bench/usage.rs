//! Resource usage of this process and its children, as the kernel keeps it.
#![expect(unsafe_code, reason = "getrusage has no safe wrapper among our dependencies")]
use core::mem::MaybeUninit;
use core::time::Duration;

fn rusage(who: libc::c_int) -> libc::rusage {
    let mut usage = MaybeUninit::<libc::rusage>::zeroed();
    // SAFETY: the pointer is to a writable `rusage`, which is all the call asks for.
    unsafe { libc::getrusage(who, usage.as_mut_ptr()) };
    // SAFETY: a `rusage` is made of integers, for which the zeroes above are valid, and the call only
    // overwrites them.
    unsafe { usage.assume_init() }
}

/// Voluntary and involuntary context switches of this process, all threads, so far.
pub(crate) fn context_switches() -> (u64, u64) {
    let usage = rusage(libc::RUSAGE_SELF);
    (usage.ru_nvcsw as u64, usage.ru_nivcsw as u64)
}

/// CPU time of this process and of the children it has waited for.
pub(crate) fn family_cpu_time() -> Duration {
    let time = |value: libc::timeval| {
        Duration::from_secs(value.tv_sec as u64) + Duration::from_micros(value.tv_usec as u64)
    };
    [libc::RUSAGE_SELF, libc::RUSAGE_CHILDREN]
        .map(rusage)
        .iter()
        .map(|usage| time(usage.ru_utime) + time(usage.ru_stime))
        .sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn usage_only_grows() {
        let (voluntary, cpu) = (context_switches().0, family_cpu_time());
        std::thread::sleep(Duration::from_millis(2));
        assert!(context_switches().0 > voluntary);
        assert!(family_cpu_time() >= cpu);
    }
}
