//! `cargo xtask programs`: real programs under libc's locks and ours, their output checked or speed compared.
//!
//! What is run stands in tests/programs/programs.toml ([`table`]). [`kit`] makes what they need and sees that
//! they take the library, [`mod@play`] runs one and judges what it printed. `--check`, `--measure` and
//! `--self-test` are in [`measure`], the tables in [`report`], `--advise` and `--predict` in [`advise`].
mod advise;
mod kit;
mod measure;
mod play;
mod predicted;
mod report;
mod table;

use crate::{built, exit_code, process};
use anyhow::{Context as _, Error, Result};
use kit::Kit;
use lab_kit::interrupt;
use lab_kit::names::chosen;
use lab_kit::output::INTERRUPTED;
use lab_kit::units::within;
use measure::LIBC;
use play::Lock;
use stanchion_family::catalogue::{Facts, MUTEXES, Outnumbered, Waits};
use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use table::Program;

#[derive(clap::Args)]
pub(crate) struct Request {
    #[command(flatten)]
    mode: Mode,
    /// Under these locks, separated by commas; `libc` is no interposer
    #[arg(
        long = "lock",
        value_name = "NAME",
        value_delimiter = ',',
        default_value = "libc,stanchion,unfair-q,qspin"
    )]
    locks: Vec<String>,
    /// Only these programs, separated by commas
    #[arg(long, value_name = "NAME", value_delimiter = ',')]
    only: Vec<String>,
    /// The interposer; built first unless it is named [default: target/release/libstanchion_preload.so]
    #[arg(long, value_name = "FILE")]
    preload: Option<PathBuf>,
    /// Leave out programs that are not on this machine; otherwise --check fails for them
    #[arg(long)]
    here_only: bool,
    /// With --measure and --advise: so many runs of each, interleaved
    #[arg(long = "rounds", value_name = "N", default_value_t = 5, value_parser = within(1_usize, 1000))]
    runs: usize,
    /// With --measure, --advise and --predict: where results go [default: target/programs/measured,
    /// .../advised]
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    /// With --measure: write over the results of an earlier measurement
    #[arg(long)]
    force: bool,
}

#[derive(clap::Args)]
#[group(required = true, multiple = false)]
#[expect(clippy::struct_excessive_bools, reason = "the modes are flags of which one is given")]
struct Mode {
    /// Each program once for each lock, at one thread a CPU and at many, and its output checked
    #[arg(long)]
    check: bool,
    /// Throughput relative to libc, beside the bars
    #[arg(long)]
    measure: bool,
    /// What `stanchion advise` predicts, beside what the programs do
    #[arg(long)]
    advise: bool,
    /// What it predicts now, from all recordings of an earlier --advise and beside what that measured, in
    /// place of what it predicted
    #[arg(long)]
    predict: bool,
    /// See whether the checks notice libraries that are broken on purpose
    #[arg(long)]
    self_test: bool,
    /// List the programs and how each is verified
    #[arg(long)]
    list: bool,
    /// Print the Debian packages that are needed and not here
    #[arg(long)]
    missing: bool,
}

pub(crate) fn run(root: &Path, request: &Request) -> Result<ExitCode> {
    let programs = chosen("program", table::read(root)?, &request.only, |program| &program.name);
    let programs = programs.map_err(Error::msg)?;
    if request.mode.list {
        for Program { name, about, verified, hot, .. } in &programs {
            let hot = if *hot { "(hot) " } else { "" };
            println!("{name:<26} {hot}{about}\n{:<26} verified: {verified}", "");
        }
        return Ok(ExitCode::SUCCESS);
    }
    if request.mode.predict {
        return Ok(exit_code(advise::again(root, request)?));
    }
    let is_here = |program: &Program| program.needs.iter().all(|need| kit::find(need).is_some());
    let (here, absent): (Vec<_>, Vec<_>) = programs.into_iter().partition(is_here);
    if request.mode.missing {
        println!("{}", packages(&absent));
        return Ok(ExitCode::SUCCESS);
    }
    for program in &absent {
        println!("{:<26} not here: package {}", program.name, packages([program]));
    }
    process::catch_interrupts()?;
    let mut kit = Kit::new(root, request.mode.measure || request.mode.advise)?;
    let done = if request.mode.self_test {
        measure::self_test(&mut kit, &here, request.only.is_empty())
    } else {
        let locks = locks(root, request)?;
        if request.mode.measure {
            measure::run(&mut kit, &here, &absent, &locks, request)
        } else if request.mode.advise {
            advise::run(&mut kit, &here, &locks, request)
        } else {
            measure::check(&mut kit, &here, &locks)
        }
    };
    // Ctrl-C ends what is being made ready as an error.
    let is_good = done.or_else(|error| if interrupt::requested() { Ok(true) } else { Err(error) })?;
    let is_whole = absent.is_empty() || request.here_only || request.mode.measure;
    if !is_whole {
        println!("not here, so not shown: apt-get install --no-install-recommends {}", packages(&absent));
    }
    if is_good && interrupt::requested() {
        println!("interrupted; what was finished is above");
        return Ok(ExitCode::from(INTERRUPTED));
    }
    Ok(exit_code(is_good && is_whole))
}

fn packages<'a>(programs: impl IntoIterator<Item = &'a Program>) -> String {
    let names = programs.into_iter().flat_map(|program| program.package.split_whitespace());
    let names: BTreeSet<&str> = names.collect();
    Vec::from_iter(names).join(" ")
}

/// The locks that were named; builds the interposer if one of them takes it and none was named.
fn locks(root: &Path, request: &Request) -> Result<Vec<Lock>> {
    let mut interposer = None;
    if request.locks.iter().any(|name| name != LIBC) {
        let path = request.preload.clone().map_or_else(|| built::interposer(root, false), Ok)?;
        interposer = Some(fs::canonicalize(&path).with_context(|| path.display().to_string())?);
    }
    // Where spinning waiters overtake each other, a hand-over needs no time slice.
    let is_slow = |facts: &Facts| facts.waits != Waits::Sleep && facts.outnumbered != Outnumbered::Falls;
    let lock = |name: &String| Lock {
        name: name.clone(),
        library: interposer.clone().filter(|_| name != LIBC),
        slow: MUTEXES.iter().any(|facts| facts.name == name && is_slow(facts)),
        ..Lock::default()
    };
    Ok(request.locks.iter().map(lock).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn packages_are_told_once() {
        let programs = table::read(&crate::workspace::root()).unwrap_or_else(|error| panic!("{error:#}"));
        let chosen: Vec<_> = programs.iter().filter(|program| program.name.starts_with("rocksdb")).collect();
        assert!(chosen.len() > 1);
        assert_eq!(packages(chosen), "rocksdb-tools");
    }
}
