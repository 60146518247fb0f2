//! The simulated side: the loop of `bench/worker.rs` as a workload, on the machine, for each native cell.
//! That one loads and stores a counter in each section, whose work is always the same, and thinks for 0.5 to
//! 1.5 of the think time. So this is the free form with one line, sections that do not vary, and a think time
//! that does by half.
use super::verdict::Row;
use crate::calibrate::args::Args;
use crate::calibrate::limited;
use lab_kit::cgroup::PERIOD_MS;
use lab_kit::interrupt;
use lab_kit::progress::Progress;
use stanchion_cells::pool::spread;
use stanchion_sim::machine::Machine;
use stanchion_sim::workload;
use stanchion_sim::{Failure, MS, NS, Spec, Time};

/// Whoever has a CPU of its own needs less time: nobody waits for a turn.
const WITHOUT_WAITING: Time = 10;
/// Until the first turns are over: with 16 threads on a CPU that takes 64 ms.
const WARM_UP: Time = 100 * MS;

/// One cell both ways, or why it is not.
fn simulate(args: &Args, machine: &Machine, cell: &Row) -> Result<Row, String> {
    let sets =
        [format!("workload.critical={}ns", cell.critical_ns), format!("workload.think={}ns", cell.think_ns)];
    let limited = cell.cpu_limit.map(|cpus| limited(machine, cpus)).transpose()?;
    let machine = limited.as_ref().unwrap_or(machine);
    // `short` is the free form with the variation and the data of the benchmark's loop.
    let workload = workload::load_with("short", &sets)?.workload;
    let waits = cell.threads > machine.topology.cpu_count() || cell.cpu_limit.is_some();
    let mut time = args.sim_time.as_nanos() as Time * NS;
    if cell.cpu_limit.is_some() {
        time = time.next_multiple_of(PERIOD_MS * MS); // a part of a period may be that with the CPU time
    }
    let rate = |seed| {
        let spec = Spec {
            machine,
            workload: &workload,
            lock: &cell.lock,
            tunings: &[],
            contexts: cell.threads,
            seed,
            time: if waits { time } else { (time / WITHOUT_WAITING).max(MS) },
            warm_up: if waits { WARM_UP } else { WARM_UP / WITHOUT_WAITING },
            record: None,
            most_events: u64::MAX,
        };
        match stanchion_sim::run(&spec, &interrupt::requested) {
            Ok(outcome) if outcome.cut_short => Err("interrupted".to_owned()),
            Ok(outcome) => Ok(outcome.ops_per_second()),
            Err(Failure::Refused(why) | Failure::Broken(why)) => Err(why),
        }
    };
    Ok(cell.clone().with((1..=args.seeds).map(rate).collect::<Result<_, _>>()?))
}

pub(super) fn all(args: &Args, machine: &Machine, cells: &[Row]) -> Vec<Result<Row, String>> {
    let progress = Progress::new(cells.len() as u64, args.results.quiet);
    progress.now("simulating");
    let rows = spread(cells, &interrupt::requested, |cell| {
        let row = simulate(args, machine, cell);
        progress.step();
        progress.seldom("simulating");
        row.map_err(|why| {
            format!("{} with {} threads, {}: not simulated: {why}", cell.lock, cell.threads, cell.profile)
        })
    });
    progress.finish();
    rows.into_iter().flatten().collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use lab_kit::stats::Summary;

    fn cell(threads: usize) -> Row {
        Row {
            lock: "byte".into(),
            profile: "own".into(),
            critical_ns: 70,
            think_ns: 300,
            threads,
            native: Summary::of(vec![1.0]),
            ..Row::default()
        }
    }

    #[test]
    fn a_cell_is_simulated_the_same_way_every_time() {
        let machine = stanchion_sim::machine::load("small-vm").expect("shipped").machine;
        // Longer than slices: in a shorter time it may be that only a holder's absence is seen.
        let args = Args::of(&["--sim-time", "20ms", "--seeds", "2"]);
        let first = simulate(&args, &machine, &cell(3));
        assert!(first.as_ref().is_ok_and(|row| row.simulated.median > 0.0), "{first:?}");
        assert_eq!(first, simulate(&args, &machine, &cell(3)));
    }

    #[test]
    fn a_cell_under_a_cpu_limit_has_that_time_only() {
        let machine = stanchion_sim::machine::load("small-vm").expect("shipped").machine;
        let args = Args::of(&["--sim-time", "50ms", "--seeds", "1"]);
        let rate = |cpu_limit| {
            let row = simulate(&args, &machine, &Row { cpu_limit, ..cell(1) });
            row.expect("simulated").simulated.median
        };
        let share = rate(Some(0.25)) / rate(None);
        assert!((0.24..0.26).contains(&share), "{share}");
        assert!((rate(Some(2.0)) / rate(None) - 1.0).abs() < 0.01, "small-vm has 2 CPUs");
        let more = simulate(&args, &machine, &Row { cpu_limit: Some(3.0), ..cell(1) });
        assert!(more.is_err_and(|why| why == "a CPU limit of 3 is more than the 2 CPUs of small-vm"));
        let pinned = stanchion_sim::machine::load("haswell-ep-2x10x2").expect("shipped").machine;
        let refused = simulate(&args, &pinned, &Row { cpu_limit: Some(1.0), ..cell(1) });
        assert!(refused.is_err_and(|why| why.contains("fair-share")));
    }

    #[test]
    fn what_the_simulator_refuses_is_told() {
        let machine = stanchion_sim::machine::load("small-vm").expect("shipped").machine;
        let rows = all(&Args::of(&["--quiet", "--sim-time", "1ms", "--seeds", "1"]), &machine, &[cell(0)]);
        assert!(
            rows[0].as_ref().is_err_and(|why| why.starts_with("byte with 0 threads, own: not simulated"))
        );
    }
}
