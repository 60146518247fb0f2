//! One row per cell for spreadsheets and scripts; where it comes from stands in `#` lines above.
use crate::bench::report::{Cell, Report, State};
use core::fmt::Write;

const COLUMNS: [&str; 27] = [
    "lock",
    "kind",
    "bytes",
    "profile",
    "critical_ns",
    "think_ns",
    "threads",
    "threads_per_cpu",
    "state",
    "acquisitions_per_s",
    "acquisitions_per_s_min",
    "acquisitions_per_s_max",
    "acquisitions_per_s_mad",
    "rounds",
    "ratio_to_best_peer",
    "min_over_max",
    "jain",
    "cpu_s_per_million",
    "voluntary_switches_per_s",
    "involuntary_switches_per_s",
    "wait_samples",
    "wait_p50_ns",
    "wait_p99_ns",
    "wait_p999_ns",
    "wait_worst_ns",
    "events",
    "cpu_limit",
];

pub(crate) fn write(report: &Report) -> String {
    let mut text = origin("bench", report);
    for row in &report.uncontended {
        let after = row.after_ns.as_ref();
        let after = after.map(|ns| format!("; after contention {} ns, median {}", ns.min, ns.median));
        let _ = writeln!(
            text,
            "# uncontended: {} takes {} ns, median {}{}",
            row.lock,
            row.ns.min,
            row.ns.median,
            after.unwrap_or_default()
        );
    }
    warnings(&mut text, report);
    table(&mut text, &COLUMNS, report.cells.iter().map(|cell| row(report, cell)));
    text
}

/// Where a report of the command `what` comes from, as comments.
pub(crate) fn origin<C, U>(what: &str, report: &Report<C, U>) -> String {
    let mut text = format!("# stanchion {what}, schema {}, complete: {}\n", report.schema, report.complete);
    for (name, value) in report.provenance.rows() {
        let _ = writeln!(text, "# {name}: {}", value.replace(['\n', '\r'], " "));
    }
    let calibration = report.calibration;
    let _ = writeln!(
        text,
        "# calibration: {} ns a step, {} ticks a ns, {} ns a clock reading, {} ns a clock step",
        calibration.ns_per_step,
        calibration.ticks_per_ns,
        calibration.clock_read_ns,
        calibration.clock_step_ns
    );
    for overhead in &report.overhead {
        let _ = writeln!(
            text,
            "# overhead: {} takes {} ns without a lock, {} ns in latency passes",
            overhead.profile, overhead.throughput_ns, overhead.latency_ns
        );
    }
    text
}

pub(crate) fn warnings<C, U>(text: &mut String, report: &Report<C, U>) {
    for warning in &report.warnings {
        let _ = writeln!(text, "# warning: {warning}");
    }
}

/// The table itself.
pub(crate) fn table(text: &mut String, columns: &[&str], rows: impl Iterator<Item = Vec<String>>) {
    let mut writer = ::csv::Writer::from_writer(Vec::new());
    let columns = columns.iter().map(|&column| column.to_owned()).collect();
    for row in core::iter::once(columns).chain(rows) {
        writer
            .write_record::<Vec<String>, _>(row)
            .expect("every row has the same columns and memory does not fail");
    }
    let table = writer.into_inner().expect("memory does not fail");
    text.push_str(&String::from_utf8_lossy(&table));
}

fn row(report: &Report, cell: &Cell) -> Vec<String> {
    let info = report.locks.iter().find(|lock| lock.name == cell.lock);
    let profile = report.profiles().find(|profile| profile.name == cell.profile);
    let throughput = cell.throughput.as_ref();
    let latency = cell.latency.as_ref();
    let peer = report.best_peer(&cell.profile, cell.threads).map(Cell::rate);
    let sound = cell.state == State::Measured;
    vec![
        cell.lock.clone(),
        info.map(|info| format!("{:?}", info.kind).to_lowercase()).unwrap_or_default(),
        or_empty(info.map(|info| info.bytes)),
        cell.profile.clone(),
        or_empty(profile.map(|profile| profile.critical_ns)),
        or_empty(profile.map(|profile| profile.think_ns)),
        cell.threads.to_string(),
        (cell.threads as f64 / report.setting.cpus.len().max(1) as f64).to_string(),
        state(&cell.state).to_owned(),
        or_empty(throughput.map(|throughput| throughput.median)),
        or_empty(throughput.map(|throughput| throughput.min)),
        or_empty(throughput.map(|throughput| throughput.max)),
        or_empty(throughput.map(|throughput| throughput.mad)),
        throughput.map_or(0, |throughput| throughput.rounds.len()).to_string(),
        or_empty(peer.filter(|&peer| sound && peer > 0.0).map(|peer| cell.rate() / peer)),
        or_empty(cell.fairness.map(|fairness| fairness.min_over_max)),
        or_empty(cell.fairness.map(|fairness| fairness.jain)),
        or_empty(cell.cpu_s_per_million),
        or_empty(cell.voluntary_switches_per_s),
        or_empty(cell.involuntary_switches_per_s),
        or_empty(latency.map(|latency| latency.samples)),
        or_empty(latency.map(|latency| latency.p50_ns)),
        or_empty(latency.map(|latency| latency.p99_ns)),
        or_empty(latency.map(|latency| latency.p999_ns)),
        or_empty(latency.map(|latency| latency.worst_ns)),
        cell.events
            .iter()
            .map(|event| format!("{}={}", event.name, event.per_acquisition))
            .collect::<Vec<_>>()
            .join(" "),
        or_empty(profile.and_then(|profile| profile.cpu_limit)),
    ]
}

pub(crate) fn or_empty(value: Option<impl ToString>) -> String {
    value.map(|value| value.to_string()).unwrap_or_default()
}

/// The word for what became of a cell.
pub(crate) fn state(state: &State) -> &'static str {
    match state {
        State::Measured => "measured",
        State::Stalled => "stalled",
        State::Skipped { .. } => "skipped",
        State::Broken { .. } => "broken",
        State::Torn { .. } => "torn",
        State::Failed { .. } => "failed",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bench::cell::Pass;
    use crate::bench::plan;
    use crate::bench::testing;

    #[test]
    fn comments_first_then_one_row_per_cell_with_every_column() {
        let mut report = testing::report(&["a", "peer"]);
        let groups = plan::groups(&report.setting, &report.locks, testing::calibration(), false);
        let rounds = [(Pass::Throughput, testing::outcome(&groups[2].cells[0], 10))];
        report.cells.push(Cell::of("a", "short", 1, State::Measured, &rounds));
        report.cells.push(Cell::of("peer", "short", 1, State::Measured, &rounds));
        report.cells.push(Cell::of("a", "short", 2, State::Skipped { stalled_at: 1 }, &[]));
        let text = write(&report);
        for part in ["# seed: 42", "# machine: ", "# kernel: ", "# rustc: ", "commit "] {
            assert!(text.contains(part), "{part}");
        }
        let mut reader = ::csv::ReaderBuilder::new().comment(Some(b'#')).from_reader(text.as_bytes());
        assert_eq!(reader.headers().expect("headers").len(), COLUMNS.len());
        let rows: Vec<_> = reader.records().collect::<Result<_, _>>().expect("rows of equal length");
        assert_eq!(rows.len(), 3);
        let column = |name: &str| COLUMNS.iter().position(|column| *column == name).expect("a column");
        assert_eq!(&rows[0][column("ratio_to_best_peer")], "1");
        assert_eq!(&rows[2][column("state")], "skipped");
        assert_eq!(&rows[2][column("acquisitions_per_s")], "");
    }
}
