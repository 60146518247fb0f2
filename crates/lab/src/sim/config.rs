//! From what was typed to what will be run. Everything that can be refused is refused here, in one line.
use super::args::Args;
use core::fmt::Write;
use core::time::Duration;
use lab_kit::names::ALL;
use stanchion_cells::cell::Setting;
use stanchion_cells::scenes::{self, Scene, digest_of_machine, digest_of_workload, words};
use stanchion_sim::{MS, NS, Time, machine, workload};
use std::collections::BTreeMap;

const TRACE_TIME: Time = 20 * MS;
/// A recording stays in memory, some 40 bytes for each thing that happens.
const LONGEST_TRACE: Time = 500 * MS;

pub(super) struct Config {
    pub scenes: Vec<Scene>,
    pub setting: Setting,
    /// The locks that were named, not as part of a group.
    pub chosen: Vec<String>,
    /// Digests of the files that were named.
    pub files: BTreeMap<String, String>,
    /// The part of the one run to look at, from when to when.
    pub watched: Option<(Time, Time)>,
}

impl Config {
    pub(super) fn resolve(args: &Args) -> Result<Self, String> {
        let watching = args.trace.is_some() || args.timeline.is_some();
        let time = args.time.map_or(200 * MS, virtual_time);
        if time == 0 {
            return Err("--time: nothing happens in no time".to_owned());
        }
        let warm_up = args.warm_up.map_or(20 * MS, virtual_time);
        let seeds = args.seeds.unwrap_or(if watching { 1 } else { 5 });
        let seed = args.seed.unwrap_or(1);
        let part = part(args, watching, time)?;
        let machines = args.machine.as_deref().unwrap_or("small-vm");
        let workloads = args.workload.as_deref().unwrap_or("medium");
        let scenes = scenes::resolve(&scenes::Typed {
            machines,
            workloads,
            counts: args.threads.as_deref().map(|list| ("threads", list)),
            overcommit: args.overcommit.as_deref(),
            sets: &args.set,
            files: &[],
        })
        .map_err(|error| format!("--{error}"))?;
        let locks = scenes::locks(&args.lock, &scenes).map_err(|error| format!("--{error}"))?;
        let is_name = |word: &&str| !matches!(*word, ALL | "variants");
        let chosen = words("lock", &args.lock)?.into_iter().filter(is_name).map(str::to_owned).collect();
        for scene in &scenes {
            scenes::probe(scene, &locks)?;
        }
        let cells = locks.len() * scenes.iter().map(|scene| scene.counts.len()).sum::<usize>();
        let runs = cells * seeds;
        if part.is_some() && runs > 1 {
            let more = if seeds > 1 { ", and --seeds 1" } else { "" };
            return Err(format!(
                "--trace and --timeline show one run, not {runs}: name one machine, workload, --lock and --threads{more}"
            ));
        }
        let watched = part.map(|(from, to)| (warm_up + from, warm_up + to));
        let setting = Setting {
            locks,
            seeds: (0..seeds as u64).map(|more| seed.wrapping_add(more)).collect(),
            time_ns: time / NS,
            warm_up_ns: warm_up / NS,
            limit: args.event_limit.unwrap_or(1_000_000_000),
            sets: args.set.clone(),
        };
        let machines = words("machine", machines)?.into_iter().map(digest_of_machine);
        let workloads = words("workload", workloads)?.into_iter().map(digest_of_workload);
        let files = machines.chain(workloads).collect::<Result<_, _>>()?;
        Ok(Self { scenes, setting, chosen, files, watched })
    }
}

/// The part of the run to record, counted from the end of the warm-up.
fn part(args: &Args, watching: bool, time: Time) -> Result<Option<(Time, Time)>, String> {
    let typed = args.trace_time.is_some() || args.trace_from.is_some();
    if !watching {
        let alone = "--trace-time and --trace-from say what to record; add --trace FILE or --timeline FILE";
        return if typed { Err(alone.to_owned()) } else { Ok(None) };
    }
    let from = args.trace_from.map_or(0, virtual_time);
    let length = args.trace_time.map_or(TRACE_TIME.min(time.saturating_sub(from)), virtual_time);
    if length > LONGEST_TRACE {
        return Err(format!("--trace-time: the longest recording is {} ms", LONGEST_TRACE / MS));
    }
    if length == 0 || from + length > time {
        return Err("--trace-time: the recording is empty or goes beyond the end of --time".to_owned());
    }
    Ok(Some((from, from + length)))
}

fn virtual_time(time: Duration) -> Time {
    time.as_nanos() as Time * NS
}

pub(super) fn list() -> String {
    let mut text = "machines\n".to_owned();
    for (name, _) in machine::library() {
        let about = machine::load(name).map_or_else(|error| error, |file| file.machine.about);
        let _ = writeln!(text, "  {name:<22} {about}");
    }
    text.push_str("workloads\n");
    for (name, _) in workload::library() {
        let about = workload::load(name).map_or_else(|error| error, |file| file.workload.about);
        let _ = writeln!(text, "  {name:<22} {about}");
    }
    let mut list = |title: &str, mut names: Vec<&str>, but: &[&str]| {
        names.retain(|name| !but.contains(name));
        let _ = writeln!(text, "{title}\n  {}", names.join("\n  "));
    };
    let (variants, rw_variants) = (stanchion_sim::variant_names(), stanchion_sim::rw_variant_names());
    list("locks", stanchion_sim::lock_names(), &variants);
    list("variants (all of them: --lock variants)", variants, &[]);
    list("reader-writer locks, for workloads with readers", stanchion_sim::rw_lock_names(), &rw_variants);
    list("variants of these", rw_variants, &[]);
    text.push_str("tunables\n");
    for tunable in stanchion_family::tunables::ALL {
        let (name, default, meaning) = (tunable.name(), tunable.default(), tunable.meaning());
        let _ = writeln!(text, "  tunable.{name:<24} {default:>6}  {meaning}");
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn resolve(change: impl FnOnce(&mut Args)) -> Result<Config, String> {
        let mut args = Args { lock: "all".into(), ..Args::default() };
        change(&mut args);
        Config::resolve(&args)
    }

    #[test]
    fn the_default_is_every_lock_on_a_small_machine_with_five_seeds() {
        let config = resolve(|_| ()).expect("valid");
        let (all, variants) = (stanchion_sim::lock_names(), stanchion_sim::variant_names());
        assert!(config.setting.locks.iter().all(|name| all.contains(&name.as_str())));
        assert_eq!(config.setting.locks.len() + variants.len(), all.len());
        assert_eq!(config.scenes.len(), 1);
        assert_eq!(config.scenes[0].counts, [1, 2, 4, 8]);
        assert_eq!(config.chosen, [""; 0], "no lock was named");
        assert_eq!(config.setting.seeds, [1, 2, 3, 4, 5]);
    }

    #[test]
    fn locks_keep_the_order_typed_and_counts_follow_the_machine() {
        let config = resolve(|args| {
            args.lock = "ticket,byte,ticket".into();
            args.threads = Some("3-5,1x".into());
            args.overcommit = Some("1,1.5,4".into());
        })
        .expect("valid");
        assert_eq!(config.setting.locks, ["ticket", "byte"]);
        assert_eq!(config.chosen, config.setting.locks);
        assert_eq!(config.scenes[0].counts, [2, 3, 4, 5, 8]);
    }

    #[test]
    fn workloads_with_readers_are_for_reader_writer_locks() {
        let config = resolve(|args| args.workload = Some("grant-table".into())).expect("valid");
        let (all, variants) = (stanchion_sim::rw_lock_names(), stanchion_sim::rw_variant_names());
        assert!(
            config
                .setting
                .locks
                .iter()
                .map(String::as_str)
                .all(|name| all.contains(&name) && !variants.contains(&name))
        );
        assert!(config.setting.locks.len() >= 3);
        let config = resolve(|args| {
            args.workload = Some("grant-table".into());
            args.lock = "rw-simple,percpu-rw+rw-simple".into();
        });
        assert_eq!(
            config.expect("a lock for each class").setting.locks,
            ["rw-simple", "percpu-rw+rw-simple"]
        );
        let config = resolve(|args| {
            args.set = vec!["workload.readers-percent=90".into()];
            args.lock = "qspin,qrw".into();
        });
        assert_eq!(config.expect("a mutex serves, too").setting.locks, ["qspin", "qrw"]);
    }

    #[test]
    fn fields_are_replaced_under_their_names_and_under_that_of_the_hypervisor() {
        let config = resolve(|args| {
            args.set =
                vec!["hypervisor.slice=7ms".into(), "hypervisor.switch=3us".into(), "memory.rmw=9".into()];
        })
        .expect("valid");
        let machine = &config.scenes[0].machine;
        assert!(
            matches!(&machine.host.scheduler, machine::SchedulerKind::FairShare(fair) if fair.slice == 7 * MS)
        );
        assert_eq!((machine.host.switch, machine.memory.rmw), (3_000 * NS, 9 * NS));
    }

    #[test]
    fn a_trace_takes_one_run_and_a_window_within_it() {
        let watch = |change: fn(&mut Args)| {
            resolve(|args| {
                args.trace = Some("no-such-file.json".into());
                args.lock = "byte".into();
                args.threads = Some("2".into());
                args.warm_up = Some(Duration::from_millis(1));
                change(args);
            })
            .map(|config| config.watched.expect("watched"))
        };
        assert_eq!(watch(|_| ()), Ok((MS, MS + TRACE_TIME)));
        assert_eq!(
            watch(|args| args.time = Some(Duration::from_millis(3))),
            Ok((MS, 4 * MS)),
            "no longer than the run"
        );
        for (change, text) in [
            ((|args| args.lock = "byte,ticket".into()) as fn(&mut Args), "show one run, not 2"),
            (|args| args.seeds = Some(3), "and --seeds 1"),
            (|args| args.trace_time = Some(Duration::from_secs(1)), "the longest recording"),
            (|args| args.trace_time = Some(Duration::ZERO), "is empty"),
            (|args| args.trace_from = Some(Duration::from_millis(200)), "beyond the end"),
        ] {
            let error = watch(change).expect_err(text);
            assert!(error.contains(text) && !error.contains('\n'), "{error}");
        }
    }

    #[test]
    fn mistakes_are_refused_in_one_line_that_names_the_flag() {
        type Mistake = fn(&mut Args);
        let mistakes: [(Mistake, &str); 20] = [
            (
                |args| args.lock = "qrw".into(),
                "workload medium: it takes mutexes, and qrw is a reader-writer lock",
            ),
            (
                |args| (args.lock, args.workload) = ("byte".into(), Some("grant-table".into())),
                "workload grant-table takes reader-writer locks, and byte is a mutex",
            ),
            (|args| args.lock = "byte+tiket".into(), "--lock: unknown lock 'tiket': nearest are ticket"),
            (
                |args| args.lock = "byte+ticket".into(),
                "names 2 locks, and workload medium has 1 class of them",
            ),
            (
                |args| (args.lock, args.workload) = ("qrw+qrw+qrw".into(), Some("grant-table".into())),
                "names 3 locks, and workload grant-table has 2 classes of them",
            ),
            (|args| args.workload = Some("grant-table,short".into()), "simulate them one by one"),
            (|args| args.lock = "tiket".into(), "--lock: unknown lock 'tiket': nearest are ticket"),
            (|args| args.lock = ",".into(), "--lock: ',' names nothing"),
            (|args| args.machine = Some("smal-vm".into()), "small-vm"),
            (|args| args.workload = Some("shrot".into()), "short"),
            (|args| args.threads = Some("0".into()), "--threads: '0' vCPUs cannot be run"),
            (|args| args.threads = Some("many".into()), "--threads: 'many' is no vCPU count"),
            (|args| args.overcommit = Some("x".into()), "--overcommit: '' is no multiple"),
            (|args| args.set = vec!["host".into()], "--set: 'host' is no KEY=VALUE"),
            (|args| args.set = vec!["memory.remote-dirt=1".into()], "memory.remote-dirty"),
            (|args| args.set = vec!["workload.critcal=1ns".into()], "critical"),
            (|args| args.set = vec!["tunable.kick_ahed=1".into()], "nearest are kick_ahead"),
            (|args| args.set = vec!["tunable.kick_ahead=x".into()], "'x' is no number from 0"),
            (|args| args.time = Some(Duration::ZERO), "--time: nothing happens in no time"),
            (|args| args.trace_time = Some(Duration::from_millis(1)), "add --trace FILE"),
        ];
        for (mistake, text) in mistakes {
            let error = resolve(mistake).err().expect(text);
            assert!(error.contains(text) && !error.contains('\n'), "{text}: {error}");
        }
    }

    #[test]
    fn what_the_simulator_would_refuse_is_refused_before_anything_runs() {
        let error = resolve(|args| {
            args.set = vec!["host.scheduler=\"pinned\"".into()];
            args.threads = Some("2,3".into());
        });
        assert!(error.err().is_some_and(|error| error.contains("3 vCPUs do not fit")));
    }
}
