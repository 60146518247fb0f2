//! The result as tables: what each cell came to, where the time went, and where the lock.
use super::grid::Grid;
use super::report::Report;
use Show::{Text, Wait};
use core::fmt::Write;
use lab_kit::export::grid::heading;
use lab_kit::units::{format_ns, round_ns, three_figures};
use stanchion_cells::cell::{Cell, Figures, SceneInfo, State, Waits};
use stanchion_cells::stats::Estimate;
use stanchion_sim::Cause;

/// One quantity of a cell, as a column or a table.
pub(super) struct Quantity {
    pub title: &'static str,
    /// The title where there is little room.
    short: &'static str,
    pub show: Show,
}

/// What a quantity is.
pub(super) enum Show {
    /// A wait in nanoseconds.
    Wait(fn(&Waits) -> u64),
    /// Anything else, as text.
    Text(fn(&Figures) -> String),
}

/// What is told of a cell first.
pub(super) const QUANTITIES: [Quantity; 7] = [
    Quantity { title: "result", short: "result", show: Text(score) },
    Quantity { title: "speed-up over the first lock", short: "speed-up", show: Text(speed_up) },
    Quantity { title: "fairness: slowest vCPU / fastest vCPU", short: "fairness", show: Text(fairness) },
    Quantity { title: "acquire latency p50", short: "p50", show: Wait(|waits| waits.p50_ns) },
    Quantity { title: "acquire latency p99", short: "p99", show: Wait(|waits| waits.p99_ns) },
    Quantity { title: "acquire latency p99.9", short: "p99.9", show: Wait(|waits| waits.p999_ns) },
    Quantity { title: "longest acquire", short: "longest", show: Wait(|waits| waits.max_ns) },
];

/// A mean with its interval relative to it.
fn score(figures: &Figures) -> String {
    let Some(mean) = &figures.score else { return "-".to_owned() };
    let doubt = Estimate::relative(mean).map(|share| match share * 100.0 {
        wide if wide >= 9.95 => format!(" ±{wide:.0}%"),
        narrow => format!(" ±{narrow:.1}%"),
    });
    three_figures(mean.mean) + &doubt.unwrap_or_default()
}

fn speed_up(figures: &Figures) -> String {
    figures.speed_up.map_or_else(|| "-".to_owned(), |ratio| three_figures(ratio.ratio))
}

fn fairness(figures: &Figures) -> String {
    format!("{:.2}", figures.fairness.mean)
}

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

/// A percentage in the least room.
fn short_percent(share: f64) -> String {
    match share * 100.0 {
        value if value >= 9.95 => format!("{value:.0}%"),
        value if value >= 0.05 => format!("{value:.1}%"),
        value if value > 0.0 => "<0.1%".to_owned(),
        _ => "0".to_owned(),
    }
}

/// Everything, for the terminal.
pub(super) fn render(report: &Report, events: bool) -> String {
    let mut text = String::new();
    for scene in &report.scenes {
        if !report.cells.iter().any(|cell| cell.is_of(scene)) {
            continue;
        }
        let _ = writeln!(text, "\n== {} ==\n{}\n{}", title(scene), scene.machine_about, scene.workload_about);
        text.extend(figures(report, scene).iter().map(Grid::text));
        text.push_str(&notes(report, scene));
        text.extend(spent(report, scene).iter().map(Grid::text));
        if events {
            text.push_str(&lock_events(report, scene).text());
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
pub(super) fn result(report: &Report, scene: &SceneInfo) -> String {
    let what = if scene.lower_is_better { "time of the job" } else { "throughput" };
    let doubt =
        if report.setting.seeds.len() > 1 { " (mean over seeds, 95 % confidence interval)" } else { "" };
    format!("{what}, {}{doubt}", scene.unit)
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

/// A quantity of a cell, or the word for one without figures; what was cut short carries a mark.
fn shown(cell: Option<&Cell>, quantity: &Quantity) -> String {
    let Some(figures) = cell.and_then(|cell| cell.figures.as_ref()) else {
        return match cell.map(|cell| &cell.state) {
            Some(State::Broken { .. }) => "BROKEN",
            Some(State::Failed { .. }) => "failed",
            _ => "-",
        }
        .to_owned();
    };
    let text = match quantity.show {
        Text(text) => text(figures),
        Wait(_) if figures.latency.samples == 0 => "-".to_owned(),
        Wait(wait) => format_ns(wait(&figures.latency) as f64),
    };
    let mark = if cell.is_some_and(|cell| matches!(cell.state, State::Cut { .. })) { "!" } else { "" };
    text + mark
}

/// One table with a column for each quantity if there is one count, else a table for each quantity with a
/// column for each.
pub(super) fn figures(report: &Report, scene: &SceneInfo) -> Vec<Grid> {
    let grid = |title, head, row: &dyn Fn(&str) -> Vec<String>| {
        let rows = report.setting.locks.iter().map(|lock| [vec![lock.clone()], row(lock)].concat()).collect();
        Grid { title, head, words: 1, rows }
    };
    if let [count] = scene.vcpus[..] {
        let names = QUANTITIES.iter().map(|quantity| quantity.short.to_owned());
        let head = core::iter::once(format!("{} vCPUs", heading(count, scene.cpus))).chain(names).collect();
        let row = |lock: &str| {
            let cell = report.cell(scene, lock, count);
            QUANTITIES.iter().map(|quantity| shown(cell, quantity)).collect()
        };
        return vec![grid(format!("result: {}", result(report, scene)), head, &row)];
    }
    let of_quantity = |(index, quantity): (usize, &Quantity)| {
        let title = if index == 0 { result(report, scene) } else { quantity.title.to_owned() };
        let counts = scene.vcpus.iter().map(|&count| heading(count, scene.cpus));
        let head = core::iter::once("vCPUs (per CPU)".to_owned()).chain(counts).collect();
        grid(title, head, &|lock| {
            scene.vcpus.iter().map(|&count| shown(report.cell(scene, lock, count), quantity)).collect()
        })
    };
    QUANTITIES.iter().enumerate().map(of_quantity).collect()
}

/// What the words and marks mean.
pub(super) fn notes(report: &Report, scene: &SceneInfo) -> String {
    let note = |cell: &Cell| {
        let who = format!("{} with {} vCPUs", cell.lock, cell.vcpus);
        match &cell.state {
            State::Measured => String::new(),
            State::Cut { runs } => {
                format!(
                    "note: {who}: {runs} of its runs were cut short (!) by the limit of events, --limit\n"
                )
            }
            State::Broken { seed, message } => format!("BROKEN: {who}, seed {seed}: {message}\n"),
            State::Failed { seed, message } => format!("failed: {who}, seed {seed}: {message}\n"),
        }
    };
    report.cells.iter().filter(|cell| cell.is_of(scene)).map(note).collect()
}

/// Where the vCPUs' time went, and where the lock; nothing if nothing was measured.
pub(super) fn spent(report: &Report, scene: &SceneInfo) -> Vec<Grid> {
    let cells = measured(report, scene);
    if cells.is_empty() {
        return Vec::new();
    }
    let grid = |title: &str, columns: &[&str], row: &dyn Fn(&Figures) -> Vec<String>| Grid {
        title: title.to_owned(),
        head: ["vCPUs", "lock"].iter().chain(columns).map(|&head| head.to_owned()).collect(),
        words: 2,
        rows: cells.iter().map(|(cell, figures)| [whose(cell), row(figures)].concat()).collect(),
    };
    // What nobody did needs no column.
    let used = |causes: &[Cause]| cells.iter().any(|(_, figures)| figures.share_of(causes) > 0.0);
    let (names, causes): (Vec<&str>, Vec<&[Cause]>) =
        SPENT.iter().copied().filter(|(_, causes)| used(causes)).unzip();
    let time = |figures: &Figures| -> Vec<String> {
        causes.iter().map(|causes| short_percent(figures.share_of(causes))).collect()
    };
    let ways = |figures: &Figures| {
        let way = &figures.handovers;
        let shares = [way.same, way.local, way.remote].map(short_percent);
        [&shares[..], &[figures.kicks, figures.halts].map(three_figures)].concat()
    };
    let places = ["to itself", "same socket", "another socket", "kicks", "halts"];
    vec![
        grid("where the time of vCPUs goes (stolen: runnable without a CPU)", &names, &time),
        grid("where the lock goes, and kicks and halts for each acquisition", &places, &ways),
    ]
}

/// The first columns of a row for a cell.
fn whose(cell: &Cell) -> Vec<String> {
    vec![cell.vcpus.to_string(), cell.lock.clone()]
}

fn measured<'a>(report: &'a Report, scene: &SceneInfo) -> Vec<(&'a Cell, &'a Figures)> {
    let cells = report.cells.iter().filter(|cell| cell.is_of(scene));
    let mut cells: Vec<_> = cells.filter_map(|cell| Some((cell, cell.figures.as_ref()?))).collect();
    cells.sort_by_key(|(cell, _)| cell.vcpus);
    cells
}

/// Lock events for each acquisition.
pub(super) fn lock_events(report: &Report, scene: &SceneInfo) -> Grid {
    let row = |(cell, figures): (&Cell, &Figures)| {
        let events =
            figures.events.iter().map(|event| format!("{} {}", event.name, three_figures(event.value)));
        let events = events.collect::<Vec<_>>().join(", ");
        [whose(cell), vec![if events.is_empty() { "none".to_owned() } else { events }]].concat()
    };
    Grid {
        title: "lock events for each acquisition".to_owned(),
        head: ["vCPUs", "lock", "events"].map(str::to_owned).to_vec(),
        words: 3,
        rows: measured(report, scene).into_iter().map(row).collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sim::testing;
    use lab_kit::export::grid::WIDTH;

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
