//! Decimals and times, exactly: what a file says in nanoseconds becomes whole picoseconds without rounding,
//! and back.
use crate::time::{MS, NS, Time, US};

/// Units of time, largest first, with what one of them is in picoseconds.
const UNITS: [(&str, Time); 5] = [("ms", MS), ("us", US), ("ns", NS), ("ps", 1), ("s", 1000 * MS)];
/// The units that are written; picoseconds would only be another way to say a nanosecond's fractions.
const WRITTEN: [(&str, Time); 4] = [("s", 1000 * MS), ("ms", MS), ("us", US), ("ns", NS)];

/// The decimal `text` times `scale`, which is a power of ten; `None` unless that is a whole number that fits.
pub(crate) fn scaled(text: &str, scale: Time) -> Option<Time> {
    let text: String = text.strip_prefix('+').unwrap_or(text).chars().filter(|&c| c != '_').collect();
    let (whole, fraction) = text.split_once('.').unwrap_or((&text, "0"));
    let digits = |part: &str| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit());
    if !digits(whole) || !digits(fraction) {
        return None;
    }
    let mut sum = whole.parse::<Time>().ok()?.checked_mul(scale)?;
    let mut worth = scale;
    for digit in fraction.trim_end_matches('0').bytes() {
        if !worth.is_multiple_of(10) {
            return None;
        }
        worth /= 10;
        sum = sum.checked_add(Time::from(digit - b'0') * worth)?;
    }
    Some(sum)
}

/// A time with its unit, as `2.5us`.
pub fn time(text: &str) -> Option<Time> {
    let (unit, scale) = UNITS.iter().find(|(unit, _)| text.ends_with(unit))?;
    scaled(text[..text.len() - unit.len()].trim_end(), *scale)
}

/// A time in the largest unit of which it has one: `2.5us`.
pub(crate) fn time_text(time: Time) -> String {
    let (unit, scale) = WRITTEN.iter().find(|(_, scale)| time >= *scale).unwrap_or(&("ns", NS));
    format!("{}{unit}", decimal(time, *scale))
}

/// A time in nanoseconds, without the unit: `145.6`.
pub(crate) fn nanoseconds(time: Time) -> String {
    decimal(time, NS)
}

/// `value / scale` with as many decimals as it has.
fn decimal(value: Time, scale: Time) -> String {
    let places = scale.ilog10() as usize;
    let (whole, rest) = (value / scale, value % scale);
    if rest == 0 {
        return whole.to_string();
    }
    let fraction = format!("{rest:0places$}");
    format!("{whole}.{}", fraction.trim_end_matches('0'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn decimals_are_exact_or_refused() {
        assert_eq!(scaled("145.6", NS), Some(145_600));
        assert_eq!(scaled("0.001", NS), Some(1));
        assert_eq!(scaled("1_000.50000", NS), Some(1_000_500));
        for refused in
            ["0.0001", "-1", "1e3", "nan", "inf", "", ".", "1.", ".5", "1.2.3", "99999999999999999999"]
        {
            assert_eq!(scaled(refused, NS), None, "{refused}");
        }
    }

    #[test]
    fn times_have_units() {
        assert_eq!(time("40us"), Some(40 * US));
        assert_eq!(time("2.5 us"), Some(2_500 * NS));
        assert_eq!(time("1s"), Some(1000 * MS));
        assert_eq!(time("7ps"), Some(7));
        assert_eq!(time("7"), None);
        assert_eq!(time("us"), None);
        assert_eq!(time("3 hours"), None);
    }

    #[test]
    fn what_is_written_reads_back() {
        for value in
            [0, 1, 50, 999, 1_000, 145_600, 2_500_000, 40 * US, 3 * MS, 1000 * MS, 123_456_789_012_345]
        {
            assert_eq!(time(&time_text(value)), Some(value), "{}", time_text(value));
            assert_eq!(scaled(&nanoseconds(value), NS), Some(value));
        }
        assert_eq!(time_text(2_500_000), "2.5us");
        assert_eq!(time_text(50), "0.05ns");
    }
}
