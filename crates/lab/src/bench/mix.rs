//! Who reads and who writes: shares that every thread draws from, or threads that do only one of both.
use super::cell::Profile;
use serde::{Deserialize, Serialize};
use stanchion_cells::threads;

/// Who reads and who writes in a cell.
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
    /// How many threads a cell has in the column of this count.
    pub(crate) fn threads(self, column: usize) -> usize {
        self.mix.map_or(column, |mix| mix.threads(column))
    }

    /// The column of a cell with so many threads.
    pub(crate) fn column(self, threads: usize) -> usize {
        self.mix.map_or(threads, |mix| mix.column(threads))
    }

    /// What the columns count.
    pub(crate) fn counted(self) -> &'static str {
        if matches!(self.mix, Some(Mix::Dedicated { .. })) { "readers" } else { "threads" }
    }

    pub(crate) fn name(self) -> String {
        named(&self.profile.name, self.mix)
    }

    /// So many threads do this, in words.
    pub(crate) fn with(self, threads: usize) -> String {
        format!("{}, {}", self.name(), plural(self.column(threads), self.counted()))
    }
}

/// So many things, the name of which ends in an `s` that one of them has not.
pub(crate) fn plural(count: usize, things: &str) -> String {
    format!("{count} {}", if count == 1 { things.trim_end_matches('s') } else { things })
}

/// A profile and a mix in words.
pub(crate) fn named(profile: &str, mix: Option<Mix>) -> String {
    mix.map_or_else(|| profile.to_owned(), |mix| format!("{profile}, {}", mix.name()))
}

/// What a draw is compared with: this is certainty.
const ALWAYS: u64 = 1 << 32;

impl Mix {
    pub(crate) const READS: Self = Self::Drawn { reads_percent: 100.0 };
    pub(crate) const WRITES: Self = Self::Drawn { reads_percent: 0.0 };

    /// Threads that only write.
    fn writers(self) -> usize {
        if let Self::Dedicated { writers } = self { writers } else { 0 }
    }

    /// How many threads a cell has in the column of this count, which is one of threads or of readers.
    pub(crate) fn threads(self, column: usize) -> usize {
        column + self.writers()
    }

    /// The column of a cell with so many threads.
    pub(crate) fn column(self, threads: usize) -> usize {
        threads.saturating_sub(self.writers())
    }

    /// A draw of 32 bits below this is a read, for thread `index` of `threads`. Writers are the last ones.
    pub(crate) fn reads_below(self, index: usize, threads: usize) -> u64 {
        match self {
            Self::Drawn { reads_percent } => (reads_percent / 100.0 * ALWAYS as f64).round() as u64,
            Self::Dedicated { .. } if index < self.column(threads) => ALWAYS,
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
            Self::Dedicated { writers: 1 } => "1 writer".to_owned(),
            Self::Dedicated { writers } => format!("{writers} writers"),
        }
    }
}

/// Shares such as `100,99.9,50`, in the order given and each once.
pub(crate) fn shares(list: &str) -> Result<Vec<Mix>, String> {
    let mut mixes: Vec<Mix> = Vec::new();
    for word in list.split(',').map(str::trim).filter(|word| !word.is_empty()) {
        let number = word.strip_suffix('%').unwrap_or(word).trim_end();
        let share = number.parse().ok().filter(|share| (0.0..=100.0).contains(share));
        let share: f64 = share.ok_or_else(|| {
            format!("'{word}' is no share of reads: write per cent from 0 to 100, as in 99.9")
        })?;
        // A minus sign before a zero means nothing here.
        let mix = Mix::Drawn { reads_percent: share.abs() };
        if !mixes.contains(&mix) {
            mixes.push(mix);
        }
    }
    match mixes.len() {
        0 => Err("no share of reads was given: write for example 99.9,50".to_owned()),
        // More than this are a typing error.
        101.. => Err(format!("{} shares are too many: write 100 at most", mixes.len())),
        _ => Ok(mixes),
    }
}

/// Numbers of writers such as `0,1,4`: those of threads, and none at all.
pub(crate) fn writers(list: &str, cpus: usize) -> Result<Vec<Mix>, String> {
    let words = || list.split(',').map(str::trim).filter(|word| !word.is_empty());
    let some: Vec<&str> = words().filter(|&word| word != "0").collect();
    let none = words().any(|word| word == "0").then_some(0);
    let counts = match some.as_slice() {
        [] if none.is_some() => Vec::new(),
        some => threads::parse(&some.join(","), cpus)?,
    };
    Ok(none.into_iter().chain(counts).map(|writers| Mix::Dedicated { writers }).collect())
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
        let counts =
            |list| writers(list, 2).map(|mixes| mixes.into_iter().map(|mix| mix.threads(0)).collect());
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
        for mix in [HALF, TWO] {
            assert_eq!(mix.column(mix.threads(3)), 3);
        }
        assert_eq!((TWO.threads(3), HALF.threads(3)), (5, 3));
    }

    #[test]
    fn sides_that_nobody_takes_are_known() {
        assert_eq!(HALF.sides(), (true, true));
        assert_eq!(Mix::Drawn { reads_percent: 0.0 }.sides(), (false, true));
        assert_eq!(Mix::Dedicated { writers: 0 }.sides(), (true, false));
    }
}
