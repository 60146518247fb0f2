//! The machines that were asked for, and how many workers run on each.
use super::args::Args;
use super::no_recording;
use crate::calibrate::{limited, varied};
use crate::run::record::file as trace_file;
use lab_kit::output::tell;
use lab_kit::provenance::Provenance;
use lab_kit::units::percent;
use stanchion_cells::published::fingerprint::of_bytes;
use stanchion_cells::scenes::{digest_of_machine, overcommitted};
use stanchion_cells::threads;
use stanchion_sim::machine::{self, Machine, SchedulerKind, file};
use std::collections::BTreeMap;
use std::os::unix::fs::FileTypeExt as _;
use std::path::PathBuf;
use std::sync::Arc;

/// The name of the machine that the command runs on.
pub(super) const HERE: &str = "here";

/// Names and paths that were typed, each with its flag.
fn named(args: &Args) -> Result<Vec<(String, &str)>, String> {
    let listed = args.machine.iter().flat_map(|list| list.split(','));
    let mut names: Vec<(String, &str)> = listed.map(|name| (name.trim().to_owned(), "--machine")).collect();
    for path in &args.machine_file {
        let path = std::path::absolute(path).map_err(|error| format!("--machine-file: {error}"))?;
        names.push((path.to_string_lossy().into_owned(), "--machine-file"));
    }
    Ok(names)
}

/// The same, and this machine if it was asked for, or none was named.
fn names(args: &Args) -> Result<Vec<(String, &str)>, String> {
    let mut names = named(args)?;
    if args.here || names.is_empty() {
        let path = here(args)?;
        names.push((path.to_string_lossy().into_owned(), "--here"));
    }
    Ok(names)
}

/// Digests of the files of machines, and of the recording if there was one before.
pub(super) fn files(args: &Args) -> Result<BTreeMap<String, String>, String> {
    let machines = names(args)?.into_iter().map(|(name, _)| digest_of_machine(&name));
    // What is read once, such as a pipe, is not read again.
    let recording = args.trace.iter().filter(|path| path.is_file()).map(|path| {
        let bytes = std::fs::read(path).map_err(|error| format!("{}: {error}", path.display()))?;
        Ok(("recording".to_owned(), of_bytes(&bytes)))
    });
    machines.chain(recording).collect()
}

/// All machines, with each number of workers that is tried there.
pub(super) fn resolve(args: &Args, recorded: usize) -> Result<Vec<(Arc<Machine>, usize)>, String> {
    of_names(args, names(args)?, recorded)
}

/// What `resolve` would refuse of machines that were named.
pub(super) fn check_named(args: &Args) -> Result<(), String> {
    of_names(args, named(args)?, 1).map(drop)
}

fn of_names(
    args: &Args,
    names: Vec<(String, &str)>,
    recorded: usize,
) -> Result<Vec<(Arc<Machine>, usize)>, String> {
    let mut places: Vec<(Arc<Machine>, usize)> = Vec::new();
    for (name, flag) in names {
        let machine = load(args, &name).map_err(|error| format!("{flag} {name}: {error}"))?;
        if places.iter().any(|(other, _)| other.name == machine.name) {
            return Err(format!("{flag}: two machines are called {}", machine.name));
        }
        let (workers, machine) = (workers(args, &machine, recorded)?, Arc::new(machine));
        places.extend(workers.into_iter().map(|workers| (Arc::clone(&machine), workers)));
    }
    Ok(places)
}

/// Of machines that were measured: what decides how long waiters wait, and varied too much meanwhile.
pub(super) fn doubts(args: &Args) -> Result<Vec<String>, String> {
    let mut doubts = Vec::new();
    for (name, _) in names(args)? {
        let file = machine::load_with(&name, &args.set)?;
        let name = &file.machine.name;
        let varied = [
            ("host.kick-across", "waking a thread"),
            ("host.wake-idle", "a wake-up"),
            ("host.idle-entry", "until a CPU rests"),
            ("memory.group-dirty", "handing over a cache line"),
        ]
        .map(|(path, what)| Some(format!("{what} ±{}", percent(varied(&file, path)?))));
        let varied: Vec<String> = varied.into_iter().flatten().collect();
        if !varied.is_empty() {
            doubts.push(format!("{name} varied while it was measured: {}", varied.join(", ")));
        }
    }
    Ok(doubts)
}

fn load(args: &Args, name: &str) -> Result<Machine, String> {
    let mut sets: Vec<String> = args.set.clone();
    let plain = machine::load_with(name, &sets)?.machine;
    if let Some(cpus) = args.cpus {
        sets.extend(of_cpus(&plain, cpus)?);
    }
    let machine = machine::load_with(name, &sets)?.machine;
    match args.cpu_limit {
        Some(cpus) => limited(&machine, cpus),
        None => Ok(machine),
    }
}

/// What makes a machine one of so many CPUs: as many sockets as it has, with other numbers of cores; or one.
fn of_cpus(machine: &Machine, cpus: usize) -> Result<Vec<String>, String> {
    let topology = &machine.topology;
    let units = topology.cpu_count() / usize::from(topology.cores).max(1);
    let set = |field: &str, value: usize| format!("topology.{field}={value}");
    if cpus.is_multiple_of(units) {
        return Ok(vec![set("cores", cpus / units)]);
    }
    if cpus > usize::from(topology.cores) {
        return Err(format!("--cpus {cpus}: no multiple of the {units} groups that {} has", machine.name));
    }
    Ok(vec![set("sockets", 1), set("groups", 1), set("threads", 1), set("cores", cpus)])
}

fn workers(args: &Args, machine: &Machine, recorded: usize) -> Result<Vec<usize>, String> {
    let cpus = machine.topology.cpu_count();
    let mut counts = match &args.threads {
        Some(list) => threads::parse(list, cpus).map_err(|error| format!("--threads: {error}"))?,
        None if args.overcommit.is_none() => vec![recorded, cpus],
        None => Vec::new(),
    };
    if let Some(list) = &args.overcommit {
        counts.extend(overcommitted(list, cpus).map_err(|error| format!("--{error}"))?);
    }
    counts.sort_unstable();
    counts.dedup();
    if machine.host.scheduler == SchedulerKind::Pinned
        && let Some(count) = counts.iter().find(|&&count| count > cpus)
    {
        return Err(format!(
            "{count} threads do not fit on the {cpus} CPUs of {}, whose scheduler pins each (--set host.scheduler=…)",
            machine.name
        ));
    }
    Ok(counts)
}

/// The file of this machine in the user's cache, measured if it is not there, or of another version.
fn here(args: &Args) -> Result<PathBuf, String> {
    let variable = |name: &str| std::env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    let cache = variable("XDG_CACHE_HOME").or_else(|| Some(variable("HOME")?.join(".cache")));
    let cache = cache.ok_or("--here: neither HOME nor XDG_CACHE_HOME says where to keep the machine")?;
    let dir = cache.join("stanchion");
    let model = Provenance::collect(0).cpu_model.to_lowercase();
    let model = model.replace(|c: char| !c.is_ascii_alphanumeric(), "-");
    let path = dir.join(format!("here-{model}-{}.toml", crate::bench::available_cpus().len()));
    if path.is_file() {
        match machine::load(&path.to_string_lossy()) {
            Ok(_) => return Ok(path),
            Err(why) => tell!("stanchion: {why}"),
        }
    }
    // What a pipe says can be read once only.
    let is_pipe = |trace: &PathBuf| trace.metadata().is_ok_and(|about| about.file_type().is_fifo());
    if let Some(trace) = args.trace.as_ref().filter(|trace| !is_pipe(trace)) {
        trace_file::check(trace).map_err(|why| no_recording(trace, &why))?;
    }
    if !args.files.results.quiet {
        let path = path.display();
        tell!("stanchion: this machine is measured once, which takes half a minute, and kept in {path}");
    }
    let text = file::write(&crate::calibrate::this_machine(HERE, args.files.results.quiet)?);
    let write = || -> std::io::Result<()> {
        std::fs::create_dir_all(&dir)?;
        let mut new = tempfile::NamedTempFile::new_in(&dir)?;
        std::io::Write::write_all(&mut new, text.as_bytes())?;
        new.persist(&path).map(drop).map_err(|error| error.error)
    };
    write().map_err(|error| format!("--here: {}: {error}", path.display()))?;
    Ok(path)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn places(change: impl FnOnce(&mut Args)) -> Result<Vec<(usize, Vec<usize>)>, String> {
        let mut args = Args { machine: Some("haswell-ex-4x8".into()), ..Args::default() };
        change(&mut args);
        let places = resolve(&args, 2)?;
        let of_one = places.chunk_by(|a, b| a.0.name == b.0.name);
        let workers = |of: &[(Arc<Machine>, usize)]| of.iter().map(|(_, workers)| *workers).collect();
        Ok(of_one.map(|of| (of[0].0.topology.cpu_count(), workers(of))).collect())
    }

    #[test]
    fn workers_follow_the_cpus_and_what_was_recorded() {
        assert_eq!(places(|_| ()), Ok(vec![(32, vec![2, 32])]));
        assert_eq!(places(|args| args.cpus = Some(8)), Ok(vec![(8, vec![2, 8])]));
        assert_eq!(places(|args| args.cpus = Some(5)), Ok(vec![(5, vec![2, 5])]), "on one socket");
        let both = places(|args| {
            args.overcommit = Some("1,1.5,2x".into());
            args.machine = Some("haswell-ex-4x8, small-vm".into());
        });
        assert_eq!(both.map(|places| (places[0].1.clone(), places.len())), Ok((vec![32, 48, 64], 2)));
        assert_eq!(places(|args| args.threads = Some("3,2x".into())), Ok(vec![(32, vec![3, 64])]));
    }

    #[test]
    fn files_of_machines_and_of_the_recording_have_digests() {
        let of = |text: &str| {
            let trace = tempfile::NamedTempFile::new().expect("a temporary file");
            std::fs::write(trace.path(), text).expect("written");
            let trace = Some(trace.path().to_owned());
            files(&Args { machine: Some("small-vm".into()), trace, ..Args::default() }).expect("readable")
        };
        assert_eq!(of("a")["machine small-vm"], "shipped");
        assert_eq!((of("a"), of("a").len()), (of("a"), 2));
        assert_ne!(of("a")["recording"], of("b")["recording"]);
    }

    #[test]
    fn a_machine_that_varied_while_it_was_measured_weakens_the_answer() {
        let mut file = machine::load("small-vm").expect("shipped");
        let of = |file: &file::MachineFile| {
            let path = tempfile::NamedTempFile::new().expect("a temporary file");
            std::fs::write(path.path(), file::write(file)).expect("written");
            let args = Args { machine_file: vec![path.path().to_owned()], ..Args::default() };
            doubts(&args).expect("readable")
        };
        let mut measured = |spread: &str| {
            let text = format!("stanchion calibrate, a wake; median of 41, spread {spread} %");
            file.set_source("host.wake-idle", file::Evidence::Measured, &text);
            of(&file)
        };
        assert_eq!(measured("25"), [""; 0]);
        assert_eq!(measured("54"), ["small-vm varied while it was measured: a wake-up ±54 %"]);
        assert_eq!(measured("x"), [""; 0], "not calibrate's words");
    }

    #[test]
    fn a_limit_is_a_quota() {
        let args = Args { machine: Some("small-vm".into()), cpu_limit: Some(0.5), ..Args::default() };
        let places = resolve(&args, 2).expect("valid");
        let SchedulerKind::FairShare(fair) = &places[0].0.host.scheduler else { panic!("fair") };
        assert_eq!(fair.quota.as_ref().map(|quota| quota.budget), Some(50 * stanchion_sim::MS));
    }

    #[test]
    fn what_cannot_be_is_refused_in_one_line() {
        type Mistake = fn(&mut Args);
        let mistakes: [(Mistake, &str); 5] = [
            (|args| args.machine = Some("haswell".into()), "--machine haswell: unknown machine"),
            (|args| args.machine = Some("small-vm,small-vm".into()), "two machines are called small-vm"),
            (|args| args.cpus = Some(33), "no multiple of the 4 groups"),
            (|args| args.overcommit = Some("much".into()), "--overcommit: 'much'"),
            (
                |args| {
                    args.machine = Some("power9-16x12x8".into());
                    args.overcommit = Some("2".into());
                },
                "3072 threads do not fit on the 1536 CPUs",
            ),
        ];
        for (mistake, text) in mistakes {
            let error = places(mistake).expect_err(text);
            assert!(error.contains(text) && !error.contains('\n'), "{error}");
        }
    }
}
