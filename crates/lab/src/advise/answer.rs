//! The answer as people read it: first what to do, then why, then how sure that is.
use super::load::Recording;
use super::predict::{Cell, TODAY};
use super::report::{Advice, Outlook, Report, WhatIf};
use lab_kit::export::grid::{align_right, plain_table, trimmed};
use lab_kit::units::{format_ns, percent, three_figures};
use stanchion_cells::stats::Ratio;

pub(super) fn rate(value: f64) -> String {
    let (value, unit) = match value {
        value if value >= 1e6 => (value / 1e6, "M/s"),
        value if value >= 1e3 => (value / 1e3, "k/s"),
        value => (value, "/s"),
    };
    format!("{} {unit}", three_figures(value))
}

fn times(gain: &Ratio) -> String {
    let interval = gain.ci95.map(|half| format!(" ± {half:.2}")).unwrap_or_default();
    format!("{:.2}{interval}", gain.ratio)
}

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
    lines.push(format!("\n{}", table(report)));
    for WhatIf { what, today, advised } in &report.what_if {
        if let Some(gain) = Ratio::of(&advised.rate, &today.rate) {
            let Cell { workers, cpus, .. } = advised;
            let gain = times(&gain);
            lines.push(format!(
                "With {what}: {gain} times libc's throughput ({workers} threads, {cpus} CPUs)."
            ));
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
    let gain = gain.as_ref().map(times).unwrap_or_default();
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

fn table(report: &Report) -> String {
    let mut table = plain_table();
    let mut header =
        vec!["machine", "CPUs", "threads", "lock", "acquisitions", "to libc", "p99 wait", "waiting"];
    header.extend(report.law.map(|_| "scalability law"));
    table.set_header(header);
    for cell in &report.cells {
        let mut row =
            vec![cell.machine.clone(), cell.cpus.to_string(), cell.workers.to_string(), cell.lock.clone()];
        if let Some(why) = &cell.failed {
            row.push(format!("failed: {}", why.chars().take(40).collect::<String>()));
        } else {
            let is_today = cell.lock == TODAY;
            let gain = report.gain(cell).filter(|_| !is_today);
            row.extend([
                rate(cell.rate.mean),
                gain.as_ref().map(times).unwrap_or_default(),
                format_ns(cell.p99_ns as f64),
                percent(cell.waiting),
            ]);
            let law = report.law.filter(|_| is_today);
            row.extend(law.map(|law| three_figures(law.at(cell.workers as f64))));
        }
        table.add_row(row);
    }
    align_right(&mut table);
    trimmed(&table)
}

/// A doubt that the seeds themselves show.
fn widest(report: &Report) -> Option<String> {
    let widths = report.cells.iter().filter_map(|cell| Some((cell.rate.relative()?, cell)));
    let (width, cell) = widths.max_by(|a, b| a.0.total_cmp(&b.0)).filter(|(width, _)| *width > 0.15)?;
    let (lock, case, width) = (&cell.lock, case(cell), percent(width));
    Some(format!("{lock} with {case} differs by {width} between seeds: take more --seeds"))
}

const COLUMNS: &str =
    "machine,cpus,workers,lock,rate,ci95,to_libc,to_libc_ci95,p99_ns,p999_ns,waiting,failed";

/// A row for each cell.
pub(super) fn csv(report: &Report) -> String {
    let mut writer = csv::Writer::from_writer(Vec::new());
    for cell in &report.cells {
        let gain = report.gain(cell);
        let row = (
            (&cell.machine, cell.cpus, cell.workers, &cell.lock),
            (cell.rate.mean, cell.rate.ci95),
            (gain.map(|gain| gain.ratio), gain.and_then(|gain| gain.ci95)),
            (cell.p99_ns, cell.p999_ns, cell.waiting, &cell.failed),
        );
        writer.serialize(row).expect("every row has the same columns and memory does not fail");
    }
    let rows = writer.into_inner().expect("memory does not fail");
    format!("{COLUMNS}\n{}", String::from_utf8_lossy(&rows))
}
