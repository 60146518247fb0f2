//! One picture of where time goes: a bar for each lock, cut into causes.
use crate::sim::table::SPENT;
use crate::sim::timeline::COLOURS;
use core::fmt::Write;
use lab_kit::export::svg::escape;
use lab_kit::units::percent;
use stanchion_cells::cell::Figures;

const WIDTH: f64 = 600.0;
const LEFT: f64 = 170.0;
const ROW: f64 = 22.0;
const TOP: f64 = 30.0;

/// The picture: locks by name, with their figures if they have any.
pub(super) fn render(title: &str, rows: &[(&str, Option<&Figures>)]) -> String {
    let height = TOP + ROW * rows.len() as f64 + 26.0;
    let mut svg = format!(
        "<svg viewBox=\"0 0 {WIDTH} {height}\" role=\"img\" aria-label=\"{0}\"><text class=\"title\" x=\"0\" y=\"16\">{0}</text>",
        escape(title)
    );
    let room = WIDTH - LEFT - 24.0;
    for (index, (lock, figures)) in rows.iter().enumerate() {
        let y = TOP + ROW * index as f64;
        let _ = write!(
            svg,
            "<text class=\"end\" x=\"{:.1}\" y=\"{:.1}\">{}</text>",
            LEFT - 8.0,
            y + 14.0,
            escape(lock)
        );
        let Some(figures) = figures else {
            let _ = write!(svg, "<text class=\"tick\" x=\"{LEFT}\" y=\"{:.1}\">no figures</text>", y + 14.0);
            continue;
        };
        let mut x = LEFT;
        for (name, causes) in &SPENT {
            for cause in *causes {
                let share = figures.share_of(&[*cause]);
                let width = share * room;
                if width >= 0.05 {
                    let _ = write!(
                        svg,
                        "<rect x=\"{x:.1}\" y=\"{y:.1}\" width=\"{width:.1}\" height=\"17\" fill=\"{}\"><title>{}: {} ({name}) {}</title></rect>",
                        COLOURS[*cause as usize],
                        escape(lock),
                        cause.name(),
                        percent(share)
                    );
                }
                x += width;
            }
        }
    }
    for tenth in [0_u32, 5, 10] {
        let x = LEFT + room * f64::from(tenth) / 10.0;
        let _ = write!(
            svg,
            "<text class=\"tick mid\" x=\"{x:.1}\" y=\"{:.1}\">{} %</text>",
            height - 10.0,
            tenth * 10
        );
    }
    svg.push_str("</svg>");
    svg
}
