//! One self-contained page: the summary, plots for each profile, every table, and where it all comes from.
//!
//! No script and no resource from elsewhere: the file can be mailed, archived and opened in twenty years.
use crate::bench::cell::Profile;
use crate::bench::contender::Kind;
use crate::bench::plan::NO_LOCK;
use crate::bench::report::{Cell, LockInfo, Report, State};
use crate::bench::table::{QUANTITIES, Quantity, describe, figure};
use crate::bench::units::{round_ns, three_figures, without_zeros};
use crate::export::STYLE;
use crate::export::grid::heading;
use crate::export::svg::{Plot, Point, Scale, Series, classes, escape, marker};
use core::fmt::Write;

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
    let mut page = format!(
        "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><meta name=\"viewport\" content=\"width=device-width\">\
         <title>stanchion bench, {}</title><style>{STYLE}{}</style></head><body>\n",
        escape(&report.provenance.date),
        colours(&report.locks)
    );
    head(&mut page, "Locks on this machine", report);
    uncontended(&mut page, report);
    for profile in report.profiles() {
        if report.cells.iter().any(|cell| cell.profile == profile.name) {
            section(&mut page, report, profile);
        }
    }
    events(&mut page, report.cells.iter().map(|cell| (cell, cell.profile.clone())));
    facts(&mut page, report);
    locks(&mut page, report, |_| String::new());
    page.push_str("</body></html>\n");
    page
}

/// One style rule per lock.
pub(crate) fn colours(locks: &[LockInfo]) -> String {
    let (mut ours, mut peers) = (0, 0);
    let mut rules = String::new();
    for (index, lock) in locks.iter().enumerate() {
        let colour = if lock.kind == Kind::Stanchion {
            ours += 1;
            OURS[(ours - 1) % OURS.len()]
        } else {
            peers += 1;
            PEERS[(peers - 1) % PEERS.len()]
        };
        let _ = write!(rules, ".c{index}{{--colour:{colour};--dash:{}}}", DASHES[index % DASHES.len()]);
    }
    rules
}

/// Title, summary, doubts and legend.
pub(crate) fn head<C, U>(page: &mut String, title: &str, report: &Report<C, U>) {
    let provenance = &report.provenance;
    let _ = writeln!(
        page,
        "<h1>{title}</h1><p class=\"sub\">{} · {} of {} CPUs · {} · {} · {}{}</p>",
        escape(&provenance.cpu_model),
        report.setting.cpus.len(),
        provenance.cpus,
        escape(&provenance.hypervisor),
        escape(&provenance.kernel),
        escape(&provenance.date),
        if report.complete { "" } else { " · <b>unfinished run</b>" }
    );
    list(page, "words", report.summary.iter().map(String::as_str));
    let warnings: Vec<String> = report.warnings.iter().map(ToString::to_string).collect();
    if !warnings.is_empty() {
        page.push_str("<h3>Reasons for doubt</h3>");
        list(page, "warnings", warnings.iter().map(String::as_str));
    }
    page.push_str("<ul class=\"legend\">");
    for (index, lock) in report.locks.iter().enumerate() {
        let _ = write!(
            page,
            "<li title=\"{}\"><svg viewBox=\"0 0 34 12\"><g class=\"series {}\"><polyline points=\"0,6 34,6\"/>{}</g></svg>{}</li>",
            escape(&lock.about),
            classes(index, lock.kind == Kind::Stanchion),
            marker(index, 17.0, 6.0),
            escape(&lock.name)
        );
    }
    page.push_str("</ul>\n");
}

fn list<'a>(page: &mut String, class: &str, items: impl Iterator<Item = &'a str>) {
    let _ = write!(page, "<ul class=\"{class}\">");
    for item in items {
        let _ = write!(page, "<li>{}</li>", escape(item));
    }
    page.push_str("</ul>\n");
}

fn uncontended(page: &mut String, report: &Report) {
    let Some(most) = report.uncontended.iter().map(|row| row.ns.min).reduce(f64::max) else { return };
    page.push_str(
        "<h2>Uncontended</h2><p class=\"sub\">acquire and release by one thread, the loop included; best of the rounds; after: \
         the same of a lock for which two threads contended before</p>\
         <table><tr><th>lock</th><th>ns</th><th>median</th><th>after</th><th>bytes</th><th></th></tr>",
    );
    for row in &report.uncontended {
        let info = report.locks.iter().find(|lock| lock.name == row.lock);
        let _ = write!(
            page,
            "<tr class=\"{}\"><td>{}</td><td>{:.2}</td><td>{:.2}</td><td>{}</td><td>{}</td><td style=\"text-align:left\"><span class=\"bar\" style=\"width:{:.0}px\"></span></td></tr>",
            if info.is_some_and(|info| info.kind == Kind::Stanchion) { "ours" } else { "" },
            if row.lock == NO_LOCK { "(bare loop)" } else { &row.lock },
            row.ns.min,
            row.ns.median,
            row.after_ns.as_ref().map(|ns| format!("{:.2}", ns.min)).unwrap_or_default(),
            info.map(|info| info.bytes.to_string()).unwrap_or_default(),
            300.0 * row.ns.min / most
        );
    }
    page.push_str("</table>\n");
}

fn section(page: &mut String, report: &Report, profile: &Profile) {
    let description = describe(report, profile);
    let (name, rest) = description.split_once(": ").unwrap_or((&description, ""));
    let _ = writeln!(
        page,
        "<h2>{}</h2><p class=\"sub\">{}</p><div class=\"plots\">",
        escape(name),
        escape(rest).replace('\n', "; ")
    );
    let throughput = |scale| {
        plot(report, profile, "throughput, million acquisitions/s", scale, &QUANTITIES[0], plain_tick)
    };
    page.push_str(&radios(name, &throughput(Scale::Linear), &throughput(Scale::Log)));
    for (title, quantity, tick) in [
        ("CPU seconds per million acquisitions", &QUANTITIES[3], plain_tick as fn(f64) -> String),
        ("acquire latency, 99.9th percentile", &QUANTITIES[1], round_ns),
        ("worst wait, the unfinished ones counted", &QUANTITIES[2], round_ns),
    ] {
        let _ = write!(
            page,
            "<div class=\"plot\">{}</div>",
            plot(report, profile, title, Scale::Log, quantity, tick)
        );
    }
    page.push_str("</div>\n");
    for (index, quantity) in QUANTITIES.iter().enumerate() {
        let open = if index == 0 { " open" } else { "" };
        let _ = write!(page, "<details{open}><summary>{}</summary>", escape(quantity.title));
        table(page, report, profile, quantity);
        page.push_str("</details>\n");
    }
}

/// One plot in two scales, of which the reader chooses.
pub(crate) fn radios(name: &str, linear: &str, log: &str) -> String {
    let group = format!("scale-{}", escape(name));
    format!(
        "<div class=\"plot\"><div class=\"switch\"><label><input type=\"radio\" name=\"{group}\" checked> linear</label>\
         <label><input type=\"radio\" class=\"to-log\" name=\"{group}\"> logarithmic</label></div>\
         <div class=\"linear\">{linear}</div><div class=\"log\">{log}</div></div>"
    )
}

fn plot(
    report: &Report,
    profile: &Profile,
    title: &str,
    scale: Scale,
    quantity: &Quantity,
    tick: fn(f64) -> String,
) -> String {
    let series: Vec<Series> = report
        .locks
        .iter()
        .enumerate()
        .map(|(index, lock)| {
            let cells = || {
                let threads = report.setting.threads.iter();
                threads.filter_map(|&threads| report.cell(&lock.name, &profile.name, threads))
            };
            let point = |cell: &Cell| {
                let value = (quantity.value)(cell).filter(|_| cell.state == State::Measured)?;
                Some(Point { threads: cell.threads, value, text: (quantity.show)(cell, value), error: None })
            };
            Series {
                name: &lock.name,
                index,
                ours: lock.kind == Kind::Stanchion,
                points: cells().filter_map(point).collect(),
                stalled_at: cells().find(|cell| cell.state == State::Stalled).map(|cell| cell.threads),
            }
        })
        .collect();
    let cpus = report.setting.cpus.len();
    Plot { title, what: "threads", scale, threads: &report.setting.threads, cpus, series: &series, tick }
        .render()
}

fn table(page: &mut String, report: &Report, profile: &Profile, quantity: &Quantity) {
    let counts = &report.setting.threads;
    let headings = counts.iter().map(|&threads| heading(threads, report.setting.cpus.len())).collect();
    let mut table = Section::begin(page, "threads (per CPU)", headings);
    for lock in &report.locks {
        let figures = counts.iter().map(|&threads| {
            let column: Vec<&Cell> = report.sound(&profile.name, threads).collect();
            figure(report.cell(&lock.name, &profile.name, threads), &column, quantity)
        });
        table.row(lock, figures);
    }
    table.end();
}

/// A table with a row for each lock, under construction.
pub(crate) struct Section<'a>(&'a mut String);

impl<'a> Section<'a> {
    /// The table's head: what is counted, and the counts.
    pub(crate) fn begin(page: &'a mut String, what: &str, headings: Vec<String>) -> Self {
        let _ = write!(page, "<div class=\"scroll\"><table><tr><th>{what}</th>");
        for heading in headings {
            let _ = write!(page, "<th>{heading}</th>");
        }
        page.push_str("</tr>");
        Self(page)
    }

    /// The row of a lock, with its figures as tables for terminals have them.
    pub(crate) fn row(&mut self, lock: &LockInfo, figures: impl Iterator<Item = String>) {
        let class = if lock.kind == Kind::Stanchion { "ours" } else { "" };
        let _ = write!(self.0, "<tr class=\"{class}\"><td>{}</td>", escape(&lock.name));
        for figure in figures {
            let class = match figure.as_str() {
                "BROKEN" => "broken",
                "-" | "stalled" | "failed" => "word",
                figure if figure.ends_with('*') => "best",
                _ => "",
            };
            let text = figure.trim_end_matches(['*', ' ']);
            let _ = write!(self.0, "<td class=\"{class}\">{}</td>", escape(text));
        }
        self.0.push_str("</tr>");
    }

    pub(crate) fn end(self) {
        self.0.push_str("</table></div>");
    }
}

/// A number at a tick.
pub(crate) fn plain_tick(value: f64) -> String {
    without_zeros(&three_figures(value)).to_owned()
}

/// Lock events of these cells, each with what its threads did.
pub(crate) fn events<'a>(page: &mut String, cells: impl Iterator<Item = (&'a Cell, String)>) {
    let mut cells = cells.filter(|(cell, _)| !cell.events.is_empty()).peekable();
    if cells.peek().is_none() {
        return;
    }
    page.push_str(
        "<h2>Lock events</h2><p class=\"sub\">per acquisition, from a round of their own with the counting form of the lock</p>\
         <details><summary>all cells</summary><div class=\"scroll\"><table><tr><th>lock</th><th>profile</th><th>threads</th><th>events</th></tr>",
    );
    for (cell, load) in cells {
        let events: Vec<String> = cell
            .events
            .iter()
            .map(|event| format!("{} {}", event.name, three_figures(event.per_acquisition)))
            .collect();
        let _ = write!(
            page,
            "<tr><td>{}</td><td>{}</td><td>{}</td><td style=\"text-align:left\">{}</td></tr>",
            escape(&cell.lock),
            escape(&load),
            cell.threads,
            escape(&events.join(" · "))
        );
    }
    page.push_str("</table></div></details>\n");
}

/// Where it all comes from.
pub(crate) fn facts<C, U>(page: &mut String, report: &Report<C, U>) {
    let setting = &report.setting;
    let calibration = &report.calibration;
    let mut rows = report.provenance.rows();
    rows.push((
        "rounds",
        format!(
            "{} of {} ms for throughput, {} of {} ms for latency, interleaved across locks; drain limit {} ms",
            setting.rounds, setting.time_ms, setting.latency_rounds, setting.latency_time_ms, setting.drain_ms
        ),
    ));
    rows.push(("CPUs used", setting.cpus.iter().map(ToString::to_string).collect::<Vec<_>>().join(" ")));
    rows.push((
        "calibration",
        format!(
            "{:.4} ns a step of work, {:.4} ticks a nanosecond, {:.1} ns a clock reading, {:.1} ns a step of the clock",
            calibration.ns_per_step, calibration.ticks_per_ns, calibration.clock_read_ns, calibration.clock_step_ns
        ),
    ));
    page.push_str("<h2>Where this comes from</h2><table class=\"facts\">");
    for (name, value) in rows {
        let _ = write!(page, "<tr><td>{name}</td><td>{}</td></tr>", escape(&value));
    }
    page.push_str("</table>\n");
}

/// The locks, with what `more` says of each, and how they were measured.
pub(crate) fn locks<C, U>(page: &mut String, report: &Report<C, U>, more: impl Fn(&LockInfo) -> String) {
    page.push_str("<h3>The locks</h3><table class=\"facts\">");
    for lock in &report.locks {
        let (name, about, more) = (escape(&lock.name), escape(&lock.about), escape(&more(lock)));
        let _ = write!(page, "<tr><td>{name}</td><td>{about}; {} bytes{more}</td></tr>", lock.bytes);
    }
    page.push_str(
        "</table><p class=\"sub\">Each round of each cell ran in a process of its own; rates are those of a window between warm-up and \
         stop. The best figure of a column is marked; on waits and cost only locks within a fifth of the best throughput compete. \
         Latency rounds read the clock around every acquisition, which costs them throughput. A cross at the foot of a plot is a lock \
         that stalled.</p>\n",
    );
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bench::cell::Pass;
    use crate::bench::plan;
    use crate::bench::testing;

    fn page() -> String {
        let mut report = testing::report(&["a", "peer"]);
        let groups = plan::groups(&report.setting, &report.locks, testing::calibration(), false);
        for spec in groups.iter().flat_map(|group| &group.cells).filter(|spec| spec.pass == Pass::Latency) {
            let rounds =
                [(Pass::Throughput, testing::outcome(spec, 10)), (Pass::Latency, testing::outcome(spec, 10))];
            report.cells.push(Cell::of(
                &spec.lock,
                &spec.profile.name,
                spec.threads,
                State::Measured,
                &rounds,
            ));
        }
        report.summary.push("a < b & c".into());
        write(&report)
    }

    #[test]
    fn it_needs_nothing_from_elsewhere() {
        let page = page();
        for outside in ["http://", "https://", "<script", "src=", "url(", "@import", "<link"] {
            assert!(!page.contains(outside), "{outside}");
        }
        assert!(page.contains("a &lt; b &amp; c"));
    }

    #[test]
    fn every_profile_has_its_plots_and_tables() {
        let page = page();
        assert_eq!(page.matches("role=\"img\"").count(), 2 * 5, "four plots, one of them in two scales");
        assert_eq!(page.matches("<details").count(), 2 * QUANTITIES.len());
        assert!(page.contains("Where this comes from"));
    }

    #[test]
    fn tags_are_balanced() {
        let page = page();
        for tag in ["svg", "g", "table", "div", "details", "ul", "tr", "td"] {
            let opened =
                page.matches(&format!("<{tag}>")).count() + page.matches(&format!("<{tag} ")).count();
            assert_eq!(opened, page.matches(&format!("</{tag}>")).count(), "{tag}");
        }
    }
}
