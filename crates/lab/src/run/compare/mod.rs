//! `stanchion run --compare`: one program under several locks, again and again in turn.
//!
//! [`Setting`] is what was asked for and in which order the runs go. [`metric`] is what is compared,
//! [`executor`] one run and what it printed. [`report`] is what came of all and how sure that is, [`export`]
//! how that is told. [`drive`] is the whole from arguments to exit code.
mod drive;
mod executor;
mod export;
mod metric;
mod report;
#[cfg(test)]
mod testing;

pub(crate) use drive::{Comparison, run};
pub(crate) use export::{CSV, JSON};
use fastrand::Rng;
pub(crate) use metric::Metric;
use serde::{Deserialize, Serialize};

/// How the locks of a round follow each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Order {
    /// Each round begins one lock further, so that each has each place equally often.
    Rotated,
    /// By chance, from the seed.
    Shuffled,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Setting {
    /// The others are set in relation to the first.
    pub locks: Vec<String>,
    pub metric: Metric,
    pub runs: usize,
    pub warmup: usize,
    pub timeout_s: f64,
    pub order: Order,
    pub seed: u64,
    pub check_output: bool,
    pub show_output: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Trial {
    /// Its place in the list of locks.
    pub lock: usize,
    pub round: usize,
    pub warmup: bool,
}

impl Setting {
    /// All runs, warm-up first, a round of all locks at a time.
    pub(crate) fn trials(&self) -> Vec<Trial> {
        let mut random = Rng::with_seed(self.seed);
        let rounds =
            (0..self.warmup).map(|round| (true, round)).chain((0..self.runs).map(|round| (false, round)));
        let mut trials = Vec::new();
        for (warmup, round) in rounds {
            let mut locks: Vec<usize> = (0..self.locks.len()).collect();
            match self.order {
                Order::Rotated => locks.rotate_left(round % self.locks.len().max(1)),
                Order::Shuffled => random.shuffle(&mut locks),
            }
            trials.extend(locks.into_iter().map(|lock| Trial { lock, round, warmup }));
        }
        trials
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::run::compare::testing::setting;

    /// The locks of each round.
    fn rounds(setting: &Setting) -> Vec<Vec<usize>> {
        let locks: Vec<usize> = setting.trials().iter().map(|trial| trial.lock).collect();
        locks.chunks(setting.locks.len()).map(<[usize]>::to_vec).collect()
    }

    #[test]
    fn rounds_are_interleaved_and_rotated() {
        let setting = Setting { warmup: 1, runs: 3, ..setting(&["a", "b", "c"]) };
        assert_eq!(rounds(&setting), [[0, 1, 2], [0, 1, 2], [1, 2, 0], [2, 0, 1]]);
        let warmups = setting.trials().iter().filter(|trial| trial.warmup).count();
        assert_eq!(warmups, 3);
    }

    #[test]
    fn a_seed_shuffles_and_the_same_seed_shuffles_the_same() {
        let by = |seed| Setting { order: Order::Shuffled, seed, runs: 20, ..setting(&["a", "b", "c", "d"]) };
        let shuffled = rounds(&by(1));
        assert_eq!(shuffled, rounds(&by(1)));
        assert_ne!(shuffled, rounds(&by(2)));
        for round in shuffled {
            let mut sorted = round;
            sorted.sort_unstable();
            assert_eq!(sorted, [0, 1, 2, 3]);
        }
    }
}
