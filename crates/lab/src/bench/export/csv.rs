//! One row per cell for spreadsheets and scripts; where it comes from stands in `#` lines above.
use crate::bench::contender::LockInfo;
use crate::bench::figures::figures;
use crate::bench::mix::Profile;
use crate::bench::report::{Cell, Overhead, Report};
use lab_kit::column::{Column, Figure};
use lab_kit::export::columns::named;
use lab_kit::stats::Ratio;
use serde_json::json;

/// A cell, and the report that it is in.
#[derive(Clone, Copy)]
struct Row<'a> {
    report: &'a Report,
    cell: &'a Cell,
}

/// What stands before the figures.
fn about<'a>(rw: bool) -> Vec<Column<Row<'a>>> {
    let mut columns = vec![
        Column::new("lock", |row: &Row| row.cell.lock.clone()),
        of_lock("kind", |info| json!(info.kind).as_str().map(str::to_owned)),
        of_lock("bytes", |info| Some(info.bytes)),
        of_lock("bytes_on_heap", |info| Some(info.memory.heap_per_lock)),
        of_lock("bytes_per_thread", |info| Some(info.memory.per_thread)),
        of_lock("bytes_per_class", |info| Some(info.memory.per_class)),
        of_lock("bytes_per_thread_and_class", |info| Some(info.memory.per_thread_and_class)),
        Column::new("profile", |row: &Row| row.cell.profile.clone()),
        of_profile("critical_ns", |profile| Some(profile.critical_ns)),
        of_profile("think_ns", |profile| Some(profile.think_ns)),
        of_profile("cpu_limit", |profile| profile.cpu_limit),
    ];
    if rw {
        let writers = |row: &Row| json!(row.cell.mix)["writers"].as_u64();
        columns.extend([
            Column::new("mix", |row: &Row| json!(row.cell.mix)["mix"].as_str().map(str::to_owned)),
            Column::new("reads_percent", |row: &Row| json!(row.cell.mix)["reads_percent"].as_f64()),
            Column::new("readers", move |row: &Row| {
                Some((row.cell.threads as u64).saturating_sub(writers(row)?))
            }),
            Column::new("writers", writers),
        ]);
    }
    columns.extend([
        Column::new("threads", |row: &Row| row.cell.threads),
        Column::new("threads_per_cpu", |row: &Row| {
            row.cell.threads as f64 / row.report.setting.cpus.len().max(1) as f64
        }),
        Column::new("state", |row: &Row| json!(row.cell.state)["state"].as_str().map(str::to_owned)),
        ratio("ratio_to_best_peer", |ratio| ratio.middle()),
        ratio("ratio_low", |ratio| Some(ratio.bounds()?.0)),
        ratio("ratio_high", |ratio| Some(ratio.bounds()?.1)),
    ]);
    columns
}

fn of_lock<'a, T: Figure + 'static>(name: &str, of: fn(&LockInfo) -> Option<T>) -> Column<Row<'a>> {
    Column::new(name, move |row: &Row| row.report.info(&row.cell.lock).and_then(of))
}

fn of_profile<'a, T: Figure + 'static>(name: &str, of: fn(&Profile) -> Option<T>) -> Column<Row<'a>> {
    Column::new(name, move |row: &Row| of(row.report.load(row.cell)?.profile))
}

fn ratio<'a>(name: &str, of: fn(Ratio) -> Option<f64>) -> Column<Row<'a>> {
    Column::new(name, move |row: &Row| of(row.report.best_peer(row.cell)?.1))
}

pub(crate) fn write(report: &Report) -> String {
    let (rw, rows) = (report.setting.rw(), report.cells.iter().map(|cell| Row { report, cell }));
    let columns = about(rw);
    let rows = named(&columns, rows).zip(named(figures(rw), &report.cells));
    let mut about = super::about::about(report);
    about.facts.extend(report.overhead.iter().map(
        |Overhead { profile, throughput_ns, latency_ns, .. }| {
            let told = format!(
                "{profile} takes {throughput_ns} ns without a lock, {latency_ns} ns in latency passes"
            );
            ("overhead", told)
        },
    ));
    let costs = report.uncontended.iter().flat_map(|row| row.costs.iter().map(move |cost| (&row.lock, cost)));
    about.facts.extend(costs.map(|(lock, (name, cost))| {
        ("uncontended", format!("{lock} takes {} {name}, median {}", cost.min, cost.median))
    }));
    about.csv(rows.map(|(about, figures)| about.chain(figures)))
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
