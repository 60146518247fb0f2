//! One picture of where time goes: a bar for each lock, cut into causes.
use crate::sim::table::SPENT;
use crate::sim::timeline::COLOURS;
use lab_kit::export::svg::{Svg, escape};
use lab_kit::units::percent;
use stanchion_cells::cell::Figures;

const WIDTH: f64 = 600.0;
const LEFT: f64 = 170.0;
const ROW: f64 = 22.0;
const TOP: f64 = 30.0;

pub(super) fn render(title: &str, rows: &[(&str, Option<&Figures>)]) -> String {
    let height = TOP + ROW * rows.len() as f64 + 26.0;
    let room = WIDTH - LEFT - 24.0;
    let mut svg = Svg::default();
    svg.text(0.0, 16.0, "class='title'", title);
    for (index, (lock, figures)) in rows.iter().enumerate() {
        let y = TOP + ROW * index as f64;
        svg.text(LEFT - 8.0, y + 14.0, "class='end'", lock);
        let Some(figures) = figures else {
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
    let (title, shapes) = (escape(title), svg.0);
    format!("<svg viewBox=\"0 0 {WIDTH} {height}\" role=\"img\" aria-label=\"{title}\">{shapes}</svg>")
}
