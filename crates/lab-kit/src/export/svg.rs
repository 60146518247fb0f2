//! One line plot as SVG: colours come from the page's style sheet, so that light and dark both work, every
//! point tells its figure under the pointer, and lines carry their names at their ends.
use crate::export::grid::heading;
use core::fmt::Write;

/// How the vertical axis grows.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Scale {
    Linear,
    Log,
}

/// A point of a line.
pub struct Point {
    pub threads: usize,
    pub value: f64,
    /// The figure as people read it.
    pub text: String,
    /// Half the width of its confidence interval, if it has one.
    pub range: Option<(f64, f64)>,
}

/// A line: one lock.
pub struct Series<'a> {
    pub name: &'a str,
    /// Place in the registry of the report, which decides colour, dash and marker.
    pub index: usize,
    /// Whether it is one of ours, drawn stronger.
    pub ours: bool,
    /// Grey and without its name until it is pointed at or picked.
    pub grey: bool,
    pub points: Vec<Point>,
    /// Where the lock stalled, if it did.
    pub stalled_at: Option<usize>,
}

/// A plot over thread counts.
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
const RIGHT: f64 = 146.0;
const TOP: f64 = 36.0;
const BOTTOM: f64 = 42.0;
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

/// The vertical axis, from its first tick to its last.
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
        HEIGHT - BOTTOM - share.clamp(0.0, 1.0) * (HEIGHT - TOP - BOTTOM)
    }
}

/// The next of 1, 2, 2.5, 5 times a power of ten.
fn nice_step(least: f64) -> f64 {
    let power = 10_f64.powf(least.log10().floor());
    [1.0, 2.0, 2.5, 5.0, 10.0]
        .into_iter()
        .map(|factor| factor * power)
        .find(|&step| step >= least * 0.999)
        .unwrap_or(least)
}

impl Plot<'_> {
    /// The picture, or a sentence where there is nothing to draw.
    pub fn render(&self) -> String {
        let values = self.series.iter().flat_map(|series| series.points.iter().map(|point| point.value));
        let Some(axis) = Axis::over(values, self.scale) else {
            return format!("<p class=\"none\">{}: nothing was measured</p>", escape(self.title));
        };
        let title = escape(self.title);
        let mut svg = format!("<svg viewBox=\"0 0 {WIDTH} {HEIGHT}\" role=\"img\" aria-label=\"{title}\">");
        text(&mut svg, "title", LEFT, 16.0, self.title);
        self.frame(&mut svg, &axis);
        // What is grey lies below.
        for grey in [true, false] {
            for series in self.series.iter().filter(|series| series.grey == grey) {
                self.line(&mut svg, &axis, series);
            }
        }
        self.names(&mut svg, &axis);
        svg + "</svg>"
    }

    /// Where a thread count stands.
    fn x(&self, threads: usize) -> f64 {
        let log = |count: usize| (count as f64).log2();
        let (first, last) = (log(self.threads[0]), log(self.threads[self.threads.len() - 1]));
        let width = WIDTH - LEFT - RIGHT - 2.0 * INSET;
        let share = if last > first { (log(threads) - first) / (last - first) } else { 0.5 };
        LEFT + INSET + share * width
    }

    fn frame(&self, svg: &mut String, axis: &Axis) {
        let (bottom, right) = (HEIGHT - BOTTOM, WIDTH - RIGHT);
        // Overcommit begins halfway (on this axis) between the last count that fits and the first that does
        // not.
        if let Some(at) = self.threads.iter().position(|&threads| threads > self.cpus) {
            let before = at.checked_sub(1).map(|last| self.x(self.threads[last]));
            let from = before.map_or(LEFT, |before| f64::midpoint(before, self.x(self.threads[at])));
            let (width, height) = (right - from, bottom - TOP);
            let _ = write!(
                svg,
                "<rect class=\"over\" x=\"{from:.1}\" y=\"{TOP}\" width=\"{width:.1}\" height=\"{height:.1}\"/>"
            );
            text(svg, "tick", from, TOP - 4.0, &format!("more {} than CPUs", self.what));
        }
        for &tick in &axis.ticks {
            let y = axis.y(tick);
            let _ = write!(svg, "<path class=\"grid\" d=\"M{LEFT} {y:.1}H{right}\"/>");
            text(svg, "tick end", LEFT - 6.0, y + 4.0, &(self.tick)(tick));
        }
        for &threads in self.threads {
            let (x, heading) = (self.x(threads), heading(threads, self.cpus));
            let (count, multiple) = heading.split_once(' ').unwrap_or_default();
            let _ = write!(svg, "<path class=\"grid\" d=\"M{x:.1} {bottom}v4\"/>");
            text(svg, "tick mid", x, bottom + 16.0, count);
            text(svg, "tick mid", x, bottom + 29.0, multiple);
        }
        text(svg, "tick", right + 6.0, bottom + 16.0, &format!("{} (per CPU)", self.what));
    }

    fn line(&self, svg: &mut String, axis: &Axis, series: &Series) {
        let _ = write!(svg, "<g class=\"series {}\"><polyline points=\"", series.classes());
        for point in &series.points {
            let _ = write!(svg, "{:.1},{:.1} ", self.x(point.threads), axis.y(point.value));
        }
        svg.push_str("\"/>");
        for point in &series.points {
            let (x, y) = (self.x(point.threads), axis.y(point.value));
            if let Some((least, most)) = point.range {
                let (low, high) = (axis.y(least), axis.y(most));
                let _ = write!(svg, "<path class=\"error\" d=\"M{x:.1} {low:.1}V{high:.1}\"/>");
            }
            let about = format!("{}, {} {}: {}", series.name, point.threads, self.what, point.text);
            let _ = write!(svg, "<g>{}<title>{}</title></g>", marker(series.index, x, y), escape(&about));
        }
        if let Some(threads) = series.stalled_at.filter(|threads| self.threads.contains(threads)) {
            // Side by side, as several locks may stall at the same place.
            let before = |other: &&Series| other.index < series.index && other.stalled_at == Some(threads);
            let x = self.x(threads) - self.series.iter().filter(before).count() as f64 * 9.0 - 3.5;
            let y = HEIGHT - BOTTOM - 8.5;
            let about = format!("{} stalled with {threads} {}", series.name, self.what);
            let _ = write!(
                svg,
                "<g class=\"stall\"><path d=\"M{x:.1} {y:.1}l7 7m0 -7l-7 7\"/><title>{}</title></g>",
                escape(&about)
            );
        }
        if let Some(last) = series.points.last().filter(|_| series.grey) {
            text(svg, "name", WIDTH - RIGHT + 11.0, axis.y(last.value) + 4.0, series.name);
        }
        svg.push_str("</g>");
    }

    /// Names beside the ends of the lines, pushed apart until none covers another.
    fn names(&self, svg: &mut String, axis: &Axis) {
        let mut names: Vec<(f64, &Point, &Series)> = self
            .series
            .iter()
            .filter(|series| !series.grey)
            .filter_map(|series| series.points.last().map(|last| (axis.y(last.value), last, series)))
            .collect();
        names.sort_by(|a, b| a.0.total_cmp(&b.0));
        let mut floor = TOP;
        for (y, ..) in &mut names {
            *y = y.max(floor);
            floor = *y + NAME_HEIGHT;
        }
        let mut ceiling = HEIGHT - BOTTOM - 2.0;
        for (y, ..) in names.iter_mut().rev() {
            *y = y.min(ceiling);
            ceiling = *y - NAME_HEIGHT;
        }
        for (y, last, series) in names {
            let (x, end) = (self.x(last.threads) + 4.0, axis.y(last.value));
            let _ = write!(
                svg,
                "<g class=\"series {}\"><path class=\"lead\" d=\"M{x:.1} {end:.1}L{:.1} {y:.1}\"/>",
                series.classes(),
                WIDTH - RIGHT + 8.0
            );
            text(svg, "name", WIDTH - RIGHT + 11.0, y + 4.0, series.name);
            svg.push_str("</g>");
        }
    }
}

impl Series<'_> {
    fn classes(&self) -> String {
        classes(self.index, self.ours, self.grey)
    }
}

/// Adds a text of a class.
fn text(svg: &mut String, class: &str, x: f64, y: f64, text: &str) {
    let _ = write!(svg, "<text class=\"{class}\" x=\"{x:.1}\" y=\"{y:.1}\">{}</text>", escape(text));
}

/// The style classes of a line: its colour and dash, whether it is ours, and whether it is grey.
pub fn classes(index: usize, ours: bool, grey: bool) -> String {
    format!("c{index}{}{}", if ours { " ours" } else { "" }, if grey { " grey" } else { "" })
}

/// The marker of a line, centred.
pub fn marker(index: usize, x: f64, y: f64) -> String {
    match (index % (1 + SHAPES.len())).checked_sub(1) {
        None => format!("<circle cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"3.4\"/>"),
        Some(shape) => format!("<path d=\"M{x:.1} {y:.1}{}\"/>", SHAPES[shape]),
    }
}

/// Text that may stand anywhere in the page.
pub fn escape(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
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
    }

    #[test]
    fn a_plot_has_its_points_its_ticks_and_escaped_names() {
        let svg = plot(&[1.0, 10.0, 5.0], Scale::Linear);
        assert_eq!(svg.matches("<circle").count(), 3);
        assert!(svg.contains("a&lt;b") && !svg.contains("a<b"));
        assert_eq!(svg.matches("class=\"error\"").count(), 3);
        assert!(svg.contains("stalled with 2 threads") && svg.contains(">10</text>"));
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
    fn nothing_to_draw_is_said() {
        assert!(plot(&[0.0, 0.0], Scale::Log).contains("nothing was measured"));
    }
}
