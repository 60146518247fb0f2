//! The result as tables: what each cell came to, where the time went, and where the lock.
use super::report::Report;
use comfy_table::Table;
use core::fmt::Write;
use core::iter::once;
use lab_kit::column::Column;
use lab_kit::export::grid::{heading, pieces, plain_table};
use lab_kit::export::page;
use lab_kit::stats::Estimate;
use lab_kit::units::{format_ns, plural, round_ns, short_percent, three_figures};
use maud::{Markup, html};
use stanchion_cells::cell::{Cell, Figures, Named, SceneInfo, State, Waits};
use stanchion_sim::Cause;
use std::sync::LazyLock;

pub(super) struct Grid {
    title: String,
    /// How many of its columns have words; those of figures follow.
    words: usize,
    table: Table,
}

impl Grid {
    fn new(title: String, words: usize, head: Vec<String>, rows: impl Iterator<Item = Vec<String>>) -> Self {
        let mut table = plain_table();
        table.set_header(head).add_rows(rows);
        Self { title, words, table }
    }

    fn text(&self) -> String {
        format!("\n{}\n{}", self.title, pieces(&self.table, self.words))
    }

    /// For a page, folded if it is not `open`.
    pub(super) fn html(&self, open: bool) -> Markup {
        html! {
            details open[open] class={ "words" (self.words) } {
                summary { (self.title) }
                (page::table(&self.table))
            }
        }
    }
}

/// The quantities of a cell, each as a column, by its name, or as a table.
pub(super) static QUANTITIES: LazyLock<[Column<Figures>; 7]> = LazyLock::new(|| {
    [
        Column::called("result", |of: &Figures| Some(of.score.as_ref()?.mean))
            .shown_by(|of| of.score.as_ref().map(over_seeds)),
        Column::new("speed-up", |of: &Figures| Some(of.speed_up?.ratio))
            .titled("speed-up over the first lock")
            .shown_by(|of| Some(of.speed_up?.to_string())),
        Column::new("fairness", |of: &Figures| of.fairness.mean)
            .titled("fairness: slowest vCPU / fastest vCPU")
            .shown_by(|of| Some(over_seeds(&of.fairness))),
        wait("p50", "acquire latency p50", |waits| waits.p50_ns),
        wait("p99", "acquire latency p99", |waits| waits.p99_ns),
        wait("p99.9", "acquire latency p99.9", |waits| waits.p999_ns),
        wait("longest", "longest acquire", |waits| waits.max_ns),
    ]
});

fn wait(name: &str, title: &'static str, of: fn(&Waits) -> u64) -> Column<Figures> {
    let ns = move |figures: &Figures| (figures.latency.samples > 0).then(|| of(&figures.latency));
    Column::new(name, ns).titled(title).shown(format_ns).ticked(round_ns)
}

/// The mean with its interval; or the range, if seeds are of two kinds.
fn over_seeds(of: &Estimate) -> String {
    of.two_kinds(three_figures).unwrap_or_else(|| {
        let doubt = of.relative().map(|share| format!(" ±{}", short_percent(share)));
        three_figures(of.mean) + &doubt.unwrap_or_default()
    })
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

/// A share of something that may not have been at all.
fn part(share: f64) -> String {
    match share * 100.0 {
        value if value >= 0.05 => short_percent(share),
        value if value > 0.0 => "<0.1%".to_owned(),
        _ => "0".to_owned(),
    }
}

pub(super) fn render(report: &Report, events: bool) -> String {
    let mut text = String::new();
    for scene in report.begun() {
        let _ = writeln!(text, "\n== {} ==\n{}\n{}", title(scene), scene.machine_about, scene.workload_about);
        text.extend(figures(report, scene).iter().map(Grid::text));
        text.push_str(&notes(report, scene));
        let shown = if events { 3 } else { 2 };
        text.extend(spent(report, scene).iter().take(shown).map(Grid::text));
    }
    text
}

pub(super) fn title(scene: &SceneInfo) -> String {
    let sockets = if scene.sockets == 1 { String::new() } else { format!(" in {} sockets", scene.sockets) };
    format!("{} ({}{sockets}), workload {}", scene.machine, plural(scene.cpus, "CPU"), scene.workload)
}

pub(super) fn result(report: &Report, scene: &SceneInfo) -> String {
    let what = if scene.lower_is_better { "time of the job" } else { "throughput" };
    let is_mean = report.setting.seeds.len() > 1;
    let doubt =
        if is_mean { " (mean of seeds, 95 % interval; the range, if they are of two kinds)" } else { "" };
    format!("{what}, {}{doubt}", scene.unit)
}

pub(super) fn simulated(report: &Report) -> String {
    let setting = &report.setting;
    let runs = plural(report.cells.len() * setting.seeds.len(), "run");
    let [time, warm_up] = [setting.time_ns, setting.warm_up_ns].map(|ns| round_ns(ns as f64));
    let events = [report.memory_events() as f64, report.effort.memory_events_per_second];
    let [events, speed] = events.map(|events| three_figures(events / 1e6));
    let took = three_figures(report.effort.seconds);
    format!("{runs} of {time} after {warm_up}, {events} million memory events in {took} s, {speed} million/s")
}

/// A quantity of a cell, or the word for one without figures; what was cut short carries a mark.
pub(super) fn shown(cell: Option<&Cell>, quantity: &Column<Figures>) -> String {
    let text = cell.and_then(|cell| quantity.text(cell.figures.as_ref()?)).unwrap_or_else(|| "-".to_owned());
    match cell.map(|cell| &cell.state) {
        Some(State::Broken { .. }) => "BROKEN".to_owned(),
        Some(State::Failed { .. }) => "failed".to_owned(),
        Some(State::Cut { .. }) => text + "!",
        Some(State::Measured) | None => text,
    }
}

/// For one count a column for each quantity; for several a table for each, with a column for each count.
pub(super) fn figures(report: &Report, scene: &SceneInfo) -> Vec<Grid> {
    let locks = report.setting.locks.iter();
    if let [count] = scene.vcpus[..] {
        let names = QUANTITIES.iter().map(|quantity| quantity.name.clone());
        let head = once(format!("{} vCPUs", heading(count, scene.cpus))).chain(names).collect();
        let rows = locks.map(|lock| {
            let cell = report.cell(scene, lock, count);
            once(lock.clone()).chain(QUANTITIES.iter().map(|quantity| shown(cell, quantity))).collect()
        });
        return vec![Grid::new(format!("result: {}", result(report, scene)), 1, head, rows)];
    }
    let of_quantity = |(index, quantity): (usize, &Column<Figures>)| {
        let title = if index == 0 { result(report, scene) } else { quantity.title.to_owned() };
        let counts = scene.vcpus.iter().map(|&count| heading(count, scene.cpus));
        let head = once("vCPUs (per CPU)".to_owned()).chain(counts).collect();
        let rows = locks.clone().map(|lock| {
            let cells = scene.vcpus.iter().map(|&count| report.cell(scene, lock, count));
            once(lock.clone()).chain(cells.map(|cell| shown(cell, quantity))).collect()
        });
        Grid::new(title, 1, head, rows)
    };
    QUANTITIES.iter().enumerate().map(of_quantity).collect()
}

pub(super) fn notes(report: &Report, scene: &SceneInfo) -> String {
    let note = |cell: &Cell| {
        let who = format!("{} with {} vCPUs", cell.lock, cell.vcpus);
        match &cell.state {
            State::Measured => String::new(),
            State::Cut { runs } => {
                format!("note: {who}: {runs} of its runs were cut short (!) by --event-limit\n")
            }
            State::Broken { seed, message } => format!("BROKEN: {who}, seed {seed}: {message}\n"),
            State::Failed { seed, message } => format!("failed: {who}, seed {seed}: {message}\n"),
        }
    };
    report.cells.iter().filter(|cell| cell.is_of(scene)).map(note).collect()
}

/// Where the vCPUs' time went, where the lock, and lock events; nothing if nothing was measured.
pub(super) fn spent(report: &Report, scene: &SceneInfo) -> Vec<Grid> {
    let cells = report.cells.iter().filter(|cell| cell.is_of(scene));
    let mut cells: Vec<_> = cells.filter_map(|cell| Some((cell, cell.figures.as_ref()?))).collect();
    cells.sort_by_key(|(cell, _)| cell.vcpus);
    if cells.is_empty() {
        return Vec::new();
    }
    let grid = |title: &str, words, columns: &[&str], row: &dyn Fn(&Figures) -> Vec<String>| {
        let head = ["vCPUs", "lock"].iter().chain(columns).map(|&head| head.to_owned()).collect();
        let whose = |cell: &Cell| vec![cell.vcpus.to_string(), cell.lock.clone()];
        let rows = cells.iter().map(|(cell, figures)| [whose(cell), row(figures)].concat());
        Grid::new(title.to_owned(), words, head, rows)
    };
    // What nobody did needs no column.
    let used = |causes: &[Cause]| cells.iter().any(|(_, figures)| figures.share_of(causes) > 0.0);
    let (names, causes): (Vec<&str>, Vec<&[Cause]>) =
        SPENT.iter().copied().filter(|(_, causes)| used(causes)).unzip();
    let time = |figures: &Figures| causes.iter().map(|causes| part(figures.share_of(causes))).collect();
    let ways = |figures: &Figures| {
        let way = &figures.handovers;
        let shares = [way.same, way.local, way.remote].map(part);
        [&shares[..], &[figures.kicks, figures.halts].map(three_figures)].concat()
    };
    let places = ["to itself", "same socket", "another socket", "kicks", "halts"];
    let event = |event: &Named| format!("{} {}", event.name, three_figures(event.value));
    let events = |figures: &Figures| match figures.events[..] {
        [] => vec!["none".to_owned()],
        _ => vec![figures.events.iter().map(event).collect::<Vec<_>>().join(", ")],
    };
    vec![
        grid("where the time of vCPUs goes (stolen: runnable without a CPU)", 2, &names, &time),
        grid("where the lock goes, and kicks and halts for each acquisition", 2, &places, &ways),
        grid("lock events for each acquisition", 3, &["events"], &events),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sim::tests as testing;
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
    fn what_seeds_of_two_kinds_come_to_is_a_range_in_every_column() {
        let mut report = testing::report(&["byte", "ticket"], &[4]);
        let figures = report.cells[1].figures.as_mut().expect("measured");
        figures.score = Some(Estimate::of(vec![0.2, 2.2]));
        figures.fairness = Estimate::of(vec![0.25, 0.75]);
        report.compare();
        let row = |lock: &str| {
            let text = render(&report, false);
            text.lines().find(|line| line.trim_start().starts_with(lock)).expect("a row").to_owned()
        };
        let [one, two] = ["byte", "ticket"].map(row);
        assert!(one.contains("1.05 ±61%") && one.contains("1.00 (1.00–1.00)"), "{one}");
        assert!(one.contains("1.00 ±0.0%") && !one.contains(".."), "fairness of one kind: {one}");
        assert!(two.contains("0.20..2.20") && two.contains("0.20..2.00"), "{two}");
        assert!(two.contains("0.25..0.75") && !two.contains('('), "{two}");
        let speed_up = report.cells[1].figures.as_ref().and_then(|figures| figures.speed_up);
        assert_eq!(
            QUANTITIES[1].number(report.cells[1].figures.as_ref().expect("some")),
            speed_up.map(|of| of.ratio)
        );
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
