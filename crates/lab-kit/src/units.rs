//! Times and figures, as people type and read them.
use core::fmt::Display;
use core::str::FromStr;
use core::time::Duration;
pub use stanchion_cells::stats::short_percent;

/// Units a time may have, with their nanoseconds.
const UNITS: [(&str, f64); 7] =
    [("ns", 1.0), ("us", 1e3), ("µs", 1e3), ("ms", 1e6), ("s", 1e9), ("m", 60e9), ("h", 3600e9)];

/// The longest time that anybody can mean of what is done many times over, and of all that a command does.
const HOUR: Duration = Duration::from_hours(1);
pub const TEN_DAYS: Duration = Duration::from_hours(240);

/// A time such as `50ns`, `0.3s` or `2us`; the error says what is wrong with it.
pub fn parse_time(text: &str) -> Result<Duration, String> {
    let time = read_time(text)?;
    if time > HOUR { Err(format!("the time '{}' is longer than an hour", text.trim())) } else { Ok(time) }
}

/// Takes a time from `least` to `most`, for clap.
pub fn time_within(least: Duration, most: Duration) -> impl Fn(&str) -> Result<Duration, String> + Clone {
    move |text| {
        let time = read_time(text)?;
        let told = || format!("must be a time from {least:?} to {most:?}");
        (least..=most).contains(&time).then_some(time).ok_or_else(told)
    }
}

/// The same in seconds.
pub fn seconds_within(least: Duration, most: Duration) -> impl Fn(&str) -> Result<f64, String> + Clone {
    let read = time_within(least, most);
    move |text| read(text).map(|time| time.as_secs_f64())
}

fn read_time(text: &str) -> Result<Duration, String> {
    let text = text.trim();
    let split = text.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(text.len());
    let (number, unit) = text.split_at(split);
    let example = "write for example 50ns, 2us, 300ms or 1s";
    let number: f64 = number.parse().map_err(|_| format!("'{text}' is not a time: {example}"))?;
    if unit.is_empty() && number != 0.0 {
        return Err(format!("the time '{text}' has no unit: {example}"));
    }
    let known = UNITS.iter().find(|(name, _)| *name == unit.trim());
    if known.is_none() && !unit.is_empty() {
        return Err(format!("'{}' is not a unit of time: use ns, us, ms, s, m or h", unit.trim()));
    }
    let ns = number * known.map_or(1.0, |(_, factor)| *factor);
    Ok(Duration::from_nanos(ns.round() as u64))
}

/// Takes a number from `least` to `most`, for clap.
pub fn within<T>(least: T, most: T) -> impl Fn(&str) -> Result<T, String> + Clone
where
    T: FromStr + PartialOrd + Display + Copy,
{
    move |text| {
        let number = text.parse().ok().filter(|number| *number >= least && *number <= most);
        number.ok_or_else(|| format!("must be a number from {least} to {most}"))
    }
}

/// `1 CPU`, `2 CPUs`.
pub fn plural(count: usize, what: &str) -> String {
    format!("{count} {what}{}", if count == 1 { "" } else { "s" })
}

/// Nanoseconds with three figures and a unit that fits.
pub fn format_ns(ns: f64) -> String {
    scaled(ns, &[(1e9, "s"), (1e6, "ms"), (1e3, "µs")], "ns")
}

/// How often in a second, with three figures and a unit that fits.
pub fn rate(value: f64) -> String {
    scaled(value, &[(1e6, "M/s"), (1e3, "k/s")], "/s")
}

/// In the first of the larger units that the value fills, or else in the one that it has.
fn scaled(value: f64, larger: &[(f64, &str)], own: &str) -> String {
    let (scale, unit) = larger.iter().copied().find(|(scale, _)| value >= *scale).unwrap_or((1.0, own));
    format!("{} {unit}", three_figures(value / scale))
}

/// About three figures, never an exponent.
pub fn three_figures(value: f64) -> String {
    match value.abs() {
        0.0 => "0".to_owned(),
        size if size >= 99.95 => format!("{value:.0}"),
        size if size >= 9.995 => format!("{value:.1}"),
        size if size >= 0.0995 => format!("{value:.2}"),
        size if size >= 0.001 => format!("{value:.3}"),
        size => {
            let digits = (1.0 - size.log10().floor()) as usize;
            format!("{value:.digits$}")
        }
    }
}

/// Nanoseconds without figures that say nothing: `50 ns`, not `50.0 ns`.
pub fn round_ns(ns: f64) -> String {
    let text = format_ns(ns);
    let (value, unit) = text.split_once(' ').unwrap_or((&text, ""));
    format!("{} {unit}", without_zeros(value))
}

/// A figure without zeros behind the point.
pub fn without_zeros(value: &str) -> &str {
    if value.contains('.') { value.trim_end_matches('0').trim_end_matches('.') } else { value }
}

/// Three figures without zeros at their end.
pub fn plain(value: f64) -> String {
    // Steps of ticks have two figures, of numbers that have one more.
    let digits = (2.0 - value.abs().log10().floor()).clamp(0.0, 12.0) as usize;
    without_zeros(&format!("{value:.digits$}")).to_owned()
}

/// A share as a percentage with as many figures as it deserves.
pub fn percent(share: f64) -> String {
    match share * 100.0 {
        value if value >= 9.95 => format!("{value:.0} %"),
        value if value >= 0.095 => format!("{value:.1} %"),
        value if value >= 0.001 => format!("{value:.3} %"),
        value if value > 0.0 => "under 0.001 %".to_owned(),
        _ => "0 %".to_owned(),
    }
}

/// Seconds as people say them.
pub fn spoken(seconds: f64) -> String {
    match seconds.round() as u64 {
        seconds @ 0..=119 => format!("{seconds} s"),
        seconds @ 120..=7199 => format!("{} min", (seconds + 30) / 60),
        seconds => format!("{} h {} min", seconds / 3600, seconds % 3600 / 60),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_with_their_units() {
        assert_eq!(parse_time("50ns"), Ok(Duration::from_nanos(50)));
        assert_eq!(parse_time("0.3s"), Ok(Duration::from_millis(300)));
        assert_eq!(parse_time("2 us"), Ok(Duration::from_micros(2)));
        assert_eq!(parse_time("2µs"), Ok(Duration::from_micros(2)));
        assert_eq!(parse_time("0"), Ok(Duration::ZERO));
    }

    #[test]
    fn what_is_not_a_time_is_refused_with_an_example() {
        for text in ["", "ms", "-1s", "5", "5 parsecs", "1.2.3s", "2h", "99999999s", "99999999999999999999h"]
        {
            let error = parse_time(text).expect_err(text);
            assert!(!error.contains('\n') && error.len() > 10, "{error}");
        }
    }

    #[test]
    fn times_out_of_their_range_are_refused() {
        let read = time_within(Duration::from_millis(1), TEN_DAYS);
        assert_eq!(read("1.5m"), Ok(Duration::from_secs(90)));
        assert_eq!(read("240h"), Ok(TEN_DAYS));
        for bad in ["0", "0.9ms", "1000h", "99999999999999999999h"] {
            assert_eq!(read(bad), Err("must be a time from 1ms to 864000s".to_owned()), "{bad}");
        }
        for bad in ["", "5", "s", "-1s", "NaNs", "infs"] {
            assert!(read(bad).is_err(), "{bad}");
        }
        assert_eq!(seconds_within(HOUR, TEN_DAYS)("2h"), Ok(7200.0));
    }

    #[test]
    fn numbers_out_of_their_range_are_refused() {
        assert_eq!(within(1, 9)("9"), Ok(9));
        for bad in ["0", "10", "many", ""] {
            assert_eq!(within(1_u8, 9)(bad), Err("must be a number from 1 to 9".to_owned()), "{bad}");
        }
        assert!(within(0.5, 2.0)("nan").is_err());
    }

    #[test]
    fn small_figures_and_ticks_are_not_rounded_to_others() {
        assert_eq!([0.00083, 0.000_004, 0.0].map(three_figures), ["0.00083", "0.0000040", "0"]);
        assert_eq!([0.0025, 0.0075, 0.0125, 0.125].map(plain), ["0.0025", "0.0075", "0.0125", "0.125"]);
        assert_eq!([0.0, 1e-6, 2.5, 1000.0].map(plain), ["0", "0.000001", "2.5", "1000"]);
    }

    #[test]
    fn figures_are_short() {
        assert_eq!(format_ns(0.0), "0 ns");
        assert_eq!(format_ns(1_234.0), "1.23 µs");
        assert_eq!(format_ns(45_600_000.0), "45.6 ms");
        assert_eq!(three_figures(123.4), "123");
        assert_eq!(round_ns(50.0), "50 ns");
        assert_eq!(round_ns(2_500.0), "2.5 µs");
        assert_eq!(round_ns(100.0), "100 ns");
        assert_eq!(three_figures(0.0123), "0.012");
        assert_eq!(percent(0.9812), "98 %");
        assert_eq!(percent(0.004), "0.4 %");
        assert_eq!(percent(0.000_002), "under 0.001 %");
        assert_eq!([0.0, 0.02, 0.5].map(short_percent), ["0.0%", "2.0%", "50%"]);
        assert_eq!(spoken(45.2), "45 s");
        assert_eq!(spoken(700.0), "12 min");
    }
}
