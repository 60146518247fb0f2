//! What threads do: the work around an acquisition, and who reads and who writes, by shares that every thread
//! draws from, or by threads that do only one of both.
use lab_kit::units::plural;
use serde::{Deserialize, Serialize};
use stanchion_cells::scenes::once;
use stanchion_cells::threads;

/// The work of each thread around one acquisition.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct Profile {
    pub name: String,
    pub critical_ns: u64,
    /// Mean time between release and the next acquisition, in nanoseconds.
    pub think_ns: u64,
    /// The holder gives up its slice in the middle of the section.
    #[serde(default, skip_serializing_if = "core::ops::Not::not")]
    pub yields: bool,
    /// CPUs whose time all threads together get; none is all there are.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cpu_limit: Option<f64>,
}

#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "mix", rename_all = "lowercase")]
pub(crate) enum Mix {
    /// Each thread draws for every operation whether it reads.
    Drawn { reads_percent: f64 },
    /// So many threads only write, all others only read.
    Dedicated { writers: usize },
}

/// What the threads of a section of the report do, however many they are.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Load<'a> {
    pub profile: &'a Profile,
    /// None if the locks are mutexes.
    pub mix: Option<Mix>,
}

impl Load<'_> {
    /// How many threads a cell has in a column of threads or of readers.
    pub(crate) fn threads(self, column: usize) -> usize {
        column + self.mix.map_or(0, Mix::writers)
    }

    pub(crate) fn column(self, threads: usize) -> usize {
        threads.saturating_sub(self.mix.map_or(0, Mix::writers))
    }

    pub(crate) fn counted(self) -> &'static str {
        if matches!(self.mix, Some(Mix::Dedicated { .. })) { "readers" } else { "threads" }
    }

    pub(crate) fn name(self) -> String {
        named(&self.profile.name, self.mix)
    }

    pub(crate) fn with(self, threads: usize) -> String {
        format!("{}, {}", self.name(), plural(self.column(threads), self.counted().trim_end_matches('s')))
    }
}

pub(crate) fn named(profile: &str, mix: Option<Mix>) -> String {
    mix.map_or_else(|| profile.to_owned(), |mix| format!("{profile}, {}", mix.name()))
}

/// What a draw is compared with: this is certainty.
const ALWAYS: u64 = 1 << 32;

impl Mix {
    pub(crate) const READS: Self = Self::Drawn { reads_percent: 100.0 };
    pub(crate) const WRITES: Self = Self::Drawn { reads_percent: 0.0 };

    pub(crate) fn writers(self) -> usize {
        if let Self::Dedicated { writers } = self { writers } else { 0 }
    }

    /// A draw of 32 bits below this is a read, for thread `index` of `threads`. Writers are the last ones.
    pub(crate) fn reads_below(self, index: usize, threads: usize) -> u64 {
        match self {
            Self::Drawn { reads_percent } => (reads_percent / 100.0 * ALWAYS as f64).round() as u64,
            Self::Dedicated { writers } if index + writers < threads => ALWAYS,
            Self::Dedicated { .. } => 0,
        }
    }

    /// Whether anybody reads, and whether anybody writes.
    pub(crate) fn sides(self) -> (bool, bool) {
        match self {
            Self::Drawn { reads_percent } => (reads_percent > 0.0, reads_percent < 100.0),
            Self::Dedicated { writers } => (true, writers > 0),
        }
    }

    pub(crate) fn name(self) -> String {
        match self {
            Self::Drawn { reads_percent } => format!("{reads_percent} % reads"),
            Self::Dedicated { writers } => plural(writers, "writer"),
        }
    }
}

pub(crate) fn words(list: &str) -> impl Iterator<Item = &str> {
    list.split(',').map(str::trim).filter(|word| !word.is_empty())
}

/// Shares such as `100,99.9,50`, in the order given and each once.
pub(crate) fn shares(list: &str) -> Result<Vec<Mix>, String> {
    let share = |word: &str| {
        let number = word.strip_suffix('%').unwrap_or(word).trim_end();
        let share: Option<f64> = number.parse().ok().filter(|share| (0.0..=100.0).contains(share));
        // A minus sign before a zero means nothing here.
        share
            .map(|share| Mix::Drawn { reads_percent: share.abs() })
            .ok_or_else(|| format!("'{word}' is no share of reads: write per cent from 0 to 100, as in 99.9"))
    };
    let mixes = once(words(list).map(share).collect::<Result<Vec<_>, _>>()?);
    match mixes.len() {
        0 => Err("no share of reads was given: write for example 99.9,50".to_owned()),
        // More than this are a typing error.
        101.. => Err(format!("{} shares are too many: write 100 at most", mixes.len())),
        _ => Ok(mixes),
    }
}

/// Numbers of writers such as `0,1,4`: those of threads, and none at all.
pub(crate) fn writers(list: &str, cpus: usize) -> Result<Vec<Mix>, String> {
    let (none, some): (Vec<&str>, Vec<&str>) = words(list).partition(|word| *word == "0");
    let some = match some[..] {
        [] if !none.is_empty() => Vec::new(),
        _ => threads::parse(&some.join(","), cpus)?,
    };
    let none = none.first().map(|_| 0);
    Ok(none.into_iter().chain(some).map(|writers| Mix::Dedicated { writers }).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    const HALF: Mix = Mix::Drawn { reads_percent: 50.0 };
    const TWO: Mix = Mix::Dedicated { writers: 2 };

    #[test]
    fn shares_are_per_cent_in_the_order_given() {
        let names = |list| shares(list).expect(list).into_iter().map(Mix::name).collect::<Vec<_>>();
        assert_eq!(names("100, 99.9,50%,99.9"), ["100 % reads", "99.9 % reads", "50 % reads"]);
        assert_eq!(names("-0"), ["0 % reads"]);
    }

    #[test]
    fn absurd_shares_are_refused_by_name() {
        for list in ["101", "-1", "most", "NaN", "inf", "1e3", ",", ""] {
            let error = shares(list).expect_err(list);
            assert!(error.contains("write") && !error.contains('\n'), "{list}: {error}");
        }
        let many = |most: i32| (1..=most).map(|tenths| format!("{tenths}e-1")).collect::<Vec<_>>().join(",");
        assert!(shares(&many(100)).is_ok() && shares(&many(101)).is_err());
    }

    #[test]
    fn writers_may_be_none() {
        let counts = |list| writers(list, 2).map(|mixes| mixes.into_iter().map(Mix::writers).collect());
        assert_eq!(counts("1x,0"), Ok(vec![0, 2]));
        assert_eq!(counts("0"), Ok(vec![0]));
        assert_eq!(counts("4,1-2"), Ok(vec![1, 2, 4]));
        assert!(counts("").is_err() && counts("-1").is_err() && counts("5000").is_err());
    }

    #[test]
    fn certainty_is_certain_and_writers_come_last() {
        let all = Mix::Drawn { reads_percent: 100.0 };
        assert_eq!((all.reads_below(0, 1), HALF.reads_below(0, 1)), (ALWAYS, ALWAYS / 2));
        assert_eq!(
            (0..5).map(|index| TWO.reads_below(index, 5)).collect::<Vec<_>>(),
            [ALWAYS, ALWAYS, ALWAYS, 0, 0]
        );
        assert!(u64::from(u32::MAX) < ALWAYS, "the greatest draw is still a read");
    }

    #[test]
    fn columns_and_threads_are_each_others_inverse() {
        let profile = &Profile::default();
        let [half, two] = [HALF, TWO].map(|mix| Load { profile, mix: Some(mix) });
        for load in [half, two] {
            assert_eq!(load.column(load.threads(3)), 3);
        }
        assert_eq!((two.threads(3), half.threads(3)), (5, 3));
    }

    #[test]
    fn sides_that_nobody_takes_are_known() {
        assert_eq!(HALF.sides(), (true, true));
        assert_eq!(Mix::Drawn { reads_percent: 0.0 }.sides(), (false, true));
        assert_eq!(Mix::Dedicated { writers: 0 }.sides(), (true, false));
    }
}
