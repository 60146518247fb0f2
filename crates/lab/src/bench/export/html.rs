//! One self-contained page: the verdict, plots and tables for each section, and where it all comes from.
use crate::bench::contender::{Kind, LockInfo};
use crate::bench::mix::{Load, named};
use crate::bench::report::{Cell, EventCount, Report, State};
use crate::bench::table::{ABOUT_COSTS, Rows, costs_table, describe};
use comfy_table::Table;
use lab_kit::column::Column;
use lab_kit::export::legend::{self, Entry, Standing, legend};
use lab_kit::export::svg::{Plot, Point, Scale, Series};
use lab_kit::export::{grid, page};
use lab_kit::units::three_figures;
use maud::{Markup, html};

/// Strong colours for our locks, in the order of the registry.
const OURS: [&str; 6] = ["#c77d0a", "#8e44ad", "#d6539c", "#d1343f", "#9c5a2b", "#6a4cff"];
/// Cooler ones for what they are compared with.
const PEERS: [&str; 10] = [
    "#1f77b4", "#2a9d4e", "#0f9aa8", "#7a8b1f", "#4c5fd5", "#8a6f4e", "#5b7f95", "#3fae8c", "#7c7c86",
    "#a0780a",
];
/// Dashes tell lines apart where colours do not.
const DASHES: [&str; 4] = ["none", "6 3", "2 3", "9 3 2 3"];

pub(super) fn write(report: &Report) -> String {
    let what = if report.setting.rw() { "Reader-writer locks" } else { "Locks" };
    let grey = grey(report);
    let shown = html! {
        (legend(entries(report, &grey)))
        @if !report.uncontended.is_empty() {
            h2 { "Uncontended" }
            p.sub { (ABOUT_COSTS) }
            (table(report, &costs_table(report)))
        }
        @for load in report.loads() { (section(report, load, &grey)) }
        (events(report))
        (locks(report))
    };
    let (title, answer) = (format!("{what} on this machine"), report.summary.join("\n"));
    super::about::about(report).page(&title, &answer, &shown, &colours(&report.locks))
}

/// Which locks are grey until picked. The first of ours is the default.
fn grey(report: &Report) -> Vec<bool> {
    let score = |lock: &LockInfo| {
        let cells =
            report.cells.iter().filter(|cell| cell.lock == lock.name && cell.state == State::Measured);
        cells.map(|cell| cell.rate().max(1.0).ln()).sum::<f64>()
    };
    let standing = |lock: &LockInfo| Standing {
        default: lock.kind == Kind::Stanchion,
        peer: lock.kind == Kind::Peer,
        score: score(lock),
        chosen: lock.chosen,
    };
    legend::grey(&report.locks.iter().map(standing).collect::<Vec<_>>())
}

/// Rules for each lock: its colour, and that it is picked; and that events are words.
fn colours(locks: &[LockInfo]) -> String {
    let rules = |(index, lock): (usize, &LockInfo)| {
        let ours = |lock: &LockInfo| lock.kind == Kind::Stanchion;
        let colours: &[&str] = if ours(lock) { &OURS } else { &PEERS };
        let place = locks[..index].iter().filter(|other| ours(other) == ours(lock)).count();
        let (colour, dash) = (colours[place % colours.len()], DASHES[index % DASHES.len()]);
        format!(".c{index}{{--colour:{colour};--dash:{dash}}}{}", legend::picked(index))
    };
    locks.iter().enumerate().map(rules).collect::<String>() + ".events td:last-child{text-align:left}"
}

fn entries<'a>(report: &'a Report, grey: &[bool]) -> impl Iterator<Item = Entry<'a>> {
    let entry = |(LockInfo { name, about, kind, .. }, &grey): (&'a LockInfo, _)| Entry {
        name,
        about: Some(about),
        ours: *kind == Kind::Stanchion,
        grey,
    };
    report.locks.iter().zip(grey).map(entry)
}

fn section(report: &Report, load: Load, grey: &[bool]) -> Markup {
    let (name, rows) = (load.name(), Rows::of(report, load));
    let plots = rows.quantities().enumerate().filter_map(|(index, quantity)| {
        let draw = |scale| plot(report, load, grey, quantity, scale);
        let log = draw(Scale::Log)?;
        let linear = if index == 0 { draw(Scale::Linear) } else { None };
        Some(linear.map_or_else(|| page::plot(&log), |linear| page::in_two_scales(&name, &linear, &log)))
    });
    html! {
        h2 { (name) }
        p.sub { (describe(report, load.profile).replace('\n', "; ")) }
        (page::plots(plots))
        @if let Some(line) = rows.collapsed_line() { p.sub { (line) } }
        @for (index, quantity) in rows.quantities().enumerate() {
            details open[index == 0] {
                summary { (quantity.title) }
                (table(report, &rows.table(quantity)))
            }
        }
    }
}

fn plot(report: &Report, load: Load, grey: &[bool], quantity: &Column<Cell>, scale: Scale) -> Option<Markup> {
    let tick = quantity.tick?;
    let locks = report.locks.iter().enumerate();
    let series = locks.map(|(index, lock)| {
        let counts = report.setting.threads.iter();
        let cells: Vec<&Cell> = counts.filter_map(|&column| report.at(&lock.name, load, column)).collect();
        let point = |cell: &&Cell| {
            let value = quantity.number(cell).filter(|_| cell.state == State::Measured)?;
            let (threads, text) = (load.column(cell.threads), quantity.text(cell)?);
            Some(Point { threads, value, text, range: None })
        };
        let stalled = cells.iter().find(|cell| cell.state == State::Stalled);
        Series {
            name: &lock.name,
            index,
            ours: lock.kind == Kind::Stanchion,
            grey: grey[index],
            points: cells.iter().filter_map(point).collect(),
            stalled_at: stalled.map(|cell| load.column(cell.threads)),
        }
    });
    let series: Vec<Series> = series.collect();
    let title = quantity.title.split(" (").next().unwrap_or(quantity.title);
    let (threads, cpus) = (&report.setting.threads, report.setting.cpus.len());
    Some(Plot { title, what: load.counted(), scale, threads, cpus, series: &series, tick }.render())
}

/// A table with a row for each lock, as the terminal has it.
fn table(report: &Report, table: &Table) -> Markup {
    page::table_with(table, |lock| report.kind(lock) == Some(Kind::Stanchion))
}

fn events(report: &Report) -> Markup {
    let row = |Cell { lock, profile, mix, threads, events, .. }: &Cell| {
        let event = |event: &EventCount| format!("{} {}", event.name, three_figures(event.per_acquisition));
        let events = events.iter().map(event).collect::<Vec<_>>().join(" · ");
        [lock.clone(), named(profile, *mix), threads.to_string(), events]
    };
    let rows: Vec<_> = report.cells.iter().filter(|cell| !cell.events.is_empty()).map(row).collect();
    html! {
        @if !rows.is_empty() {
            h2 { "Lock events" }
            p.sub { "per acquisition, from a round of their own with the counting form of the lock" }
            details.events {
                summary { "all cells" }
                (page::table(&grid::table(["lock", "profile", "threads", "events"], rows)))
            }
        }
    }
}

/// What the locks are, and how figures came about.
fn locks(report: &Report) -> Markup {
    let about = |LockInfo { about, bytes, memory, .. }: &LockInfo| {
        let more = memory.description();
        format!("{about}; {bytes} bytes{}{more}", if more.is_empty() { "" } else { "; " })
    };
    html! {
        h2 { "The locks" }
        (page::facts(report.locks.iter().map(|lock| (&lock.name, about(lock)))))
        p.sub {
            "Each round of each cell ran in a process of its own; rates are those of a window between warm-up and stop. "
            "The best figure of a column is marked; on waits and cost only locks within a fifth of the best throughput "
            "compete. Latency rounds read the clock around every acquisition, which costs them throughput. "
            "A cross at the foot of a plot is a lock that stalled."
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bench::tests::{full, full_rw, lock};

    #[test]
    fn it_needs_nothing_from_elsewhere() {
        let mut report = full();
        report.summary.push("a < b & c".into());
        for page in [write(&report), write(&full_rw())] {
            for outside in ["http://", "https://", "<script", "src=", "url(", "@import", "<link"] {
                assert!(!page.contains(outside), "{outside}");
            }
        }
    }

    #[test]
    fn the_page_begins_with_the_verdict_and_every_section_has_its_plots_and_tables() {
        let mut report = full();
        report.summary.push("a < b & c".into());
        let page = write(&report);
        let (before, after) = page.split_once("a &lt; b &amp; c").expect("the verdict");
        assert!(!before.contains("<table") && after.contains("Where this comes from"));
        assert_eq!(page.matches("role=\"img\"").count(), 2 * 5, "four plots, one of them in two scales");
        assert_eq!(page.matches("<details").count(), 2 * 5);
        let mut report = full_rw();
        report.cells[0].events.push(EventCount { name: "park".into(), count: 1, per_acquisition: 0.5 });
        let page = write(&report);
        assert!(page.contains("threads</th><th class=\"\">events</th>") && !page.contains("\"verdict\""));
        assert_eq!(page.matches("role=\"img\"").count(), 4 * 9);
        assert!(page.contains("short, 50 % reads") && page.contains("64 B a thread"));
    }

    #[test]
    fn what_nobody_chose_is_grey_and_can_be_picked_and_names_are_eight_at_most() {
        let mut report = full();
        report
            .locks
            .extend((0..20).map(|index| LockInfo { chosen: index > 0, ..lock(&format!("l{index}")) }));
        let grey = grey(&report);
        assert_eq!(grey.iter().filter(|grey| !**grey).count(), 8);
        assert!(!grey[0] && !grey[1] && grey[2] && !grey[3], "{grey:?}");
        report.locks.truncate(3);
        for mut cell in report.cells.clone().into_iter().filter(|cell| cell.lock == "a") {
            cell.lock = "l0".into();
            report.cells.push(cell);
        }
        let page = write(&report);
        assert!(page.contains("id=\"pick2\"") && !page.contains("id=\"pick0\""));
        assert!(page.contains("#pick2:checked") && page.contains("class=\"series c2 ours grey\""));
    }
}
