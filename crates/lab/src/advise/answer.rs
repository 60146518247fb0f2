//! The answer as people read it: first what to do, then why, then how sure that is.
use super::predict::{Cell, TODAY};
use super::report::{Outlook, Report};
use core::fmt::Write;
use lab_kit::export::grid::{align_right, plain_table, trimmed};
use lab_kit::units::{format_ns, percent, three_figures};
use stanchion_cells::stats::Ratio;

/// A rate, as people read it.
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
    let mut text = String::new();
    headline(report, &mut text);
    let recording = &report.recording;
    let _ = writeln!(
        text,
        "\nRecorded: {} acquisitions in {} by {} thread{}, {} at work at a time; they waited for locks {} of their time.",
        recording.acquisitions,
        format_ns(recording.span_ns),
        recording.threads,
        if recording.threads == 1 { "" } else { "s" },
        recording.at_once,
        percent(recording.waiting),
    );
    for (lock, share) in report.deciding() {
        let _ = writeln!(text, "{} of all waiting is for {}.", percent(share), lock.name());
    }
    let _ = writeln!(text, "\n{}", table(report));
    changes(report, &mut text);
    for limit in &recording.limits {
        let _ = writeln!(text, "Weak: {limit}.");
    }
    if let Some(wide) = widest(report) {
        let _ = writeln!(text, "Weak: {wide}.");
    }
    let _ = writeln!(text, "\n{}", last_line(report));
    text
}

fn case(cell: &Cell) -> String {
    format!("{} threads on {} ({} CPUs)", cell.workers, cell.machine, cell.cpus)
}

fn headline(report: &Report, text: &mut String) {
    let Some(advice) = &report.advice else {
        let _ = writeln!(text, "No advice: nothing was simulated to its end.");
        return;
    };
    let (cell, today) = (&report.cells[advice.at], &report.cells[advice.today]);
    if advice.outlook != Outlook::Helps {
        let why =
            if advice.waiting < 0.05 { "hardly wait for locks" } else { "wait for what is done under locks" };
        let _ = writeln!(
            text,
            "{}: threads {why} ({} of their time at most), and {} changes throughput to {} of today's.",
            if advice.outlook == Outlook::Open {
                "It is open whether a lock helps"
            } else {
                "No lock will help"
            },
            percent(advice.waiting),
            advice.lock,
            advice.gain.as_ref().map(times).unwrap_or_default(),
        );
        return;
    }
    let _ = writeln!(
        text,
        "Use {}: {} times the throughput of libc's locks with {}; 99 of 100 waits end within {}, today within {}.",
        advice.lock,
        advice.gain.as_ref().map(times).unwrap_or_default(),
        case(cell),
        format_ns(cell.p99_ns as f64),
        format_ns(today.p99_ns as f64),
    );
}

fn table(report: &Report) -> String {
    let mut table = plain_table();
    let mut header =
        vec!["machine", "CPUs", "threads", "lock", "acquisitions", "to libc", "p99 wait", "waiting"];
    if report.law.is_some() {
        header.push("scalability law");
    }
    table.set_header(header);
    for cell in &report.cells {
        let mut row =
            vec![cell.machine.clone(), cell.cpus.to_string(), cell.workers.to_string(), cell.lock.clone()];
        if let Some(why) = &cell.failed {
            row.push(format!("failed: {}", why.chars().take(40).collect::<String>()));
        } else {
            let gain = report.gain(cell).filter(|_| cell.lock != TODAY);
            row.extend([
                rate(cell.rate.mean),
                gain.as_ref().map(times).unwrap_or_default(),
                format_ns(cell.p99_ns as f64),
                percent(cell.waiting),
            ]);
            if let Some(law) = &report.law {
                row.push(if cell.lock == TODAY {
                    three_figures(law.at(cell.workers as f64))
                } else {
                    String::new()
                });
            }
        }
        table.add_row(row);
    }
    align_right(&mut table);
    trimmed(&table)
}

fn changes(report: &Report, text: &mut String) {
    for what_if in &report.what_if {
        if let Some(gain) = Ratio::of(&what_if.advised.rate, &what_if.today.rate) {
            let _ = writeln!(
                text,
                "With {}: {} times libc's throughput ({} threads, {} CPUs).",
                what_if.what,
                times(&gain),
                what_if.advised.workers,
                what_if.advised.cpus
            );
        }
    }
}

/// A doubt that the seeds themselves show.
fn widest(report: &Report) -> Option<String> {
    let widths = report.cells.iter().filter_map(|cell| Some((cell.rate.relative()?, cell)));
    let (width, cell) = widths.max_by(|a, b| a.0.total_cmp(&b.0))?;
    (width > 0.15).then(|| {
        format!(
            "{} with {} differs by {} between seeds: take more --seeds",
            cell.lock,
            case(cell),
            percent(width)
        )
    })
}

/// What can be pasted.
fn last_line(report: &Report) -> String {
    format!("STANCHION=lock={}", report.advice.as_ref().map_or(TODAY, |advice| &advice.take))
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
