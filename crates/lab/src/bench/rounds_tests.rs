//! Rounds become cells: medians, sides, waits, events.
use super::*;

const NONE: Accesses = Accesses { counts: Vec::new(), waits: Vec::new(), worst_ns: 0, unfinished_ns: 0 };

fn outcome(acquisitions: Vec<u64>, cpu_ns: u64, waits: Accesses) -> CellOutcome {
    CellOutcome {
        state: State::Measured,
        elapsed_ns: 1_000_000_000,
        cpu_ns,
        voluntary_switches: 3,
        involuntary_switches: 4,
        sides: [Accesses::default(), Accesses { counts: acquisitions, ..waits }],
        events: vec![("pv_wait_head".into(), 50), ("never".into(), 0)],
    }
}

#[test]
fn rounds_become_medians() {
    let rounds: Vec<_> = [(10, 2_000), (30, 3_000), (20, 8_000)]
        .map(|(count, cpu)| (Pass::Throughput, outcome(vec![count, count], cpu, NONE)))
        .into();
    let cell = Cell::of("l", ("p", None, 2), State::Measured, &rounds);
    assert!((cell.rate() - 40.0).abs() < 1e-9);
    assert_eq!(cell.fairness, Some(Fairness { min_over_max: 1.0, jain: 1.0 }));
    // 100, 50 and 200 ns of CPU per acquisition.
    assert!((cell.cpu_s_per_million.expect("measured") - 0.1).abs() < 1e-9);
    assert_eq!(cell.voluntary_switches_per_s, Some(3.0));
    assert_eq!(cell.latency, None);
}

#[test]
fn waits_of_all_rounds_are_one_distribution_and_the_unfinished_count_for_the_worst() {
    let waits =
        |ns, worst_ns, unfinished_ns| Accesses { waits: vec![(ns, 500)], worst_ns, unfinished_ns, ..NONE };
    let rounds = vec![
        (Pass::Latency, outcome(vec![500], 0, waits(100, 100, 0))),
        (Pass::Latency, outcome(vec![500], 0, waits(900, 5_000, 5_000))),
    ];
    let latency = Cell::of("l", ("p", None, 1), State::Measured, &rounds).latency.expect("measured");
    assert_eq!((latency.samples, latency.p50_ns, latency.p999_ns), (1000, 100, 900));
    assert_eq!((latency.worst_ns, latency.unfinished_ns), (5_000, 5_000));
    assert_eq!(
        (&latency.p999_rounds_ns[..], &latency.worst_rounds_ns[..]),
        (&[100, 900][..], &[100, 5_000][..])
    );
}

#[test]
fn events_are_per_acquisition_and_those_that_never_came_are_left_out() {
    let cell = Cell::of("l", ("p", None, 1), State::Measured, &[(Pass::Events, outcome(vec![100], 0, NONE))]);
    assert_eq!(cell.events.len(), 1);
    assert!((cell.events[0].per_acquisition - 0.5).abs() < 1e-9);
}

#[test]
fn no_acquisitions_have_no_cost() {
    let cell =
        Cell::of("l", ("p", None, 1), State::Stalled, &[(Pass::Throughput, outcome(vec![0], 9, NONE))]);
    assert_eq!(cell.cpu_s_per_million, None);
}

/// The cell of a round with so many reads and writes of each thread.
fn rw(mix: Mix, reads: &[u64], writes: &[u64]) -> Cell {
    let mut outcome = outcome(writes.to_vec(), 1, NONE);
    outcome.sides[READ].counts = reads.to_vec();
    Cell::of("l", ("p", Some(mix), reads.len()), State::Measured, &[(Pass::Throughput, outcome)])
}

fn rate(side: Option<&Side>) -> Option<f64> {
    Some(side?.throughput.as_ref()?.median)
}

#[test]
fn each_side_has_its_own_rate_and_both_together_theirs() {
    let cell = rw(Mix::Drawn { reads_percent: 50.0 }, &[3, 5], &[1, 1]);
    assert_eq!((rate(cell.reads.as_ref()), rate(cell.writes.as_ref())), (Some(8.0), Some(2.0)));
    assert!((cell.rate() - 10.0).abs() < 1e-9);
    assert!((cell.fairness.expect("threads do the same").min_over_max - 4.0 / 6.0).abs() < 1e-9);
    assert_eq!(cell.reads.and_then(|side| side.fairness), None);
    assert_eq!(rw(Mix::READS, &[9], &[0]).writes, None, "nobody writes");
}

#[test]
fn threads_that_do_one_thing_only_are_compared_among_themselves() {
    let cell = rw(Mix::Dedicated { writers: 1 }, &[8, 4, 0], &[0, 0, 1]);
    assert_eq!(cell.fairness, None);
    let fairness = |side: Option<Side>| side.and_then(|side| side.fairness).expect("measured").min_over_max;
    assert!((fairness(cell.reads) - 0.5).abs() < 1e-9 && (fairness(cell.writes) - 1.0).abs() < 1e-9);
}

#[test]
#[expect(clippy::float_cmp, reason = "the expected values are exact in binary")]
fn fairness_at_its_ends() {
    assert_eq!(Fairness::of(&[5, 5, 5, 5]), Fairness { min_over_max: 1.0, jain: 1.0 });
    assert_eq!(Fairness::of(&[8, 0, 0, 0]), Fairness { min_over_max: 0.0, jain: 0.25 });
    assert_eq!(Fairness::of(&[0, 0]).jain, 1.0);
    assert_eq!(Fairness::of(&[1, 3]).jain, 0.8);
}
