//! What is measured: many values of one quantity, their middle and how far they lie apart.
use serde::Serialize;
use std::collections::BTreeMap;

/// How far two CPUs are from each other, as far as lines of memory are concerned.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Reach {
    /// Hardware threads of one core.
    Core,
    /// Cores that share a last-level cache.
    Group,
    /// Cores of one socket (NUMA node) that do not.
    Socket,
    /// Cores of different sockets.
    Remote,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct What {
    place: u8,
    /// The field of a machine that it is as it stands; empty: none.
    pub field: &'static str,
    title: &'static str,
    /// Between which CPUs, if it is of two.
    reach: Option<Reach>,
}

const fn what(place: u8, field: &'static str, title: &'static str) -> What {
    What { place, field, title, reach: None }
}

impl What {
    pub(crate) const RMW: Self = what(0, "memory.rmw", "read-modify-write of an owned line");
    pub(crate) const STORE: Self = what(1, "memory.store", "the store of a release, behind that");
    pub(crate) const HIT: Self = what(2, "memory.hit", "a load that hits, between other work");
    pub(crate) const FENCE: Self = what(3, "memory.fence", "full fence, nothing to wait for");
    pub(crate) const POLL: Self = what(4, "memory.poll", "one poll: load, compare, spin hint");
    pub(crate) const SHARED_CACHE: Self = what(5, "", "load from the shared cache");
    pub(crate) const MEMORY: Self = what(6, "memory.memory", "load from memory");
    pub(crate) const LOOK_AHEAD: Self =
        what(7, "", "load from memory between work: how much of it is hidden");
    pub(crate) const DIRTY_READ: Self = what(8, "", "load of a line written there");
    pub(crate) const DIRTY_OWN: Self = what(9, "", "read-modify-write of a line written there");
    pub(crate) const UPGRADE: Self = what(10, "", "read-modify-write of a line shared with it");
    pub(crate) const OWN_AFTER_READ: Self =
        what(11, "", "read-modify-write of a line written there and then read");
    pub(crate) const OCCUPANCY: Self = what(12, "", "share of a transfer in which the line is busy");
    pub(crate) const SNOOP: Self = what(13, "", "share of a transfer in which its old owner still hits");
    pub(crate) const SNOOP_READ: Self =
        what(14, "", "share of a transfer to a reader in which its old owner still writes");
    pub(crate) const STORM_READER: Self =
        what(15, "memory.group-occupancy", "read storm, each further reader");
    pub(crate) const HALT: Self = what(16, "host.halt", "futex wait that returns at once");
    pub(crate) const KICK_NOBODY: Self = what(17, "host.kick-idle", "futex wake of nobody");
    pub(crate) const KICK_IDLE: Self = what(18, "", "futex wake of a sleeper, its CPU idle");
    pub(crate) const WAKE_IDLE: Self = what(19, "", "from the wake to the sleeper, its CPU idle");
    pub(crate) const HAND_OVER: Self = what(20, "", "futex hand-over on one CPU, one way");
    pub(crate) const YIELD: Self = what(21, "host.yield", "sched_yield alone");
    pub(crate) const YIELD_SWITCH: Self = what(22, "", "sched_yield to another thread");
    pub(crate) const MIGRATE: Self =
        what(23, "host.migrate", "cold caches after moving to another CPU, 16 KiB");
    pub(crate) const BARRIER_ALONE: Self = what(24, "", "membarrier, one thread");
    pub(crate) const BARRIER_PAIR: Self = what(25, "", "membarrier, one other thread running");
    pub(crate) const TICK_PERIOD: Self = what(26, "", "period of the tick");
    pub(crate) const TICK_COST: Self = what(27, "host.tick-cost", "what a tick takes");
    pub(crate) const TURN: Self = what(28, "", "turn of one of two busy threads on a CPU");
    pub(crate) const PREEMPTS_ON_WAKE: Self = what(29, "", "share of wake-ups that preempt");
    pub(crate) const IDLE_ENTRY: Self = what(30, "", "for which a CPU that falls idle still looks for work");
    pub(crate) const PULL: Self = what(31, "", "until an idle CPU pulls work");

    /// The same between CPUs that are so far from each other.
    pub(crate) fn at(self, reach: Reach) -> Self {
        Self { reach: Some(reach), ..self }
    }

    pub(crate) fn title(self) -> String {
        let words = ["same core: ", "same last-level cache: ", "same socket: ", "other socket: "];
        let between = self.reach.map_or("", |reach| words[reach as usize]);
        format!("{between}{}", self.title)
    }

    /// Whether the figure is a share and not a time in nanoseconds.
    pub(crate) fn is_share(self) -> bool {
        [Self::PREEMPTS_ON_WAKE, Self::OCCUPANCY, Self::SNOOP, Self::SNOOP_READ]
            .contains(&Self { reach: None, ..self })
    }
}

/// One quantity: the middle of its values and the quarters around it, so that disturbed rounds do not count.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub(crate) struct Figure {
    pub median: f64,
    pub lower_quartile: f64,
    pub upper_quartile: f64,
    pub mean: f64,
    /// Half the distance of the quartiles, relative to the median.
    pub spread: f64,
    pub values: usize,
}

impl Figure {
    pub(crate) fn of(values: &[f64]) -> Option<Self> {
        let mut sorted: Vec<f64> = values.iter().copied().filter(|value| value.is_finite()).collect();
        sorted.sort_by(f64::total_cmp);
        let last = sorted.len().checked_sub(1)?;
        let [lower_quartile, median, upper_quartile] = [0.25, 0.5, 0.75].map(|share| {
            let place = share * last as f64;
            let (low, high) = (sorted[place.floor() as usize], sorted[place.ceil() as usize]);
            low + (high - low) * place.fract()
        });
        let mean = sorted.iter().sum::<f64>() / sorted.len() as f64;
        let half = (upper_quartile - lower_quartile) / 2.0;
        let spread = if median == 0.0 { 0.0 } else { (half / median).abs() };
        Some(Self { median, lower_quartile, upper_quartile, mean, spread, values: sorted.len() })
    }
}

#[derive(Clone, Debug, Default)]
pub(crate) struct Figures(BTreeMap<What, Vec<f64>>);

impl Figures {
    pub(crate) fn add(&mut self, what: What, value: f64) {
        self.0.entry(what).or_default().push(value);
    }

    pub(crate) fn get(&self, what: What) -> Option<Figure> {
        Figure::of(self.0.get(&what)?)
    }

    /// What was measured of it, in each round or several times in one.
    pub(crate) fn rounds(&self, what: What) -> &[f64] {
        self.0.get(&what).map_or(&[], Vec::as_slice)
    }

    pub(crate) fn all(&self) -> impl Iterator<Item = (What, Figure)> {
        self.0.iter().filter_map(|(&what, values)| Some((what, Figure::of(values)?)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    #[expect(clippy::float_cmp, reason = "exact in binary")]
    fn a_disturbed_round_moves_neither_median_nor_quartiles_much() {
        let figure = Figure::of(&[10.0, 10.0, 9.0, 11.0, 5000.0]).expect("values");
        assert_eq!((figure.median, figure.lower_quartile, figure.upper_quartile), (10.0, 10.0, 11.0));
        assert_eq!(figure.spread, 0.05);
        assert_eq!(Figure::of(&[]), None);
        assert_eq!(Figure::of(&[f64::NAN]), None);
    }

    #[test]
    fn places_are_numbered_without_gap() {
        let calls = include_str!("sample.rs").split("what(").map(|call| call.trim_start().split(',').next());
        let places: Vec<usize> = calls.filter_map(|number| number?.parse().ok()).collect();
        assert!(places.len() > 1 && places.iter().copied().eq(0..places.len()), "{places:?}");
    }

    #[test]
    fn quantities_are_told_apart_by_their_distance() {
        let mut figures = Figures::default();
        figures.add(What::UPGRADE.at(Reach::Group), 1.0);
        figures.add(What::UPGRADE.at(Reach::Remote), 2.0);
        assert_eq!(figures.all().count(), 2);
        assert!(figures.get(What::UPGRADE.at(Reach::Socket)).is_none());
    }
}
