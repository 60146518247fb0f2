//! How fast a counter runs: from what the processor says, or from a comparison with a clock that is known.

/// Ticks of ACPI's timer in a second.
pub const PM_TIMER_HZ: u64 = 3_579_545;
/// Not all of these timers count further.
const PM_TIMER_BITS: u32 = 24;

/// The length of a counter's tick, by which to multiply.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Scale(u64);

impl Scale {
    /// Of a counter with `hz` ticks in a second, one at least.
    pub fn of_hz(hz: u64) -> Self {
        let scale = (1_000_000_000_u128 << 32) / u128::from(hz.max(1));
        Self(u64::try_from(scale).unwrap_or(u64::MAX))
    }

    /// What [`Scale::bits`] gave.
    pub const fn from_bits(bits: u64) -> Self {
        Self(bits)
    }

    /// Nanoseconds in a tick, with 32 binary digits after the point.
    pub const fn bits(self) -> u64 {
        self.0
    }

    /// How long `ticks` take, in nanoseconds.
    #[inline]
    pub const fn nanos(self, ticks: u64) -> u64 {
        ((ticks as u128 * self.0 as u128) >> 32) as u64
    }
}

/// Ticks within `nanos` nanoseconds of a counter of `hz`; as many as fit.
pub fn ticks(nanos: u64, hz: u64) -> u64 {
    u64::try_from(u128::from(nanos) * u128::from(hz) / 1_000_000_000).unwrap_or(u64::MAX)
}

/// The rate of the time stamp counter by CPUID leaf 0x15: the crystal's rate times `ebx / eax`; `None` if a
/// part of it is not said.
pub fn of_crystal(eax: u32, ebx: u32, ecx: u32) -> Option<u64> {
    let hz = u64::from(ecx) * u64::from(ebx) / u64::from(eax).max(1);
    (eax != 0 && hz != 0).then_some(hz)
}

/// How far ACPI's timer went from `from` to `to`, if it wrapped once at most.
pub fn pm_ticks(from: u32, to: u32) -> u64 {
    u64::from(to.wrapping_sub(from) & ((1 << PM_TIMER_BITS) - 1))
}

/// The rate of a counter that went on by `ticks` while ACPI's timer did so by `pm`.
pub fn by_pm_timer(ticks: u64, pm: u64) -> u64 {
    u64::try_from(u128::from(ticks) * u128::from(PM_TIMER_HZ) / u128::from(pm.max(1))).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_day_is_right_to_a_quarter_of_a_millisecond() {
        for hz in [1_000_000, 999_999_999, 2_450_000_000, 5_123_456_789] {
            let found = Scale::of_hz(hz).nanos(hz * 86_400);
            let error = found.abs_diff(86_400_000_000_000);
            assert!(error <= (hz * 86_400) >> 32, "{hz} Hz is off by {error} ns");
            assert_eq!(ticks(1_000_000_000, hz), hz);
        }
        assert_eq!(ticks(u64::MAX, u64::MAX), u64::MAX, "rather too short a time than one that wrapped");
    }

    #[test]
    fn the_crystal_has_to_be_told_in_full() {
        assert_eq!(of_crystal(2, 216, 24_000_000), Some(2_592_000_000));
        assert_eq!(of_crystal(2, 216, 0), None);
        assert_eq!(of_crystal(0, 216, 24_000_000), None);
    }

    #[test]
    fn the_timer_may_wrap() {
        assert_eq!(pm_ticks(0xff_fff0, 0x10), 0x20);
        assert_eq!(pm_ticks(0xffff_fff0, 0x10), 0x20, "also where it has 32 bits");
        assert_eq!(by_pm_timer(2_000, 1_000), 2 * PM_TIMER_HZ);
    }
}
