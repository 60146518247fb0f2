//! The explorer itself: every lock that is broken on purpose is caught as stated, not caught where its bug
//! cannot show, and what is printed of it brings the failure up again.
use stanchion_sim::explore::{Fault, Faults, Options, Replay, busted, explore, investigate, replay};

/// Exploring from any seed must find what there is to be found.
const FIRST_SEEDS: u64 = 120;

#[test]
fn every_broken_lock_is_caught_within_the_stated_number_of_schedules() {
    let all = busted();
    assert!(all.len() >= 8);
    for subject in &all {
        let broken = subject.broken.as_ref().expect("a broken lock says how");
        for first in (0..FIRST_SEEDS).map(|index| index * 1_000_003) {
            let tally = explore(subject, &Options::default(), first..first + broken.within, |_| true);
            let (_, failure) = tally.failure.unwrap_or_else(|| {
                panic!("{} got away in {} schedules from seed {first}", subject.name(), broken.within)
            });
            assert!(broken.kinds.contains(&failure.kind), "{}: {failure:?}", subject.name());
        }
    }
}

#[test]
fn a_lock_whose_bug_needs_a_fault_is_sound_without_it() {
    let mut checked = 0;
    for subject in busted() {
        let needs = subject.broken.as_ref().expect("a broken lock says how").needs;
        for needed in needs.iter() {
            let faults: Faults = Fault::ALL.into_iter().filter(|&fault| fault != needed).collect();
            for faults in [faults, Faults::NONE] {
                let options = Options { faults: Some(faults), ..Options::default() };
                let tally = explore(&subject, &options, 0..1_000, |_| true);
                assert_eq!(tally.failure, None, "{} without {}", subject.name(), needed.name());
            }
            checked += 1;
        }
    }
    assert!(checked >= 3);
}

#[test]
fn kicks_that_come_before_the_comparison_of_a_halt_are_kept_or_forgotten() {
    let subject = busted().into_iter().find(|subject| subject.name() == "busted-anew").expect("listed");
    let fails = |faults: Faults| {
        let options = Options { faults: Some(faults), ..Options::default() };
        explore(&subject, &options, 0..2_000, |_| true).failure.is_some()
    };
    let calm: Faults = Fault::ALL.into_iter().filter(|&fault| fault != Fault::Interrupts).collect();
    assert!(!fails(calm.without(Fault::ForgottenKicks)), "a kick that is kept ends the halt");
    assert!(fails(Faults::NONE.with(Fault::ForgottenKicks)), "one that is forgotten does not");
}

#[test]
fn a_failure_is_cut_down_and_comes_up_again() {
    let options = Options::default();
    for subject in busted() {
        let within = subject.broken.as_ref().expect("a broken lock says how").within;
        let tally = explore(&subject, &options, 0..within, |_| true);
        let (seed, failure) = tally.failure.expect("it is caught");
        let finding = investigate(&subject, &options, seed).expect("the seed fails again");
        assert_eq!(finding.failure.kind, failure.kind, "{}", subject.name());
        // What was printed is read back, as from a command line.
        for text in [seed.to_string(), finding.replay.clone()] {
            let what: Replay = text.parse().expect("what was printed can be read");
            assert_eq!(what.to_string(), text);
            let (lines, again) = replay(&subject, &options, &what);
            assert_eq!(again.map(|again| again.kind), Some(failure.kind), "{}: {text}", subject.name());
            assert!(finding.interleaving.lines().count() <= lines.lines().count());
        }
        let lines = finding.interleaving.lines().count();
        assert!(lines <= 120, "{}: {lines} lines to read\n{}", subject.name(), finding.interleaving);
    }
}

#[test]
fn an_interleaving_speaks_the_language_of_the_field() {
    let options = Options::default();
    let subject =
        busted().into_iter().find(|subject| subject.name() == "busted-blind-clear").expect("listed");
    let tally = explore(&subject, &options, 0..200, |_| true);
    let (seed, _) = tally.failure.expect("it is caught");
    let text = investigate(&subject, &options, seed).expect("it fails again").interleaving;
    for word in
        ["swap     lock.tail: none -> c", ".0.next", "lock.locked: 0 -> 1", "ENTERS   lock", "holder c"]
    {
        assert!(text.contains(word), "{word} is missing:\n{text}");
    }
}

#[test]
fn a_finding_does_not_depend_on_what_ran_before() {
    let options = Options::default();
    let texts: Vec<String> = (0..2)
        .map(|_| {
            let each = busted().into_iter().map(|subject| {
                let tally = explore(&subject, &options, 0..1_000, |_| true);
                let (seed, _) = tally.failure.expect("it is caught");
                investigate(&subject, &options, seed).map_or(String::new(), |finding| finding.replay)
            });
            each.collect::<Vec<_>>().join("\n")
        })
        .collect();
    assert_eq!(texts[0], texts[1]);
}
