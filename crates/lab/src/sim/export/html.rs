//! One self-contained page: plots and tables for each machine and workload, and where it all comes from.
use super::about::about;
use crate::run::DEFAULT;
use crate::sim::report::Report;
use crate::sim::table::{QUANTITIES, SPENT, figures, notes, result, shown, spent, title};
use crate::sim::timeline::COLOURS;
use core::iter::once;
use lab_kit::column::Column;
use lab_kit::export::grid::heading;
use lab_kit::export::legend::{self, Entry, Standing, legend, picked};
use lab_kit::export::svg::{Plot, Point, Scale, Series, at, picture, sample, text};
use lab_kit::export::{colours, page};
use lab_kit::units::{percent, plain};
use maud::{Markup, html};
use stanchion_cells::cell::{Cell, Figures, SceneInfo, State};
use stanchion_sim::Cause;

/// Words stand on the left, as they do in the first column anyway.
const RULES: &str = ".words2 :nth-child(2),.words3 *{text-align:left}";

pub(super) fn write(report: &Report) -> String {
    let (locks, grey) = (&report.setting.locks, grey(report));
    let entry = |(name, &grey)| Entry { name, about: None, ours: false, grey };
    let shown = html! {
        (legend(locks.iter().map(String::as_str).zip(&grey).map(entry)))
        @for scene in report.begun() { (section(report, scene, &grey)) }
    };
    let picked: String = (0..locks.len()).filter(|&index| grey[index]).map(picked).collect();
    about(report).page("Locks in simulation", "", &shown, &(colours(locks.len()) + &picked + RULES))
}

/// Which locks are grey until picked. If the default is not among them, the first stands for it, which all
/// others are compared with.
fn grey(report: &Report) -> Vec<bool> {
    let score = |lock: &String| {
        let is_sound = |cell: &&Cell| cell.lock == *lock && cell.state == State::Measured;
        let figures = report.cells.iter().filter(is_sound).filter_map(|cell| cell.figures.as_ref());
        figures.map(|figures| figures.throughput.mean.max(1.0).ln()).sum::<f64>()
    };
    let locks = &report.setting.locks;
    let default = locks.iter().find(|lock| *lock == DEFAULT).or(locks.first());
    let standing = |lock| {
        let is_default = Some(lock) == default;
        let chosen = report.chosen.contains(lock);
        Standing { default: is_default, peer: !is_default, score: score(lock), chosen }
    };
    legend::grey(&locks.iter().map(standing).collect::<Vec<_>>())
}

fn section(report: &Report, scene: &SceneInfo, grey: &[bool]) -> Markup {
    let plot = |quantity, scale| plot(report, scene, grey, quantity, scale);
    let [linear, log] = [Scale::Linear, Scale::Log].map(|scale| plot(&QUANTITIES[0], scale));
    let waits = QUANTITIES.iter().filter(|quantity| quantity.tick.is_some());
    let waits = waits.map(|quantity| page::plot(&plot(quantity, Scale::Log)));
    let name = title(scene);
    html! {
        h2 { (name) }
        p.sub { (scene.machine_about) "; " (scene.workload_about) }
        (page::doubts(3, notes(report, scene).lines()))
        (page::plots(once(page::in_two_scales(&name, &linear, &log)).chain(waits)))
        h3 { "Where the time of vCPUs goes" }
        ul.legend {
            @for cause in Cause::ALL {
                @let colour = COLOURS[cause as usize];
                li { (sample(&html! { rect width="34" height="12" fill=(colour) {} })) (cause.name()) }
            }
        }
        (page::plots(scene.vcpus.iter().map(|&count| page::plot(&bars(report, scene, count)))))
        @for (index, grid) in figures(report, scene).iter().chain(&spent(report, scene)).enumerate() {
            (grid.html(index == 0))
        }
    }
}

/// A wait, or the result, of each lock with each count.
fn plot(
    report: &Report,
    scene: &SceneInfo,
    grey: &[bool],
    quantity: &Column<Figures>,
    scale: Scale,
) -> Markup {
    let (title, tick) = match quantity.tick {
        Some(tick) => (quantity.title.to_owned(), tick),
        None => (result(report, scene), plain as fn(f64) -> String),
    };
    let point = |lock: &str, threads: usize| {
        let cell = report.cell(scene, lock, threads)?;
        let (figures, text) = (cell.figures.as_ref()?, shown(Some(cell), quantity));
        let value = quantity.number(figures)?;
        let error = figures.score.as_ref().and_then(|score| score.ci95).filter(|_| quantity.tick.is_none());
        Some(Point { threads, value, text, range: error.map(|error| (value - error, value + error)) })
    };
    let locks = report.setting.locks.iter().enumerate();
    let series = locks.map(|(index, name)| {
        let points = scene.vcpus.iter().filter_map(|&vcpus| point(name, vcpus)).collect();
        Series { name, index, ours: false, grey: grey[index], points, stalled_at: None }
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
fn bars(report: &Report, scene: &SceneInfo, count: usize) -> Markup {
    let locks = &report.setting.locks;
    let (height, room) = (TOP + ROW * locks.len() as f64 + 26.0, WIDTH - LEFT - 24.0);
    let title = format!("{} vCPUs", heading(count, scene.cpus));
    let bar = |lock: &str, y: f64, figures: &Figures| {
        let causes = SPENT.iter().flat_map(|(name, causes)| causes.iter().map(move |cause| (name, *cause)));
        let parts = causes.scan(LEFT, |end, (name, cause)| {
            let (from, share) = (*end, figures.share_of(&[cause]));
            *end += share * room;
            Some((from, share, name, cause))
        });
        html! {
            @for (from, share, name, cause) in parts.filter(|(_, share, ..)| share * room >= 0.05) {
                rect x=(at(from)) y=(at(y)) width=(at(share * room)) height="17.0" fill=(COLOURS[cause as usize]) {
                    title { (lock) ": " (cause.name()) " (" (name) ") " (percent(share)) }
                }
            }
        }
    };
    let shapes = html! {
        (text(0.0, 16.0, "title", &title))
        @for (index, lock) in locks.iter().enumerate() {
            @let y = TOP + ROW * index as f64;
            (text(LEFT - 8.0, y + 14.0, "end", lock))
            @match report.cell(scene, lock, count).and_then(|cell| cell.figures.as_ref()) {
                Some(figures) => (bar(lock, y, figures))
                None => (text(LEFT, y + 14.0, "tick", "no figures"))
            }
        }
        @for percent in [0_u32, 50, 100] {
            @let x = LEFT + room * f64::from(percent) / 100.0;
            (text(x, height - 10.0, "tick mid", format_args!("{percent} %")))
        }
    };
    picture(WIDTH, height, &title, &shapes)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sim::tests as testing;

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
    fn in_colour_are_the_default_the_fastest_other_one_and_those_that_were_named() {
        // Each is twice as fast as the one before it.
        let mut report = testing::report(&["byte", "stanchion", "ticket", "twa", "cna"], &[1, 2]);
        assert_eq!(grey(&report), [true, false, true, true, false]);
        report.chosen = vec!["ticket".into()];
        assert_eq!(grey(&report), [true, false, false, true, false]);
        let page = write(&report);
        assert!(page.contains("id=\"pick3\"") && page.contains("#pick3:checked") && !page.contains("pick4"));
        assert!(page.contains("class=\"series c3 grey\"") && page.contains("class=\"series c4\""));
        let mut report = testing::report(&["byte", "ticket", "twa"], &[1, 2]);
        for cell in report.cells.iter_mut().filter(|cell| cell.lock == "twa") {
            cell.state = State::Cut { runs: 1 };
        }
        assert_eq!(grey(&report), [false, false, true], "the first stands for the default");
    }
}
