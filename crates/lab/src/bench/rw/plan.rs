//! What will be run, in which order, as the plan of the mutexes has it: a group is one profile, one mix and
//! one count.
use super::cell::RwSpec;
use super::mix::Mix;
use crate::bench::cell::{Calibration, CellSpec, Pass, Profile};
use crate::bench::plan::{self, NO_LOCK, OVERHEAD_ROUNDS, interleaved};
use crate::bench::report::{LockInfo, Setting};
use crate::bench::work::Random;

/// What a group is about.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Topic {
    Overhead,
    Uncontended,
    Cells { profile: String, mix: Mix, threads: usize },
}

pub(crate) type Group = plan::Group<RwSpec, Topic>;

/// Nothing but reads, and nothing but writes.
pub(crate) const ALONE: [Mix; 2] = [Mix::Drawn { reads_percent: 100.0 }, Mix::Drawn { reads_percent: 0.0 }];

/// All groups of a run, counts ascending within a mix, mixes in the order given within a profile.
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
            for &mix in &setting.mixes {
                groups.extend(setting.threads.iter().map(|&count| planner.cells(profile, mix, count)));
            }
        }
    }
    groups
}

struct Planner<'a> {
    setting: &'a Setting,
    locks: &'a [LockInfo],
    calibration: Calibration,
}

impl Planner<'_> {
    fn overhead(&self) -> Group {
        let mut cells = Vec::new();
        // With both sides, so that the branch between them is in it.
        let mix = Mix::Drawn { reads_percent: 50.0 };
        for profile in self.setting.profiles.iter().filter(|profile| profile.cpu_limit.is_none()) {
            for round in 0..OVERHEAD_ROUNDS {
                for pass in [Pass::Throughput, Pass::Latency] {
                    let mut spec = self.spec(NO_LOCK, (profile, mix, 1), pass, round);
                    spec.cell.time_ms = self.setting.time_ms.min(100);
                    cells.push(spec);
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
        let mut names: Vec<&str> = self.locks.iter().map(|lock| lock.name.as_str()).collect();
        if !names.contains(&NO_LOCK) {
            names.push(NO_LOCK);
        }
        let mut cells = Vec::new();
        for mix in ALONE {
            let rounds = self.setting.uncontended_rounds;
            cells.extend(self.rounds(&names, (&nothing, mix, 1), Pass::Uncontended, rounds));
        }
        Group { topic: Topic::Uncontended, cells }
    }

    fn cells(&self, profile: &Profile, mix: Mix, count: usize) -> Group {
        let setting = self.setting;
        let threads = mix.threads(count);
        let names: Vec<&str> = self.locks.iter().map(|lock| lock.name.as_str()).collect();
        let counting = self.locks.iter().filter(|lock| lock.counts_events);
        let counting: Vec<&str> = counting.map(|lock| lock.name.as_str()).collect();
        let load = (profile, mix, threads);
        let mut cells = self.rounds(&names, load, Pass::Throughput, setting.rounds);
        cells.extend(self.rounds(&names, load, Pass::Latency, setting.latency_rounds));
        let events = usize::from(setting.events_time_ms > 0);
        cells.extend(self.rounds(&counting, load, Pass::Events, events));
        Group { topic: Topic::Cells { profile: profile.name.clone(), mix, threads }, cells }
    }

    fn rounds(&self, names: &[&str], load: Load, pass: Pass, rounds: usize) -> Vec<RwSpec> {
        let seed = |round| self.round_seed(load, pass, round);
        interleaved(names, rounds, seed, |name, round| self.spec(name, load, pass, round))
    }

    fn spec(&self, lock: &str, load: Load, pass: Pass, round: usize) -> RwSpec {
        let (profile, mix, threads) = load;
        let cell = CellSpec {
            lock: lock.to_owned(),
            threads,
            profile: profile.clone(),
            pass,
            round,
            time_ms: self.setting.time_of(pass),
            drain_ms: self.setting.drain_ms,
            seed: self.round_seed(load, pass, round),
            calibration: self.calibration,
        };
        RwSpec { cell, mix }
    }

    /// A seed for one round of one group, the same for all of its locks; it does not depend on which other
    /// groups there are.
    fn round_seed(&self, (profile, mix, threads): Load, pass: Pass, round: usize) -> u64 {
        let mix = match mix {
            Mix::Drawn { reads_percent } => reads_percent.to_bits(),
            Mix::Dedicated { writers } => writers as u64,
        };
        [profile.critical_ns, profile.think_ns, mix, threads as u64, pass as u64, round as u64]
            .into_iter()
            .fold(self.setting.seed, |seed, part| Random::new(seed, part).next())
    }
}

/// What the threads of a cell do: profile, mix, and how many they are.
type Load<'a> = (&'a Profile, Mix, usize);

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bench::rw::testing::{calibration, lock, setting};

    fn plan(setting: &Setting) -> Vec<Group> {
        let locks: Vec<_> = ["a", "b", "c", "d", "e"].map(lock).into();
        groups(setting, &locks, calibration(), false)
    }

    #[test]
    fn there_is_a_group_for_each_profile_mix_and_count() {
        let groups = plan(&setting());
        let setting = setting();
        let cells = setting.profiles.len() * setting.mixes.len() * setting.threads.len();
        assert_eq!(groups.len(), 2 + cells);
        let per_group = 5 * (setting.rounds + setting.latency_rounds);
        assert!(groups[2..].iter().all(|group| group.cells.len() == per_group));
    }

    #[test]
    fn every_round_visits_every_lock_in_an_order_of_its_own() {
        let group = &plan(&setting())[2];
        let throughput: Vec<_> =
            group.cells.iter().filter(|spec| spec.cell.pass == Pass::Throughput).collect();
        let orders: Vec<Vec<&str>> = throughput
            .chunk_by(|a, b| a.cell.round == b.cell.round)
            .map(|round| round.iter().map(|spec| spec.cell.lock.as_str()).collect())
            .collect();
        assert_eq!(orders.len(), setting().rounds);
        for order in &orders {
            let mut sorted = order.clone();
            sorted.sort_unstable();
            assert_eq!(sorted, ["a", "b", "c", "d", "e"]);
        }
        assert!(orders.windows(2).any(|pair| pair[0] != pair[1]));
    }

    #[test]
    fn locks_of_a_round_share_their_seed_and_mixes_do_not() {
        let groups = plan(&setting());
        assert_eq!(groups[2].cells[0].cell.seed, groups[2].cells[1].cell.seed);
        let of = |mix: &Mix| {
            let of_mix = groups[2..].iter().flat_map(|group| &group.cells).find(|spec| spec.mix == *mix);
            of_mix.map(|spec| spec.cell.seed)
        };
        let mixes = setting().mixes;
        assert_ne!(of(&mixes[0]), of(&mixes[1]));
        assert_eq!(plan(&setting()), plan(&setting()));
        assert_ne!(plan(&Setting { seed: 1, ..setting() }), plan(&Setting { seed: 2, ..setting() }));
    }

    #[test]
    fn writers_come_on_top_of_the_readers() {
        let setting = Setting { mixes: vec![Mix::Dedicated { writers: 3 }], ..setting() };
        let threads: Vec<_> = plan(&setting)[2..].iter().map(|group| group.cells[0].cell.threads).collect();
        assert_eq!(threads[..3], [4, 5, 7]);
    }

    #[test]
    fn uncontended_is_both_sides_and_the_bare_loop() {
        let groups = groups(&setting(), &[lock("a")], calibration(), true);
        assert_eq!(groups.len(), 1);
        for mix in ALONE {
            let of_mix = || groups[0].cells.iter().filter(|spec| spec.mix == mix);
            assert_eq!(of_mix().count(), 2 * setting().uncontended_rounds);
            assert!(of_mix().any(|spec| spec.cell.lock == NO_LOCK));
        }
    }
}
