//! `stanchion reproduce` and `stanchion fit`: published tables against the simulator, cell by cell.
//!
//! The tables are data ([`tables`]): which machine and workload each needs stands beside its numbers. The
//! runs of all cells go side by side ([`simulate`]), come together in cells ([`cells`]) and are told in words
//! ([`report`]), in a summary ([`summary`]) and in files ([`export`]). A fit ([`fit`]) sees the baseline's
//! column and nothing else.
mod args;
mod export;
mod fit;
mod report;
mod summary;

pub(crate) use args::{FitArgs, ReproduceArgs};
pub(crate) use fit::fit;

use lab_kit::interrupt;
use lab_kit::output::{FAILED, INTERRUPTED, REFUSED, print};
use lab_kit::progress::Progress;
use stanchion_cells::published::cells::Cells;
use stanchion_cells::published::{simulate, tables};
use std::process::ExitCode;

/// The contract of the exit codes, as `--help` tells it.
pub(crate) const EXIT_CODES: &str = "Exit codes: 0 all went well; 1 a run failed, or a check did not hold; \
2 bad input, nothing was run; 130 interrupted, what was finished is kept.";

/// Runs published tables.
pub(crate) fn reproduce(args: &ReproduceArgs) -> ExitCode {
    let prepared = tables::chosen(&args.table).and_then(|tables| {
        let cells = Cells::choose(&tables, &args.cell)?;
        let exports = export::Exports::open(args)?;
        Ok((tables, cells, exports))
    });
    let (tables, mut cells, exports) = match prepared {
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
    let mut text = report::tables(&tables, &cells);
    text.push_str(&summary::text(&tables, &cells));
    let code = if cells.any_failed() {
        ExitCode::from(FAILED)
    } else if interrupt::requested() {
        ExitCode::from(INTERRUPTED)
    } else {
        ExitCode::SUCCESS
    };
    let code = print(&text, code);
    match exports.write(&tables, &cells, seeds) {
        Ok(()) => {}
        Err(message) => {
            eprintln!("stanchion: {message}");
            return ExitCode::from(FAILED);
        }
    }
    if interrupt::requested() {
        eprintln!("stanchion: interrupted; the cells that were finished are above");
    }
    code
}

fn refuse(message: &str) -> ExitCode {
    eprintln!("stanchion: {message}");
    ExitCode::from(REFUSED)
}
