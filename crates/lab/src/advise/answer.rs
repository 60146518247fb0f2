//! The answer as people read it: first what to do, then why, then how sure that is; as rows; and as a page.
use super::load::{Lock, Recording};
use super::predict::{Cell, TODAY};
use super::report::{Advice, Outlook, Report, WhatIf, distinct, gain_over};
use lab_kit::export::grid::{self, trimmed};
use lab_kit::export::svg::{Plot, Point, Scale, Series};
use lab_kit::export::{colours, csv_records, page};
use lab_kit::stats::Ratio;
use lab_kit::units::{format_ns, percent, rate, three_figures};
use maud::{Markup, html};
use std::collections::BTreeSet;

/// All of it; the last line can be pasted.
pub(super) fn text(report: &Report) -> String {
    let Recording { acquisitions, span_ns, threads, at_once, waiting, limits, .. } = &report.recording;
    let (span, waiting) = (format_ns(*span_ns), percent(*waiting));
    let mut lines = vec![
        headline(report),
        format!(
            "\nRecorded: {acquisitions} acquisitions in {span}; threads: {threads}, of which {at_once} were at work at a time, and waited for \
             locks {waiting} of their time."
        ),
    ];
    for (lock, share) in report.deciding() {
        lines.push(format!("{} of all waiting is for {}.", percent(share), lock.name()));
    }
    lines.push(format!("\n{}", trimmed(&table(report))));
    for WhatIf { what, today, advised } in &report.what_if {
        if let Some(gain) = gain_over(advised, today) {
            let Cell { workers, cpus, .. } = advised;
            let case = format!("{workers} threads, {cpus} CPUs");
            lines.push(format!("With {what}: {gain} times libc's throughput ({case})."));
        }
    }
    lines.extend(limits.iter().cloned().chain(widest(report)).map(|weak| format!("Weak: {weak}.")));
    let take = report.advice.as_ref().map_or(TODAY, |advice| &advice.take);
    lines.push(format!("\nSTANCHION=lock={take}\n"));
    lines.join("\n")
}

fn case(cell: &Cell) -> String {
    format!("{} threads on {} ({} CPUs)", cell.workers, cell.machine, cell.cpus)
}

fn headline(report: &Report) -> String {
    let Some(Advice { lock, gain, at, today, waiting, outlook, .. }) = &report.advice else {
        return "No advice: nothing was simulated to its end.".to_owned();
    };
    let doubt = match outlook {
        Outlook::Helps => {
            let (cell, today) = (&report.cells[*at], &report.cells[*today]);
            let [own, today] = [cell.p99_ns, today.p99_ns].map(|ns| format_ns(ns as f64));
            return format!(
                "Use {lock}: {gain} times the throughput of libc's locks with {}; 99 of 100 waits end within {own}, today within {today}.",
                case(cell)
            );
        }
        Outlook::Open => "It is open whether a lock helps",
        Outlook::None => "No lock will help",
    };
    let why = if *waiting < 0.05 { "hardly wait for locks" } else { "wait for what is done under locks" };
    let waiting = percent(*waiting);
    format!(
        "{doubt}: threads {why} ({waiting} of their time at most), and {lock} changes throughput to {gain} of today's."
    )
}

fn table(report: &Report) -> comfy_table::Table {
    let row = |cell: &Cell| {
        let Cell { machine, cpus, workers, lock, .. } = cell;
        let mut row = vec![machine.clone(), cpus.to_string(), workers.to_string(), lock.clone()];
        if let Some(why) = &cell.failed {
            row.push(format!("failed: {}", why.chars().take(40).collect::<String>()));
        } else {
            let is_today = lock == TODAY;
            let gain =
                report.gain(cell).filter(|_| !is_today).as_ref().map(Ratio::to_string).unwrap_or_default();
            row.extend([rate(cell.rate.mean), gain, format_ns(cell.p99_ns as f64), percent(cell.waiting)]);
            let law = report.law.filter(|_| is_today);
            row.extend(law.map(|law| three_figures(law.at(*workers as f64))));
        }
        row
    };
    let header = ["machine", "CPUs", "threads", "lock", "acquisitions", "to libc", "p99 wait", "waiting"];
    let header = header.into_iter().chain(report.law.map(|_| "scalability law"));
    grid::table(header, report.cells.iter().map(row))
}

/// A doubt that the seeds themselves show.
fn widest(report: &Report) -> Option<String> {
    let widths = report.cells.iter().filter_map(|cell| Some((cell.rate.relative()?, cell)));
    let (width, cell) = widths.max_by(|a, b| a.0.total_cmp(&b.0)).filter(|(width, _)| *width > 0.15)?;
    let (lock, case, width) = (&cell.lock, case(cell), percent(width));
    Some(format!("{lock} with {case} differs by {width} between seeds: take more --seeds"))
}

const COLUMNS: &str =
    "machine,cpus,workers,lock,rate,ci95,to_libc,to_libc_low,to_libc_high,p99_ns,p999_ns,waiting,failed";

pub(super) fn csv(report: &Report) -> String {
    let row = |cell| {
        let gain = report.gain(cell);
        (
            (&cell.machine, cell.cpus, cell.workers, &cell.lock),
            (cell.rate.mean, cell.rate.ci95),
            (gain.map(|gain| gain.ratio), gain.and_then(|gain| gain.interval).unzip()),
            (cell.p99_ns, cell.p999_ns, cell.waiting, &cell.failed),
        )
    };
    format!("{COLUMNS}\n{}", csv_records(report.cells.iter().map(row)))
}

pub(super) fn page(report: &Report) -> String {
    let program = report.recording.program.join(" ");
    let (told, table) = (text(report), table(report));
    let (before, after) = told.split_once(&trimmed(&table)).unwrap_or((&told, ""));
    let plots = distinct(report.cells.iter().map(|cell| cell.machine.as_str())).into_iter().map(|machine| {
        let cells = report.cells.iter().filter(|cell| cell.machine == machine && cell.failed.is_none());
        page::plot(&plot(machine, &cells.collect::<Vec<_>>()))
    });
    let row = |lock: &Lock| {
        let counts = [lock.threads.to_string(), lock.acquisitions.to_string()];
        let times = [lock.waited_ns, lock.held_ns].map(format_ns);
        [lock.name()].into_iter().chain(counts).chain(times)
    };
    let header = ["lock", "threads", "acquisitions", "waited", "held"];
    let locks = grid::table(header, report.recording.locks.iter().take(20).map(row));
    let body = html! {
        h1 { "Which lock for " code { (program) } }
        pre.verdict { (before.trim()) }
        (page::table(&table))
        pre.verdict { (after.trim()) }
        h2 { "Throughput" }
        (page::plots(plots))
        @if !report.timelines.is_empty() { h2 { "What threads do, today and as advised" } }
        @for (picture, when) in report.timelines.iter().zip(["today", "as advised"]) {
            div.scroll role="group" aria-label=(when) tabindex="0" {
                img alt={ "what threads do " (when) } src=(embedded(picture));
            }
        }
        h2 { "Locks of the program" }
        (page::table(&locks))
    };
    page::page(&format!("Advice for {program}"), &colours(report.cells.len()), &body)
}

/// A picture as the address of an image, which the page's style does not reach: it has colours of its own.
fn embedded(svg: &str) -> String {
    let escape = |text: String, char: char| text.replace(char, &format!("%{:02X}", char as u32));
    // The sign that escapes comes first.
    let escaped = ['%', '#', '"', '<', '>', '&', '\n'].into_iter().fold(svg.to_owned(), escape);
    format!("data:image/svg+xml,{escaped}")
}

fn plot(machine: &str, cells: &[&Cell]) -> Markup {
    let threads: BTreeSet<usize> = cells.iter().map(|cell| cell.workers).collect();
    let point = |cell: &&Cell| Point {
        threads: cell.workers,
        value: cell.rate.mean,
        text: rate(cell.rate.mean),
        range: cell.rate.ci95.map(|error| (cell.rate.mean - error, cell.rate.mean + error)),
    };
    let names = distinct(cells.iter().map(|cell| cell.lock.as_str())).into_iter().enumerate();
    let series = names.map(|(index, name)| Series {
        name,
        index,
        ours: name == crate::run::DEFAULT,
        grey: false,
        points: cells.iter().filter(|cell| cell.lock == name).map(point).collect(),
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
