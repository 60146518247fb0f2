//! The ratios of a figure as a picture: a row for each cell, a mark on its interval for each further file.
use super::compare::{Compared, Report};
use super::forms::{Results, plain_name};
use super::told::letter;
use lab_kit::export::page;
use lab_kit::export::svg::{at, classes, marker, picture, sample, text};
use lab_kit::stats::Ratio;
use maud::{Markup, html};

/// How wide the scale is, and a letter of the names on its left.
const SCALE: f64 = 350.0;
const LETTER: f64 = 7.0;
const TOP: f64 = 34.0;
const ROW: f64 = 17.0;
/// Ratios that have a line. What is beyond the last ones is drawn there.
const TICKS: [f64; 9] = [0.1, 0.2, 0.5, 0.8, 1.0, 1.25, 2.0, 5.0, 10.0];
const ONE: usize = 4;

/// Nothing if no row has a ratio.
pub(super) fn ratios(report: &Report, figure: &Compared) -> Markup {
    let rows: Vec<_> = figure.rows.iter().filter(|line| line.ratios.iter().any(Option::is_some)).collect();
    let all = rows.iter().flat_map(|line| line.ratios.iter().flatten().map(Ratio::ends));
    let Some((least, most)) = all.reduce(|(low, high), (least, most)| (low.min(least), high.max(most)))
    else {
        return Markup::default();
    };
    let first = (0..ONE).rev().find(|&tick| TICKS[tick] <= least).unwrap_or(0);
    let last = (ONE + 1..TICKS.len()).find(|&tick| TICKS[tick] >= most).unwrap_or(TICKS.len() - 1);
    let names: Vec<String> = rows.iter().map(|line| plain_name(&line.name)).collect();
    let longest = names.iter().map(|name| name.chars().count()).max().unwrap_or(0);
    let left = LETTER * longest as f64 + 20.0;
    let [low, high] = [first, last].map(|tick| TICKS[tick].ln());
    let x = |ratio: f64| left + (ratio.ln().clamp(low, high) - low) / (high - low) * SCALE;
    let bottom = TOP + ROW * rows.len() as f64;
    let shapes = html! {
        (text(0.0, 14.0, "title", format_args!("{}: ratio to A", figure.name)))
        @for (index, &tick) in TICKS.iter().enumerate().take(last + 1).skip(first) {
            @let (place, class) = (x(tick), if index == ONE { "axis" } else { "grid" });
            path class=(class) d={ "M" (at(place)) " " (TOP) "V" (bottom) } {}
            (text(place, TOP - 5.0, "tick mid", tick))
        }
        @for (index, (line, name)) in rows.iter().zip(&names).enumerate() {
            @let middle = TOP + ROW * (index as f64 + 0.5);
            (text(left - 10.0, middle + 4.0, "end", name))
            @for (file, ratio) in line.ratios.iter().enumerate().filter_map(|(other, ratio)| Some((other + 1, (*ratio)?))) {
                // Marks of several files stand below each other.
                @let y = middle + (file as f64 / (line.ratios.len() + 1) as f64 - 0.5) * ROW;
                @let (from, to) = ratio.ends();
                g class=(classes(file, false, false)) {
                    title { (letter(file)) " to A, " (name) ": " (ratio) }
                    path.error d={ "M" (at(x(from))) " " (at(y)) "H" (at(x(to))) } {}
                    (marker(file, x(ratio.ratio), y))
                }
            }
        }
    };
    let label = format!("{}: ratios to A, which the table has, too", figure.name);
    let picture = picture(left + SCALE + 16.0, bottom + 6.0, &label, &shapes);
    html! {
        ul.legend {
            @for (file, Results { path, .. }) in report.files.iter().enumerate().skip(1) {
                @let marker = html! { g class=(classes(file, false, false)) { (marker(file, 6.0, 6.0)) } };
                li { (sample(&marker)) (letter(file)) ": " (path) }
            }
        }
        (page::plots([page::plot(&picture)]))
    }
}
