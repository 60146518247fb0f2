//! What will be run, in which order: decided before anything is measured.
//!
//! A group is one profile at one number of threads. Within it every round visits every lock once, in an
//! order shuffled by the seed, so that a disturbance of the machine hits neighbours in time and not one
//! lock; and all locks of a round draw the same think times.
use super::cell::{CellSpec, Pass};
use super::contender::{LockInfo, NO_LOCK};
use super::mix::{Load, Mix, Profile, named};
use super::report::Report;
use super::work::random;

/// Rounds of the overhead cells, which are quiet: one thread, nobody to wait for.
const OVERHEAD_ROUNDS: usize = 3;
/// What starting and ending a worker costs, for the estimate of the time left.
const START_MS: u64 = 25;

/// What a lock that nobody else wants can cost: name and title of the figure, and how it is measured.
pub(crate) const COSTS: [(&str, &str, Option<Mix>, Pass); 4] = [
    ("ns", "ns", None, Pass::Uncontended),
    ("after_ns", "after ns", None, Pass::AfterContention),
    ("read_ns", "read ns", Some(Mix::READS), Pass::Uncontended),
    ("write_ns", "write ns", Some(Mix::WRITES), Pass::Uncontended),
];

/// What a group is about: the loops without a lock, what one thread pays, or one load.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Topic {
    Overhead,
    Uncontended,
    Cells,
}

/// Cells that belong together; results are written after each group.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Group {
    pub topic: Topic,
    pub cells: Vec<CellSpec>,
}

impl Group {
    /// What the rounds of a cell have in common: overhead cells differ by profile.
    pub(crate) fn key(&self, spec: &CellSpec) -> String {
        match self.topic {
            Topic::Overhead => spec.profile.name.clone(),
            Topic::Uncontended => named(&spec.lock, spec.mix),
            Topic::Cells => spec.lock.clone(),
        }
    }

    pub(crate) fn told(&self) -> String {
        match (self.topic, self.cells.first()) {
            (Topic::Cells, Some(spec)) => spec.load(),
            (Topic::Uncontended, _) => "uncontended".to_owned(),
            _ => "harness overhead".to_owned(),
        }
    }
}

/// All groups of a run, thread counts ascending within a mix, mixes within a profile.
pub(crate) fn groups(report: &Report, uncontended_only: bool) -> Vec<Group> {
    let setting = &report.setting;
    let mut groups = vec![report.uncontended_group()];
    if !uncontended_only {
        groups.push(report.overhead_group());
        for load in setting.loads() {
            let cells = |&column: &usize| report.group_of((load, load.threads(column)));
            groups.extend(setting.threads.iter().map(cells));
        }
    }
    groups
}

pub(crate) fn nominal_ms(spec: &CellSpec) -> u64 {
    spec.time_ms + spec.time_ms.min(100) / 5 + START_MS
}

/// With nothing in it yet it tells what is wanted. A load goes with its number of threads.
impl Report {
    fn overhead_group(&self) -> Group {
        let setting = &self.setting;
        // With both sides, so that the branch between them is in it.
        let mix = setting.rw().then_some(Mix::Drawn { reads_percent: 50.0 });
        let unlimited = setting.profiles.iter().filter(|profile| profile.cpu_limit.is_none());
        let rounds = unlimited.flat_map(|profile| (0..OVERHEAD_ROUNDS).map(move |round| (profile, round)));
        // What is to be compared is measured in turn.
        let cells = rounds.flat_map(|(profile, round)| {
            [Pass::Throughput, Pass::Latency].map(|pass| CellSpec {
                time_ms: setting.time_ms.min(100),
                ..self.spec(NO_LOCK, (Load { profile, mix }, 1), pass, round)
            })
        });
        Group { topic: Topic::Overhead, cells: cells.collect() }
    }

    fn uncontended_group(&self) -> Group {
        let nothing = Profile { name: "uncontended".into(), ..Profile::default() };
        let names = self.names_and_none();
        let rw = self.setting.rw();
        let mut cells = Vec::new();
        for (_, _, mix, pass) in COSTS.into_iter().filter(|(_, _, mix, _)| mix.is_some() == rw) {
            let alone = (Load { profile: &nothing, mix }, 1);
            cells.extend(self.rounds(&names, alone, pass, self.setting.uncontended_rounds));
        }
        // What is to be compared is measured within one round.
        cells.sort_by_key(|spec| spec.round);
        Group { topic: Topic::Uncontended, cells }
    }

    fn group_of(&self, load: (Load, usize)) -> Group {
        let (setting, names) = (&self.setting, self.names(|_| true));
        let mut cells = self.rounds(&names, load, Pass::Throughput, setting.rounds);
        cells.extend(self.rounds(&names, load, Pass::Latency, setting.latency_rounds));
        cells.extend(self.rounds(&self.names(|lock| lock.counts_events), load, Pass::Events, 1));
        Group { topic: Topic::Cells, cells }
    }

    fn names(&self, which: impl Fn(&LockInfo) -> bool) -> Vec<&str> {
        self.locks.iter().filter(|lock| which(lock)).map(|lock| lock.name.as_str()).collect()
    }

    /// A cell for each of `names` in each round, in an order drawn from the seed of the round.
    fn rounds(&self, names: &[&str], load: (Load, usize), pass: Pass, rounds: usize) -> Vec<CellSpec> {
        let mut cells = Vec::new();
        for round in 0..rounds {
            let mut order = names.to_vec();
            random(self.round_seed(load, pass, round), u64::MAX).shuffle(&mut order);
            cells.extend(order.iter().map(|name| self.spec(name, load, pass, round)));
        }
        cells
    }

    fn spec(&self, lock: &str, load: (Load, usize), pass: Pass, round: usize) -> CellSpec {
        let ((Load { profile, mix }, threads), setting) = (load, &self.setting);
        CellSpec {
            lock: lock.to_owned(),
            threads,
            profile: profile.clone(),
            mix,
            pass,
            round,
            time_ms: match pass {
                Pass::Throughput => setting.time_ms,
                Pass::Latency => setting.latency_time_ms,
                Pass::Events => setting.events_time_ms,
                Pass::Uncontended | Pass::AfterContention => setting.uncontended_time_ms,
            },
            drain_ms: setting.drain_ms,
            seed: self.round_seed(load, pass, round),
            calibration: self.calibration,
        }
    }

    /// A seed for one round of one group, the same for all of its locks. It does not depend on which other
    /// groups there are, so that a group can be run again alone.
    fn round_seed(&self, (Load { profile, mix }, threads): (Load, usize), pass: Pass, round: usize) -> u64 {
        let mix = mix.map(|mix| match mix {
            Mix::Drawn { reads_percent } => reads_percent.to_bits(),
            Mix::Dedicated { writers } => writers as u64,
        });
        [profile.critical_ns, profile.think_ns, threads as u64, pass as u64, round as u64]
            .into_iter()
            .chain(mix)
            .fold(self.setting.seed, |seed, part| random(seed, part).u64(..))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bench::report::Setting;
    use crate::bench::tests::{calibration, lock, setting};

    fn plan(setting: Setting, locks: &[LockInfo], uncontended_only: bool) -> Vec<Group> {
        groups(&Report::new(setting, calibration(), locks.to_vec()), uncontended_only)
    }

    fn orders(group: &Group, pass: Pass) -> Vec<Vec<&str>> {
        let of_pass: Vec<_> = group.cells.iter().filter(|cell| cell.pass == pass).collect();
        let rounds = of_pass.chunk_by(|a, b| a.round == b.round);
        rounds.map(|cells| cells.iter().map(|cell| cell.lock.as_str()).collect()).collect()
    }

    #[test]
    fn every_round_visits_every_lock_in_an_order_of_its_own() {
        let locks: Vec<_> = ["a", "b", "c", "d", "e"].map(lock).into();
        let groups = plan(setting(), &locks, false);
        assert_eq!(groups.len(), 2 + 2 * 3);
        let orders = orders(&groups[2], Pass::Throughput);
        assert_eq!(orders.len(), setting().rounds);
        assert!(orders.windows(2).any(|pair| pair[0] != pair[1]));
        for mut order in orders {
            order.sort_unstable();
            assert_eq!(order, ["a", "b", "c", "d", "e"]);
        }
    }

    #[test]
    fn the_seed_decides_the_order_and_nothing_else_does() {
        let locks: Vec<_> = ["a", "b", "c", "d", "e"].map(lock).into();
        let plan = |seed| plan(Setting { seed, ..setting() }, &locks, false);
        assert_eq!(plan(1), plan(1));
        assert_ne!(plan(1), plan(2));
    }

    #[test]
    fn locks_of_a_round_share_their_seed_and_rounds_do_not() {
        let locks: Vec<_> = ["a", "b"].map(lock).into();
        let groups = plan(setting(), &locks, false);
        let cells = &groups[2].cells;
        assert_eq!(cells[0].seed, cells[1].seed);
        assert_ne!(cells[0].seed, cells[2].seed);
    }

    #[test]
    fn uncontended_only_is_one_group_and_has_the_bare_loop_in_it() {
        let groups = plan(setting(), &[lock("a")], true);
        assert_eq!(groups.len(), 1);
        assert!(groups[0].cells.iter().any(|cell| cell.lock == NO_LOCK));
        for (round, cells) in groups[0].cells.chunks(4).enumerate() {
            let after = |cell: &&CellSpec| cell.pass == Pass::AfterContention && cell.round == round;
            assert_eq!(cells.iter().filter(after).count(), 2, "each lock and the bare loop, once a round");
        }
    }

    #[test]
    fn the_passes_of_the_overhead_take_turns() {
        let groups = plan(setting(), &[lock("a")], false);
        let order = |cell: &CellSpec| (cell.profile.critical_ns, cell.round, cell.pass as u8);
        assert_eq!(groups[1].cells.len(), 2 * OVERHEAD_ROUNDS * 2);
        assert!(groups[1].cells.is_sorted_by_key(order), "{:?}", groups[1].cells);
    }

    #[test]
    fn only_counting_locks_have_an_events_round() {
        let locks = [LockInfo { counts_events: true, ..lock("a") }, lock("b")];
        let groups = plan(setting(), &locks, false);
        assert_eq!(orders(&groups[2], Pass::Events), [["a"]]);
    }

    #[test]
    fn each_mix_has_its_groups_and_seeds_and_writers_come_on_top_of_the_readers() {
        let mixes = vec![Mix::WRITES, Mix::Dedicated { writers: 3 }];
        let groups = plan(Setting { mixes, ..setting() }, &[lock("a")], false);
        assert_eq!(groups.len(), 2 + 2 * 2 * 3);
        let threads: Vec<_> = groups[2..8].iter().map(|group| group.cells[0].threads).collect();
        assert_eq!(threads, [1, 2, 4, 4, 5, 7]);
        assert_ne!(groups[4].cells[0].seed, groups[5].cells[0].seed);
        for mix in [Mix::READS, Mix::WRITES] {
            let of_mix = || groups[0].cells.iter().filter(|spec| spec.mix == Some(mix));
            assert_eq!(of_mix().count(), 2 * setting().uncontended_rounds);
            assert!(of_mix().any(|spec| spec.lock == NO_LOCK));
        }
    }
}
