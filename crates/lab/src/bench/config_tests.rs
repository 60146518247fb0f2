//! Resolving arguments: defaults, names, and mistakes that are refused.
use super::*;
use clap::{CommandFactory, Parser};
use lab_kit::usage::one_line;

type Resolved = Result<(Setting, Vec<LockInfo>), String>;

/// Of the words behind `stanchion bench`, with two CPUs.
fn resolve_words(words: &[&str]) -> Resolved {
    let words = [&["stanchion", "bench"], words].concat();
    let cli = crate::Cli::try_parse_from(words).map_err(|error| one_line(&error))?;
    let crate::Command::Bench(args) = cli.command else { unreachable!("it is named") };
    super::resolve(&args, vec![0, 1])
}

fn resolve(line: &str) -> Resolved {
    resolve_words(&line.split_whitespace().collect::<Vec<_>>())
}

fn names(locks: &[LockInfo]) -> Vec<&str> {
    locks.iter().map(|lock| lock.name.as_str()).collect()
}

fn mixes(setting: &Setting) -> Vec<String> {
    setting.mixes.iter().map(|mix| mix.name()).collect()
}

#[test]
fn the_default_is_what_a_user_decides_between() {
    let (setting, locks) = resolve("").expect("valid");
    assert_eq!(setting.threads, [1, 2, 4, 8, 16, 32]);
    assert_eq!(setting.profiles.len(), 4);
    let peers = ["std", "parking_lot", "pthread"];
    assert_eq!(names(&locks)[..6], [&["stanchion", "ticket", "qspin"][..], &peers].concat());
    assert!(locks.len() <= 7 && locks.iter().all(|lock| lock.chosen));
    let (setting, locks) = resolve("--rw").expect("valid");
    assert_eq!(names(&locks)[..5], ["qrw", "percpu-rw", "rw-simple", "std", "parking_lot"]);
    assert_eq!(mixes(&setting), ["100 % reads", "99.9 % reads", "99 % reads", "90 % reads", "50 % reads"]);
}

#[test]
fn all_is_everything_but_the_hidden_lock_and_chosen_is_what_is_named() {
    let (_, locks) = resolve("--lock all,cna").expect("valid");
    assert!(names(&locks).contains(&"usync") && !names(&locks).contains(&"busted-none"));
    let chosen = locks.iter().filter(|lock| lock.chosen).map(|lock| lock.name.as_str());
    assert_eq!(chosen.collect::<Vec<_>>(), ["cna"]);
    let (_, locks) = resolve("--rw --lock all").expect("valid");
    assert!(names(&locks).contains(&"usync") && !names(&locks).contains(&"percpu-rw-fenced"));
}

#[test]
fn what_only_reader_writer_locks_have_says_that_they_are_meant() {
    for words in
        ["--lock qrw", "--lock none --peers pthread-readers", "--reads 90", "--readers 1 --writers 1"]
    {
        let (setting, locks) = resolve(words).expect("valid");
        assert!(setting.rw() && locks.iter().all(|lock| lock.name != "pthread"), "{words}");
    }
    for words in ["--lock busted-none", "--lock none --peers std,spin", "--lock stanchion"] {
        assert!(!resolve(words).expect("valid").0.rw(), "{words}");
    }
}

#[test]
fn help_tells_the_defaults() {
    let help = crate::Cli::command()
        .find_subcommand_mut("bench")
        .expect("it is there")
        .render_help()
        .to_string()
        .replace('\n', " ");
    let help = help.split_whitespace().collect::<Vec<_>>().join(" ");
    let ablated = crate::ablate::Args::default().measured(String::new()).measure;
    let shares = RW.shares.iter().map(f64::to_string).collect::<Vec<_>>().join(",");
    let latency_time = ablated.latency_time.expect("its own");
    assert_eq!(ablated.time, Some(Duration::from_millis(RW.time_ms)));
    for told in [
        format!("[default: {}; of reader-writer locks: {}]", MUTEXES.locks, RW.locks),
        format!("[default: {}; of reader-writer locks: {};", MUTEXES.peers, RW.peers),
        format!("[default: {}]", MUTEXES.profiles),
        format!("[default: {}ms; of reader-writer locks and of 'ablate': {}ms]", MUTEXES.time_ms, RW.time_ms),
        format!("[default: as --time; of 'ablate': {}s]", latency_time.as_secs()),
        format!(
            "[default: {}; of reader-writer locks: {}; of 'ablate': {}]",
            MUTEXES.latency_rounds,
            RW.latency_rounds,
            ablated.latency_rounds.expect("its own")
        ),
        format!("[default: {shares}]"),
        format!("[default: {ROUNDS}]"),
    ] {
        assert!(help.contains(&told), "{told}: {help}");
    }
}

#[test]
fn readers_and_writers_take_the_place_of_shares() {
    let (setting, _) = resolve("--readers 1,2x --writers 0,1").expect("valid");
    assert_eq!(setting.threads, [1, 4]);
    assert_eq!(mixes(&setting), ["0 writers", "1 writer"]);
}

#[test]
fn mistakes_of_readers_and_writers_name_the_flag() {
    for (mistake, text) in [
        ("--lock pecpu-rw", "unknown lock 'pecpu-rw': nearest are percpu-rw"),
        ("--rw --peers qrw", "--peers: unknown peer 'qrw'"),
        ("--reads 101", "'--reads <LIST>': '101' is no share"),
        ("--readers 0 --writers 1", "--readers: '0' threads"),
        ("--readers 4000 --writers 4000", "too many threads together"),
        (
            "--rw --lock ticket:turns=0",
            "--lock: 'ticket' is a mutex, and is not measured beside reader-writer locks: type 'stanchion bench --lock ticket:turns=0'",
        ),
        ("--reads 50 --peers std,pthread", "type 'stanchion bench --peers pthread'"),
        ("--lock qrw,ticket", "type 'stanchion bench --lock ticket'"),
        ("--lock stanchion --peers pthread-writers", "type 'stanchion bench --lock stanchion'"),
    ] {
        let error = resolve(mistake).expect_err(text);
        assert!(error.contains(text) && !error.contains('\n'), "{error}");
    }
}

#[test]
fn locks_and_peers_are_chosen_by_name() {
    let (_, locks) = resolve("--lock busted-none --peers usync,std").expect("valid");
    assert_eq!(names(&locks), ["std", "usync", "busted-none"]);
    let none = resolve("--lock none --peers none");
    assert!(none.err().is_some_and(|error| error.contains("no lock is left")));
}

#[test]
fn the_last_of_several_lists_counts_and_profiles_add_up() {
    let (setting, locks) = resolve(
        "--lock cna --lock qspin --peers none --cpu-limit 1 --cpu-limit 0.5 --profile empty,cs=50ns,think=1us \
         --profile name=web,cs=0,think=0",
    )
    .expect("valid");
    assert_eq!(names(&locks), ["qspin"]);
    let profiles: Vec<&str> = setting.profiles.iter().map(|profile| profile.name.as_str()).collect();
    assert_eq!(profiles, ["empty", "50ns-1us", "web", "empty@0.5", "50ns-1us@0.5", "web@0.5"]);
}

#[test]
fn every_profile_is_there_once_more_for_each_limit() {
    let typed = ["--profile", "empty,short", "--cpu-limit", "1, 0.5,1"];
    let (Setting { profiles, .. }, _) = resolve_words(&typed).expect("valid");
    let names: Vec<&str> = profiles.iter().map(|profile| profile.name.as_str()).collect();
    assert_eq!(names, ["empty", "short", "empty@1", "short@1", "empty@0.5", "short@0.5"]);
    let limits: Vec<_> = profiles.iter().map(|profile| profile.cpu_limit).collect();
    assert_eq!(limits, [None, None, Some(1.0), Some(1.0), Some(0.5), Some(0.5)]);
    assert_eq!(profiles[5].critical_ns, profiles[1].critical_ns);
}

#[test]
fn a_lock_with_other_tunables_is_one_of_its_own_beside_it() {
    let (_, locks) = resolve(
        "--lock cna,stanchion:turns=0,stanchion,stanchion:turns=0,stanchion:turn_us=200:hand_over=0 --peers none",
    )
    .expect("valid");
    let tuned = ["stanchion:turns=0", "stanchion", "stanchion:turn_us=200:hand_over=0", "cna"];
    assert_eq!(names(&locks), tuned);
}

#[test]
fn mistakes_are_refused_in_one_line_that_names_the_flag() {
    for (mistake, text) in [
        ("--lock parkinglot", "--lock: unknown lock 'parkinglot': nearest are parking_lot"),
        ("--lock stanchin:turns=0", "--lock: unknown lock 'stanchin': nearest are stanchion"),
        ("--lock stanchion:truns=0", "--lock: lock 'stanchion' has no tunable 'truns'"),
        ("--lock cna:turns=0", "--lock: tunable 'turns' does not belong to lock 'cna'"),
        ("--lock stanchion:turns=no", "--lock: stanchion:turns: 'no' is no number"),
        ("--cpu-limit 1,half", "'half' for '--cpu-limit <LIST>': must be a number of CPUs from 0.01 to"),
        ("--cpu-limit NaN", "'NaN' for '--cpu-limit <LIST>': must be a number"),
        (
            "--cpu-limit 1 --time 199ms",
            "--cpu-limit: a limit counts in periods of 100 ms; give --time and --latency-time of 200 ms",
        ),
        ("--peers usinc", "--peers: unknown peer 'usinc': nearest are usync"),
        ("--threads 0", "--threads: '0' threads cannot be run"),
        ("--time 0s", "--time: 0s is too short"),
        ("--rounds 0", "'0' for '--rounds <N>': must be a number from 1 to 1000"),
        ("--seed abc", "'abc' for '--seed <N>'"),
        ("--profile sort", "--profile: unknown profile 'sort': nearest are short"),
        ("--profile cs=50ns --profile think=200ns", "--profile: a profile of your own needs both times"),
        ("--drain 1", "'--drain <TIME>': the time '1' has no unit"),
        ("--latency-time 1y", "'--latency-time <TIME>': 'y' is not a unit"),
    ] {
        let error = resolve(mistake).expect_err(text);
        assert!(error.contains(text) && !error.contains('\n'), "{error}");
    }
}
