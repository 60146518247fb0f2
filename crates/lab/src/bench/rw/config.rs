//! From what was typed to what will be run. Everything that can be refused is refused here, in one line.
use super::args::RwArgs;
use super::contenders;
use super::mix;
use crate::bench::config::{Config, Defaults, info, locks, setting};
use crate::bench::list::{list_locks, list_profiles};
use crate::bench::report::LockInfo;
use crate::threads;
use core::fmt::Write;
use core::time::Duration;

const ORDINARY: Defaults = Defaults {
    profiles: "all",
    time: Duration::from_millis(200),
    rounds: 3,
    latency_rounds: 2,
    drain: Duration::from_secs(5),
    uncontended_rounds: 9,
};

/// About a hundred cells in well under a minute.
const QUICK: Defaults = Defaults {
    profiles: "short",
    time: Duration::from_millis(40),
    rounds: 3,
    latency_rounds: 1,
    drain: Duration::from_millis(500),
    uncontended_rounds: 3,
};

const SHARES: &str = "100,99.9,99,90,50";
const QUICK_SHARES: &str = "99.9,90";

/// Resolves the arguments for these CPUs.
pub(crate) fn resolve(args: &RwArgs, cpus: Vec<usize>) -> Result<Config, String> {
    let common = &args.common;
    let count = cpus.len();
    let mut setting = setting(common, cpus, if common.quick { &QUICK } else { &ORDINARY })?;
    if let (Some(readers), Some(writers)) = (&args.readers, &args.writers) {
        setting.threads = threads::parse(readers, count).map_err(|error| format!("--readers: {error}"))?;
        setting.mixes = mix::writers(writers, count).map_err(|error| format!("--writers: {error}"))?;
        let most =
            setting.mixes.iter().flat_map(|mix| setting.threads.iter().map(|&column| mix.threads(column)));
        if most.max() > Some(threads::MOST) {
            return Err(format!(
                "--readers and --writers are too many threads together: the most is {}",
                threads::MOST
            ));
        }
    } else {
        let shares = args.reads.as_deref().unwrap_or(if common.quick { QUICK_SHARES } else { SHARES });
        setting.mixes = mix::shares(shares).map_err(|error| format!("--reads: {error}"))?;
    }
    let locks = locks(common, &contenders::entries())?;
    let locks = locks.into_iter().map(|chosen| {
        let memory = contenders::by_name(chosen.entry.name).map(|row| row.memory);
        LockInfo { memory, ..info(chosen) }
    });
    Ok(Config { setting, locks: locks.collect(), uncontended_only: common.uncontended })
}

/// The text of `--list`.
pub(crate) fn list() -> String {
    let mut text = String::new();
    list_locks(&mut text, &contenders::entries(), 17);
    text.push_str("memory beside the lock itself\n");
    for row in contenders::all().filter(|row| !row.memory.description().is_empty()) {
        let _ = writeln!(text, "  {:<17} {}", row.entry.name, row.memory.description());
    }
    list_profiles(&mut text);
    crate::tuned::list(&mut text);
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn resolve(change: impl FnOnce(&mut RwArgs)) -> Result<Config, String> {
        let mut args = RwArgs::default();
        args.common.lock = "all".into();
        args.common.peers = "all".into();
        change(&mut args);
        super::resolve(&args, vec![0, 1])
    }

    fn names(config: &Config) -> Vec<&str> {
        config.locks.iter().map(|lock| lock.name.as_str()).collect()
    }

    #[test]
    fn the_default_is_every_share_and_everything_but_variants_and_the_hidden_lock() {
        let config = resolve(|_| ()).expect("valid");
        let mixes: Vec<_> = config.setting.mixes.iter().map(|mix| mix.name()).collect();
        assert_eq!(mixes, ["100 % reads", "99.9 % reads", "99 % reads", "90 % reads", "50 % reads"]);
        assert_eq!((config.setting.threads.len(), config.setting.profiles.len()), (6, 4));
        assert!(names(&config).contains(&"percpu-rw") && names(&config).contains(&"parking_lot"));
        assert!(!names(&config).contains(&"busted-none") && !names(&config).contains(&"percpu-rw-fenced"));
        assert!(config.locks.iter().all(|lock| lock.memory.is_some()));
    }

    #[test]
    fn readers_and_writers_take_the_place_of_shares() {
        let config = resolve(|args| {
            args.readers = Some("1,2x".into());
            args.writers = Some("0,1".into());
        });
        let setting = config.expect("valid").setting;
        assert_eq!(setting.threads, [1, 4]);
        assert_eq!(setting.mixes.iter().map(|mix| mix.name()).collect::<Vec<_>>(), ["0 writers", "1 writer"]);
    }

    #[test]
    fn mistakes_are_refused_in_one_line_that_names_the_flag() {
        type Mistake = fn(&mut RwArgs);
        let mistakes: [(Mistake, &str); 6] = [
            (
                |args| args.common.lock = "pecpu-rw".into(),
                "--lock: unknown lock 'pecpu-rw': nearest are percpu-rw",
            ),
            (|args| args.common.peers = "qrw".into(), "--peers: unknown peer 'qrw'"),
            (|args| args.reads = Some("101".into()), "--reads: '101' is no share"),
            (
                |args| {
                    args.readers = Some("0".into());
                    args.writers = Some("1".into());
                },
                "--readers: '0' threads",
            ),
            (
                |args| {
                    args.readers = Some("1".into());
                    args.writers = Some("x".into());
                },
                "--writers: 'x' threads",
            ),
            (
                |args| {
                    args.readers = Some("4000".into());
                    args.writers = Some("4000".into());
                },
                "too many threads together",
            ),
        ];
        for (mistake, text) in mistakes {
            let error = resolve(mistake).err().expect(text);
            let text = text.replace("'x' threads", "");
            assert!(error.contains(&text) && !error.contains('\n'), "{error}");
        }
    }
}
