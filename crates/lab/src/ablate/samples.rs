//! What was measured of a lock, and how it is to the base.
use super::rules::BASE;
use lab_kit::stats::Ratio;

/// A lock under one load with so many threads.
#[derive(Clone, Debug)]
pub(crate) struct Sample {
    pub lock: String,
    /// The profile, or the machine with its workload.
    pub load: String,
    pub threads: usize,
    /// How much was done, more being better: by round, or by seed. Empty if the cell went wrong.
    pub rates: Vec<f64>,
    pub worst_ns: Option<f64>,
    /// CPU time of an acquisition, in any unit.
    pub cpu: Option<f64>,
}

/// A lock beside the base: cells of the same load and thread count.
pub(super) struct Beside<'a>(Vec<(&'a Sample, &'a Sample)>);

impl<'a> Beside<'a> {
    /// The cells of `lock` under the loads that `of` picks; none if one of them is missing. One thread
    /// contends with nobody, and is left out.
    pub(super) fn of(samples: &'a [Sample], lock: &str, of: impl Fn(&str) -> bool) -> Option<Self> {
        let cells =
            |lock: String| samples.iter().filter(move |sample| sample.lock == lock && sample.threads > 1);
        let base = cells(BASE.to_owned()).filter(|base| of(&base.load));
        let pairs = base.map(|base| {
            let same = |cell: &&Sample| cell.load == base.load && cell.threads == base.threads;
            Some((cells(lock.to_owned()).find(same)?, base))
        });
        pairs.collect::<Option<Vec<_>>>().filter(|pairs| !pairs.is_empty()).map(Self)
    }

    /// The geometric mean of the throughput ratios.
    pub(super) fn throughput(&self) -> Option<Ratio> {
        let rates = self.0.iter().map(|(cell, base)| (cell.rates.as_slice(), base.rates.as_slice()));
        Ratio::of(&rates.collect::<Vec<_>>())
    }

    /// The geometric mean of the ratios of another figure.
    pub(super) fn other(&self, value: fn(&Sample) -> Option<f64>) -> Option<f64> {
        let log = |(cell, base): &(&Sample, &Sample)| Some((value(cell)? / value(base)?).ln());
        let logs = self.0.iter().map(log).collect::<Option<Vec<f64>>>()?;
        let mean = logs.iter().sum::<f64>() / logs.len() as f64;
        mean.is_finite().then(|| mean.exp())
    }

    /// The longest wait of the lock.
    pub(super) fn worst_ns(&self) -> Option<f64> {
        self.0
            .iter()
            .map(|(cell, _)| cell.worst_ns)
            .try_fold(0.0, |worst, ns| ns.map(|ns| f64::max(worst, ns)))
    }
}

#[cfg(test)]
pub(super) fn sample(lock: &str, load: &str, threads: usize, rates: &[f64]) -> Sample {
    Sample {
        lock: lock.to_owned(),
        load: load.to_owned(),
        threads,
        rates: rates.to_vec(),
        worst_ns: Some(1e6 * rates.len() as f64),
        cpu: Some(2.0),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn near(value: Option<f64>, expected: f64) -> bool {
        value.is_some_and(|value| (value - expected).abs() < 1e-9)
    }

    #[test]
    fn the_mean_is_geometric_over_counts_and_its_interval_is_over_rounds() {
        let samples = [
            sample("stanchion", "empty", 1, &[1.0, 1.0]),
            sample("stanchion", "empty", 2, &[1.0, 2.0]),
            sample("stanchion", "empty", 4, &[1.0, 1.0]),
            sample("x", "empty", 1, &[100.0, 100.0]),
            sample("x", "empty", 2, &[2.0, 4.0]),
            sample("x", "empty", 4, &[8.0, 8.0]),
        ];
        let beside = Beside::of(&samples, "x", |_| true).expect("all there");
        let ratio = beside.throughput().expect("rates");
        assert!((ratio.ratio - 4.0).abs() < 1e-9, "2 and 8: {ratio:?}");
        let (low, high) = ratio.interval.expect("two rounds");
        assert!((low - 4.0).abs() < 1e-9 && (high - 4.0).abs() < 1e-9, "both rounds say the same: {ratio:?}");
        assert!(near(beside.other(|cell| cell.cpu), 1.0) && near(beside.worst_ns(), 2e6));
    }

    #[test]
    fn rounds_that_differ_make_an_interval_and_one_round_has_none() {
        let samples = [sample("stanchion", "a", 2, &[1.0, 1.0]), sample("x", "a", 2, &[1.0, 4.0])];
        let ratio =
            Beside::of(&samples, "x", |_| true).and_then(|beside| beside.throughput()).expect("rates");
        let (low, high) = ratio.interval.expect("two rounds");
        assert!((ratio.ratio - 2.0).abs() < 1e-9 && low < 1.0 && high > 4.0, "{ratio:?}");
        let samples = [sample("stanchion", "a", 2, &[1.0]), sample("x", "a", 2, &[3.0])];
        let ratio =
            Beside::of(&samples, "x", |_| true).and_then(|beside| beside.throughput()).expect("rates");
        assert_eq!(ratio.interval, None);
    }

    #[test]
    fn what_was_not_measured_or_did_nothing_has_no_ratio() {
        let samples = [
            sample("stanchion", "a", 2, &[1.0]),
            sample("stanchion", "b", 2, &[1.0]),
            sample("x", "a", 2, &[0.0]),
            Sample { worst_ns: None, ..sample("y", "a", 2, &[]) },
        ];
        assert!(Beside::of(&samples, "x", |_| true).is_none(), "no cell of load b");
        let beside = |lock| Beside::of(&samples, lock, |load| load == "a").expect("a cell");
        assert_eq!(beside("x").throughput(), None);
        assert_eq!(beside("y").throughput(), None);
        assert_eq!(beside("y").other(|cell| cell.worst_ns), None);
        assert_eq!(beside("y").worst_ns(), None);
    }
}
