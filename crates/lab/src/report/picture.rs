//! The ratios of a figure as a picture: a row for each cell, a mark on its interval for each further file.
use super::compare::{Compared, Report};
use super::forms::{Results, plain_name};
use super::told::letter;
use core::fmt::Write;
use lab_kit::export::svg::{Svg, classes, escape, marker};
use lab_kit::export::{PLOTS, SAMPLE};
use lab_kit::stats::Ratio;

/// How wide the scale is, and a letter of the names on its left.
const SCALE: f64 = 350.0;
const LETTER: f64 = 7.0;
const TOP: f64 = 34.0;
const ROW: f64 = 17.0;
/// Ratios that have a line. What is beyond the last ones is drawn there.
const TICKS: [f64; 9] = [0.1, 0.2, 0.5, 0.8, 1.0, 1.25, 2.0, 5.0, 10.0];
const ONE: usize = 4;

/// Nothing if no row has a ratio.
pub(super) fn ratios(report: &Report, figure: &Compared) -> String {
    let rows: Vec<_> = figure.rows.iter().filter(|line| line.ratios.iter().any(Option::is_some)).collect();
    let all = rows.iter().flat_map(|line| line.ratios.iter().flatten().map(Ratio::ends));
    let Some((least, most)) = all.reduce(|(low, high), (least, most)| (low.min(least), high.max(most)))
    else {
        return String::new();
    };
    let first = (0..ONE).rev().find(|&tick| TICKS[tick] <= least).unwrap_or(0);
    let last = (ONE + 1..TICKS.len()).find(|&tick| TICKS[tick] >= most).unwrap_or(TICKS.len() - 1);
    let names: Vec<String> = rows.iter().map(|line| plain_name(&line.name)).collect();
    let longest = names.iter().map(|name| name.chars().count()).max().unwrap_or(0);
    let left = LETTER * longest as f64 + 20.0;
    let [low, high] = [first, last].map(|tick| TICKS[tick].ln());
    let x = |ratio: f64| left + (ratio.ln().clamp(low, high) - low) / (high - low) * SCALE;
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
        let name = &names[index];
        svg.text(left - 10.0, middle + 4.0, "class='end'", name);
        for (other, ratio) in line.ratios.iter().enumerate() {
            let Some(ratio) = ratio else { continue };
            let file = other + 1;
            // Marks of several files stand below each other.
            let y = middle + (file as f64 / (line.ratios.len() + 1) as f64 - 0.5) * ROW;
            let (from, to) = ratio.ends();
            let title = escape(&format!("{} to A, {name}: {ratio}", letter(file)));
            let _ =
                write!(svg.0, "<g class=\"series {}\"><title>{title}</title>", classes(file, false, false));
            svg.path("class='error'", &format!("M{:.1} {y:.1}H{:.1}", x(from), x(to)));
            let _ = writeln!(svg.0, "{}</g>", marker(file, x(ratio.ratio), y));
        }
    }
    let (width, height, shapes) = (left + SCALE + 16.0, bottom + 6.0, svg.0);
    let label = format!("{}: ratios to A, which the table has, too", figure.name);
    let mut text = String::from("<ul class=\"legend\">");
    for (file, Results { path, .. }) in report.files.iter().enumerate().skip(1) {
        let (class, marker) = (classes(file, false, false), marker(file, 6.0, 6.0));
        let picture = format!("{SAMPLE}<g class=\"series {class}\">{marker}</g></svg>");
        let _ = write!(text, "<li>{picture}{}: {}</li>", letter(file), escape(path));
    }
    let svg =
        format!("<svg viewBox=\"0 0 {width} {height}\" role=\"img\" aria-label=\"{label}\">{shapes}</svg>");
    let _ = writeln!(text, "</ul>\n{PLOTS}<div class=\"plot\">{svg}</div></div>");
    text
}
