//! One row per cell for spreadsheets and scripts; where it comes from stands in `#` lines above.
use crate::bench::cell::Calibration;
use crate::bench::report::{Cell, Latency, Overhead, Report};
use lab_kit::stats::Summary;
use serde_json::json;

/// The columns of a row: their names, which are those of all rows, and figures.
#[derive(Default)]
struct Row(Vec<(String, String)>);

impl Row {
    /// A column; empty where there is no figure.
    fn add(&mut self, name: &str, figure: Option<impl ToString>) {
        self.0.push((name.to_owned(), figure.map(|figure| figure.to_string()).unwrap_or_default()));
    }

    fn rates(&mut self, what: &str, rates: Option<&Summary>) {
        self.add(&format!("{what}_per_s"), rates.map(|rates| rates.median));
        self.add(&format!("{what}_per_s_min"), rates.map(|rates| rates.min));
        self.add(&format!("{what}_per_s_max"), rates.map(|rates| rates.max));
        self.add(&format!("{what}_per_s_mad"), rates.map(|rates| rates.mad));
    }

    fn waits(&mut self, side: &str, waits: Option<&Latency>) {
        self.add(&format!("{side}wait_samples"), waits.map(|waits| waits.samples));
        self.add(&format!("{side}wait_p50_ns"), waits.map(|waits| waits.p50_ns));
        self.add(&format!("{side}wait_p99_ns"), waits.map(|waits| waits.p99_ns));
        self.add(&format!("{side}wait_p999_ns"), waits.map(|waits| waits.p999_ns));
        self.add(&format!("{side}wait_worst_ns"), waits.map(|waits| waits.worst_ns));
    }
}

fn row(report: &Report, cell: &Cell, rw: bool) -> Row {
    let info = report.info(&cell.lock);
    let memory = info.map(|info| info.memory);
    let profile = report.load(cell).map(|load| load.profile);
    let mut row = Row::default();
    row.add("lock", Some(&cell.lock));
    row.add("kind", info.and_then(|info| Some(json!(info.kind).as_str()?.to_owned())));
    row.add("bytes", info.map(|info| info.bytes));
    row.add("bytes_on_heap", memory.map(|memory| memory.heap_per_lock));
    row.add("bytes_per_thread", memory.map(|memory| memory.per_thread));
    row.add("bytes_per_class", memory.map(|memory| memory.per_class));
    row.add("bytes_per_thread_and_class", memory.map(|memory| memory.per_thread_and_class));
    row.add("profile", Some(&cell.profile));
    row.add("critical_ns", profile.map(|profile| profile.critical_ns));
    row.add("think_ns", profile.map(|profile| profile.think_ns));
    if rw {
        let mix = json!(cell.mix);
        let writers = mix["writers"].as_u64();
        row.add("mix", mix["mix"].as_str());
        row.add("reads_percent", mix["reads_percent"].as_f64());
        row.add("readers", writers.map(|writers| (cell.threads as u64).saturating_sub(writers)));
        row.add("writers", writers);
    }
    row.add("threads", Some(cell.threads));
    row.add("threads_per_cpu", Some(cell.threads as f64 / report.setting.cpus.len().max(1) as f64));
    row.add("state", json!(cell.state)["state"].as_str());
    row.rates("acquisitions", cell.throughput.as_ref());
    row.add("rounds", Some(cell.rates().len()));
    let ratio = report.best_peer(cell).map(|(_, ratio)| ratio);
    let interval = ratio.and_then(|ratio| ratio.interval);
    row.add("ratio_to_best_peer", ratio.map(|ratio| ratio.ratio));
    row.add("ratio_low", interval.map(|(low, _)| low));
    row.add("ratio_high", interval.map(|(_, high)| high));
    row.add("min_over_max", cell.fairness.map(|fairness| fairness.min_over_max));
    row.add("jain", cell.fairness.map(|fairness| fairness.jain));
    row.add("cpu_s_per_million", cell.cpu_s_per_million);
    row.add("voluntary_switches_per_s", cell.voluntary_switches_per_s);
    row.add("involuntary_switches_per_s", cell.involuntary_switches_per_s);
    if rw {
        for (name, side) in [("reads", &cell.reads), ("writes", &cell.writes)] {
            let side = side.clone().unwrap_or_default();
            row.rates(name, side.throughput.as_ref());
            let rounds = side.throughput.as_ref().map_or(0, |rates| rates.rounds.len());
            row.add(&format!("{name}_rounds"), Some(rounds));
            let fairness = side.fairness.map(|fairness| fairness.min_over_max);
            row.add(&format!("{name}_min_over_max"), fairness);
            row.waits(&format!("{name}_"), side.latency.as_ref());
        }
    } else {
        row.waits("", cell.latency.as_ref());
    }
    let events = cell.events.iter().map(|event| format!("{}={}", event.name, event.per_acquisition));
    row.add("events", Some(events.collect::<Vec<_>>().join(" ")));
    row.add("cpu_limit", profile.and_then(|profile| profile.cpu_limit));
    row
}

pub(crate) fn write(report: &Report) -> String {
    let rw = report.setting.rw();
    let rows = report.cells.iter().map(|cell| row(report, cell, rw).0);
    lab_kit::export::csv(comments(report), rows)
}

/// Where it comes from, and what is not of a cell.
fn comments(report: &Report) -> Vec<String> {
    let Report { schema, complete, overhead, uncontended, warnings, .. } = report;
    let mut comments = vec![format!("stanchion bench, schema {schema}, complete: {complete}")];
    comments.extend(report.provenance.rows().into_iter().map(|(name, value)| format!("{name}: {value}")));
    let Calibration { ns_per_step, ticks_per_ns, clock_read_ns, clock_step_ns } = report.calibration;
    comments.push(format!(
        "calibration: {ns_per_step} ns a step, {ticks_per_ns} ticks a ns, {clock_read_ns} ns a clock reading, \
         {clock_step_ns} ns a clock step"
    ));
    comments.extend(overhead.iter().map(|Overhead { profile, throughput_ns, latency_ns, .. }| {
        format!(
            "overhead: {profile} takes {throughput_ns} ns without a lock, {latency_ns} ns in latency passes"
        )
    }));
    let costs = uncontended.iter().flat_map(|row| row.costs.iter().map(move |cost| (&row.lock, cost)));
    comments.extend(costs.map(|(lock, (name, cost))| {
        format!("uncontended: {lock} takes {} {name}, median {}", cost.min, cost.median)
    }));
    comments.extend(warnings.iter().map(|warning| format!("warning: {warning}")));
    comments
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bench::report::State;
    use crate::bench::tests::{full, full_rw};

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
