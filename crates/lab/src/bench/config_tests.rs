//! Resolving arguments: defaults, names, and mistakes that are refused.
use super::*;

fn resolve(change: impl FnOnce(&mut Args)) -> Result<Config, String> {
    let mut args = Args::default();
    change(&mut args);
    Config::resolve(&args, None, vec![0, 1])
}

fn resolve_rw(change: impl FnOnce(&mut RwArgs)) -> Result<Config, String> {
    let mut args = RwArgs::default();
    change(&mut args);
    Config::resolve(&args.common, Some(&args), vec![0, 1])
}

fn names(config: &Config) -> Vec<&str> {
    config.locks.iter().map(|lock| lock.name.as_str()).collect()
}

#[test]
fn the_default_is_what_a_user_decides_between() {
    let config = resolve(|_| ()).expect("valid");
    assert_eq!(config.setting.threads, [1, 2, 4, 8, 16, 32]);
    assert_eq!(config.setting.profiles.len(), 4);
    let peers = ["std", "parking_lot", "pthread"];
    assert_eq!(names(&config)[..6], [&["stanchion", "ticket", "qspin"][..], &peers].concat());
    assert!(config.locks.len() <= 7 && config.locks.iter().all(|lock| lock.chosen));
    let config = resolve_rw(|_| ()).expect("valid");
    assert_eq!(names(&config)[..5], ["qrw", "percpu-rw", "rw-simple", "std", "parking_lot"]);
    let mixes: Vec<_> = config.setting.mixes.iter().map(|mix| mix.name()).collect();
    assert_eq!(mixes, ["100 % reads", "99.9 % reads", "99 % reads", "90 % reads", "50 % reads"]);
}

#[test]
fn all_is_everything_but_the_hidden_lock_and_chosen_is_what_is_named() {
    let config = resolve(|args| args.lock = Some("all,cna".into())).expect("valid");
    assert!(names(&config).contains(&"usync") && !names(&config).contains(&"busted-none"));
    let chosen = config.locks.iter().filter(|lock| lock.chosen).map(|lock| lock.name.as_str());
    assert_eq!(chosen.collect::<Vec<_>>(), ["cna"]);
    let config = resolve_rw(|args| args.common.lock = Some("all".into())).expect("valid");
    assert!(names(&config).contains(&"usync") && !names(&config).contains(&"percpu-rw-fenced"));
}

#[test]
fn readers_and_writers_take_the_place_of_shares() {
    let config = resolve_rw(|args| {
        args.readers = Some("1,2x".into());
        args.writers = Some("0,1".into());
    });
    let setting = config.expect("valid").setting;
    assert_eq!(setting.threads, [1, 4]);
    assert_eq!(setting.mixes.iter().map(|mix| mix.name()).collect::<Vec<_>>(), ["0 writers", "1 writer"]);
}

#[test]
fn mistakes_of_readers_and_writers_name_the_flag() {
    type Mistake = fn(&mut RwArgs);
    let mistakes: [(Mistake, &str); 5] = [
        (|args| args.common.lock = Some("pecpu-rw".into()), "unknown lock 'pecpu-rw': nearest are percpu-rw"),
        (|args| args.common.peers = Some("qrw".into()), "--peers: unknown peer 'qrw'"),
        (|args| args.reads = Some("101".into()), "--reads: '101' is no share"),
        (
            |args| (args.readers, args.writers) = (Some("0".into()), Some("1".into())),
            "--readers: '0' threads",
        ),
        (
            |args| (args.readers, args.writers) = (Some("4000".into()), Some("4000".into())),
            "too many threads together",
        ),
    ];
    for (mistake, text) in mistakes {
        let error = resolve_rw(mistake).err().expect(text);
        assert!(error.contains(text) && !error.contains('\n'), "{error}");
    }
}

#[test]
fn locks_and_peers_are_chosen_by_name() {
    let config = resolve(|args| {
        args.lock = Some("busted-none".into());
        args.peers = Some("usync,std".into());
    });
    assert_eq!(names(&config.expect("valid")), ["std", "usync", "busted-none"]);
    let none = resolve(|args| {
        args.lock = Some("none".into());
        args.peers = Some("none".into());
    });
    assert!(none.err().is_some_and(|error| error.contains("no lock is left")));
}

#[test]
fn every_profile_is_there_once_more_for_each_limit() {
    let config = resolve(|args| {
        args.measure.profile = vec!["empty,short".into()];
        args.cpu_limit = Some("1,0.5,1".into());
    });
    let profiles = config.expect("valid").setting.profiles;
    let names: Vec<&str> = profiles.iter().map(|profile| profile.name.as_str()).collect();
    assert_eq!(names, ["empty", "short", "empty@1", "short@1", "empty@0.5", "short@0.5"]);
    let limits: Vec<_> = profiles.iter().map(|profile| profile.cpu_limit).collect();
    assert_eq!(limits, [None, None, Some(1.0), Some(1.0), Some(0.5), Some(0.5)]);
    assert_eq!(profiles[5].critical_ns, profiles[1].critical_ns);
}

#[test]
fn a_lock_with_other_tunables_is_one_of_its_own_beside_it() {
    let config = resolve(|args| {
        args.lock = Some(
            "cna,stanchion:turns=0,stanchion,stanchion:turns=0,stanchion:turn_us=200:hand_over=0".into(),
        );
        args.peers = Some("none".into());
    });
    let tuned = ["stanchion:turns=0", "stanchion", "stanchion:turn_us=200:hand_over=0", "cna"];
    assert_eq!(names(&config.expect("valid")), tuned);
}

#[test]
fn mistakes_are_refused_in_one_line_that_names_the_flag() {
    type Mistake = fn(&mut Args);
    let mistakes: [(Mistake, &str); 16] = [
        (
            |args| args.lock = Some("parkinglot".into()),
            "--lock: unknown lock 'parkinglot': nearest are parking_lot",
        ),
        (
            |args| args.lock = Some("stanchin:turns=0".into()),
            "--lock: unknown lock 'stanchin': nearest are stanchion",
        ),
        (
            |args| args.lock = Some("stanchion:truns=0".into()),
            "--lock: lock 'stanchion' has no tunable 'truns'",
        ),
        (
            |args| args.lock = Some("cna:turns=0".into()),
            "--lock: tunable 'turns' does not belong to lock 'cna'",
        ),
        (|args| args.lock = Some("stanchion:turns=no".into()), "--lock: stanchion:turns: 'no' is no number"),
        (|args| args.cpu_limit = Some("1,half".into()), "--cpu-limit: 'half' is no number of CPUs from 0.01"),
        (|args| args.cpu_limit = Some("NaN".into()), "--cpu-limit: 'NaN' is no number"),
        (
            |args| {
                args.cpu_limit = Some("1".into());
                args.measure.time = Some("199ms".into());
            },
            "--cpu-limit: a limit counts in periods of 100 ms; give --time and --latency-time of 200 ms",
        ),
        (|args| args.peers = Some("usinc".into()), "--peers: unknown peer 'usinc': nearest are usync"),
        (|args| args.measure.threads = Some("0".into()), "--threads: '0' threads cannot be run"),
        (|args| args.measure.time = Some("0s".into()), "--time: 0s is too short"),
        (|args| args.measure.rounds = Some("0".into()), "--rounds: '0' is not a number from 1"),
        (|args| args.measure.seed = Some("abc".into()), "--seed: 'abc'"),
        (
            |args| args.measure.profile = vec!["sort".into()],
            "--profile: unknown profile 'sort': nearest are short",
        ),
        (|args| args.drain = Some("1".into()), "--drain: the time '1' has no unit"),
        (|args| args.measure.latency_time = Some("1y".into()), "--latency-time: 'y' is not a unit"),
    ];
    for (mistake, text) in mistakes {
        let error = resolve(mistake).err().expect(text);
        assert!(error.contains(text) && !error.contains('\n'), "{error}");
    }
}

#[test]
fn cpus_are_checked() {
    let first = machine::available_cpus()[0];
    assert_eq!(cpus(&first.to_string()), Ok(vec![first]));
    assert!(cpus("100000").is_err_and(|error| error.contains("may not use CPU 100000")));
    assert!(cpus("x").is_err() && cpus("").is_err());
}
