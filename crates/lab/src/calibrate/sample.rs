//! What was measured: many values of one quantity, their middle and how far they lie apart.
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

/// Everything that is measured, in the order of the table.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum What {
    Rmw,
    Store,
    Hit,
    Fence,
    Hint,
    Poll,
    SharedCache,
    Memory,
    DirtyRead(Reach),
    DirtyOwn(Reach),
    Upgrade(Reach),
    PingPong(Reach),
    Exchange(Reach),
    AddsByAll,
    StormReader,
    Halt,
    KickNobody,
    KickIdle,
    KickBusy,
    WakeIdle,
    WakeBusy,
    HandOver,
    Yield,
    YieldSwitch,
    Migrate,
    BarrierAlone,
    BarrierPair,
    BarrierMany,
    TickPeriod,
    TickCost,
    Turn,
    PreemptsOnWake,
    Pull,
}

impl What {
    /// What it is, for people.
    pub(crate) fn title(self) -> String {
        let between = |what: &str, reach: Reach| format!("{}: {what}", reach.title());
        match self {
            Self::Rmw => "read-modify-write of an owned line".into(),
            Self::Store => "the store of a release, behind that".into(),
            Self::Hit => "a load that hits, between other work".into(),
            Self::Fence => "full fence, nothing to wait for".into(),
            Self::Hint => "spin hint".into(),
            Self::Poll => "one poll: load, compare, spin hint".into(),
            Self::SharedCache => "load from the shared cache".into(),
            Self::Memory => "load from memory".into(),
            Self::DirtyRead(reach) => between("load of a line written there", reach),
            Self::DirtyOwn(reach) => between("read-modify-write of a line written there", reach),
            Self::Upgrade(reach) => between("read-modify-write of a line shared with it", reach),
            Self::PingPong(reach) => between("hand-over by load and store, one way", reach),
            Self::Exchange(reach) => between("hand-over by compare-exchange, one way", reach),
            Self::AddsByAll => "fetch-add by all CPUs at once, each".into(),
            Self::StormReader => "read storm, each further reader".into(),
            Self::Halt => "futex wait that returns at once".into(),
            Self::KickNobody => "futex wake of nobody".into(),
            Self::KickIdle => "futex wake of a sleeper, its CPU idle".into(),
            Self::KickBusy => "futex wake of a sleeper, its CPU busy".into(),
            Self::WakeIdle => "from the wake to the sleeper, its CPU idle".into(),
            Self::WakeBusy => "from the wake to the sleeper, its CPU busy".into(),
            Self::HandOver => "futex hand-over on one CPU, one way".into(),
            Self::Yield => "sched_yield alone".into(),
            Self::YieldSwitch => "sched_yield to another thread".into(),
            Self::Migrate => "cold caches after moving to another CPU, 16 KiB".into(),
            Self::BarrierAlone => "membarrier, one thread".into(),
            Self::BarrierPair => "membarrier, one other thread running".into(),
            Self::BarrierMany => "membarrier, many threads ready".into(),
            Self::TickPeriod => "period of the tick".into(),
            Self::TickCost => "what a tick takes".into(),
            Self::Turn => "turn of one of two busy threads on a CPU".into(),
            Self::PreemptsOnWake => "share of wake-ups that preempt".into(),
            Self::Pull => "until an idle CPU pulls work".into(),
        }
    }

    /// Whether the figure is a share and not a time in nanoseconds.
    pub(crate) fn is_share(self) -> bool {
        matches!(self, Self::PreemptsOnWake)
    }
}

impl Reach {
    /// The distance in words.
    pub(crate) fn title(self) -> &'static str {
        match self {
            Self::Core => "same core",
            Self::Group => "same last-level cache",
            Self::Socket => "same socket",
            Self::Remote => "other socket",
        }
    }
}

/// One quantity: the middle of its values and the quarters around it, so that disturbed rounds do not count.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Figure {
    pub median: f64,
    pub lower_quartile: f64,
    pub upper_quartile: f64,
    pub values: usize,
}

impl Figure {
    /// `None` without values.
    pub(crate) fn of(values: &[f64]) -> Option<Self> {
        let mut sorted: Vec<f64> = values.iter().copied().filter(|value| value.is_finite()).collect();
        sorted.sort_by(f64::total_cmp);
        let at = |share: f64| {
            let place = share * (sorted.len() - 1) as f64;
            let (low, high) = (sorted[place.floor() as usize], sorted[place.ceil() as usize]);
            low + (high - low) * place.fract()
        };
        (!sorted.is_empty()).then(|| Self {
            median: at(0.5),
            lower_quartile: at(0.25),
            upper_quartile: at(0.75),
            values: sorted.len(),
        })
    }

    /// Half the distance of the quartiles, relative to the median.
    pub(crate) fn spread(&self) -> f64 {
        let half = (self.upper_quartile - self.lower_quartile) / 2.0;
        if self.median == 0.0 { 0.0 } else { (half / self.median).abs() }
    }
}

/// All values so far.
#[derive(Clone, Debug, Default)]
pub(crate) struct Figures(BTreeMap<What, Vec<f64>>);

impl Figures {
    /// One more value of `what`.
    pub(crate) fn add(&mut self, what: What, value: f64) {
        self.0.entry(what).or_default().push(value);
    }

    /// The figure of `what`, if it was measured.
    pub(crate) fn get(&self, what: What) -> Option<Figure> {
        Figure::of(self.0.get(&what)?)
    }

    /// Every quantity that was measured.
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
        assert_eq!(figure.spread(), 0.05);
        assert_eq!(Figure::of(&[]), None);
        assert_eq!(Figure::of(&[f64::NAN]), None);
    }

    #[test]
    fn quantities_are_told_apart_by_their_distance() {
        let mut figures = Figures::default();
        figures.add(What::Upgrade(Reach::Group), 1.0);
        figures.add(What::Upgrade(Reach::Remote), 2.0);
        assert_eq!(figures.all().count(), 2);
        assert!(figures.get(What::Upgrade(Reach::Socket)).is_none());
    }
}
