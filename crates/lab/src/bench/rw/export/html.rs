//! One self-contained page: the summary, plots and tables for each profile and mix, and where it all comes
//! from.
use crate::bench::cell::Profile;
use crate::bench::contender::Kind;
use crate::bench::export::html::{Section, colours, events, facts, head, locks, plain_tick, radios};
use crate::bench::plan::NO_LOCK;
use crate::bench::report::State;
use crate::bench::rw::Mix;
use crate::bench::rw::report::{RwCell, RwReport};
use crate::bench::rw::table::{QUANTITIES, TOTAL, columns};
use crate::bench::table::{Quantity, describe, figure};
use crate::bench::units::round_ns;
use crate::export::STYLE;
use crate::export::grid::heading;
use crate::export::svg::{Plot, Point, Scale, Series, escape};
use core::fmt::Write;

/// Figures at the ticks of an axis.
type Tick = fn(f64) -> String;

/// What is drawn beside the rate of both sides: a quantity, and figures at its axis.
const DRAWN: [(usize, Tick); 7] = [
    (TOTAL + 1, plain_tick),
    (TOTAL + 2, plain_tick),
    (3, round_ns),
    (4, round_ns),
    (5, round_ns),
    (6, round_ns),
    (7, plain_tick),
];

pub(super) fn write(report: &RwReport) -> String {
    let mut page = format!(
        "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><meta name=\"viewport\" content=\"width=device-width\">\
         <title>stanchion bench rw, {}</title><style>{STYLE}{}</style></head><body>\n",
        escape(&report.provenance.date),
        colours(&report.locks)
    );
    head(&mut page, "Reader-writer locks on this machine", report);
    uncontended(&mut page, report);
    for profile in report.profiles() {
        for &mix in &report.setting.mixes {
            if report.section(&profile.name, mix).next().is_some() {
                section(&mut page, report, profile, mix);
            }
        }
    }
    let cells = report.cells.iter();
    events(&mut page, cells.map(|cell| (&cell.both, format!("{}, {}", cell.both.profile, cell.mix.name()))));
    facts(&mut page, report);
    locks(&mut page, report, |lock| {
        let description = lock.memory.map(crate::bench::rw::Memory::description).unwrap_or_default();
        if description.is_empty() { description } else { format!("; {description}") }
    });
    page.push_str("</body></html>\n");
    page
}

fn uncontended(page: &mut String, report: &RwReport) {
    let slowest = report.uncontended.iter().map(|row| row.read_ns.min.max(row.write_ns.min));
    let Some(most) = slowest.reduce(f64::max) else { return };
    page.push_str(
        "<h2>Uncontended</h2><p class=\"sub\">lock and unlock by one thread, the loop included; best of the rounds</p>\
         <table><tr><th>lock</th><th>read, ns</th><th></th><th>write, ns</th><th></th><th>bytes</th></tr>",
    );
    for row in &report.uncontended {
        let info = report.locks.iter().find(|lock| lock.name == row.lock);
        let bar = |ns: f64| {
            let width = 150.0 * ns / most;
            format!(
                "<td>{ns:.2}</td><td style=\"text-align:left\"><span class=\"bar\" style=\"width:{width:.0}px\"></span></td>"
            )
        };
        let _ = write!(
            page,
            "<tr class=\"{}\"><td>{}</td>{}{}<td>{}</td></tr>",
            if info.is_some_and(|info| info.kind == Kind::Stanchion) { "ours" } else { "" },
            if row.lock == NO_LOCK { "(bare loop)" } else { &row.lock },
            bar(row.read_ns.min),
            bar(row.write_ns.min),
            info.map(|info| info.bytes.to_string()).unwrap_or_default(),
        );
    }
    page.push_str("</table>\n");
}

fn section(page: &mut String, report: &RwReport, profile: &Profile, mix: Mix) {
    let description = describe(report, profile);
    let (name, rest) = description.split_once(": ").unwrap_or((&description, ""));
    let name = format!("{name}, {}", mix.name());
    let _ = writeln!(
        page,
        "<h2>{}</h2><p class=\"sub\">{}</p><div class=\"plots\">",
        escape(&name),
        escape(rest).replace('\n', "; ")
    );
    let of_section = |quantity: &Quantity<RwCell>| {
        report.section(&profile.name, mix).any(|cell| (quantity.value)(cell).is_some())
    };
    let draw = |index: usize, scale, tick| plot(report, profile, mix, &QUANTITIES[index], scale, tick);
    page.push_str(&radios(
        &name,
        &draw(TOTAL, Scale::Linear, plain_tick),
        &draw(TOTAL, Scale::Log, plain_tick),
    ));
    for (index, tick) in DRAWN {
        if of_section(&QUANTITIES[index]) {
            let _ = write!(page, "<div class=\"plot\">{}</div>", draw(index, Scale::Log, tick));
        }
    }
    page.push_str("</div>\n");
    for (index, quantity) in QUANTITIES.iter().enumerate().filter(|(_, quantity)| of_section(quantity)) {
        let open = if index == TOTAL { " open" } else { "" };
        let _ = write!(page, "<details{open}><summary>{}</summary>", escape(quantity.title));
        table(page, report, profile, mix, quantity);
        page.push_str("</details>\n");
    }
}

fn plot(
    report: &RwReport,
    profile: &Profile,
    mix: Mix,
    quantity: &Quantity<RwCell>,
    scale: Scale,
    tick: Tick,
) -> String {
    let mut series = Vec::new();
    for (index, lock) in report.locks.iter().enumerate() {
        let counts = report.setting.threads.iter();
        let cells: Vec<&RwCell> =
            counts.filter_map(|&column| report.at(&lock.name, &profile.name, mix, column)).collect();
        let point = |cell: &&RwCell| {
            let value = (quantity.value)(cell).filter(|_| cell.both.state == State::Measured)?;
            let threads = mix.column(cell.both.threads);
            Some(Point { threads, value, text: (quantity.show)(cell, value), error: None })
        };
        let stalled = cells.iter().find(|cell| cell.both.state == State::Stalled);
        series.push(Series {
            name: &lock.name,
            index,
            ours: lock.kind == Kind::Stanchion,
            points: cells.iter().filter_map(point).collect(),
            stalled_at: stalled.map(|cell| mix.column(cell.both.threads)),
        });
    }
    let title = quantity.title.split(" (").next().unwrap_or(quantity.title);
    let (threads, cpus) = (&report.setting.threads, report.setting.cpus.len());
    Plot { title, what: mix.counted(), scale, threads, cpus, series: &series, tick }.render()
}

fn table(page: &mut String, report: &RwReport, profile: &Profile, mix: Mix, quantity: &Quantity<RwCell>) {
    let columns = columns(report, mix);
    let headings = columns.counts.iter().map(|&count| heading(count, columns.cpus)).collect();
    let mut table = Section::begin(page, columns.what, headings);
    for lock in &report.locks {
        let figures = columns.counts.iter().map(|&column| {
            let sound = report.column(&profile.name, mix, column);
            figure(report.at(&lock.name, &profile.name, mix, column), &sound, quantity)
        });
        table.row(lock, figures);
    }
    table.end();
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bench::rw::testing::full;

    #[test]
    fn it_needs_nothing_from_elsewhere_and_its_tags_are_balanced() {
        let page = write(&full());
        for outside in ["http://", "https://", "<script", "src=", "url(", "@import", "<link"] {
            assert!(!page.contains(outside), "{outside}");
        }
        for tag in ["svg", "g", "table", "div", "details", "ul", "tr", "td"] {
            let opened =
                page.matches(&format!("<{tag}>")).count() + page.matches(&format!("<{tag} ")).count();
            assert_eq!(opened, page.matches(&format!("</{tag}>")).count(), "{tag}");
        }
    }

    #[test]
    fn every_section_has_its_plots_and_tables() {
        let page = write(&full());
        let sections = 2 * 2;
        assert_eq!(page.matches("role=\"img\"").count(), sections * (2 + DRAWN.len()));
        assert_eq!(page.matches("<details").count(), sections * QUANTITIES.len());
        assert!(page.contains("short, 50 % reads") && page.contains("64 B a thread"));
    }
}
