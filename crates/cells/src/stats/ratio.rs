//! How one thing is to another, over rounds and loads.
use super::summary::{ends_of, is_of_two_kinds, mean_of, student};
use core::fmt;
use serde::{Deserialize, Serialize};

/// With fewer pairs nothing is decided: few that agree by chance have a narrow interval.
pub const PAIRS_ENOUGH: usize = 5;

/// What the marks of [`Summary`](super::Summary) and [`Ratio`] mean.
pub const MARKS: &str = "a..b: rounds or seeds are of two kinds, from the least to the most that one says; ~: with some\n\
                         load they are";

/// How often one thing has what another has once, with the ends of its 95 % interval if there are any.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Ratio {
    /// The geometric mean.
    pub ratio: f64,
    /// None if there is one pair.
    pub interval: Option<(f64, f64)>,
    /// With one load, where rounds are of two kinds: the least and the most that it is. It has no middle
    /// then.
    #[serde(default)]
    pub range: Option<(f64, f64)>,
    /// Of several loads: with one of them rounds are of two kinds.
    #[serde(default)]
    pub mixed: bool,
    /// Rounds that have both; if they are no pairs, those of the side with fewer.
    #[serde(default)]
    pub pairs: usize,
}

/// The mean over loads of what each round says, as logarithms; of as many rounds as all loads have.
fn mean_logs(loads: &[impl AsRef<[f64]>]) -> Option<Vec<f64>> {
    let rounds = loads.iter().map(|load| load.as_ref().len()).min()?;
    let log = |round: usize| loads.iter().map(|load| load.as_ref()[round].ln()).sum::<f64>();
    Some((0..rounds).map(|round| log(round) / loads.len() as f64).collect())
}

/// The rounds of one thing and of another, with one load.
pub type Sides<'a> = (&'a [f64], &'a [f64]);

impl Ratio {
    /// Of the rounds of one thing and of another, for each load: a round visits both soon after each other,
    /// or starts both from the same seed. The mean over loads is geometric, and so is that over rounds. The
    /// interval is that over rounds, by Student's distribution of the logarithms. None if a round has 0 or
    /// less.
    pub fn of(loads: &[Sides]) -> Option<Self> {
        // Two negative numbers have no ratio either, though they have a quotient.
        let each =
            |load: &Sides| load.0.iter().zip(load.1).map(|(own, other)| own.max(0.0) / other).collect();
        let ratios: Vec<Vec<f64>> = loads.iter().map(each).collect();
        let logs = mean_logs(&ratios)?;
        let ((log, variance), pairs) = (mean_of(&logs), logs.len());
        let ratio = log.is_finite().then(|| Self::known(log, variance / pairs as f64, pairs - 1, pairs))?;
        // Not by logarithms: these would miss by a hair what is just of two kinds.
        let are = ratios.iter().any(|ratios| is_of_two_kinds(ratios));
        Some(if are { ratio.of_two_kinds(loads.len(), ends_of(&logs)) } else { ratio })
    }

    /// Of so many loads, with some of which rounds are of two kinds. With one the ends are these logarithms.
    fn of_two_kinds(self, loads: usize, (from, to): (f64, f64)) -> Self {
        Self { range: (loads == 1).then(|| (from.exp(), to.exp())), mixed: loads > 1, ..self }
    }

    /// By its logarithm, of which the variance is known with so many degrees of freedom.
    fn known(log: f64, variance: f64, freedom: usize, pairs: usize) -> Self {
        let half = student(freedom) * variance.sqrt();
        let interval = (pairs > 1).then(|| ((log - half).exp(), (log + half).exp()));
        Self { ratio: log.exp(), interval, range: None, mixed: false, pairs }
    }

    /// Of pairs, each of one round.
    pub fn of_pairs(pairs: &[(f64, f64)]) -> Option<Self> {
        let (own, other): (Vec<f64>, Vec<f64>) = pairs.iter().copied().unzip();
        Self::of(&[(&own, &other)])
    }

    /// Of rounds of one thing and of another that have nothing to do with each other, for each load: Welch's
    /// interval, for the logarithms. What a round does to all loads is one thing and not many, so the mean
    /// over loads comes first. A range is from the least to the most of a round to any round of the other
    /// side.
    pub fn of_unpaired(loads: &[Sides]) -> Option<Self> {
        let own = mean_logs(&loads.iter().map(|load| load.0).collect::<Vec<_>>())?;
        let other = mean_logs(&loads.iter().map(|load| load.1).collect::<Vec<_>>())?;
        let side = |logs: &[f64]| {
            let ((mean, variance), rounds) = (mean_of(logs), logs.len());
            mean.is_finite().then(|| (mean, variance / rounds as f64, rounds))
        };
        let sides = [side(&own)?, side(&other)?];
        let variance = sides[0].1 + sides[1].1;
        let parts = sides.map(|(_, variance, rounds)| variance.powi(2) / (rounds as f64 - 1.0));
        let freedom = (variance.powi(2) / parts.iter().sum::<f64>()).max(1.0) as usize;
        let ratio = Self::known(sides[0].0 - sides[1].0, variance, freedom, sides[0].2.min(sides[1].2));
        let are = loads.iter().any(|load| is_of_two_kinds(load.0) || is_of_two_kinds(load.1));
        let (own, other) = (ends_of(&own), ends_of(&other));
        let ends = (own.0 - other.1, own.1 - other.0);
        Some(if are { ratio.of_two_kinds(loads.len(), ends) } else { ratio })
    }

    /// What is told of it: one figure, unless rounds are of two kinds.
    pub fn middle(&self) -> Option<f64> {
        self.range.is_none().then_some(self.ratio)
    }

    /// The same; the least, if there is a range.
    pub fn least(&self) -> f64 {
        self.range.map_or(self.ratio, |(least, _)| least)
    }

    /// The ends of what is told of it: its range, or its interval, if it has any.
    pub fn bounds(&self) -> Option<(f64, f64)> {
        self.range.or(self.interval)
    }

    /// The same; the ratio itself if it has none.
    pub fn ends(&self) -> (f64, f64) {
        self.bounds().unwrap_or((self.ratio, self.ratio))
    }

    /// Whether there are pairs enough, and it is known on which side of 1 the ratio lies.
    pub fn is_clear(&self) -> bool {
        self.pairs >= PAIRS_ENOUGH && self.bounds().is_some_and(|(low, high)| low > 1.0 || high < 1.0)
    }

    /// Whether `value` lies between its ends, or it has none.
    pub fn may_be(&self, value: f64) -> bool {
        self.bounds().is_none_or(|(low, high)| low <= value && value <= high)
    }

    /// In words, with so many digits behind the point: with its interval, or the range alone.
    pub fn in_digits(&self, digits: usize) -> String {
        if let Some((from, to)) = self.range {
            return format!("{from:.digits$}..{to:.digits$}");
        }
        let mark = if self.mixed { "~" } else { "" };
        match self.interval {
            Some((low, high)) => format!("{mark}{:.digits$} ({low:.digits$}–{high:.digits$})", self.ratio),
            None => format!("{mark}{:.digits$} (one value)", self.ratio),
        }
    }

    /// In words, if it has an interval: a ratio without one is not told.
    pub fn told(&self) -> Option<String> {
        self.interval.map(|_| self.to_string())
    }
}

impl fmt::Display for Ratio {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Enough digits for what is small.
        f.write_str(&self.in_digits(if self.ratio < 0.1 { 3 } else { 2 }))
    }
}
