//! Ratios as a picture: a row for each thing, with marks on their intervals, on a scale around one.
use super::page;
use super::svg::{at, classes, marker, picture, text};
use maud::{Markup, html};

/// A ratio of a row.
pub struct Mark {
    /// Its class in the style sheet, which decides colour and shape.
    pub index: usize,
    /// What it says under the pointer.
    pub about: String,
    /// None if only its ends are to be shown.
    pub ratio: Option<f64>,
    pub ends: (f64, f64),
}

/// How wide the scale is, and a letter of the names on its left.
const SCALE: f64 = 350.0;
const LETTER: f64 = 7.0;
const TOP: f64 = 34.0;
const ROW: f64 = 17.0;
/// Ratios that have a line. What is beyond the last ones is drawn there.
const TICKS: [f64; 9] = [0.1, 0.2, 0.5, 0.8, 1.0, 1.25, 2.0, 5.0, 10.0];
const ONE: usize = 4;

/// Names of rows, and their marks, which stand below each other. What has none is left out.
pub fn ratios(title: &str, about: &str, mut rows: Vec<(String, Vec<Option<Mark>>)>) -> Markup {
    rows.retain(|(_, marks)| marks.iter().any(Option::is_some));
    let all = rows.iter().flat_map(|(_, marks)| marks.iter().flatten().map(|mark| mark.ends));
    let Some((least, most)) = all.reduce(|(low, high), (least, most)| (low.min(least), high.max(most)))
    else {
        return Markup::default();
    };
    let first = (0..ONE).rev().find(|&tick| TICKS[tick] <= least).unwrap_or(0);
    let last = (ONE + 1..TICKS.len()).find(|&tick| TICKS[tick] >= most).unwrap_or(TICKS.len() - 1);
    let longest = rows.iter().map(|(name, _)| name.chars().count()).max().unwrap_or(0);
    let left = LETTER * longest as f64 + 20.0;
    let [low, high] = [first, last].map(|tick| TICKS[tick].ln());
    let x = |ratio: f64| left + (ratio.ln().clamp(low, high) - low) / (high - low) * SCALE;
    let bottom = TOP + ROW * rows.len() as f64;
    let shapes = html! {
        (text(0.0, 14.0, "title", title))
        @for (index, &tick) in TICKS.iter().enumerate().take(last + 1).skip(first) {
            @let (place, class) = (x(tick), if index == ONE { "axis" } else { "grid" });
            path class=(class) d={ "M" (at(place)) " " (TOP) "V" (bottom) } {}
            (text(place, TOP - 5.0, "tick mid", tick))
        }
        @for (index, (name, marks)) in rows.iter().enumerate() {
            @let middle = TOP + ROW * (index as f64 + 0.5);
            (text(left - 10.0, middle + 4.0, "end", name))
            @for (place, mark) in marks.iter().enumerate().filter_map(|(place, mark)| Some((place + 1, mark.as_ref()?))) {
                @let y = middle + (place as f64 / (marks.len() + 1) as f64 - 0.5) * ROW;
                g class=(classes(mark.index, false, false)) {
                    title { (mark.about) }
                    path.error d={ "M" (at(x(mark.ends.0))) " " (at(y)) "H" (at(x(mark.ends.1))) } {}
                    @if let Some(ratio) = mark.ratio { (marker(mark.index, x(ratio), y)) }
                }
            }
        }
    };
    page::plots([page::plot(&picture(left + SCALE + 16.0, bottom + 6.0, about, &shapes))])
}
