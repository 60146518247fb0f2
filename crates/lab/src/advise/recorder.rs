//! What recording adds to the times that it tells is taken off again.
//!
//! Each time contains a reading of the clock, what the interposer wrote down before it, and the lock's own
//! instructions, which the simulator adds for the lock that it has. A recording says how long an empty
//! section was (`run/record/cost.rs`); if it says nothing, a reading of the clock is taken off.
use crate::run::record::codec::Kind;
use crate::run::record::cost::{Cost, Costs};
use crate::run::record::file::Meta;

/// A reading of a clock that is quick, in nanoseconds.
const CLOCK: f64 = 7.0;

/// Goes with a thread from step to step.
pub(super) struct Recorder {
    costs: Costs,
    /// What is in the time that runs.
    cost: f64,
    /// What was in the times up to now beyond all of them. A clock that goes in steps makes one time too
    /// short and another one too long, so it is taken off there.
    owed: f64,
}

impl Recorder {
    pub(super) fn new(meta: &Meta) -> Self {
        let ns =
            |cost: Cost| Cost { hold: cost.hold / meta.ticks_per_ns, think: cost.think / meta.ticks_per_ns };
        let clock = Cost { hold: CLOCK, think: CLOCK };
        let costs = match meta.cost {
            Some(Costs { mutex, read, write }) => {
                Costs { mutex: ns(mutex), read: ns(read), write: ns(write) }
            }
            None => Costs { mutex: clock, read: clock, write: clock },
        };
        Self { costs, cost: costs.mutex.think, owed: 0.0 }
    }

    /// What is left of a time that ends with a step.
    pub(super) fn without(&mut self, nanos: f64) -> f64 {
        let left = nanos - self.cost - self.owed;
        // It owes no more than one time contains: what is missing beyond that was never there.
        self.owed = (-left).clamp(0.0, self.cost);
        left.max(0.0)
    }

    /// What begins is the time behind an acquisition.
    pub(super) fn acquired(&mut self, kind: Kind) {
        self.cost = self.costs.at(kind).hold;
    }

    /// What begins is the time behind a release.
    pub(super) fn released(&mut self, kind: Kind) {
        self.cost = self.costs.at(kind).think;
    }

    /// What begins is the time behind a mark, which is written as an acquisition is noted.
    pub(super) fn marked(&mut self) {
        self.cost = self.costs.mutex.hold;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use lab_kit::provenance::Provenance;

    fn recorder(cost: Option<Cost>, ticks_per_ns: f64) -> Recorder {
        let cost = cost.map(|cost| Costs { mutex: cost, read: cost, write: cost });
        let (program, provenance) = (Vec::new(), Provenance::collect(0));
        Recorder::new(&Meta { ticks_per_ns, limit: 1, program, provenance, cost })
    }

    #[test]
    fn empty_sections_are_empty_also_by_a_clock_that_goes_in_steps() {
        let mut taking = recorder(Some(Cost { hold: 44.0, think: 66.0 }), 2.0);
        let mut all = 0.0;
        for round in 0..1000 {
            taking.acquired(Kind::Mutex);
            all += taking.without(if round % 5 == 0 { 30.0 } else { 20.0 }); // 22 on the average
            taking.released(Kind::Mutex);
            all += taking.without(if round % 10 < 3 { 40.0 } else { 30.0 }); // 33
        }
        assert!(all < 1000.0, "less than half a nanosecond a section: {all}");
    }

    #[test]
    fn what_was_never_there_is_not_owed_for_ever() {
        let mut taking = recorder(Some(Cost { hold: 20.0, think: 30.0 }), 1.0);
        taking.acquired(Kind::Read);
        for _ in 0..1000 {
            assert!(taking.without(5.0) < 1e-9);
        }
        assert!(taking.without(1000.0) >= 960.0);
        assert!((recorder(None, 1.0).without(100.0) - 93.0).abs() < 1e-9, "an old recording");
    }
}
