//! One self-contained page: plots and tables for each machine and workload, and where it all comes from.
//!
//! No script and no resource from elsewhere: the file can be mailed, archived and opened in twenty years.
use super::bars;
use crate::sim::report::Report;
use crate::sim::table::{QUANTITIES, Show, figures, lock_events, notes, result, simulated, spent, title};
use crate::sim::timeline::COLOURS;
use core::fmt::Write;
use lab_kit::export::grid::heading;
use lab_kit::export::svg::{Plot, Point, Scale, Series, classes, escape, marker};
use lab_kit::export::{STYLE, colours};
use lab_kit::units::{format_ns, round_ns, three_figures, without_zeros};
use stanchion_cells::cell::{Figures, SceneInfo};
use stanchion_sim::Cause;

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
    page.push_str("<ul class=\"legend\">");
    for (index, lock) in report.setting.locks.iter().enumerate() {
        let (classes, marker) = (classes(index, false, false), marker(index, 17.0, 6.0));
        let sample = format!("<g class=\"series {classes}\"><polyline points=\"0,6 34,6\"/>{marker}</g>");
        legend(page, &sample, lock);
    }
    page.push_str("</ul>\n");
}

fn legend(page: &mut String, sample: &str, name: &str) {
    let _ = write!(page, "<li><svg viewBox=\"0 0 34 12\">{sample}</svg>{}</li>", escape(name));
}

fn section(page: &mut String, report: &Report, scene: &SceneInfo) {
    let _ = writeln!(
        page,
        "<h2>{}</h2><p class=\"sub\">{}; {}</p>",
        escape(&title(scene)),
        escape(&scene.machine_about),
        escape(&scene.workload_about)
    );
    let notes = notes(report, scene);
    if !notes.is_empty() {
        let notes = escape(notes.trim_end()).replace('\n', "</li><li>");
        let _ = writeln!(page, "<h3>Reasons for doubt</h3><ul class=\"warnings\"><li>{notes}</li></ul>");
    }
    let rate = |figures: &Figures| figures.score.as_ref().map(|score| (score.mean, score.ci95));
    let tick = |value| without_zeros(&three_figures(value)).to_owned();
    let throughput = |scale| plot(report, scene, &result(report, scene), scale, &rate, tick);
    let group = format!("scale-{}-{}", escape(&scene.machine), escape(&scene.workload));
    let _ = write!(
        page,
        "<div class=\"plots\"><div class=\"plot\"><div class=\"switch\"><label><input type=\"radio\" name=\"{group}\" checked> linear</label>\
         <label><input type=\"radio\" class=\"to-log\" name=\"{group}\"> logarithmic</label></div>\
         <div class=\"linear\">{}</div><div class=\"log\">{}</div></div>",
        throughput(Scale::Linear),
        throughput(Scale::Log)
    );
    for quantity in &QUANTITIES {
        let Show::Wait(wait) = quantity.show else { continue };
        let value = move |figures: &Figures| Some((wait(&figures.latency) as f64, None));
        let plot = plot(report, scene, quantity.title, Scale::Log, &value, round_ns);
        let _ = write!(page, "<div class=\"plot\">{plot}</div>");
    }
    page.push_str("</div>\n<h3>Where the time of vCPUs goes</h3><ul class=\"legend\">");
    for cause in Cause::ALL {
        let colour = COLOURS[cause as usize];
        legend(page, &format!("<rect width=\"34\" height=\"12\" fill=\"{colour}\"/>"), cause.name());
    }
    page.push_str("</ul>\n<div class=\"plots\">");
    for &count in &scene.vcpus {
        let figures = |lock| report.cell(scene, lock, count).and_then(|cell| cell.figures.as_ref());
        let locks = report.setting.locks.iter().map(|lock| (lock.as_str(), figures(lock)));
        let bars = bars::render(&format!("{} vCPUs", heading(count, scene.cpus)), &locks.collect::<Vec<_>>());
        let _ = write!(page, "<div class=\"plot\">{bars}</div>");
    }
    page.push_str("</div>\n");
    let grids = [figures(report, scene), spent(report, scene), vec![lock_events(report, scene)]].concat();
    page.extend(grids.iter().enumerate().map(|(index, grid)| grid.html(index == 0)));
}

fn plot(
    report: &Report,
    scene: &SceneInfo,
    title: &str,
    scale: Scale,
    value: Value,
    tick: fn(f64) -> String,
) -> String {
    let point = |lock: &str, vcpus: usize| {
        let (value, error) = value(report.cell(scene, lock, vcpus)?.figures.as_ref()?)?;
        let text = match error {
            Some(error) => format!("{} ±{}", three_figures(value), three_figures(error)),
            // A latency is in nanoseconds; a rate has figures of its own.
            None if value >= 1e3 => format_ns(value),
            None => three_figures(value),
        };
        let range = error.map(|error| (value - error, value + error));
        Some(Point { threads: vcpus, value, text, range })
    };
    let locks = report.setting.locks.iter().enumerate();
    let series = locks.map(|(index, name)| {
        let points = scene.vcpus.iter().filter_map(|&vcpus| point(name, vcpus)).collect();
        Series { name, index, ours: false, grey: false, points, stalled_at: None }
    });
    let series: Vec<Series> = series.collect();
    Plot { title, what: "vCPUs", scale, threads: &scene.vcpus, cpus: scene.cpus, series: &series, tick }
        .render()
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
    use stanchion_cells::cell::State;

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
