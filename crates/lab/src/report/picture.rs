//! The ratios of a figure as a picture: a row for each cell, with a mark for each file after the first, on its
//! interval.
use super::compare::Compared;
use super::told::letter;
use core::fmt::Write;
use lab_kit::export::svg::{Svg, classes, escape, marker};
use lab_kit::stats::Ratio;

const WIDTH: f64 = 640.0;
/// Where names end, and the scale begins.
const LEFT: f64 = 270.0;
const RIGHT: f64 = WIDTH - 16.0;
const TOP: f64 = 34.0;
const ROW: f64 = 17.0;
/// Ratios that have a line. What is beyond the last ones is drawn there.
const TICKS: [f64; 9] = [0.1, 0.2, 0.5, 0.8, 1.0, 1.25, 2.0, 5.0, 10.0];
const ONE: usize = 4;

/// Nothing if no row has a ratio.
pub(super) fn ratios(figure: &Compared) -> String {
    let rows: Vec<_> = figure.rows.iter().filter(|line| line.ratios.iter().any(Option::is_some)).collect();
    let all = rows.iter().flat_map(|line| line.ratios.iter().flatten().map(Ratio::ends));
    let Some((least, most)) = all.reduce(|(low, high), (least, most)| (low.min(least), high.max(most)))
    else {
        return String::new();
    };
    let first = (0..ONE).rev().find(|&tick| TICKS[tick] <= least).unwrap_or(0);
    let last = (ONE + 1..TICKS.len()).find(|&tick| TICKS[tick] >= most).unwrap_or(TICKS.len() - 1);
    let [low, high] = [first, last].map(|tick| TICKS[tick].ln());
    let x = |ratio: f64| LEFT + (ratio.ln().clamp(low, high) - low) / (high - low) * (RIGHT - LEFT);
    let bottom = TOP + ROW * rows.len() as f64;
    let mut svg = Svg::default();
    svg.text(0.0, 14.0, "class='title'", &format!("{}: ratio to A", figure.name));
    for (index, &tick) in TICKS.iter().enumerate().take(last + 1).skip(first) {
        let at = x(tick);
        svg.path(
            if index == ONE { "class='axis'" } else { "class='grid'" },
            &format!("M{at:.1} {TOP}V{bottom}"),
        );
        svg.text(at, TOP - 5.0, "class='tick mid'", &tick.to_string());
    }
    for (index, line) in rows.iter().enumerate() {
        let middle = TOP + ROW * (index as f64 + 0.5);
        let name = line.name.iter().filter(|part| !part.is_empty()).cloned().collect::<Vec<_>>().join(" ");
        svg.text(LEFT - 10.0, middle + 4.0, "class='end'", &name);
        for (other, ratio) in line.ratios.iter().enumerate() {
            let Some(ratio) = ratio else { continue };
            let file = other + 1;
            // Marks of several files stand below each other.
            let y = middle + (file as f64 / (line.ratios.len() + 1) as f64 - 0.5) * ROW;
            let (from, to) = ratio.ends();
            let title = escape(&format!("{} of A, {name}: {ratio}", letter(file)));
            let _ =
                write!(svg.0, "<g class=\"series {}\"><title>{title}</title>", classes(file, false, false));
            svg.path("class='error'", &format!("M{:.1} {y:.1}H{:.1}", x(from), x(to)));
            let _ = writeln!(svg.0, "{}</g>", marker(file, x(ratio.ratio), y));
        }
    }
    let (height, shapes) = (bottom + 6.0, svg.0);
    let label = format!("{}: ratios to A, which the table has, too", figure.name);
    format!(
        "<div class=\"plots\"><div class=\"plot\"><svg viewBox=\"0 0 {WIDTH} {height}\" role=\"img\" aria-label=\"{label}\">{shapes}</svg></div></div>\n"
    )
}
