//! `stanchion reproduce` and `stanchion fit`: published tables against the simulator, cell by cell.
//!
//! The cells of the tables (`stanchion_cells::published`) are told in words ([`report`]), in a summary
//! ([`summary`]) and in files ([`export`]). A fit ([`fit`]) opens the columns to fit and no others. A blind
//! cell is compared with what was registered of it.
mod args;
#[cfg(test)]
mod claims;
mod export;
mod fit;
mod report;
mod summary;

pub(crate) use args::{FitArgs, ReproduceArgs};
pub(crate) use fit::fit;

use lab_kit::interrupt;
use lab_kit::output::{FAILED, INTERRUPTED, REFUSED, print};
use lab_kit::progress::Progress;
use lab_kit::provenance::Provenance;
use stanchion_cells::published::cells::Cells;
use stanchion_cells::published::tables::Table;
use stanchion_cells::published::{registered, simulate, tables};
use std::path::Path;
use std::process::ExitCode;

/// The contract of the exit codes, as `--help` tells it.
pub(crate) const EXIT_CODES: &str = "Exit codes: 0 all went well; 1 a run failed, or a check did not hold; \
2 bad input, nothing was run; 130 interrupted, what was finished is kept.";

/// Runs published tables.
pub(crate) fn reproduce(args: &ReproduceArgs) -> ExitCode {
    let prepared = tables::chosen(&args.table).and_then(|tables| {
        let mut cells = Cells::choose(&tables, &args.cell)?;
        let before = registered::recall(&tables, &mut cells)?;
        let exports = export::Exports::open(args)?;
        Ok((tables, cells, before, exports))
    });
    let (tables, mut cells, before, exports) = match prepared {
        Ok(prepared) => prepared,
        Err(message) => return refuse(&message),
    };
    if args.list {
        return print(&report::list(&tables), ExitCode::SUCCESS);
    }
    interrupt::install();
    let seeds = if args.quick { 1 } else { args.seeds.unwrap_or(3).max(1) };
    let jobs = cells.jobs(&tables, seeds, if args.quick { 4 } else { 1 });
    let progress = Progress::new(jobs.len() as u64, args.quiet);
    let results = simulate::all(&jobs, &interrupt::requested, &|_, _| progress.step());
    progress.finish();
    cells.take(&results);
    let mut text = report::tables(&tables, &cells, &before);
    text.push_str(&summary::text(&tables, &cells));
    let code = if cells.any_failed() {
        ExitCode::from(FAILED)
    } else if interrupt::requested() {
        ExitCode::from(INTERRUPTED)
    } else {
        ExitCode::SUCCESS
    };
    let code = print(&text, code);
    let register = args.register.as_ref().filter(|_| !interrupt::requested() && !cells.any_failed());
    let written = exports
        .write(&tables, &cells, seeds)
        .and_then(|()| register.map_or(Ok(()), |dir| write_registered(dir, &tables, &cells, seeds)));
    if let Err(message) = written {
        eprintln!("stanchion: {message}");
        return ExitCode::from(FAILED);
    }
    if interrupt::requested() {
        eprintln!("stanchion: interrupted; the cells that were finished are above");
    }
    code
}

/// Registers all cells below `dir`.
fn write_registered(dir: &Path, tables: &[Table], cells: &Cells, seeds: u64) -> Result<(), String> {
    let path = dir.join(registered::PATH);
    let failed = |error: std::io::Error| format!("{}: {error}", path.display());
    let before = std::fs::read_to_string(&path).map_err(failed)?;
    let text = registered::with(&before, tables, cells, seeds, &today())?;
    std::fs::write(&path, text).map_err(failed)?;
    eprintln!("stanchion: registered in {}", path.display());
    Ok(())
}

/// The date, as records have it.
fn today() -> String {
    Provenance::collect(1).date.chars().take_while(|&letter| letter != 'T').collect()
}

fn refuse(message: &str) -> ExitCode {
    eprintln!("stanchion: {message}");
    ExitCode::from(REFUSED)
}
