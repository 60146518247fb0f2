//! One self-contained page: plots and tables for each machine and workload, and where it all comes from.
use crate::sim::report::Report;
use crate::sim::table::{
    QUANTITIES, Quantity, SPENT, Show, figures, notes, result, shown, simulated, spent, title,
};
use crate::sim::timeline::COLOURS;
use core::fmt::Write;
use lab_kit::export::grid::heading;
use lab_kit::export::svg::{Plot, Point, Scale, Series, Svg, classes, escape, marker};
use lab_kit::export::{PLOTS, SAMPLE, colours, page};
use lab_kit::units::{percent, round_ns, three_figures, without_zeros};
use stanchion_cells::cell::SceneInfo;
use stanchion_cells::stats::Estimate;
use stanchion_sim::Cause;

/// Words stand on the left, as they do in the first column anyway.
const RULES: &str = ".words2 :nth-child(2),.words3 *{text-align:left}";

pub(super) fn write(report: &Report) -> String {
    let mut body = String::new();
    head(&mut body, report);
    for scene in report.begun() {
        section(&mut body, report, scene);
    }
    body.push_str("<h2>Where this comes from</h2>");
    let more = [("fields set", report.setting.sets.join(" ")), ("simulated", simulated(report))];
    page::facts(&mut body, report.provenance.rows().into_iter().chain(more));
    body.push_str(
        "<p class=\"sub\">Figures are those of a simulated machine, not of the one named above, which only ran the simulation. \
         The same seed gives the same run on every host. Intervals tell how much the seed matters, not how true the machine is.</p>\n",
    );
    let rules = colours(report.setting.locks.len()) + RULES;
    page::page(&format!("stanchion sim, {}", report.provenance.date), &rules, &body)
}

fn head(page: &mut String, report: &Report) {
    let (seeds, date) = (&report.setting.seeds, &report.provenance.date);
    let (time, count, first) = (round_ns(report.setting.time_ns as f64), seeds.len(), seeds[0]);
    let unfinished = if report.complete { "" } else { " · <b>unfinished run</b>" };
    let _ = writeln!(
        page,
        "<h1>Locks in simulation</h1>\
         <p class=\"sub\">{time} of virtual time, {count} seeds from {first} · {date}{unfinished}</p>"
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
    let _ = write!(page, "<li>{SAMPLE}{sample}</svg>{}</li>", escape(name));
}

fn section(page: &mut String, report: &Report, scene: &SceneInfo) {
    let about = escape(&format!("{}; {}", scene.machine_about, scene.workload_about));
    let _ = writeln!(page, "<h2>{}</h2><p class=\"sub\">{about}</p>", escape(&title(scene)));
    page::doubts(page, 3, notes(report, scene).lines());
    let [linear, log] = [Scale::Linear, Scale::Log].map(|scale| plot(report, scene, &QUANTITIES[0], scale));
    let _ = write!(page, "{PLOTS}{}", page::in_two_scales(&title(scene), &linear, &log));
    let framed = |plot: String| format!("<div class=\"plot\">{plot}</div>");
    let waits = QUANTITIES.iter().filter(|quantity| matches!(quantity.show, Show::Wait(_)));
    page.extend(waits.map(|quantity| framed(plot(report, scene, quantity, Scale::Log))));
    page.push_str("</div>\n<h3>Where the time of vCPUs goes</h3><ul class=\"legend\">");
    for cause in Cause::ALL {
        let colour = COLOURS[cause as usize];
        legend(page, &format!("<rect width=\"34\" height=\"12\" fill=\"{colour}\"/>"), cause.name());
    }
    let _ = write!(page, "</ul>\n{PLOTS}");
    page.extend(scene.vcpus.iter().map(|&count| framed(bars(report, scene, count))));
    page.push_str("</div>\n");
    let grids = figures(report, scene).into_iter().chain(spent(report, scene));
    page.extend(grids.enumerate().map(|(index, grid)| grid.html(index == 0)));
}

/// A wait, or the result, of each lock with each count.
fn plot(report: &Report, scene: &SceneInfo, quantity: &Quantity, scale: Scale) -> String {
    let (title, tick): (String, fn(f64) -> String) = match quantity.show {
        Show::Wait(_) => (quantity.title.to_owned(), round_ns),
        Show::Text(_) => (result(report, scene), |value| without_zeros(&three_figures(value)).to_owned()),
    };
    let point = |lock: &str, threads: usize| {
        let cell = report.cell(scene, lock, threads)?;
        let (figures, text) = (cell.figures.as_ref()?, shown(Some(cell), quantity));
        if let Show::Wait(wait) = quantity.show {
            return Some(Point { threads, value: wait(&figures.latency) as f64, text, range: None });
        }
        let Estimate { mean, ci95, .. } = figures.score.as_ref()?;
        Some(Point { threads, value: *mean, text, range: ci95.map(|ci| (mean - ci, mean + ci)) })
    };
    let locks = report.setting.locks.iter().enumerate();
    let series = locks.map(|(index, name)| {
        let points = scene.vcpus.iter().filter_map(|&vcpus| point(name, vcpus)).collect();
        Series { name, index, ours: false, grey: false, points, stalled_at: None }
    });
    let (series, threads, cpus): (Vec<Series>, _, _) = (series.collect(), &scene.vcpus, scene.cpus);
    let title = title.split(" (").next().unwrap_or(&title);
    Plot { title, what: "vCPUs", scale, threads, cpus, series: &series, tick }.render()
}

const WIDTH: f64 = 600.0;
const LEFT: f64 = 170.0;
const ROW: f64 = 22.0;
const TOP: f64 = 30.0;

/// Where time goes with so many vCPUs: a bar for each lock, cut into causes.
fn bars(report: &Report, scene: &SceneInfo, count: usize) -> String {
    let locks = &report.setting.locks;
    let (height, room) = (TOP + ROW * locks.len() as f64 + 26.0, WIDTH - LEFT - 24.0);
    let title = format!("{} vCPUs", heading(count, scene.cpus));
    let mut svg = Svg::default();
    svg.text(0.0, 16.0, "class='title'", &title);
    for (index, lock) in locks.iter().enumerate() {
        let y = TOP + ROW * index as f64;
        svg.text(LEFT - 8.0, y + 14.0, "class='end'", lock);
        let Some(figures) = report.cell(scene, lock, count).and_then(|cell| cell.figures.as_ref()) else {
            svg.text(LEFT, y + 14.0, "class='tick'", "no figures");
            continue;
        };
        let mut x = LEFT;
        let causes = SPENT.iter().flat_map(|(name, causes)| causes.iter().map(move |cause| (name, *cause)));
        for (name, cause) in causes {
            let share = figures.share_of(&[cause]);
            if share * room >= 0.05 {
                let about = format!("{lock}: {} ({name}) {}", cause.name(), percent(share));
                let colour = format!("fill='{}'", COLOURS[cause as usize]);
                svg.rect([x, y, share * room, 17.0], &colour, &about);
            }
            x += share * room;
        }
    }
    for percent in [0_u32, 50, 100] {
        let x = LEFT + room * f64::from(percent) / 100.0;
        svg.text(x, height - 10.0, "class='tick mid'", &format!("{percent} %"));
    }
    let shapes = svg.0;
    format!("<svg viewBox=\"0 0 {WIDTH} {height}\" role=\"img\" aria-label=\"{title}\">{shapes}</svg>")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sim::tests as testing;
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
