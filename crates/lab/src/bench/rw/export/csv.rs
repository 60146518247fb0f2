//! One row per cell for spreadsheets and scripts; where it comes from stands in `#` lines above.
use crate::bench::export::csv::{or_empty, origin, state, table, warnings};
use crate::bench::rw::Mix;
use crate::bench::rw::report::{RwCell, RwReport, Side};
use crate::bench::rw::table::ratio;
use core::fmt::Write;

/// What comes before the figures of each side, and what after.
const FIRST: [&str; 23] = [
    "lock",
    "kind",
    "bytes",
    "bytes_on_heap",
    "bytes_per_thread",
    "bytes_per_class",
    "bytes_per_thread_and_class",
    "profile",
    "critical_ns",
    "think_ns",
    "mix",
    "reads_percent",
    "readers",
    "writers",
    "threads",
    "threads_per_cpu",
    "state",
    "acquisitions_per_s",
    "ratio_to_best_peer",
    "min_over_max",
    "cpu_s_per_million",
    "voluntary_switches_per_s",
    "involuntary_switches_per_s",
];

/// The figures of a side, behind its name.
const OF_A_SIDE: [&str; 11] = [
    "per_s",
    "per_s_min",
    "per_s_max",
    "per_s_mad",
    "rounds",
    "min_over_max",
    "wait_samples",
    "wait_p50_ns",
    "wait_p99_ns",
    "wait_p999_ns",
    "wait_worst_ns",
];

pub(super) fn write(report: &RwReport) -> String {
    let mut text = origin("bench rw", report);
    for row in &report.uncontended {
        let (lock, read, write) = (&row.lock, &row.read_ns, &row.write_ns);
        let _ = writeln!(
            text,
            "# uncontended: {lock} takes {} ns to read, median {}, and {} ns to write, median {}",
            read.min, read.median, write.min, write.median
        );
    }
    warnings(&mut text, report);
    let columns = columns();
    let columns: Vec<&str> = columns.iter().map(String::as_str).collect();
    table(&mut text, &columns, report.cells.iter().map(|cell| row(report, cell)));
    text
}

fn columns() -> Vec<String> {
    let sides = ["read", "write"].into_iter();
    let sides = sides.flat_map(|side| OF_A_SIDE.map(|column| format!("{side}s_{column}")));
    FIRST.map(str::to_owned).into_iter().chain(sides).chain(["events".to_owned()]).collect()
}

fn row(report: &RwReport, cell: &RwCell) -> Vec<String> {
    let both = &cell.both;
    let info = report.locks.iter().find(|lock| lock.name == both.lock);
    let memory = info.and_then(|info| info.memory);
    let profile = report.profiles().find(|profile| profile.name == both.profile);
    let (mix, share, writers) = match cell.mix {
        Mix::Drawn { reads_percent } => ("drawn", Some(reads_percent), None),
        Mix::Dedicated { writers } => ("dedicated", None, Some(writers)),
    };
    let mut row = vec![
        both.lock.clone(),
        info.map(|info| format!("{:?}", info.kind).to_lowercase()).unwrap_or_default(),
        or_empty(info.map(|info| info.bytes)),
        or_empty(memory.map(|memory| memory.heap_per_lock)),
        or_empty(memory.map(|memory| memory.per_thread)),
        or_empty(memory.map(|memory| memory.per_class)),
        or_empty(memory.map(|memory| memory.per_thread_and_class)),
        both.profile.clone(),
        or_empty(profile.map(|profile| profile.critical_ns)),
        or_empty(profile.map(|profile| profile.think_ns)),
        mix.to_owned(),
        or_empty(share),
        or_empty(writers.map(|_| cell.mix.column(both.threads))),
        or_empty(writers),
        both.threads.to_string(),
        (both.threads as f64 / report.setting.cpus.len().max(1) as f64).to_string(),
        state(&both.state).to_owned(),
        or_empty(both.throughput.as_ref().map(|throughput| throughput.median)),
        or_empty(ratio(report, cell)),
        or_empty(both.fairness.map(|fairness| fairness.min_over_max)),
        or_empty(both.cpu_s_per_million),
        or_empty(both.voluntary_switches_per_s),
        or_empty(both.involuntary_switches_per_s),
    ];
    for (_, side) in cell.sides() {
        row.extend(side_columns(side));
    }
    let events = both.events.iter().map(|event| format!("{}={}", event.name, event.per_acquisition));
    row.push(events.collect::<Vec<_>>().join(" "));
    row
}

fn side_columns(side: &Side) -> [String; 11] {
    let (throughput, latency) = (side.throughput.as_ref(), side.latency.as_ref());
    [
        or_empty(throughput.map(|throughput| throughput.median)),
        or_empty(throughput.map(|throughput| throughput.min)),
        or_empty(throughput.map(|throughput| throughput.max)),
        or_empty(throughput.map(|throughput| throughput.mad)),
        throughput.map_or(0, |throughput| throughput.rounds.len()).to_string(),
        or_empty(side.fairness.map(|fairness| fairness.min_over_max)),
        or_empty(latency.map(|latency| latency.samples)),
        or_empty(latency.map(|latency| latency.p50_ns)),
        or_empty(latency.map(|latency| latency.p99_ns)),
        or_empty(latency.map(|latency| latency.p999_ns)),
        or_empty(latency.map(|latency| latency.worst_ns)),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bench::rw::testing::full;

    #[test]
    fn comments_first_then_one_row_per_cell_with_every_column() {
        let report = full();
        let text = write(&report);
        for part in ["# stanchion bench rw", "# seed: 42", "# machine: ", "ns to write"] {
            assert!(text.contains(part), "{part}");
        }
        let mut reader = ::csv::ReaderBuilder::new().comment(Some(b'#')).from_reader(text.as_bytes());
        let headers = reader.headers().expect("headers").clone();
        let rows: Vec<_> = reader.records().collect::<Result<_, _>>().expect("rows of equal length");
        assert_eq!(rows.len(), report.cells.len());
        let column = |name: &str| headers.iter().position(|column| column == name).expect(name);
        assert_eq!(&rows[0][column("ratio_to_best_peer")], "2");
        assert_eq!(&rows[0][column("reads_percent")], "99");
        assert_eq!(&rows[0][column("writes_wait_p50_ns")], "1000");
        assert_eq!(&rows[0][column("bytes_per_thread")], "64");
        assert_eq!(&rows[0][column("readers")], "");
    }
}
