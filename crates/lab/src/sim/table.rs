//! The result as tables for a terminal of a hundred columns.
use super::report::Report;
use core::fmt::Write;
use lab_kit::export::grid::{WIDTH, align_right, heading, plain_table, trimmed};
use lab_kit::units::{format_ns, round_ns, three_figures};
use stanchion_cells::cell::{Cell, Figures, SceneInfo, State, Waits};
use stanchion_cells::stats::Estimate;
use stanchion_sim::Cause;

/// One quantity of a cell, as a column or a table.
pub(super) struct Quantity {
    pub title: &'static str,
    /// The title where there is little room.
    pub short: &'static str,
    pub show: fn(&Figures) -> String,
}

/// What is told of a cell first.
pub(super) const QUANTITIES: [Quantity; 7] = [
    Quantity {
        title: "result (mean over seeds, 95 % confidence interval)",
        short: "result",
        show: |figures| figures.score.as_ref().map_or_else(|| "-".to_owned(), with_doubt),
    },
    Quantity {
        title: "speed-up over the first lock",
        short: "speed-up",
        show: |figures| figures.speed_up.map_or_else(|| "-".to_owned(), |ratio| three_figures(ratio.ratio)),
    },
    Quantity {
        title: "fairness: slowest vCPU / fastest vCPU",
        short: "fairness",
        show: |figures| format!("{:.2}", figures.fairness.mean),
    },
    Quantity {
        title: "acquire latency p50",
        short: "p50",
        show: |figures| waits(figures, |waits| waits.p50_ns),
    },
    Quantity {
        title: "acquire latency p99",
        short: "p99",
        show: |figures| waits(figures, |waits| waits.p99_ns),
    },
    Quantity {
        title: "acquire latency p99.9",
        short: "p99.9",
        show: |figures| waits(figures, |waits| waits.p999_ns),
    },
    Quantity {
        title: "longest acquire",
        short: "longest",
        show: |figures| waits(figures, |waits| waits.max_ns),
    },
];

/// Where time goes, in the words of tables.
pub(super) const SPENT: [(&str, &[Cause]); 8] = [
    ("useful", &[Cause::Computing, Cause::Holding]),
    ("lock code", &[Cause::Locking]),
    ("transfer", &[Cause::Transfer]),
    ("spinning", &[Cause::Spinning]),
    ("overhead", &[Cause::Overhead]),
    ("stolen", &[Cause::Preempted]),
    ("halted", &[Cause::Halted]),
    ("asleep", &[Cause::Sleeping]),
];

/// A mean with its interval relative to it.
fn with_doubt(mean: &Estimate) -> String {
    let doubt = mean.relative().map(|share| match share * 100.0 {
        wide if wide >= 9.95 => format!(" ±{wide:.0}%"),
        narrow => format!(" ±{narrow:.1}%"),
    });
    three_figures(mean.mean) + &doubt.unwrap_or_default()
}

/// A percentage in the least room.
fn short_percent(share: f64) -> String {
    match share * 100.0 {
        value if value >= 9.95 => format!("{value:.0}%"),
        value if value >= 0.05 => format!("{value:.1}%"),
        value if value > 0.0 => "<0.1%".to_owned(),
        _ => "0".to_owned(),
    }
}

fn waits(figures: &Figures, value: fn(&Waits) -> u64) -> String {
    if figures.latency.samples == 0 { "-".to_owned() } else { format_ns(value(&figures.latency) as f64) }
}

/// Everything, for the terminal.
pub(super) fn render(report: &Report, events: bool) -> String {
    let mut text = String::new();
    for scene in &report.scenes {
        if !report.cells.iter().any(|cell| cell.is_of(scene)) {
            continue;
        }
        let _ = writeln!(text, "\n== {} ==\n{}\n{}", title(scene), scene.machine_about, scene.workload_about);
        text.push_str(&figures(report, scene));
        text.push_str(&notes(report, scene));
        text.push_str(&spent(report, scene));
        if events {
            text.push_str(&lock_events(report, scene));
        }
    }
    text
}

/// Machine and workload in a line.
pub(super) fn title(scene: &SceneInfo) -> String {
    let sockets = if scene.sockets == 1 { String::new() } else { format!(" in {} sockets", scene.sockets) };
    let cpus = if scene.cpus == 1 { "CPU" } else { "CPUs" };
    format!("{} ({} {cpus}{sockets}), workload {}", scene.machine, scene.cpus, scene.workload)
}

/// What the workload's results are.
pub(super) fn result(scene: &SceneInfo) -> String {
    if scene.lower_is_better {
        format!("time of the job, {}", scene.unit)
    } else {
        format!("throughput, {}", scene.unit)
    }
}

/// How much was simulated, in a line.
pub(super) fn simulated(report: &Report) -> String {
    let setting = &report.setting;
    let runs: usize = report.cells.len() * setting.seeds.len();
    let events = report.memory_events();
    format!(
        "simulated: {runs} {} of {} after {}, {} million memory events in {} s, {} million a second",
        if runs == 1 { "run" } else { "runs" },
        round_ns(setting.time_ns as f64),
        round_ns(setting.warm_up_ns as f64),
        three_figures(events as f64 / 1e6),
        three_figures(report.effort.seconds),
        three_figures(report.effort.memory_events_per_second / 1e6),
    )
}

/// The word for a cell without figures.
pub(super) fn word(cell: Option<&Cell>) -> &'static str {
    match cell.map(|cell| &cell.state) {
        Some(State::Broken { .. }) => "BROKEN",
        Some(State::Failed { .. }) => "failed",
        _ => "-",
    }
}

/// A quantity of a cell; what was cut short carries a mark.
pub(super) fn shown(cell: Option<&Cell>, quantity: &Quantity) -> String {
    match cell.and_then(|cell| Some((cell, cell.figures.as_ref()?))) {
        Some((cell, figures)) => {
            let mark = if matches!(cell.state, State::Cut { .. }) { "!" } else { "" };
            (quantity.show)(figures) + mark
        }
        None => word(cell).to_owned(),
    }
}

/// One table with a column for each quantity if there is one count, else a table for each quantity with a
/// column for each.
fn figures(report: &Report, scene: &SceneInfo) -> String {
    let locks = &report.setting.locks;
    if let [count] = scene.vcpus[..] {
        let mut table = plain_table();
        let corner = format!("{} vCPUs", heading(count, scene.cpus));
        table.set_header(
            core::iter::once(corner).chain(QUANTITIES.iter().map(|quantity| quantity.short.to_owned())),
        );
        for lock in locks {
            let cell = report.cell(scene, lock, count);
            table.add_row(
                core::iter::once(lock.clone()).chain(QUANTITIES.iter().map(|quantity| shown(cell, quantity))),
            );
        }
        align_right(&mut table);
        return format!(
            "\nresult: {}{}\n{}\n",
            result(scene),
            if report.setting.seeds.len() > 1 { "; mean over seeds, 95 % confidence interval" } else { "" },
            trimmed(&table)
        );
    }
    let mut text = String::new();
    for quantity in &QUANTITIES {
        let pieces =
            |columns: usize| scene.vcpus.chunks(columns).map(|counts| piece(report, scene, counts, quantity));
        let fits = |text: &String| text.lines().all(|line| line.chars().count() <= WIDTH);
        let whole = |columns: usize| pieces(columns).collect::<String>();
        let body = (1..=scene.vcpus.len()).rev().map(whole).find(fits).unwrap_or_else(|| whole(1));
        let title = if quantity.short == "result" {
            result(scene) + " (mean over seeds, 95 % confidence interval)"
        } else {
            quantity.title.to_owned()
        };
        let _ = write!(text, "\n{title}\n{body}");
    }
    text
}

fn piece(report: &Report, scene: &SceneInfo, counts: &[usize], quantity: &Quantity) -> String {
    let mut table = plain_table();
    let headings = counts.iter().map(|&count| heading(count, scene.cpus));
    table.set_header(core::iter::once("vCPUs (per CPU)".to_owned()).chain(headings));
    for lock in &report.setting.locks {
        let cells = counts.iter().map(|&count| shown(report.cell(scene, lock, count), quantity));
        table.add_row(core::iter::once(lock.clone()).chain(cells));
    }
    align_right(&mut table);
    trimmed(&table) + "\n"
}

/// What the words and marks mean.
pub(super) fn notes(report: &Report, scene: &SceneInfo) -> String {
    let mut text = String::new();
    for cell in report.cells.iter().filter(|cell| cell.is_of(scene)) {
        let who = format!("{} with {} vCPUs", cell.lock, cell.vcpus);
        let _ = match &cell.state {
            State::Measured => Ok(()),
            State::Cut { runs } => {
                writeln!(
                    text,
                    "note: {who}: {runs} of its runs were cut short (!) by the limit of events, --limit"
                )
            }
            State::Broken { seed, message } => writeln!(text, "BROKEN: {who}, seed {seed}: {message}"),
            State::Failed { seed, message } => writeln!(text, "failed: {who}, seed {seed}: {message}"),
        };
    }
    text
}

/// Where the vCPUs' time went, and where the lock.
fn spent(report: &Report, scene: &SceneInfo) -> String {
    let cells: Vec<(&Cell, &Figures)> = measured(report, scene).collect();
    if cells.is_empty() {
        return String::new();
    }
    // What nobody did needs no column.
    let used = |causes: &[Cause]| cells.iter().any(|(_, figures)| figures.share_of(causes) > 0.0);
    let spent: Vec<_> = SPENT.iter().filter(|(_, causes)| used(causes)).collect();
    let mut time = plain_table();
    time.set_header(["vCPUs", "lock"].into_iter().chain(spent.iter().map(|(name, _)| *name)));
    let mut ways = plain_table();
    ways.set_header(["vCPUs", "lock", "to itself", "same socket", "another socket", "kicks", "halts"]);
    for (cell, figures) in cells {
        let head = [cell.vcpus.to_string(), cell.lock.clone()];
        let shares = spent.iter().map(|(_, causes)| short_percent(figures.share_of(causes)));
        time.add_row(head.iter().cloned().chain(shares));
        let way = &figures.handovers;
        let shares = [way.same, way.local, way.remote].map(short_percent);
        let counts = [figures.kicks, figures.halts].map(three_figures);
        ways.add_row(head.into_iter().chain(shares).chain(counts));
    }
    for table in [&mut time, &mut ways] {
        align_right(table);
        if let Some(lock) = table.column_mut(1) {
            lock.set_cell_alignment(comfy_table::CellAlignment::Left);
        }
    }
    format!(
        "\nwhere the time of vCPUs goes (stolen: runnable without a CPU)\n{}\n\nwhere the lock goes, and kicks and halts for each acquisition\n{}\n",
        trimmed(&time),
        trimmed(&ways)
    )
}

fn measured<'a>(report: &'a Report, scene: &'a SceneInfo) -> impl Iterator<Item = (&'a Cell, &'a Figures)> {
    let order = |(cell, _): &(&Cell, &Figures)| cell.vcpus;
    let mut cells: Vec<_> = report
        .cells
        .iter()
        .filter(|cell| cell.is_of(scene))
        .filter_map(|cell| Some((cell, cell.figures.as_ref()?)))
        .collect();
    cells.sort_by_key(order);
    cells.into_iter()
}

/// Lock events for each acquisition, one line a cell.
fn lock_events(report: &Report, scene: &SceneInfo) -> String {
    let mut text = "\nlock events for each acquisition\n".to_owned();
    for (cell, figures) in measured(report, scene) {
        let events: Vec<String> = figures
            .events
            .iter()
            .map(|event| format!("{} {}", event.name, three_figures(event.value)))
            .collect();
        let events = if events.is_empty() { "none".to_owned() } else { events.join(", ") };
        let _ = write!(text, " {:>4}  {:<28}", cell.vcpus, cell.lock);
        let mut column = 34;
        for word in events.split_inclusive(", ") {
            if column + word.len() > WIDTH {
                let _ = write!(text, "\n{:35}", "");
                column = 35;
            }
            text.push_str(word);
            column += word.len();
        }
        text.push('\n');
    }
    text.lines().map(str::trim_end).collect::<Vec<_>>().join("\n") + "\n"
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sim::testing;

    fn rendered(locks: &[&str], vcpus: &[usize]) -> String {
        let mut report = testing::report(locks, vcpus);
        report.compare();
        render(&report, true)
    }

    #[test]
    fn several_counts_are_columns_and_one_count_makes_quantities_columns() {
        let many = rendered(&["byte", "ticket"], &[1, 2, 4]);
        let row = many.lines().find(|line| line.starts_with(" ticket")).expect("a row");
        assert_eq!(row.split_whitespace().next(), Some("ticket"));
        assert!(
            row.contains("2.10") && many.contains("4 (2x)") && many.contains("acquire latency p99.9"),
            "{many}"
        );
        let one = rendered(&["byte", "ticket"], &[4]);
        let row = one.lines().find(|line| line.starts_with(" ticket")).expect("a row");
        assert!(row.contains("2.10") && row.contains("2.00") && row.contains("100 ns"), "{one}");
    }

    #[test]
    fn causes_ways_and_events_are_told() {
        let text = rendered(&["byte"], &[4]);
        assert!(text.contains("useful") && text.contains("spinning") && !text.contains("asleep"), "{text}");
        assert!(text.contains("75%") && text.contains("lock_pending 1"), "{text}");
    }

    #[test]
    fn a_hundred_columns_are_enough_and_no_count_is_lost() {
        let counts: Vec<usize> = (0..12).map(|power| 1 << power).collect();
        let text = rendered(&["pv-qspin-kick-at-unlock", "byte"], &counts);
        let longest = text.lines().map(|line| line.chars().count()).max().unwrap_or(0);
        assert!(longest <= WIDTH, "{longest}: {text}");
        assert!(counts.iter().all(|&count| text.contains(&heading(count, 2))));
    }

    #[test]
    fn broken_and_cut_cells_say_so() {
        let mut report = testing::report(&["byte", "ticket"], &[1, 2]);
        report.cells[0].state = State::Broken { seed: 42, message: "two holders".into() };
        report.cells[0].figures = None;
        report.cells[1].state = State::Cut { runs: 2 };
        let text = render(&report, false);
        assert!(text.contains("BROKEN: byte with 1 vCPUs, seed 42: two holders"), "{text}");
        let row = text.lines().find(|line| line.starts_with(" byte")).expect("a row");
        assert!(row.contains("BROKEN") && row.ends_with('!'), "{row}");
        assert!(text.contains("2 of its runs were cut short"), "{text}");
    }
}
