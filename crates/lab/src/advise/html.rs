//! The page: the answer, a plot for each machine, what threads do in the case that decided, the locks of the
//! program.
use super::answer;
use super::load::Lock;
use super::predict::Cell;
use super::report::{Report, distinct};
use core::fmt::Write;
use lab_kit::export::svg::{Plot, Point, Scale, Series, escape};
use lab_kit::export::{STYLE, colours};
use lab_kit::units::format_ns;

pub(super) fn page(report: &Report) -> String {
    let program = escape(&report.recording.program.join(" "));
    let mut page = format!(
        "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\
         <meta name=\"viewport\" content=\"width=device-width\"><title>Advice for {program}</title>\
         <style>{STYLE}{}</style></head>\n<body>\n<h1>Which lock for <code>{program}</code></h1>\n<pre style=\"white-space: pre-wrap\">{}</pre>\n",
        colours(report.cells.len()),
        escape(&answer::text(report))
    );
    page.push_str("<h2>Throughput</h2>\n<div class=\"plots\">\n");
    for machine in distinct(report.cells.iter().map(|cell| &cell.machine)) {
        let cells: Vec<&Cell> =
            report.cells.iter().filter(|cell| cell.machine == machine && cell.failed.is_none()).collect();
        let _ = writeln!(page, "<div class=\"plot\">{}</div>", plot(machine, &cells));
    }
    page.push_str("</div>\n");
    if !report.timelines.is_empty() {
        page.push_str("<h2>What threads do, today and as advised</h2>\n");
    }
    for picture in &report.timelines {
        let picture = embedded(picture);
        let _ =
            writeln!(page, "<p><img alt=\"what threads do\" style=\"width: 100%\" src=\"{picture}\"></p>");
    }
    page.push_str("<h2>Locks of the program</h2>\n<table><tr><th>lock</th><th>threads</th><th>acquisitions</th><th>waited</th><th>held</th></tr>\n");
    for lock in report.recording.locks.iter().take(20) {
        let Lock { threads, acquisitions, waited_ns, held_ns, .. } = lock;
        let [waited, held] = [*waited_ns, *held_ns].map(format_ns);
        let name = escape(&lock.name());
        let _ = writeln!(
            page,
            "<tr><td>{name}</td><td>{threads}</td><td>{acquisitions}</td><td>{waited}</td><td>{held}</td></tr>"
        );
    }
    page.push_str("</table>\n</body></html>\n");
    page
}

/// A picture as the address of an image, which the page's style does not reach: it has colours of its own.
fn embedded(svg: &str) -> String {
    let mut address = "data:image/svg+xml,".to_owned();
    for char in svg.chars() {
        match char {
            '%' | '#' | '"' | '<' | '>' | '&' | '\n' => _ = write!(address, "%{:02X}", char as u32),
            other => address.push(other),
        }
    }
    address
}

fn plot(machine: &str, cells: &[&Cell]) -> String {
    let mut threads: Vec<usize> = cells.iter().map(|cell| cell.workers).collect();
    threads.sort_unstable();
    threads.dedup();
    let series: Vec<Series> = distinct(cells.iter().map(|cell| &cell.lock))
        .into_iter()
        .enumerate()
        .map(|(index, name)| Series {
            name,
            index,
            ours: name == crate::run::DEFAULT,
            grey: false,
            points: cells
                .iter()
                .filter(|cell| cell.lock == name)
                .map(|cell| Point {
                    threads: cell.workers,
                    value: cell.rate.mean,
                    text: answer::rate(cell.rate.mean),
                    range: cell.rate.ci95.map(|error| (cell.rate.mean - error, cell.rate.mean + error)),
                })
                .collect(),
            stalled_at: None,
        })
        .collect();
    let plot = Plot {
        title: machine,
        what: "threads",
        scale: Scale::Linear,
        threads: &threads,
        cpus: cells.first().map_or(1, |cell| cell.cpus),
        series: &series,
        tick: answer::rate,
    };
    plot.render()
}
