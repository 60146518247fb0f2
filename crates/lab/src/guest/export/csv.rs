//! One row for each boot, where it comes from in `#` lines above.
use crate::guest::metric;
use crate::guest::report::{Report, Run};
use crate::guest::transcript::State;
use core::fmt::Write;

/// Columns before the figures.
const FIRST: [&str; 3] = ["lock", "round", "state"];
/// Columns behind them.
const LAST: [&str; 6] = ["operations", "qemu_cpu_s", "qemu_wall_s", "boot_wall_s", "tests", "reason"];

pub(super) fn write(report: &Report) -> String {
    let one_line = |text: &str| text.replace(['\n', '\r'], " ");
    let mut text = format!("# stanchion guest, schema {}, complete: {}\n", report.schema, report.complete);
    let mut facts = report.provenance.rows();
    facts.extend(super::facts(report));
    for (name, value) in facts {
        let _ = writeln!(text, "# {name}: {}", one_line(&value));
    }
    for warning in &report.warnings {
        let _ = writeln!(text, "# warning: {}", one_line(warning));
    }
    let mut writer = ::csv::Writer::from_writer(Vec::new());
    let vcpus = (0..report.setting.vcpus).map(|vcpu| format!("vcpu{vcpu}_cpu_s"));
    let figures = metric::ALL.iter().map(|metric| metric.name.to_owned());
    let header =
        FIRST.map(str::to_owned).into_iter().chain(figures).chain(vcpus).chain(LAST.map(str::to_owned));
    let rows = report.runs.iter().map(|run| row(report, run));
    for row in core::iter::once(header.collect::<Vec<_>>()).chain(rows) {
        writer.write_record(row).expect("every row has the same columns and memory does not fail");
    }
    text + &String::from_utf8_lossy(&writer.into_inner().expect("memory does not fail"))
}

fn row(report: &Report, run: &Run) -> Vec<String> {
    let state = match run.state {
        State::Finished => "finished",
        State::Unfinished => "unfinished",
        State::Killed { .. } => "killed",
        State::Failed { .. } => "failed",
    };
    let figure = |value: Option<f64>| value.map(|value| value.to_string()).unwrap_or_default();
    let mut cells = vec![run.lock.clone(), run.round.to_string(), state.to_owned()];
    cells.extend(metric::ALL.iter().map(|metric| figure(metric.of(run))));
    let given = |vcpu: u16| run.given.get(usize::from(vcpu)).map(|given| given.cpu_ns as f64 / 1e9);
    cells.extend((0..report.setting.vcpus).map(|vcpu| figure(given(vcpu))));
    cells.extend([
        run.work.as_ref().map(|work| work.operations.to_string()).unwrap_or_default(),
        run.qemu_cpu_s.to_string(),
        run.qemu_wall_s.to_string(),
        figure(run.boot_wall_s),
        run.tests.len().to_string(),
        run.reason().unwrap_or_default().to_owned(),
    ]);
    cells
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::guest::testing;

    #[test]
    fn there_is_a_row_for_each_boot_with_as_many_columns() {
        let text = write(&testing::report());
        assert!(text.contains("# seed: 42") && text.contains("# set-up: 2 vCPUs on 2 CPUs, TCG"), "{text}");
        let mut reader = ::csv::ReaderBuilder::new().comment(Some(b'#')).from_reader(text.as_bytes());
        let headings = reader.headers().expect("headings").clone();
        let at = |name: &str| headings.iter().position(|heading| heading == name).expect(name);
        let rows: Vec<_> = reader.records().collect::<Result<_, _>>().expect("rows of equal length");
        assert_eq!(rows.len(), 3);
        assert_eq!((&rows[0][at("elapsed_s")], &rows[0][at("vcpu1_cpu_s")]), ("2", "1.5"));
        assert_eq!((&rows[1][at("state")], &rows[1][at("elapsed_s")]), ("unfinished", "30"));
        assert_eq!((&rows[2][at("state")], &rows[2][at("elapsed_s")]), ("failed", ""));
    }
}
