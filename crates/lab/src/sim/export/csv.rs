//! One row per cell for spreadsheets and scripts; where it comes from stands in `#` lines above.
use crate::sim::report::{Cell, Figures, Report, State};
use core::fmt::Write;
use stanchion_sim::Cause;

/// Columns that every cell has, whether it has figures or not.
const HEAD: [&str; 9] =
    ["machine", "cpus", "workload", "unit", "lock", "vcpus", "vcpus_per_cpu", "state", "message"];
/// Columns of figures before those of causes.
const FIGURES: [&str; 25] = [
    "score",
    "score_ci95",
    "units_per_s",
    "units_per_s_ci95",
    "units_per_s_min",
    "units_per_s_max",
    "seeds",
    "speed_up",
    "speed_up_ci95",
    "min_over_max",
    "acquisitions",
    "wait_mean_ns",
    "wait_p50_ns",
    "wait_p90_ns",
    "wait_p99_ns",
    "wait_p999_ns",
    "wait_max_ns",
    "handover_same",
    "handover_local",
    "handover_remote",
    "kicks_per_acquisition",
    "halts_per_acquisition",
    "memory_events",
    "events",
    "hashes",
];

pub(super) fn write(report: &Report) -> String {
    let setting = &report.setting;
    let mut text = format!("# stanchion sim, schema {}, complete: {}\n", report.schema, report.complete);
    for (name, value) in report.provenance.rows() {
        let _ = writeln!(text, "# {name}: {}", value.replace(['\n', '\r'], " "));
    }
    let _ = writeln!(
        text,
        "# virtual time: {} ns after {} ns, limit {} events, fields set: {}",
        setting.time_ns,
        setting.warm_up_ns,
        setting.limit,
        setting.sets.join(" ").replace(['\n', '\r'], " ")
    );
    let mut writer = ::csv::Writer::from_writer(Vec::new());
    let rows = core::iter::once(columns()).chain(report.cells.iter().map(|cell| row(report, cell)));
    for row in rows {
        writer.write_record(row).expect("every row has the same columns and memory does not fail");
    }
    let table = writer.into_inner().expect("memory does not fail");
    text.push_str(&String::from_utf8_lossy(&table));
    text
}

fn columns() -> Vec<String> {
    let fixed = HEAD.iter().chain(&FIGURES).map(|name| (*name).to_owned());
    fixed.chain(Cause::ALL.into_iter().map(|cause| format!("time_{}", cause.name()))).collect()
}

fn row(report: &Report, cell: &Cell) -> Vec<String> {
    let scene = report.scenes.iter().find(|scene| cell.is_of(scene));
    let (state, message) = match &cell.state {
        State::Measured => ("measured", String::new()),
        State::Cut { runs } => ("cut", format!("{runs} runs cut short")),
        State::Broken { seed, message } => ("broken", format!("seed {seed}: {message}")),
        State::Failed { seed, message } => ("failed", format!("seed {seed}: {message}")),
    };
    let mut row = vec![
        cell.machine.clone(),
        or_empty(scene.map(|scene| scene.cpus)),
        cell.workload.clone(),
        or_empty(scene.map(|scene| &scene.unit)),
        cell.lock.clone(),
        cell.vcpus.to_string(),
        cell.overcommit.to_string(),
        state.to_owned(),
        message,
    ];
    match &cell.figures {
        Some(figures) => row.extend(of_figures(figures)),
        None => row.resize(HEAD.len() + FIGURES.len() + Cause::ALL.len(), String::new()),
    }
    row
}

fn of_figures(figures: &Figures) -> Vec<String> {
    let (rate, waits, ways) = (&figures.throughput, &figures.latency, &figures.handovers);
    let events = figures.events.iter().map(|event| format!("{}={}", event.name, event.value));
    let score = figures.score.as_ref();
    let mut row = vec![
        or_empty(score.map(|score| score.mean)),
        or_empty(score.and_then(|score| score.ci95)),
        rate.mean.to_string(),
        or_empty(rate.ci95),
        rate.min.to_string(),
        rate.max.to_string(),
        rate.values.len().to_string(),
        or_empty(figures.speed_up.map(|ratio| ratio.ratio)),
        or_empty(figures.speed_up.and_then(|ratio| ratio.ci95)),
        figures.fairness.mean.to_string(),
        figures.acquisitions.to_string(),
        waits.mean_ns.to_string(),
        waits.p50_ns.to_string(),
        waits.p90_ns.to_string(),
        waits.p99_ns.to_string(),
        waits.p999_ns.to_string(),
        waits.max_ns.to_string(),
        ways.same.to_string(),
        ways.local.to_string(),
        ways.remote.to_string(),
        figures.kicks.to_string(),
        figures.halts.to_string(),
        figures.memory_events.to_string(),
        events.collect::<Vec<_>>().join(" "),
        figures.hashes.join(" "),
    ];
    row.extend(figures.causes.iter().map(|cause| cause.value.to_string()));
    row
}

fn or_empty(value: Option<impl ToString>) -> String {
    value.map(|value| value.to_string()).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sim::testing;

    #[test]
    fn comments_first_then_one_row_per_cell_with_every_column() {
        let mut report = testing::report(&["byte", "ticket"], &[1, 2]);
        report.compare();
        report.cells[3].state = State::Broken { seed: 43, message: "two,\n\"holders\"".into() };
        report.cells[3].figures = None;
        let text = write(&report);
        for part in ["# seed: 42", "# machine: ", "# virtual time: 1000000 ns", "host.kick=2us"] {
            assert!(text.contains(part), "{part}");
        }
        let mut reader = ::csv::ReaderBuilder::new().comment(Some(b'#')).from_reader(text.as_bytes());
        assert_eq!(reader.headers().expect("headers").len(), columns().len());
        let rows: Vec<_> = reader.records().collect::<Result<_, _>>().expect("rows of equal length");
        assert_eq!(rows.len(), 4);
        let column = |name: &str| columns().iter().position(|column| column == name).expect("a column");
        assert_eq!(&rows[2][column("speed_up")], "2");
        assert_eq!(&rows[2][column("time_spinning")], "0.5");
        assert_eq!(&rows[3][column("state")], "broken");
        assert_eq!(&rows[3][column("units_per_s")], "");
        assert!(rows[3][column("message")].contains("two,\n\"holders\""));
    }
}
