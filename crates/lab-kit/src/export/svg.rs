//! Pictures as SVG: a line plot ([`Plot`]), and parts of others, with colours from the page's style sheet, so
//! that light and dark both work. Points tell their figures under the pointer; lines end with their names.
use crate::export::grid::heading;
use crate::units::plural;
use core::fmt::Display;
use maud::{Markup, html};

/// A place or a length in a picture, to a tenth of a pixel.
pub fn at(place: f64) -> String {
    format!("{place:.1}")
}

/// Words of a class in the style sheet.
pub fn text(x: f64, y: f64, class: &str, words: impl Display) -> Markup {
    html! { text x=(at(x)) y=(at(y)) class=(class) { (words) } }
}

/// A whole picture of this width and height; `about` is for those who do not see it.
pub fn picture(width: f64, height: f64, about: &str, shapes: &Markup) -> Markup {
    html! { svg viewBox={ "0 0 " (width) " " (height) } role="img" aria-label=(about) { (shapes) } }
}

/// A shape beside a name in a legend.
pub fn sample(shape: &Markup) -> Markup {
    html! { svg viewBox="0 0 34 12" aria-hidden="true" { (shape) } }
}

/// A line beside its name.
pub fn sample_of(index: usize, ours: bool, grey: bool) -> Markup {
    sample(&html! {
        g class=(classes(index, ours, grey)) { polyline points="0,6 34,6" {} (marker(index, 17.0, 6.0)) }
    })
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Scale {
    Linear,
    Log,
}

pub struct Point {
    pub threads: usize,
    pub value: f64,
    /// The figure as people read it.
    pub text: String,
    /// Its confidence interval, if it has one.
    pub range: Option<(f64, f64)>,
}

pub struct Series<'a> {
    pub name: &'a str,
    /// Place in the registry of the report, which decides colour, dash and marker.
    pub index: usize,
    /// Whether it is one of ours, drawn stronger.
    pub ours: bool,
    /// Grey and without its name until it is pointed at or picked.
    pub grey: bool,
    pub points: Vec<Point>,
    pub stalled_at: Option<usize>,
}

pub struct Plot<'a> {
    pub title: &'a str,
    /// What is counted along the horizontal axis: threads, vCPUs.
    pub what: &'a str,
    pub scale: Scale,
    pub threads: &'a [usize],
    pub cpus: usize,
    pub series: &'a [Series<'a>],
    /// Figures at the ticks of the vertical axis.
    pub tick: fn(f64) -> String,
}

const WIDTH: f64 = 600.0;
const HEIGHT: f64 = 340.0;
const LEFT: f64 = 62.0;
const TOP: f64 = 36.0;
/// The edges of the plot itself.
const RIGHT: f64 = WIDTH - 146.0;
const BOTTOM: f64 = HEIGHT - 42.0;
/// Least distance between two names at the right edge.
const NAME_HEIGHT: f64 = 12.5;
/// Room between the ends of the axis and the first and last thread count.
const INSET: f64 = 14.0;
/// Shapes of markers, as paths from their centre; the first of all is a circle.
const SHAPES: [&str; 5] = [
    "m-3 -3h6v6h-6z",
    "m0 -4.5l4 7h-8z",
    "m0 -4.2l4.2 4.2l-4.2 4.2l-4.2 -4.2z",
    "m0 4.5l4 -7h-8z",
    "m-3 -3h6v2h-2v4h-2v-4h-2z",
];

struct Axis {
    scale: Scale,
    ticks: Vec<f64>,
}

impl Axis {
    /// An axis that holds all positive values; none if there are none.
    fn over(values: impl Iterator<Item = f64> + Clone, scale: Scale) -> Option<Self> {
        let positive = values.filter(|&value| value > 0.0 && value.is_finite());
        let (min, max) = (positive.clone().reduce(f64::min)?, positive.reduce(f64::max)?);
        let ticks = match scale {
            Scale::Linear => {
                let step = nice_step(max / 5.0);
                (0..=(max / step).ceil().max(1.0) as u32).map(|tick| f64::from(tick) * step).collect()
            }
            Scale::Log => {
                let first = min.log10().floor();
                let decades = (max.log10().ceil() - first).max(1.0) as u32;
                // More than eight labels would run into each other.
                let stride = decades.div_ceil(8);
                let ticks = (0..=decades.next_multiple_of(stride)).step_by(stride as usize);
                ticks.map(|decade| 10_f64.powf(first + f64::from(decade))).collect()
            }
        };
        Some(Self { scale, ticks })
    }

    /// Where a value stands, in the coordinates of the picture.
    fn y(&self, value: f64) -> f64 {
        let (low, high) = (self.ticks[0], self.ticks[self.ticks.len() - 1]);
        let share = match self.scale {
            Scale::Linear => (value - low) / (high - low),
            Scale::Log => (value.max(low) / low).log10() / (high / low).log10(),
        };
        BOTTOM - share.clamp(0.0, 1.0) * (BOTTOM - TOP)
    }
}

/// The next of 1, 2, 2.5, 5 times a power of ten.
fn nice_step(least: f64) -> f64 {
    let power = 10_f64.powf(least.log10().floor());
    let steps = [1.0, 2.0, 2.5, 5.0, 10.0].map(|factor| factor * power);
    steps.into_iter().find(|&step| step >= least * 0.999).unwrap_or(least)
}

impl Plot<'_> {
    /// The picture, or a sentence where there is nothing to draw.
    pub fn render(&self) -> Markup {
        let points = self.series.iter().flat_map(|series| &series.points).filter(|point| point.value > 0.0);
        let values =
            points.flat_map(|point| [point.value, point.range.map_or(point.value, |(_, most)| most)]);
        let Some(axis) = Axis::over(values, self.scale) else {
            return html! { p.none { (self.title) ": nothing was measured" } };
        };
        // What is grey lies below.
        let [below, above] =
            [true, false].map(|grey| self.series.iter().filter(move |series| series.grey == grey));
        let names = self.names(&axis);
        let mut taken: Vec<f64> = names.iter().map(|(y, ..)| *y).collect();
        let shapes = html! {
            (text(LEFT, 16.0, "title", self.title))
            (self.frame(&axis))
            @for series in below.chain(above) { (self.line(&axis, series, &mut taken)) }
            @for (y, last, line) in names {
                g class=(classes(line.index, line.ours, false)) {
                    (self.lead(&axis, last, y, "lead"))
                    (text(RIGHT + 11.0, y + 4.0, "name", line.name))
                }
            }
        };
        picture(WIDTH, HEIGHT, self.title, &shapes)
    }

    fn x(&self, threads: usize) -> f64 {
        let log = |count: usize| (count as f64).log2();
        let (first, last) = (log(self.threads[0]), log(self.threads[self.threads.len() - 1]));
        let share = if last > first { (log(threads) - first) / (last - first) } else { 0.5 };
        LEFT + INSET + share * (RIGHT - LEFT - 2.0 * INSET)
    }

    fn frame(&self, axis: &Axis) -> Markup {
        // Overcommit begins halfway between the last count that fits and the first that does not.
        let over = self.threads.iter().position(|&threads| threads > self.cpus).map(|at| {
            let before = at.checked_sub(1).map(|last| self.x(self.threads[last]));
            before.map_or(LEFT, |before| f64::midpoint(before, self.x(self.threads[at])))
        });
        html! {
            @if let Some(from) = over {
                rect x=(at(from)) y=(at(TOP)) width=(at(RIGHT - from)) height=(at(BOTTOM - TOP)) class="over" {}
                (text(from, TOP - 4.0, "tick", format_args!("more {} than CPUs", self.what)))
            }
            @for &tick in &axis.ticks {
                @let y = axis.y(tick);
                path.grid d={ "M" (LEFT) " " (at(y)) "H" (RIGHT) } {}
                (text(LEFT - 6.0, y + 4.0, "tick end", (self.tick)(tick)))
            }
            @for &threads in self.threads {
                @let x = self.x(threads);
                path.grid d={ "M" (at(x)) " " (BOTTOM) "v4" } {}
                @for (line, word) in heading(threads, self.cpus).split(' ').enumerate() {
                    (text(x, BOTTOM + 16.0 + 13.0 * line as f64, "tick mid", word))
                }
            }
            (text(RIGHT + 6.0, BOTTOM + 16.0, "tick", format_args!("{} (per CPU)", self.what)))
        }
    }

    /// `1 thread`, `2 threads`.
    fn counted(&self, threads: usize) -> String {
        plural(threads, self.what.trim_end_matches('s'))
    }

    /// A line; if it is grey with its name, which goes beside none of those that are `taken`.
    fn line(&self, axis: &Axis, series: &Series, taken: &mut Vec<f64>) -> Markup {
        let place = |point: &Point| (self.x(point.threads), axis.y(point.value));
        let stall = series.stalled_at.filter(|threads| self.threads.contains(threads));
        // Side by side, as several locks may stall at the same place.
        let before = |other: &&Series| other.index < series.index && other.stalled_at == stall;
        let aside = self.series.iter().filter(before).count() as f64 * 9.0 + 3.5;
        let name =
            series.points.last().filter(|_| series.grey).map(|last| (last, free(axis.y(last.value), taken)));
        taken.extend(name.map(|(_, y)| y));
        html! {
            g class=(classes(series.index, series.ours, series.grey)) {
                polyline points={ @for (x, y) in series.points.iter().map(place) { (at(x)) "," (at(y)) " " } } {}
                @for point in &series.points {
                    @let (x, y) = place(point);
                    @if let Some((least, most)) = point.range {
                        path.error d={ "M" (at(x)) " " (at(axis.y(least))) "V" (at(axis.y(most))) } {}
                    }
                    g {
                        (marker(series.index, x, y))
                        title { (series.name) ", " (self.counted(point.threads)) ": " (point.text) }
                    }
                }
                @if let Some(threads) = stall {
                    g.stall {
                        path d={ "M" (at(self.x(threads) - aside)) " " (at(BOTTOM - 8.5)) "l7 7m0 -7l-7 7" } {}
                        title { (series.name) " stalled with " (self.counted(threads)) }
                    }
                }
                @if let Some((last, y)) = name {
                    (self.lead(axis, last, y, "lead name"))
                    (text(RIGHT + 11.0, y + 4.0, "name", series.name))
                }
            }
        }
    }

    /// From the end of a line to its name.
    fn lead(&self, axis: &Axis, last: &Point, y: f64, class: &str) -> Markup {
        html! {
            path class=(class) d={
                "M" (at(self.x(last.threads) + 4.0)) " " (at(axis.y(last.value))) "L" (at(RIGHT + 8.0)) " " (at(y))
            } {}
        }
    }

    /// Names beside the ends of the lines in colour, pushed apart until none covers another.
    fn names(&self, axis: &Axis) -> Vec<(f64, &Point, &Series<'_>)> {
        let lines = self.series.iter().filter(|line| !line.grey);
        let ends = lines.filter_map(|line| line.points.last().map(|last| (axis.y(last.value), last, line)));
        let mut names: Vec<_> = ends.collect();
        names.sort_by(|a, b| a.0.total_cmp(&b.0));
        let mut floor = TOP;
        for (y, ..) in &mut names {
            *y = y.max(floor);
            floor = *y + NAME_HEIGHT;
        }
        let mut ceiling = BOTTOM - 2.0;
        for (y, ..) in names.iter_mut().rev() {
            *y = y.min(ceiling);
            ceiling = *y - NAME_HEIGHT;
        }
        names
    }
}

/// The place nearest to `y` at which a name covers none of those that are taken; `y` itself if there is none.
fn free(y: f64, taken: &[f64]) -> f64 {
    let beside = taken.iter().flat_map(|other| [other - NAME_HEIGHT, other + NAME_HEIGHT]);
    let is_free = |place: &f64| {
        let apart = |other: &f64| (place - other).abs() > NAME_HEIGHT - 0.1;
        (TOP..BOTTOM).contains(place) && taken.iter().all(apart)
    };
    let nearest = |a: &f64, b: &f64| (a - y).abs().total_cmp(&(b - y).abs());
    [y.min(BOTTOM - 2.0)].into_iter().chain(beside).filter(is_free).min_by(nearest).unwrap_or(y)
}

/// The style classes of a line: its colour and dash, whether it is ours, and whether it is grey.
pub fn classes(index: usize, ours: bool, grey: bool) -> String {
    format!("series c{index}{}{}", if ours { " ours" } else { "" }, if grey { " grey" } else { "" })
}

/// The marker of a line, centred.
pub fn marker(index: usize, x: f64, y: f64) -> Markup {
    html! {
        @match (index % (1 + SHAPES.len())).checked_sub(1) {
            None => circle cx=(at(x)) cy=(at(y)) r="3.4" {}
            Some(shape) => path d={ "M" (at(x)) " " (at(y)) (SHAPES[shape]) } {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plot(values: &[f64], scale: Scale) -> String {
        let threads: Vec<usize> = (0..values.len()).map(|power| 1 << power).collect();
        let points = threads.iter().zip(values).map(|(&threads, &value)| Point {
            threads,
            value,
            text: format!("{value}"),
            range: Some((value - 0.5, value + 0.5)),
        });
        let series = [Series {
            name: "a<b",
            index: 0,
            ours: true,
            grey: false,
            points: points.collect(),
            stalled_at: Some(2),
        }];
        Plot {
            title: "t",
            what: "threads",
            scale,
            threads: &threads,
            cpus: 1,
            series: &series,
            tick: |value| format!("{value}"),
        }
        .render()
        .0
    }

    #[test]
    fn a_plot_has_its_points_its_ticks_and_escaped_names() {
        let svg = plot(&[1.0, 10.0, 5.0], Scale::Linear);
        assert_eq!(svg.matches("<circle").count(), 3);
        assert!(svg.contains("a&lt;b") && !svg.contains("a<b"));
        assert_eq!(svg.matches("class=\"error\"").count(), 3);
        assert!(svg.contains("a&lt;b, 1 thread: 1<") && svg.contains("a&lt;b, 4 threads: 5<"), "{svg}");
        assert!(svg.contains("stalled with 2 threads") && svg.contains(">10</text>"));
        assert!(svg.contains(">12.5</text>"), "the bar ends at 10.5");
    }

    #[test]
    fn a_log_axis_spans_whole_decades() {
        let axis = Axis::over([0.003, 40.0].into_iter(), Scale::Log).expect("positive values");
        assert!((axis.ticks[0] - 0.001).abs() < 1e-9 && (axis.ticks[5] - 100.0).abs() < 1e-6);
        assert_eq!(axis.ticks.len(), 6);
        assert!(axis.y(0.003) > axis.y(40.0), "larger is higher up");
    }

    #[test]
    fn linear_ticks_are_round_and_cover_the_largest_value() {
        let axis = Axis::over([7.3].into_iter(), Scale::Linear).expect("positive values");
        assert!(axis.ticks.last() >= Some(&7.3) && axis.ticks.len() <= 7);
        assert!((nice_step(1.46) - 2.0).abs() < 1e-9 && (nice_step(0.3) - 0.5).abs() < 1e-9);
    }

    #[test]
    fn names_of_grey_lines_cover_no_other_name() {
        let series = |index: usize| Series {
            name: ["a", "b", "c", "d"][index],
            index,
            ours: false,
            grey: index > 0,
            points: vec![Point { threads: 1, value: 5.0, text: String::new(), range: None }],
            stalled_at: None,
        };
        let series: Vec<_> = (0..4).map(series).collect();
        let (threads, tick) = (&[1][..], (|value| format!("{value}")) as fn(f64) -> String);
        let plot = Plot {
            title: "t",
            what: "threads",
            scale: Scale::Linear,
            threads,
            cpus: 1,
            series: &series,
            tick,
        };
        let svg = plot.render().0;
        let names = svg
            .split("<text x=\"465.0\" y=\"")
            .skip(1)
            .filter_map(|rest| rest.split('"').next()?.parse().ok());
        let mut names: Vec<f64> = names.collect();
        names.sort_by(f64::total_cmp);
        let closest = names.windows(2).map(|pair| pair[1] - pair[0]).reduce(f64::min);
        assert!(names.len() == 4 && closest > Some(NAME_HEIGHT - 0.2), "{names:?}");
        assert_eq!(at(free(TOP, &[TOP])), at(TOP + NAME_HEIGHT));
        let all: Vec<f64> = (0..=21).map(|at| TOP + NAME_HEIGHT * f64::from(at)).collect();
        assert_eq!(at(free(100.0, &all)), "100.0", "no place is left");
    }

    #[test]
    fn nothing_to_draw_is_said() {
        assert!(plot(&[0.0, 0.0], Scale::Log).contains("nothing was measured"));
    }
}
