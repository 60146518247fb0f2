//! One row per cell for spreadsheets and scripts; where it comes from stands in `#` lines above.
use crate::bench::cell::Profile;
use crate::bench::mix::Mix;
use crate::bench::report::{Cell, Latency, LockInfo, Report, Side, State};
use core::fmt::Write;
use lab_kit::stats::{Ratio, Summary};

/// What a column is made of.
struct Row<'a> {
    report: &'a Report,
    cell: &'a Cell,
    info: Option<&'a LockInfo>,
    profile: Option<&'a Profile>,
    ratio: Option<Ratio>,
}

/// A figure of a row, by name; empty where there is none.
type Column = (&'static str, fn(&Row) -> String);

/// What is known of the lock.
const LOCK: &[Column] = &[
    ("lock", |row| row.cell.lock.clone()),
    ("kind", |row| row.info.map(|info| format!("{:?}", info.kind).to_lowercase()).unwrap_or_default()),
    ("bytes", |row| or_empty(row.info.map(|info| info.bytes))),
    ("bytes_on_heap", |row| or_empty(row.info.map(|info| info.memory.heap_per_lock))),
    ("bytes_per_thread", |row| or_empty(row.info.map(|info| info.memory.per_thread))),
    ("bytes_per_class", |row| or_empty(row.info.map(|info| info.memory.per_class))),
    ("bytes_per_thread_and_class", |row| or_empty(row.info.map(|info| info.memory.per_thread_and_class))),
    ("profile", |row| row.cell.profile.clone()),
    ("critical_ns", |row| or_empty(row.profile.map(|profile| profile.critical_ns))),
    ("think_ns", |row| or_empty(row.profile.map(|profile| profile.think_ns))),
];

/// Who reads and who writes.
const MIX: &[Column] = &[
    ("mix", |row| {
        let name = |mix| if matches!(mix, Mix::Drawn { .. }) { "drawn" } else { "dedicated" };
        or_empty(row.cell.mix.map(name))
    }),
    ("reads_percent", |row| match row.cell.mix {
        Some(Mix::Drawn { reads_percent }) => reads_percent.to_string(),
        _ => String::new(),
    }),
    ("readers", |row| or_empty(writers(row).map(|writers| row.cell.threads.saturating_sub(writers)))),
    ("writers", |row| or_empty(writers(row))),
];

const CELL: &[Column] = &[
    ("threads", |row| row.cell.threads.to_string()),
    ("threads_per_cpu", |row| {
        (row.cell.threads as f64 / row.report.setting.cpus.len().max(1) as f64).to_string()
    }),
    ("state", |row| state(&row.cell.state).to_owned()),
    ("acquisitions_per_s", |row| of(row.cell.throughput.as_ref(), |rates| rates.median)),
    ("acquisitions_per_s_min", |row| of(row.cell.throughput.as_ref(), |rates| rates.min)),
    ("acquisitions_per_s_max", |row| of(row.cell.throughput.as_ref(), |rates| rates.max)),
    ("acquisitions_per_s_mad", |row| of(row.cell.throughput.as_ref(), |rates| rates.mad)),
    ("rounds", |row| row.cell.rates().len().to_string()),
    ("ratio_to_best_peer", |row| or_empty(row.ratio.map(|ratio| ratio.ratio))),
    ("ratio_low", |row| or_empty(row.ratio.and_then(|ratio| ratio.interval).map(|(low, _)| low))),
    ("ratio_high", |row| or_empty(row.ratio.and_then(|ratio| ratio.interval).map(|(_, high)| high))),
    ("min_over_max", |row| or_empty(row.cell.fairness.map(|fairness| fairness.min_over_max))),
    ("jain", |row| or_empty(row.cell.fairness.map(|fairness| fairness.jain))),
    ("cpu_s_per_million", |row| or_empty(row.cell.cpu_s_per_million)),
    ("voluntary_switches_per_s", |row| or_empty(row.cell.voluntary_switches_per_s)),
    ("involuntary_switches_per_s", |row| or_empty(row.cell.involuntary_switches_per_s)),
];

/// The figures of a side, or of both together.
type SideColumn = (&'static str, fn(&Side) -> String);

/// Behind `reads_` or `writes_`.
const RATES: &[SideColumn] = &[
    ("per_s", |side| of(side.throughput.as_ref(), |rates| rates.median)),
    ("per_s_min", |side| of(side.throughput.as_ref(), |rates| rates.min)),
    ("per_s_max", |side| of(side.throughput.as_ref(), |rates| rates.max)),
    ("per_s_mad", |side| of(side.throughput.as_ref(), |rates| rates.mad)),
    ("rounds", |side| side.throughput.as_ref().map_or(0, |rates| rates.rounds.len()).to_string()),
    ("min_over_max", |side| or_empty(side.fairness.map(|fairness| fairness.min_over_max))),
];

/// A figure of the waits, behind the side that has them.
type WaitColumn = (&'static str, fn(&Latency) -> u64);

const WAITS: &[WaitColumn] = &[
    ("wait_samples", |waits| waits.samples),
    ("wait_p50_ns", |waits| waits.p50_ns),
    ("wait_p99_ns", |waits| waits.p99_ns),
    ("wait_p999_ns", |waits| waits.p999_ns),
    ("wait_worst_ns", |waits| waits.worst_ns),
];

fn of(rates: Option<&Summary>, value: fn(&Summary) -> f64) -> String {
    or_empty(rates.map(value))
}

fn writers(row: &Row) -> Option<usize> {
    match row.cell.mix {
        Some(Mix::Dedicated { writers }) => Some(writers),
        _ => None,
    }
}

pub(crate) fn write(report: &Report) -> String {
    let rw = !report.setting.mixes.is_empty();
    let mut text = origin(if rw { "bench rw" } else { "bench" }, report);
    for row in &report.uncontended {
        for (name, cost) in &row.costs {
            let _ = writeln!(
                text,
                "# uncontended: {} takes {} {name}, median {}",
                row.lock, cost.min, cost.median
            );
        }
    }
    warnings(&mut text, report);
    let cells = report.cells.iter().map(|cell| {
        let profile = report.setting.profiles.iter().find(|profile| profile.name == cell.profile);
        let (info, ratio) = (report.info(&cell.lock), report.to_best_peer(cell));
        columns(&Row { report, cell, info, profile, ratio }, rw)
    });
    let rows: Vec<Vec<(String, String)>> = cells.collect();
    let Some(first) = rows.first() else { return text };
    let names: Vec<&str> = first.iter().map(|(name, _)| name.as_str()).collect();
    table(&mut text, &names, rows.iter().map(|row| row.iter().map(|(_, figure)| figure.clone()).collect()));
    text
}

/// The columns of a row with their names, which are those of all rows.
fn columns(row: &Row, rw: bool) -> Vec<(String, String)> {
    let mix = if rw { MIX } else { &[] };
    let plain = LOCK.iter().chain(mix).chain(CELL);
    let mut columns: Vec<(String, String)> =
        plain.map(|(name, figure)| ((*name).to_owned(), figure(row))).collect();
    let waits = |columns: &mut Vec<_>, side: &str, latency: Option<&Latency>| {
        let figures =
            WAITS.iter().map(|(name, figure)| (format!("{side}{name}"), or_empty(latency.map(figure))));
        columns.extend(figures);
    };
    if rw {
        for (name, side) in [("reads_", &row.cell.reads), ("writes_", &row.cell.writes)] {
            let nobody = Side::default();
            let side = side.as_ref().unwrap_or(&nobody);
            columns.extend(RATES.iter().map(|(what, figure)| (format!("{name}{what}"), figure(side))));
            waits(&mut columns, name, side.latency.as_ref());
        }
    } else {
        waits(&mut columns, "", row.cell.latency.as_ref());
    }
    let events = row.cell.events.iter().map(|event| format!("{}={}", event.name, event.per_acquisition));
    columns.push(("events".to_owned(), events.collect::<Vec<_>>().join(" ")));
    columns.push(("cpu_limit".to_owned(), or_empty(row.profile.and_then(|profile| profile.cpu_limit))));
    columns
}

/// Where a report of the command `what` comes from, as comments.
fn origin(what: &str, report: &Report) -> String {
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

fn warnings(text: &mut String, report: &Report) {
    for warning in &report.warnings {
        let _ = writeln!(text, "# warning: {warning}");
    }
}

/// The table itself.
fn table(text: &mut String, columns: &[&str], rows: impl Iterator<Item = Vec<String>>) {
    let mut writer = csv::Writer::from_writer(Vec::new());
    let columns = columns.iter().map(|&column| column.to_owned()).collect();
    for row in core::iter::once(columns).chain(rows) {
        writer
            .write_record::<Vec<String>, _>(row)
            .expect("every row has the same columns and memory does not fail");
    }
    let table = writer.into_inner().expect("memory does not fail");
    text.push_str(&String::from_utf8_lossy(&table));
}

fn or_empty(value: Option<impl ToString>) -> String {
    value.map(|value| value.to_string()).unwrap_or_default()
}

/// The word for what became of a cell.
fn state(state: &State) -> &'static str {
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
    use crate::bench::testing::{full, full_rw};

    /// The table of a report: its head, and its rows.
    fn read(report: &Report) -> (csv::StringRecord, Vec<csv::StringRecord>) {
        let text = write(report);
        for part in
            ["# seed: 42", "# machine: ", "# kernel: ", "# rustc: ", "commit ", "# uncontended: a takes"]
        {
            assert!(text.contains(part), "{part}");
        }
        let mut reader = csv::ReaderBuilder::new().comment(Some(b'#')).from_reader(text.as_bytes());
        let headers = reader.headers().expect("headers").clone();
        (headers, reader.records().collect::<Result<_, _>>().expect("rows of equal length"))
    }

    #[test]
    fn comments_first_then_one_row_per_cell_with_every_column() {
        let mut report = full();
        report.cells.push(Cell::of("a", ("short", None, 8), State::Skipped { stalled_at: 1 }, &[]));
        let (headers, rows) = read(&report);
        assert_eq!(rows.len(), report.cells.len());
        let column = |name: &str| headers.iter().position(|column| column == name).expect(name);
        for name in ["ratio_to_best_peer", "ratio_low", "ratio_high"] {
            let ratio: f64 = rows[0][column(name)].parse().expect(name);
            assert!((ratio - 2.0).abs() < 1e-9, "{name}: {ratio}");
        }
        let last = rows.last().expect("a row");
        assert_eq!((&last[column("state")], &last[column("acquisitions_per_s")]), ("skipped", ""));
        assert!(headers.iter().all(|column| column != "mix" && column != "reads_per_s"));
    }

    #[test]
    fn readers_and_writers_have_columns_of_their_own() {
        let (headers, rows) = read(&full_rw());
        let column = |name: &str| headers.iter().position(|column| column == name).expect(name);
        assert_eq!(&rows[0][column("reads_percent")], "99");
        assert_eq!(&rows[0][column("writes_wait_p50_ns")], "1000");
        assert_eq!(&rows[0][column("bytes_per_thread")], "64");
        assert_eq!((&rows[0][column("mix")], &rows[0][column("readers")]), ("drawn", ""));
    }
}
