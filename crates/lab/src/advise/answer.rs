//! The answer as people read it: first what to do, then why, then how sure that is; as rows; and as a page.
use super::load::{Lock, Recording};
use super::place::HERE;
use super::predict::{Cell, TODAY};
use super::report::{Advice, Outlook, Report, WAITS, WIDE, WhatIf, gain_over};
use crate::run::DEFAULT;
use lab_kit::column::{Column, Figure};
use lab_kit::experiment::About;
use lab_kit::export::columns::{named, table};
use lab_kit::export::grid::{pieces, wrap};
use lab_kit::export::legend::{self, Entry, Standing, legend, picked};
use lab_kit::export::svg::{Plot, Point, Scale, Series};
use lab_kit::export::{colours, page};
use lab_kit::output::quoted;
use lab_kit::stats::Ratio;
use lab_kit::units::{format_ns, percent, plural, rate, three_figures};
use maud::{Markup, html};
use stanchion_cells::scenes::once;
use std::collections::BTreeSet;

/// Locks of the program that a page shows.
const MOST_LOCKS: usize = 20;

/// All of it; the last line can be pasted.
pub(super) fn text(report: &Report) -> String {
    let [before, after] = around(report);
    format!("{before}\n{}{after}", pieces(&table(&columns(report), &rows(report)), 4))
}

/// Which parts of the recording are not replayed.
fn left_out(ends: &[f64; 2]) -> Option<String> {
    let ends = [("first", ends[0]), ("last", ends[1])].into_iter().filter(|(_, nanos)| *nanos > 0.0);
    let ends: Vec<String> = ends.map(|(end, nanos)| format!("the {end} {}", format_ns(nanos))).collect();
    let ends = (!ends.is_empty()).then(|| ends.join(" and "))?;
    Some(format!("That is without {ends}, in which hardly anything was taken."))
}

/// What is said before the table, and behind it.
fn around(report: &Report) -> [String; 2] {
    let Recording { acquisitions, span_ns, threads, at_once, waiting, limits, program, left_out_ns, .. } =
        &report.recording;
    let (span, threads, waiting) = (format_ns(*span_ns), plural(*threads, "thread"), percent(*waiting));
    let mut before = headline(report);
    before.push(String::new());
    before.push(format!(
        "Recorded: {acquisitions} acquisitions in {span} by {threads}, {at_once} at a time; they waited for locks {waiting} of their time."
    ));
    before.extend(left_out(left_out_ns));
    let told = |share, name: &str| format!("{} of all waiting is for {name}.", percent(share));
    before.extend(match report.deciding()[..] {
        [(one, share), (other, more)] if one.name() == other.name() => {
            vec![told(share + more, &format!("two locks, each {}", one.name()))]
        }
        ref all => all.iter().map(|(lock, share)| told(*share, &lock.name())).collect(),
    });
    let failed = report.cells.iter().filter_map(|cell| {
        Some(format!("Failed: {} with {}: {}.", cell.lock, case(cell), cell.failed.as_ref()?))
    });
    let mut after: Vec<String> = failed.collect();
    for WhatIf { what, today, advised } in &report.what_if {
        if let Some(gain) = gain_over(advised, today) {
            let Cell { workers, cpus, .. } = advised;
            let case = format!("{workers} threads, {cpus} CPUs");
            after.push(format!("With {what}: {gain} times libc's throughput ({case})."));
        }
    }
    after.extend(limits.iter().cloned().chain(widest(report)).map(|weak| format!("Weak: {weak}.")));
    let take = report.advice.as_ref().map_or(TODAY, |advice| &advice.take);
    let us = std::env::args_os().next();
    let us = us.map_or("stanchion".into(), |name| name.to_string_lossy().into_owned());
    let library =
        report.library.as_ref().map(|path| format!("--library {} ", quoted(&path.display().to_string())));
    let words: Vec<String> = program.iter().map(|word| quoted(word)).collect();
    let wrapped = |lines: &[String]| {
        let mut text = String::new();
        for line in lines {
            wrap(&mut text, String::new(), line);
        }
        text
    };
    [
        wrapped(&before),
        format!(
            "{}\nSTANCHION=lock={take} for a library that is loaded without this command, or\n{} run --lock {take} {}-- {}\n",
            wrapped(&after),
            quoted(&us),
            library.unwrap_or_default(),
            words.join(" ")
        ),
    ]
}

fn case(cell: &Cell) -> String {
    let machine = if cell.machine == HERE { "this machine" } else { &cell.machine };
    format!("{} threads on {machine} ({} CPUs)", cell.workers, cell.cpus)
}

fn headline(report: &Report) -> Vec<String> {
    let Some(Advice { lock, gain, at, today, waiting, outlook, free, .. }) = &report.advice else {
        return vec!["No advice: nothing was simulated to its end.".to_owned()];
    };
    let doubt = match outlook {
        Outlook::Helps => {
            let (cell, today) = (&report.cells[*at], &report.cells[*today]);
            let [own, today] = [cell.p99_ns, today.p99_ns].map(|ns| format_ns(ns as f64));
            return vec![
                format!("Use {lock}: {gain} times the throughput of libc's locks with {}.", case(cell)),
                format!("99 of 100 waits end within {own}, today within {today}."),
            ];
        }
        Outlook::Open => "It is open whether a lock helps",
        Outlook::None => "No lock will help",
    };
    let why = if *waiting < WAITS { "hardly wait for locks" } else { "wait for what is done under locks" };
    let waiting = percent(*waiting);
    let mut lines = vec![format!(
        "{doubt}: threads {why} ({waiting} of their time at most), and {lock} changes throughput to {gain} of today's."
    )];
    lines.extend(free.map(|free| {
        format!("If sleeping and waking cost nothing, libc's locks would have {free} of today's at most.")
    }));
    lines
}

/// A cell, of a report.
type Row<'a> = (&'a Report, &'a Cell);

fn rows(report: &Report) -> Vec<Row<'_>> {
    report.cells.iter().map(|cell| (report, cell)).collect()
}

fn columns<'a>(report: &Report) -> Vec<Column<Row<'a>>> {
    /// Of what is simulated, which a cell may not have.
    fn sound<'a, T: Figure + 'static>(name: &str, of: fn(&Cell) -> T) -> Column<Row<'a>> {
        Column::new(name, move |row: &Row| row.1.failed.is_none().then(|| of(row.1)))
    }
    let gain =
        |name, of: fn(Ratio) -> Option<f64>| Column::new(name, move |row: &Row| of(row.0.gain(row.1)?));
    let beside = |row: &Row| Some(row.0.gain(row.1).filter(|_| row.1.lock != TODAY)?.to_string());
    let rates = |row: &Row| {
        let sound = row.1.failed.is_none();
        sound.then(|| row.1.rate.middle(rate))
    };
    let mut columns = vec![
        Column::called("machine", |row: &Row| row.1.machine.clone()),
        Column::new("cpus", |row: &Row| row.1.cpus).titled("CPUs"),
        Column::new("workers", |row: &Row| row.1.workers).titled("threads"),
        Column::called("lock", |row: &Row| row.1.lock.clone()),
        sound("rate", |cell| cell.rate.mean).titled("acquisitions").shown_by(rates),
        sound("ci95", |cell| cell.rate.ci95),
        gain("to_libc", |gain| gain.middle()).titled("to libc").shown_by(beside),
        gain("to_libc_low", |gain| Some(gain.bounds()?.0)),
        gain("to_libc_high", |gain| Some(gain.bounds()?.1)),
        sound("p99_ns", |cell| cell.p99_ns).titled("p99 wait").shown(format_ns),
        sound("p999_ns", |cell| cell.p999_ns),
        sound("waiting", |cell| cell.waiting).titled("waiting").shown(percent),
        Column::new("failed", |row: &Row| row.1.failed.clone()),
    ];
    columns.extend(report.law.map(|law| {
        let of_today = move |row: &Row| (row.1.lock == TODAY).then(|| law.at(row.1.workers as f64));
        Column::told("scalability law", of_today).shown(three_figures)
    }));
    columns
}

/// A doubt that the seeds themselves show.
fn widest(report: &Report) -> Option<String> {
    let widths = report.cells.iter().filter_map(|cell| Some((cell.rate.relative()?, cell)));
    let (width, cell) = widths.max_by(|a, b| a.0.total_cmp(&b.0)).filter(|(width, _)| *width > WIDE)?;
    let (lock, case, width) = (&cell.lock, case(cell), percent(width));
    Some(format!("{lock} with {case} differs by {width} between seeds: take more --seeds"))
}

/// A row for each cell; where they come from stands in `#` lines above.
fn about(report: &Report) -> About<'_> {
    let Report { schema, complete, provenance, recording, .. } = report;
    let (complete, set_up, doubts) = (*complete, recording.program.join(" "), Vec::new());
    let facts = vec![("schema", schema.to_string())];
    About { command: "advise", complete, provenance, set_up, facts, doubts }
}

pub(super) fn csv(report: &Report) -> String {
    about(report).csv(named(&columns(report), rows(report)))
}

pub(super) fn page(report: &Report) -> String {
    let program = report.recording.program.join(" ");
    let [before, after] = around(report);
    let lines = lines(report);
    let plots = once(report.cells.iter().map(|cell| cell.machine.as_str())).into_iter().map(|machine| {
        let cells = report.cells.iter().filter(|cell| cell.machine == machine && cell.failed.is_none());
        page::plot(&plot(machine, &cells.collect::<Vec<_>>(), &lines))
    });
    let picked: String =
        lines.iter().enumerate().filter(|(_, line)| line.grey).map(|(index, _)| picked(index)).collect();
    let of_locks = [
        Column::told("lock", Lock::name),
        Column::told("threads", |lock: &Lock| lock.threads),
        Column::told("acquisitions", |lock: &Lock| lock.acquisitions),
        Column::told("waited", |lock: &Lock| lock.waited_ns).shown(format_ns),
        Column::told("held", |lock: &Lock| lock.held_ns).shown(format_ns),
    ];
    let locks = &report.recording.locks;
    let locks = &locks[..locks.len().min(MOST_LOCKS)];
    let shown = html! {
        (page::table(&table(&columns(report), &rows(report))))
        pre.verdict { (after.trim()) }
        h2 { "Throughput" }
        @if !picked.is_empty() { (legend(lines.iter().map(Line::entry))) }
        (page::plots(plots))
        @if !report.timelines.is_empty() { h2 { "What threads do, today and as advised" } }
        @for (picture, when) in report.timelines.iter().zip(["today", "as advised"]) {
            div.scroll role="group" aria-label=(when) tabindex="0" {
                img alt={ "what threads do " (when) } src=(embedded(picture));
            }
        }
        h2 { "Locks of the program" }
        (page::table(&table(&of_locks, locks)))
    };
    let title = format!("Which lock for {program}");
    about(report).page(&title, before.trim(), &shown, &(colours(lines.len()) + &picked))
}

/// A picture as the address of an image, which the page's style does not reach: it has colours of its own.
fn embedded(svg: &str) -> String {
    let escape = |text: String, char: char| text.replace(char, &format!("%{:02X}", char as u32));
    // The sign that escapes comes first.
    let escaped = ['%', '#', '"', '<', '>', '&', '\n'].into_iter().fold(svg.to_owned(), escape);
    format!("data:image/svg+xml,{escaped}")
}

/// A lock in the plots of all machines.
struct Line<'a> {
    lock: &'a str,
    grey: bool,
}

impl<'a> Line<'a> {
    fn is_default(&self) -> bool {
        self.lock == DEFAULT
    }

    fn entry(&self) -> Entry<'a> {
        Entry { name: self.lock, about: None, ours: self.is_default(), grey: self.grey }
    }
}

/// The locks, and which of them are grey until picked. Today's is in colour, as all others are compared with
/// it.
fn lines(report: &Report) -> Vec<Line<'_>> {
    let locks = once(report.cells.iter().map(|cell| cell.lock.as_str()));
    let score = |lock: &str| {
        let is_sound = |cell: &&Cell| cell.lock == lock && cell.failed.is_none();
        report.cells.iter().filter(is_sound).map(|cell| cell.rate.mean.max(1.0).ln()).sum()
    };
    let standing = |&lock: &&str| Standing {
        default: lock == DEFAULT,
        peer: lock != DEFAULT,
        score: score(lock),
        chosen: lock == TODAY || report.chosen.iter().any(|name| name == lock),
    };
    let grey = legend::grey(&locks.iter().map(standing).collect::<Vec<_>>());
    locks.into_iter().zip(grey).map(|(lock, grey)| Line { lock, grey }).collect()
}

fn plot(machine: &str, cells: &[&Cell], lines: &[Line]) -> Markup {
    let threads: BTreeSet<usize> = cells.iter().map(|cell| cell.workers).collect();
    let point = |cell: &&Cell| Point {
        threads: cell.workers,
        value: cell.rate.mean,
        text: cell.rate.middle(rate),
        range: cell.rate.bounds(),
    };
    let series = lines.iter().enumerate().map(|(index, line)| Series {
        name: line.lock,
        index,
        ours: line.is_default(),
        grey: line.grey,
        points: cells.iter().filter(|cell| cell.lock == line.lock).map(point).collect(),
        stalled_at: None,
    });
    let plot = Plot {
        title: machine,
        what: "threads",
        scale: Scale::Linear,
        threads: &Vec::from_iter(threads),
        cpus: cells.first().map_or(1, |cell| cell.cpus),
        series: &series.collect::<Vec<_>>(),
        tick: rate,
    };
    plot.render()
}

#[cfg(test)]
mod tests {
    use super::*;
    use stanchion_cells::stats::Estimate;

    #[test]
    fn ends_that_are_left_out_are_told() {
        assert_eq!(left_out(&[0.0, 0.0]), None);
        let told = |ends| left_out(&ends).expect("one is");
        assert!(
            told([1.1e9, 0.0]).starts_with("That is without the first 1.10 s, in which"),
            "{}",
            told([1.1e9, 0.0])
        );
        assert!(
            told([1.1e9, 5e8]).contains("the first 1.10 s and the last 500 ms,"),
            "{}",
            told([1.1e9, 5e8])
        );
    }

    #[test]
    fn rates_and_gains_of_seeds_of_two_kinds_are_ranges() {
        let cell = |lock: &str, values: &[f64]| {
            let (lock, rate) = (lock.to_owned(), Estimate::of(values.to_vec()));
            Some(Cell { lock, workers: 2, rate, waiting: 0.3, ..Cell::default() })
        };
        let cells =
            [cell(TODAY, &[200.0, 200.0]), cell("byte", &[400.0, 600.0]), cell("cna", &[400.0, 440.0])];
        let report = Report::new(Recording::default(), cells.to_vec(), None, 1);
        let columns = columns(&report);
        let column = |name: &str| columns.iter().find(|column| column.name == name).expect("a column");
        let shown = |name: &str| rows(&report).iter().map(|row| column(name).text(row)).collect::<Vec<_>>();
        let texts = |texts: [&str; 2]| texts.map(|text| Some(text.to_owned())).to_vec();
        assert_eq!(shown("rate")[1..], texts(["400 /s..600 /s", "420 /s"]));
        assert_eq!(shown("to_libc")[1], Some("2.00..3.00".to_owned()));
        assert!(shown("to_libc")[2].as_ref().is_some_and(|gain| gain.starts_with("2.10 (")));
        assert_eq!(shown("to_libc")[0], None, "libc's is no gain");
        assert_eq!(column("rate").number(&rows(&report)[1]), Some(500.0), "files have the mean");
    }

    #[test]
    fn in_colour_are_todays_lock_the_default_the_fastest_other_one_and_those_that_were_named() {
        let cell = |(index, lock): (u32, &str)| {
            let rate = Estimate::of(vec![f64::from(1000 << index); 2]);
            Cell {
                lock: lock.to_owned(),
                machine: "small-vm".to_owned(),
                workers: 2,
                rate,
                ..Cell::default()
            }
        };
        let cells = (0..).zip(["libc", "stanchion", "byte", "ticket", "twa"]).map(cell).map(Some).collect();
        let mut report = Report::new(Recording::default(), cells, None, 1);
        let grey = |report: &Report| lines(report).iter().map(|line| line.grey).collect::<Vec<_>>();
        assert_eq!(grey(&report), [false, false, true, true, false]);
        report.cells[4].failed = Some("it broke".to_owned());
        report.chosen = vec!["byte".to_owned()];
        assert_eq!(grey(&report), [false, false, false, false, true]);
        let page = page(&report);
        assert!(page.contains("id=\"pick4\"") && page.contains("#pick4:checked") && !page.contains("pick3"));
        report.cells.truncate(2);
        assert!(!super::page(&report).contains("checkbox"), "the names beside the lines are enough");
    }
}
