//! What the schedulers promise, on random workloads; and that a broken promise is noticed.
use super::driver::{Driver, Habit, Report, Rules, Violation};
use super::{Boost, Expiry, Housekeeping, Leave, Pcpu, Pick, Placement, Scheduler, Vcpu};
use super::{fair_share::FairShareScheduler, pinned::Pinned, round_robin::RoundRobinScheduler};
use crate::machine::{Fair, FairShare, Quota, RoundRobin, SchedulerKind, Topology};
use crate::random::Random;
use crate::time::{MS, Time, US};

mod linux;

fn scheduler(kind: &SchedulerKind, topology: &Topology, vcpus: usize, seed: u64) -> Box<dyn Scheduler> {
    let cpus: Vec<usize> = (0..topology.cpu_count()).collect();
    match kind {
        SchedulerKind::Pinned => Box::new(Pinned::new(topology.cpu_count(), vcpus)),
        SchedulerKind::FairShare(parameters) => {
            Box::new(FairShareScheduler::new(parameters, topology, &cpus, vcpus, seed))
        }
        SchedulerKind::RoundRobin(parameters) => {
            Box::new(RoundRobinScheduler::new(parameters, topology, &cpus, vcpus, seed))
        }
    }
}

fn fair_share() -> FairShare {
    FairShare {
        kind: Fair::Eevdf,
        slice: 3 * MS,
        granularity: 0,
        wake_preemption: Some(MS),
        turn_noise: 20 * US,
        balance: 4 * MS,
        idle_pull: true,
        pull_cost: 0,
        wake_to_idle: true,
        quota: None,
    }
}

fn run(
    kind: &SchedulerKind,
    topology: &Topology,
    habits: &[Habit],
    rules: Rules,
    seed: u64,
    end: Time,
) -> Result<Report, Violation> {
    let scheduler = scheduler(kind, topology, habits.len(), seed);
    Driver::new(scheduler, topology.cpu_count(), habits, rules, seed).run(end)
}

fn some_topology(random: &mut Random) -> Topology {
    match random.below(8) {
        0 => Topology { sockets: 2, groups: 2, cores: 2, threads: 2, hops: vec![vec![0, 1], vec![1, 0]] },
        more => Topology::flat(1 + (more % 4) as u16),
    }
}

fn some_habits(random: &mut Random, count: usize) -> Vec<Habit> {
    (0..count)
        .map(|_| {
            let runs = (20 << random.below(9)) * US;
            match random.below(5) {
                0 => Habit::Yields { runs },
                1 => Habit::Directs { runs },
                2 => Habit::Sleeps { runs, sleeps: (20 << random.below(10)) * US },
                3 => Habit::Sleeps { runs: 50 * US, sleeps: 70 * US },
                _ => Habit::Spins,
            }
        })
        .collect()
}

fn some_fair_share(random: &mut Random) -> FairShare {
    let period = 20 * MS;
    let granularity = [0, MS, 4 * MS][random.below(3) as usize];
    FairShare {
        kind: [Fair::Cfs, Fair::Eevdf][random.below(2) as usize],
        turn_noise: 20 * US,
        slice: (1 + random.below(6)) * MS,
        granularity,
        wake_preemption: [None, Some(0), Some(MS)][random.below(3) as usize],
        balance: [0, 4 * MS][random.below(2) as usize],
        idle_pull: random.once_in(2),
        pull_cost: 0,
        wake_to_idle: random.once_in(2),
        quota: random.once_in(4).then(|| Quota { period, budget: (1 + random.below(60)) * MS }),
    }
}

/// What holds for a fair-share scheduler with these parameters.
fn rules_of(parameters: &FairShare, cpus: usize, vcpus: usize) -> Rules {
    let turn = parameters.slice + parameters.granularity + 100 * US;
    // Wake-ups go to idle CPUs and idle CPUs pull: they idle while somebody waits for the moment only. Else
    // balancing must find them.
    let idle_limit = match (parameters.wake_to_idle && parameters.idle_pull, parameters.balance) {
        (true, _) => Some(MS / 5),
        (false, 0) => None,
        (false, balance) => Some(2 * balance),
    };
    let quota = parameters.quota.clone();
    Rules {
        idle_limit: idle_limit.filter(|_| quota.is_none()),
        wait_limit: quota.is_none().then(|| (vcpus as u64 + 1) * turn),
        quota: quota.map(|quota| (quota, cpus as u64 * parameters.granularity)),
    }
}

#[test]
fn fair_share_keeps_its_promises_whatever_its_parameters() {
    for seed in 0..150 {
        let mut random = Random::new(seed, 1);
        let (parameters, topology) = (some_fair_share(&mut random), some_topology(&mut random));
        let count = 1 + random.below(3 * topology.cpu_count() as u64) as usize;
        let habits = some_habits(&mut random, count);
        let rules = rules_of(&parameters, topology.cpu_count(), count);
        let kind = SchedulerKind::FairShare(parameters);
        let outcome = run(&kind, &topology, &habits, rules, seed, 200 * MS);
        assert!(outcome.is_ok(), "seed {seed}: {outcome:?}\n{kind:?}\n{topology:?}\n{habits:?}");
    }
}

#[test]
fn round_robin_keeps_its_promises_whatever_its_parameters() {
    for seed in 0..150 {
        let mut random = Random::new(seed, 2);
        let topology = some_topology(&mut random);
        let count = 1 + random.below(3 * topology.cpu_count() as u64) as usize;
        let habits = some_habits(&mut random, count);
        let slice = (1 + random.below(6)) * MS;
        let parameters = RoundRobin { slice, boost: random.once_in(2), steal: random.once_in(2) };
        let rules = Rules {
            idle_limit: parameters.steal.then_some(MS / 5),
            wait_limit: Some(2 * count as u64 * (slice + 100 * US)),
            quota: None,
        };
        let kind = SchedulerKind::RoundRobin(parameters);
        let outcome = run(&kind, &topology, &habits, rules, seed, 200 * MS);
        assert!(outcome.is_ok(), "seed {seed}: {outcome:?}\n{kind:?}\n{topology:?}\n{habits:?}");
    }
}

#[test]
fn pinned_contexts_wait_for_nobody() {
    let habits = some_habits(&mut Random::new(3, 3), 6);
    let rules = Rules { idle_limit: Some(0), wait_limit: Some(20 * US), quota: None };
    let report = run(&SchedulerKind::Pinned, &Topology::flat(6), &habits, rules, 3, 300 * MS);
    assert!(report.is_ok(), "{report:?}");
}

#[test]
fn equal_seeds_give_equal_answers_and_others_do_not() {
    let habits = some_habits(&mut Random::new(5, 5), 12);
    let round_robin = RoundRobin { slice: 5 * MS, boost: true, steal: true };
    for kind in [SchedulerKind::FairShare(fair_share()), SchedulerKind::RoundRobin(round_robin)] {
        let with = |seed| {
            let scheduler = scheduler(&kind, &Topology::flat(4), habits.len(), seed);
            Driver::new(scheduler, 4, &habits, Rules::default(), 1).run(300 * MS)
        };
        assert_eq!(with(1), with(1));
        assert_ne!(with(1), with(2), "{kind:?}");
    }
}

#[test]
fn computing_contexts_get_equal_shares() {
    for granularity in [0, 4 * MS] {
        let parameters = FairShare { granularity, balance: 0, ..fair_share() };
        let kind = SchedulerKind::FairShare(parameters);
        let report =
            run(&kind, &Topology::flat(2), &[Habit::Spins; 6], Rules::default(), 1, 3000 * MS).unwrap();
        let (least, most) = (report.ran.iter().min().unwrap(), report.ran.iter().max().unwrap());
        assert!(most - least <= 2 * (3 * MS + granularity), "{report:?}");
    }
}

#[test]
fn three_on_two_cpus_take_turns_at_having_one_alone() {
    let kind = SchedulerKind::FairShare(fair_share());
    let report =
        run(&kind, &Topology::flat(2), &[Habit::Spins; 3], Rules::default(), 1, 20_000 * MS).unwrap();
    // Two thirds of 20 s each; without balancing it would be 10, 10 and 20.
    assert!(report.ran.iter().all(|&ran| ran.abs_diff(13_333 * MS) < 1_500 * MS), "{report:?}");
}

#[test]
fn a_budget_is_used_but_not_exceeded() {
    let quota = Quota { period: 100 * MS, budget: 150 * MS };
    let parameters = FairShare { quota: Some(quota.clone()), ..fair_share() };
    let rules = Rules { quota: Some((quota, 0)), ..Rules::default() };
    let kind = SchedulerKind::FairShare(parameters);
    let report = run(&kind, &Topology::flat(4), &[Habit::Spins; 4], rules, 1, 1000 * MS).unwrap();
    let used: Time = report.ran.iter().sum();
    assert!((1480 * MS..=1500 * MS).contains(&used), "{report:?}");
}

/// Two CPUs, `waiting` contexts of a fair-share scheduler on each besides the one that runs.
fn two_busy_cpus(parameters: FairShare, waiting: usize) -> Box<dyn Scheduler> {
    let count = 2 * (1 + waiting) + 1;
    let mut scheduler = scheduler(&SchedulerKind::FairShare(parameters), &Topology::flat(2), count, 1);
    for vcpu in 0..count - 1 {
        scheduler.wake(vcpu, None, 0);
    }
    assert!((0..2).all(|pcpu| scheduler.pick(pcpu, 0).is_some()));
    scheduler
}

#[test]
fn without_an_idle_cpu_the_woken_goes_to_its_waker() {
    for waker in 0..2 {
        let mut scheduler = two_busy_cpus(fair_share(), 0);
        let placement = scheduler.wake(2, Some(waker), 3 * MS / 2);
        assert_eq!(placement, Placement { pcpu: waker, preempts: true, asks_again: None });
        let patient = FairShare { wake_preemption: None, ..fair_share() };
        let placement = two_busy_cpus(patient, 0).wake(2, Some(waker), 3 * MS / 2);
        assert_eq!(placement, Placement { pcpu: waker, preempts: false, asks_again: Some(3 * MS) });
    }
}

#[test]
fn directed_yields_choose_who_goes_next() {
    let mut scheduler = two_busy_cpus(fair_share(), 2);
    let mut answers = [Boost::No; 6];
    for (target, answer) in answers.iter_mut().enumerate() {
        *answer = scheduler.boost(0, target, MS);
        if *answer == Boost::Here {
            scheduler.leave(0, Leave::Yielded, MS);
            assert_eq!(scheduler.pick(0, MS).map(|pick| pick.vcpu), Some(target));
        } else if let Boost::There(other) = *answer {
            scheduler.leave(other, Leave::Preempted, MS);
            assert_eq!(scheduler.pick(other, MS).map(|pick| pick.vcpu), Some(target));
        }
    }
    assert!(answers.contains(&Boost::Here) && answers.contains(&Boost::There(1)), "{answers:?}");
    assert_eq!(scheduler.boost(0, 6, MS), Boost::No, "the last one sleeps");
}

#[test]
fn a_boosted_context_goes_before_who_uses_up_its_slice() {
    for boost in [false, true] {
        let kind = SchedulerKind::RoundRobin(RoundRobin { slice: 30 * MS, boost, steal: false });
        let mut scheduler = scheduler(&kind, &Topology::flat(1), 3, 1);
        // The first runs unboosted: it used its slice up before.
        scheduler.wake(0, None, 0);
        scheduler.wake(1, None, 0);
        let first = scheduler.pick(0, 0).unwrap().vcpu;
        assert_eq!(scheduler.expire(0, 30 * MS), Expiry::Leaves);
        scheduler.leave(0, Leave::Preempted, 30 * MS);
        let second = scheduler.pick(0, 30 * MS).unwrap();
        assert_eq!((second.vcpu, second.until), (1 - first, 60 * MS));
        // By then a tick has taken the boost from the second as well.
        assert_eq!(scheduler.wake(2, Some(0), 45 * MS).preempts, boost);
        scheduler.leave(0, Leave::Preempted, 45 * MS);
        let next = scheduler.pick(0, 45 * MS).unwrap();
        // Unboosted, who was interrupted goes on with the other half of its slice.
        assert_eq!((next.vcpu, next.until), if boost { (2, 75 * MS) } else { (1 - first, 60 * MS) });
    }
}

/// What is broken in [`Broken`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Fault {
    None,
    DropsWakeUps,
    PicksTwice,
    NeverSwitches,
    NeverAsks,
    Idles,
    AsksForEver,
}

/// A scheduler with a fault.
struct Broken {
    inner: Box<dyn Scheduler>,
    fault: Fault,
    calls: u32,
    last: Option<Pick>,
}

impl Broken {
    /// Whether the fault is this one and shows now, every so many calls.
    fn shows(&mut self, fault: Fault, every: u32) -> bool {
        self.calls += 1;
        self.fault == fault && self.calls.is_multiple_of(every)
    }
}

impl Scheduler for Broken {
    fn wake(&mut self, vcpu: Vcpu, waker: Option<Pcpu>, now: Time) -> Placement {
        if self.shows(Fault::DropsWakeUps, 100) {
            return Placement { pcpu: 0, preempts: false, asks_again: None };
        }
        let mut placement = self.inner.wake(vcpu, waker, now);
        placement.asks_again = placement.asks_again.filter(|_| self.fault != Fault::NeverAsks);
        placement
    }

    fn leave(&mut self, pcpu: Pcpu, why: Leave, now: Time) {
        self.inner.leave(pcpu, why, now);
    }

    fn pick(&mut self, pcpu: Pcpu, now: Time) -> Option<Pick> {
        if self.fault == Fault::Idles && pcpu == 1 {
            return None;
        }
        let pick = self.inner.pick(pcpu, now);
        if self.shows(Fault::PicksTwice, 100) {
            return self.last;
        }
        self.last = pick;
        pick
    }

    fn expire(&mut self, pcpu: Pcpu, now: Time) -> Expiry {
        match self.fault {
            Fault::NeverSwitches => Expiry::Stays(now + MS),
            Fault::AsksForEver => Expiry::Stays(now),
            _ => self.inner.expire(pcpu, now),
        }
    }

    fn boost(&mut self, pcpu: Pcpu, target: Vcpu, now: Time) -> Boost {
        self.inner.boost(pcpu, target, now)
    }

    fn is_wanted(&self, pcpu: Pcpu) -> bool {
        self.inner.is_wanted(pcpu)
    }

    fn housekeeping(&mut self, now: Time) -> Housekeeping {
        self.inner.housekeeping(now)
    }
}

fn outcome_with(fault: Fault) -> Result<Report, Violation> {
    let topology = Topology::flat(2);
    let habits = [Habit::Spins, Habit::Spins, Habit::Spins, Habit::Sleeps { runs: 100 * US, sleeps: MS }];
    let parameters = FairShare { wake_preemption: None, balance: 0, ..fair_share() };
    let rules = rules_of(&parameters, 2, habits.len());
    let inner = scheduler(&SchedulerKind::FairShare(parameters), &topology, habits.len(), 1);
    let broken = Broken { inner, fault, calls: 0, last: None };
    Driver::new(Box::new(broken), 2, &habits, rules, 1).run(1000 * MS)
}

#[test]
fn broken_schedulers_are_noticed() {
    assert!(outcome_with(Fault::None).is_ok(), "{:?}", outcome_with(Fault::None));
    let violation = |fault| outcome_with(fault).expect_err("the fault went unnoticed");
    assert!(matches!(violation(Fault::DropsWakeUps), Violation::Starves(_)));
    assert!(matches!(violation(Fault::PicksTwice), Violation::RunsTwice(_) | Violation::RunsAsleep(_)));
    assert!(matches!(violation(Fault::NeverSwitches), Violation::Starves(_)));
    assert!(matches!(violation(Fault::NeverAsks), Violation::NeverAsks(_)));
    assert!(matches!(violation(Fault::Idles), Violation::Idles(1)));
    assert!(matches!(violation(Fault::AsksForEver), Violation::StandsStill(_)));
}

#[test]
fn lost_contexts_and_spent_budgets_are_noticed() {
    let quota = Quota { period: 100 * MS, budget: 100 * MS };
    let kind = SchedulerKind::FairShare(fair_share());
    let rules = Rules { quota: Some((quota, 0)), ..Rules::default() };
    let outcome = run(&kind, &Topology::flat(2), &[Habit::Spins; 4], rules, 1, 500 * MS);
    assert!(matches!(outcome, Err(Violation::Overspends(_))), "{outcome:?}");

    let inner = scheduler(&kind, &Topology::flat(2), 4, 1);
    let broken = Broken { inner, fault: Fault::DropsWakeUps, calls: 99, last: None };
    let outcome = Driver::new(Box::new(broken), 2, &[Habit::Spins; 4], Rules::default(), 1).run(50 * MS);
    assert!(matches!(outcome, Err(Violation::Lost(_))), "{outcome:?}");
}
