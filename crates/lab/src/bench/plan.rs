//! What will be run, in which order: decided before anything is measured.
//!
//! A group is one profile at one number of threads. Within it every round visits every lock once, in an
//! order shuffled by the seed, so that a disturbance of the machine hits neighbours in time and not one
//! lock; and all locks of a round draw the same think times.
use super::cell::{Calibration, CellSpec, Pass, Profile};
use super::report::{LockInfo, Setting};
use super::work::Random;

/// The lock of the overhead cells: none.
pub(crate) const NO_LOCK: &str = "busted-none";
/// Rounds of the overhead cells, which are quiet: one thread, nobody to wait for.
pub(crate) const OVERHEAD_ROUNDS: usize = 3;
/// What starting and ending a worker costs, for the estimate of the time left.
const START_MS: u64 = 25;

/// What a group is about.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Topic {
    Overhead,
    Uncontended,
    Cells { profile: String, threads: usize },
}

/// Cells that belong together; results are written after each group.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Group<S = CellSpec, T = Topic> {
    pub topic: T,
    pub cells: Vec<S>,
}

/// All groups of a run, thread counts ascending within a profile.
pub(crate) fn groups(
    setting: &Setting,
    locks: &[LockInfo],
    calibration: Calibration,
    uncontended_only: bool,
) -> Vec<Group> {
    let planner = Planner { setting, locks, calibration };
    let mut groups = vec![planner.uncontended()];
    if !uncontended_only {
        groups.push(planner.overhead());
        for profile in &setting.profiles {
            groups.extend(setting.threads.iter().map(|&threads| planner.cells(profile, threads)));
        }
    }
    groups
}

/// Time one cell takes, nearly.
pub(crate) fn nominal_ms(spec: &CellSpec) -> u64 {
    spec.time_ms + spec.time_ms.min(100) / 5 + START_MS
}

/// A cell for each of `names` in each round, in an order drawn from the seed of the round.
pub(crate) fn interleaved<S>(
    names: &[&str],
    rounds: usize,
    seed: impl Fn(usize) -> u64,
    spec: impl Fn(&str, usize) -> S,
) -> Vec<S> {
    let mut cells = Vec::new();
    for round in 0..rounds {
        let mut order = names.to_vec();
        Random::new(seed(round), u64::MAX).shuffle(&mut order);
        cells.extend(order.iter().map(|name| spec(name, round)));
    }
    cells
}

struct Planner<'a> {
    setting: &'a Setting,
    locks: &'a [LockInfo],
    calibration: Calibration,
}

impl Planner<'_> {
    fn overhead(&self) -> Group {
        let mut cells = Vec::new();
        for profile in self.setting.profiles.iter().filter(|profile| profile.cpu_limit.is_none()) {
            for round in 0..OVERHEAD_ROUNDS {
                for pass in [Pass::Throughput, Pass::Latency] {
                    cells.push(CellSpec {
                        time_ms: self.setting.time_ms.min(100),
                        ..self.spec(NO_LOCK, profile, 1, pass, round)
                    });
                }
            }
        }
        Group { topic: Topic::Overhead, cells }
    }

    fn uncontended(&self) -> Group {
        let nothing = Profile {
            name: "uncontended".into(),
            critical_ns: 0,
            think_ns: 0,
            yields: false,
            cpu_limit: None,
        };
        let rounds = self.setting.uncontended_rounds;
        let mut names: Vec<&str> = self.locks.iter().map(|lock| lock.name.as_str()).collect();
        if !names.contains(&NO_LOCK) {
            names.push(NO_LOCK);
        }
        let mut cells = self.interleaved(&names, &nothing, 1, Pass::Uncontended, rounds);
        cells.extend(self.interleaved(&names, &nothing, 1, Pass::AfterContention, rounds));
        // What is to be compared is measured within one round.
        cells.sort_by_key(|spec| spec.round);
        Group { topic: Topic::Uncontended, cells }
    }

    fn cells(&self, profile: &Profile, threads: usize) -> Group {
        let setting = self.setting;
        let names: Vec<&str> = self.locks.iter().map(|lock| lock.name.as_str()).collect();
        let counting: Vec<&str> =
            self.locks.iter().filter(|lock| lock.counts_events).map(|lock| lock.name.as_str()).collect();
        let mut cells = self.interleaved(&names, profile, threads, Pass::Throughput, setting.rounds);
        cells.extend(self.interleaved(&names, profile, threads, Pass::Latency, setting.latency_rounds));
        let rounds = usize::from(setting.events_time_ms > 0);
        cells.extend(self.interleaved(&counting, profile, threads, Pass::Events, rounds));
        Group { topic: Topic::Cells { profile: profile.name.clone(), threads }, cells }
    }

    fn interleaved(
        &self,
        names: &[&str],
        profile: &Profile,
        threads: usize,
        pass: Pass,
        rounds: usize,
    ) -> Vec<CellSpec> {
        let seed = |round| self.round_seed(profile, threads, pass, round);
        interleaved(names, rounds, seed, |name, round| self.spec(name, profile, threads, pass, round))
    }

    fn spec(&self, lock: &str, profile: &Profile, threads: usize, pass: Pass, round: usize) -> CellSpec {
        CellSpec {
            lock: lock.to_owned(),
            threads,
            profile: profile.clone(),
            pass,
            round,
            time_ms: self.setting.time_of(pass),
            drain_ms: self.setting.drain_ms,
            seed: self.round_seed(profile, threads, pass, round),
            calibration: self.calibration,
        }
    }

    /// A seed for one round of one group, the same for all of its locks. It does not depend on which other
    /// groups there are, so that a group can be run again alone.
    fn round_seed(&self, profile: &Profile, threads: usize, pass: Pass, round: usize) -> u64 {
        [profile.critical_ns, profile.think_ns, threads as u64, pass as u64, round as u64]
            .into_iter()
            .fold(self.setting.seed, |seed, part| Random::new(seed, part).next())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bench::testing::{calibration, lock, setting};

    fn orders(group: &Group, pass: Pass) -> Vec<Vec<&str>> {
        let of_pass: Vec<_> = group.cells.iter().filter(|cell| cell.pass == pass).collect();
        of_pass
            .chunk_by(|a, b| a.round == b.round)
            .map(|c| c.iter().map(|s| s.lock.as_str()).collect())
            .collect()
    }

    #[test]
    fn every_round_visits_every_lock_in_an_order_of_its_own() {
        let locks: Vec<_> = ["a", "b", "c", "d", "e"].map(lock).into();
        let groups = groups(&setting(), &locks, calibration(), false);
        assert_eq!(groups.len(), 2 + 2 * 3);
        let orders = orders(&groups[2], Pass::Throughput);
        assert_eq!(orders.len(), setting().rounds);
        for order in &orders {
            let mut sorted = order.clone();
            sorted.sort_unstable();
            assert_eq!(sorted, ["a", "b", "c", "d", "e"]);
        }
        assert!(orders.windows(2).any(|pair| pair[0] != pair[1]));
    }

    #[test]
    fn the_seed_decides_the_order_and_nothing_else_does() {
        let locks: Vec<_> = ["a", "b", "c", "d", "e"].map(lock).into();
        let plan = |seed| groups(&Setting { seed, ..setting() }, &locks, calibration(), false);
        assert_eq!(plan(1), plan(1));
        assert_ne!(plan(1), plan(2));
    }

    #[test]
    fn locks_of_a_round_share_their_seed_and_rounds_do_not() {
        let locks: Vec<_> = ["a", "b"].map(lock).into();
        let groups = groups(&setting(), &locks, calibration(), false);
        let cells = &groups[2].cells;
        assert_eq!(cells[0].seed, cells[1].seed);
        assert_ne!(cells[0].seed, cells[2].seed);
    }

    #[test]
    fn uncontended_only_is_one_group_and_has_the_bare_loop_in_it() {
        let groups = groups(&setting(), &[lock("a")], calibration(), true);
        assert_eq!(groups.len(), 1);
        assert!(groups[0].cells.iter().any(|cell| cell.lock == NO_LOCK));
        for (round, cells) in groups[0].cells.chunks(4).enumerate() {
            let passes =
                cells.iter().filter(|cell| cell.pass == Pass::AfterContention && cell.round == round);
            assert_eq!(passes.count(), 2, "each lock and the bare loop, once a round");
        }
    }

    #[test]
    fn only_counting_locks_have_an_events_round() {
        let locks = [LockInfo { counts_events: true, ..lock("a") }, lock("b")];
        let groups = groups(&setting(), &locks, calibration(), false);
        assert_eq!(orders(&groups[2], Pass::Events), [["a"]]);
    }
}
