//! One self-contained page: plots and tables for each machine and workload, and where it all comes from.
//!
//! No script and no resource from elsewhere: the file can be mailed, archived and opened in twenty years.
use super::bars;
use crate::sim::report::Report;
use crate::sim::table::{QUANTITIES, SPENT, result, shown, simulated, title};
use crate::sim::timeline::COLOURS;
use core::fmt::Write;
use lab_kit::export::grid::heading;
use lab_kit::export::svg::{Plot, Point, Scale, Series, classes, escape, marker};
use lab_kit::export::{STYLE, colours};
use lab_kit::units::{format_ns, percent, round_ns, three_figures, without_zeros};
use stanchion_cells::cell::{Cell, Figures, SceneInfo, State};
use stanchion_sim::Cause;

/// A wait in nanoseconds.
type Wait = fn(&Figures) -> u64;
/// A value, with half the width of its interval.
type Value<'a> = &'a dyn Fn(&Figures) -> Option<(f64, Option<f64>)>;

pub(super) fn write(report: &Report) -> String {
    let colours = colours(report.setting.locks.len());
    let mut page = format!(
        "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><meta name=\"viewport\" content=\"width=device-width\">\
         <title>stanchion sim, {}</title><style>{STYLE}{colours}</style></head><body>\n",
        escape(&report.provenance.date)
    );
    head(&mut page, report);
    for scene in &report.scenes {
        if report.cells.iter().any(|cell| cell.is_of(scene)) {
            section(&mut page, report, scene);
        }
    }
    events(&mut page, report);
    facts(&mut page, report);
    page.push_str("</body></html>\n");
    page
}

fn head(page: &mut String, report: &Report) {
    let seeds = &report.setting.seeds;
    let _ = writeln!(
        page,
        "<h1>Locks in simulation</h1><p class=\"sub\">{} of virtual time, {} seeds from {} · {}{}</p>",
        round_ns(report.setting.time_ns as f64),
        seeds.len(),
        seeds.first().copied().unwrap_or(0),
        escape(&report.provenance.date),
        if report.complete { "" } else { " · <b>unfinished run</b>" }
    );
    let mut notes = String::new();
    for cell in &report.cells {
        let note = match &cell.state {
            State::Measured => continue,
            State::Cut { runs } => format!("{runs} runs were cut short by the limit of events"),
            State::Broken { seed, message } => format!("BROKEN with seed {seed}: {message}"),
            State::Failed { seed, message } => format!("failed with seed {seed}: {message}"),
        };
        let who = format!("{} on {}, {} vCPUs", cell.lock, cell.machine, cell.vcpus);
        let _ = write!(notes, "<li>{}: {}</li>", escape(&who), escape(&note));
    }
    if !notes.is_empty() {
        let _ = writeln!(page, "<h3>Reasons for doubt</h3><ul class=\"warnings\">{notes}</ul>");
    }
    page.push_str("<ul class=\"legend\">");
    for (index, lock) in report.setting.locks.iter().enumerate() {
        let _ = write!(
            page,
            "<li><svg viewBox=\"0 0 34 12\"><g class=\"series {}\"><polyline points=\"0,6 34,6\"/>{}</g></svg>{}</li>",
            classes(index, false, false),
            marker(index, 17.0, 6.0),
            escape(lock)
        );
    }
    page.push_str("</ul>\n");
}

fn section(page: &mut String, report: &Report, scene: &SceneInfo) {
    let _ = writeln!(
        page,
        "<h2>{}</h2><p class=\"sub\">{}; {}</p><div class=\"plots\">",
        escape(&title(scene)),
        escape(&scene.machine_about),
        escape(&scene.workload_about)
    );
    let rate = |figures: &Figures| figures.score.as_ref().map(|score| (score.mean, score.ci95));
    let named = result(scene) + " (95 % confidence)";
    let throughput = |scale| plot(report, scene, &named, scale, &rate, plain_tick);
    let group = format!("scale-{}-{}", escape(&scene.machine), escape(&scene.workload));
    let _ = write!(
        page,
        "<div class=\"plot\"><div class=\"switch\"><label><input type=\"radio\" name=\"{group}\" checked> linear</label>\
         <label><input type=\"radio\" class=\"to-log\" name=\"{group}\"> logarithmic</label></div>\
         <div class=\"linear\">{}</div><div class=\"log\">{}</div></div>",
        throughput(Scale::Linear),
        throughput(Scale::Log)
    );
    let waits: [(&str, Wait); 4] = [
        ("acquire latency, median", |figures| figures.latency.p50_ns),
        ("acquire latency, 99th percentile", |figures| figures.latency.p99_ns),
        ("acquire latency, 99.9th percentile", |figures| figures.latency.p999_ns),
        ("longest acquire", |figures| figures.latency.max_ns),
    ];
    for (title, wait) in waits {
        let value = move |figures: &Figures| Some((wait(figures) as f64, None));
        let _ = write!(
            page,
            "<div class=\"plot\">{}</div>",
            plot(report, scene, title, Scale::Log, &value, round_ns)
        );
    }
    page.push_str("</div>\n<h3>Where the time of vCPUs goes</h3>");
    causes_legend(page);
    page.push_str("<div class=\"plots\">");
    for &count in &scene.vcpus {
        let rows: Vec<(&str, Option<&Figures>)> = report
            .setting
            .locks
            .iter()
            .map(|lock| {
                (lock.as_str(), report.cell(scene, lock, count).and_then(|cell| cell.figures.as_ref()))
            })
            .collect();
        let title = format!("{} vCPUs", heading(count, scene.cpus));
        let _ = write!(page, "<div class=\"plot\">{}</div>", bars::render(&title, &rows));
    }
    page.push_str("</div>\n");
    for (index, quantity) in QUANTITIES.iter().enumerate() {
        let open = if index == 0 { " open" } else { "" };
        let _ = write!(page, "<details{open}><summary>{}</summary>", escape(quantity.title));
        matrix(page, report, scene, &|cell| shown(cell, quantity));
        page.push_str("</details>\n");
    }
    for (name, causes) in &SPENT {
        let _ = write!(page, "<details><summary>share of vCPU time: {name}</summary>");
        matrix(page, report, scene, &|cell| of(cell, |figures| percent(figures.share_of(causes))));
        page.push_str("</details>\n");
    }
    let ways = |figures: &Figures| {
        let ways = &figures.handovers;
        let shares = [ways.same, ways.local, ways.remote].map(percent).join(" / ");
        format!("{shares}; {} kicks", three_figures(figures.kicks))
    };
    page.push_str("<details><summary>handovers to itself / the same socket / another socket; kicks an acquisition</summary>");
    matrix(page, report, scene, &|cell| of(cell, ways));
    page.push_str("</details>\n");
}

fn of(cell: Option<&Cell>, show: impl Fn(&Figures) -> String) -> String {
    cell.and_then(|cell| cell.figures.as_ref()).map_or_else(|| "-".to_owned(), show)
}

fn causes_legend(page: &mut String) {
    page.push_str("<ul class=\"legend\">");
    for cause in Cause::ALL {
        let _ = write!(
            page,
            "<li><svg viewBox=\"0 0 34 12\"><rect width=\"34\" height=\"12\" fill=\"{}\"/></svg>{}</li>",
            COLOURS[cause as usize],
            cause.name()
        );
    }
    page.push_str("</ul>\n");
}

fn plot(
    report: &Report,
    scene: &SceneInfo,
    title: &str,
    scale: Scale,
    value: Value,
    tick: fn(f64) -> String,
) -> String {
    let series: Vec<Series> = report
        .setting
        .locks
        .iter()
        .enumerate()
        .map(|(index, lock)| {
            let point = |&vcpus: &usize| {
                let (value, error) = value(report.cell(scene, lock, vcpus)?.figures.as_ref()?)?;
                let doubt = error.map(|error| format!(" ±{}", three_figures(error))).unwrap_or_default();
                // A latency is in nanoseconds; a rate has figures of its own.
                let text = if error.is_none() && value >= 1e3 {
                    format_ns(value)
                } else {
                    three_figures(value) + &doubt
                };
                let range = error.map(|error| (value - error, value + error));
                Some(Point { threads: vcpus, value, text, range })
            };
            let points = scene.vcpus.iter().filter_map(point).collect();
            Series { name: lock, index, ours: false, grey: false, points, stalled_at: None }
        })
        .collect();
    Plot { title, what: "vCPUs", scale, threads: &scene.vcpus, cpus: scene.cpus, series: &series, tick }
        .render()
}

fn matrix(page: &mut String, report: &Report, scene: &SceneInfo, show: &dyn Fn(Option<&Cell>) -> String) {
    page.push_str("<div class=\"scroll\"><table><tr><th>vCPUs (per CPU)</th>");
    for &vcpus in &scene.vcpus {
        let _ = write!(page, "<th>{}</th>", heading(vcpus, scene.cpus));
    }
    page.push_str("</tr>");
    for lock in &report.setting.locks {
        let _ = write!(page, "<tr><td>{}</td>", escape(lock));
        for &vcpus in &scene.vcpus {
            let text = show(report.cell(scene, lock, vcpus));
            let class = if text == "BROKEN" { "broken" } else { "" };
            let _ = write!(page, "<td class=\"{class}\">{}</td>", escape(&text));
        }
        page.push_str("</tr>");
    }
    page.push_str("</table></div>");
}

/// A number at a tick.
fn plain_tick(value: f64) -> String {
    without_zeros(&three_figures(value)).to_owned()
}

/// Lock events of all cells.
fn events(page: &mut String, report: &Report) {
    page.push_str(
        "<h2>Lock events</h2><p class=\"sub\">for each acquisition</p><details><summary>all cells</summary><div class=\"scroll\">\
         <table><tr><th>lock</th><th>machine</th><th>workload</th><th>vCPUs</th><th>events</th></tr>",
    );
    for cell in &report.cells {
        let Some(figures) = cell.figures.as_ref().filter(|figures| !figures.events.is_empty()) else {
            continue;
        };
        let events: Vec<String> = figures
            .events
            .iter()
            .map(|event| format!("{} {}", event.name, three_figures(event.value)))
            .collect();
        let _ = write!(
            page,
            "<tr><td>{}</td><td>{}</td><td>{}</td><td>{}</td><td style=\"text-align:left\">{}</td></tr>",
            escape(&cell.lock),
            escape(&cell.machine),
            escape(&cell.workload),
            cell.vcpus,
            escape(&events.join(" · "))
        );
    }
    page.push_str("</table></div></details>\n");
}

fn facts(page: &mut String, report: &Report) {
    let mut rows = report.provenance.rows();
    rows.push(("fields set", report.setting.sets.join(" ")));
    rows.push(("simulated", simulated(report)));
    page.push_str("<h2>Where this comes from</h2><table class=\"facts\">");
    for (name, value) in rows {
        let _ = write!(page, "<tr><td>{name}</td><td>{}</td></tr>", escape(&value));
    }
    page.push_str(
        "</table><p class=\"sub\">Figures are those of a simulated machine, not of the one named above, which only ran the simulation. \
         The same seed gives the same run on every host. Intervals tell how much the seed matters, not how true the machine is.</p>\n",
    );
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sim::testing;

    fn page() -> String {
        let mut report = testing::report(&["byte", "ticket"], &[1, 2, 4]);
        report.compare();
        report.cells[0].state = State::Broken { seed: 1, message: "a < b & c".into() };
        report.cells[0].figures = None;
        write(&report)
    }

    #[test]
    fn it_needs_nothing_from_elsewhere_and_escapes_what_it_quotes() {
        let page = page();
        for outside in ["http://", "https://", "<script", "src=", "url(", "@import", "<link"] {
            assert!(!page.contains(outside), "{outside}");
        }
        assert!(page.contains("a &lt; b &amp; c") && page.contains("two CPUs &amp; &lt;nothing&gt; else"));
    }

    #[test]
    fn there_are_plots_of_rates_and_waits_and_bars_of_causes_for_each_count() {
        let page = page();
        assert_eq!(page.matches("role=\"img\"").count(), 2 + 4 + 3);
        assert!(page.contains("class=\"error\"") && page.contains("spinning (spinning) 50 %"));
        assert!(page.contains("Where this comes from"));
    }

    #[test]
    fn tags_are_balanced() {
        let page = page();
        for tag in ["svg", "g", "table", "div", "details", "ul", "tr", "td", "text"] {
            let opened =
                page.matches(&format!("<{tag}>")).count() + page.matches(&format!("<{tag} ")).count();
            assert_eq!(opened, page.matches(&format!("</{tag}>")).count(), "{tag}");
        }
    }
}
