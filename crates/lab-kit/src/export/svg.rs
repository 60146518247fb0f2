//! One line plot as SVG, drawn by hand: colours come from the page's style sheet, so that light and dark
//! both work, every point tells its figure under the pointer, and lines carry their names at their ends.
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
/// How many shapes [`marker`] knows.
const MARKERS: usize = 6;

/// The vertical axis: its range and its ticks.
struct Axis {
    scale: Scale,
    low: f64,
    high: f64,
    ticks: Vec<f64>,
}

impl Axis {
    /// An axis that holds all positive values; none if there are none.
    fn over(values: impl Iterator<Item = f64> + Clone, scale: Scale) -> Option<Self> {
        let positive = values.filter(|&value| value > 0.0 && value.is_finite());
        let (min, max) = (positive.clone().reduce(f64::min)?, positive.reduce(f64::max)?);
        let (low, high, ticks) = match scale {
            Scale::Linear => {
                let step = nice_step(max / 5.0);
                let count = (max / step).ceil().max(1.0);
                (0.0, count * step, (0..=count as u32).map(|tick| f64::from(tick) * step).collect())
            }
            Scale::Log => {
                let (first, last) = (min.log10().floor() as i32, max.log10().ceil() as i32);
                let last = last.max(first + 1);
                // More than eight labels would run into each other.
                let stride = ((last - first) as usize).div_ceil(8);
                (
                    10_f64.powi(first),
                    10_f64.powi(last),
                    (first..=last).step_by(stride).map(|power| 10_f64.powi(power)).collect(),
                )
            }
        };
        Some(Self { scale, low, high, ticks })
    }

    /// Where a value stands, in the coordinates of the picture.
    fn y(&self, value: f64) -> f64 {
        let share = match self.scale {
            Scale::Linear => (value - self.low) / (self.high - self.low),
            Scale::Log => (value.max(self.low) / self.low).log10() / (self.high / self.low).log10(),
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
        let mut svg = format!(
            "<svg viewBox=\"0 0 {WIDTH} {HEIGHT}\" role=\"img\" aria-label=\"{0}\"><text class=\"title\" x=\"{LEFT}\" y=\"16\">{0}</text>",
            escape(self.title)
        );
        self.frame(&mut svg, &axis);
        // What is grey lies below.
        for grey in [true, false] {
            for series in self.series.iter().filter(|series| series.grey == grey) {
                self.line(&mut svg, &axis, series);
            }
        }
        self.names(&mut svg, &axis);
        svg.push_str("</svg>");
        svg
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
            let before = if at == 0 {
                LEFT
            } else {
                f64::midpoint(self.x(self.threads[at - 1]), self.x(self.threads[at]))
            };
            let _ = write!(
                svg,
                "<rect class=\"over\" x=\"{before:.1}\" y=\"{TOP}\" width=\"{:.1}\" height=\"{:.1}\"/><text class=\"tick\" x=\"{:.1}\" y=\"{:.1}\">more {} than CPUs</text>",
                right - before,
                bottom - TOP,
                before,
                TOP - 4.0,
                self.what
            );
        }
        for &tick in &axis.ticks {
            let y = axis.y(tick);
            let _ = write!(
                svg,
                "<line class=\"grid\" x1=\"{LEFT}\" x2=\"{right}\" y1=\"{y:.1}\" y2=\"{y:.1}\"/><text class=\"tick end\" x=\"{:.1}\" y=\"{:.1}\">{}</text>",
                LEFT - 6.0,
                y + 4.0,
                escape(&(self.tick)(tick))
            );
        }
        for &threads in self.threads {
            let x = self.x(threads);
            let (count, multiple) = heading(threads, self.cpus)
                .split_once(' ')
                .map(|(a, b)| (a.to_owned(), b.to_owned()))
                .unwrap_or_default();
            let _ = write!(
                svg,
                "<line class=\"grid\" x1=\"{x:.1}\" x2=\"{x:.1}\" y1=\"{bottom}\" y2=\"{:.1}\"/><text class=\"tick mid\" x=\"{x:.1}\" y=\"{:.1}\">{count}</text><text class=\"tick mid\" x=\"{x:.1}\" y=\"{:.1}\">{multiple}</text>",
                bottom + 4.0,
                bottom + 16.0,
                bottom + 29.0
            );
        }
        let _ = write!(
            svg,
            "<text class=\"tick\" x=\"{:.1}\" y=\"{:.1}\">{} (per CPU)</text>",
            right + 6.0,
            bottom + 16.0,
            self.what
        );
    }

    fn line(&self, svg: &mut String, axis: &Axis, series: &Series) {
        let _ = write!(svg, "<g class=\"series {}\">", classes(series.index, series.ours, series.grey));
        let path: Vec<String> = series
            .points
            .iter()
            .map(|point| format!("{:.1},{:.1}", self.x(point.threads), axis.y(point.value)))
            .collect();
        let _ = write!(svg, "<polyline points=\"{}\"/>", path.join(" "));
        for point in &series.points {
            let (x, y) = (self.x(point.threads), axis.y(point.value));
            let about = format!("{}, {} {}: {}", series.name, point.threads, self.what, point.text);
            if let Some((least, most)) = point.range {
                let (low, high) = (axis.y(least), axis.y(most));
                let _ = write!(svg, "<path class=\"error\" d=\"M{x:.1} {low:.1}V{high:.1}\"/>");
            }
            let _ = write!(svg, "<g>{}<title>{}</title></g>", marker(series.index, x, y), escape(&about));
        }
        if let Some(threads) = series.stalled_at.filter(|threads| self.threads.contains(threads)) {
            // Side by side, as several locks may stall at the same place.
            let before = |other: &&Series| other.index < series.index && other.stalled_at == Some(threads);
            let x = self.x(threads) - self.series.iter().filter(before).count() as f64 * 9.0;
            let y = HEIGHT - BOTTOM - 5.0;
            let _ = write!(
                svg,
                "<g class=\"stall\"><path d=\"M{:.1} {:.1}l7 7m0 -7l-7 7\"/><title>{} stalled with {threads} {}</title></g>",
                x - 3.5,
                y - 3.5,
                escape(series.name),
                self.what
            );
        }
        if let Some(last) = series.points.last().filter(|_| series.grey) {
            let (x, y) = (WIDTH - RIGHT + 11.0, axis.y(last.value) + 4.0);
            let name = escape(series.name);
            let _ = write!(svg, "<text class=\"name\" x=\"{x:.1}\" y=\"{y:.1}\">{name}</text>");
        }
        svg.push_str("</g>");
    }

    /// Names beside the ends of the lines, pushed apart until none covers another.
    fn names(&self, svg: &mut String, axis: &Axis) {
        let mut names: Vec<(f64, &Series)> = self
            .series
            .iter()
            .filter(|series| !series.grey)
            .filter_map(|series| Some((axis.y(series.points.last()?.value), series)))
            .collect();
        names.sort_by(|a, b| a.0.total_cmp(&b.0));
        let mut floor = TOP;
        for (y, _) in &mut names {
            *y = y.max(floor);
            floor = *y + NAME_HEIGHT;
        }
        let mut ceiling = HEIGHT - BOTTOM - 2.0;
        for (y, _) in names.iter_mut().rev() {
            *y = y.min(ceiling);
            ceiling = *y - NAME_HEIGHT;
        }
        for (y, series) in names {
            let Some(last) = series.points.last() else { continue };
            let _ = write!(
                svg,
                "<g class=\"series {0}\"><line class=\"lead\" x1=\"{1:.1}\" y1=\"{2:.1}\" x2=\"{3:.1}\" y2=\"{4:.1}\"/><text class=\"name\" x=\"{5:.1}\" y=\"{6:.1}\">{7}</text></g>",
                classes(series.index, series.ours, false),
                self.x(last.threads) + 4.0,
                axis.y(last.value),
                WIDTH - RIGHT + 8.0,
                y,
                WIDTH - RIGHT + 11.0,
                y + 4.0,
                escape(series.name)
            );
        }
    }
}

/// The style classes of a line: its colour and dash, whether it is ours, and whether it is grey.
pub fn classes(index: usize, ours: bool, grey: bool) -> String {
    format!("c{index}{}{}", if ours { " ours" } else { "" }, if grey { " grey" } else { "" })
}

/// The marker of a line, centred.
pub fn marker(index: usize, x: f64, y: f64) -> String {
    match index % MARKERS {
        0 => format!("<circle cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"3.4\"/>"),
        1 => format!("<rect x=\"{:.1}\" y=\"{:.1}\" width=\"6\" height=\"6\"/>", x - 3.0, y - 3.0),
        2 => format!("<path d=\"M{x:.1} {:.1}l4 7h-8z\"/>", y - 4.5),
        3 => format!("<path d=\"M{x:.1} {:.1}l4.2 4.2l-4.2 4.2l-4.2 -4.2z\"/>", y - 4.2),
        4 => format!("<path d=\"M{x:.1} {:.1}l4 -7h-8z\"/>", y + 4.5),
        _ => format!("<path d=\"M{:.1} {:.1}h6v2h-2v4h-2v-4h-2z\"/>", x - 3.0, y - 3.0),
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
        assert!((axis.low - 0.001).abs() < 1e-9 && (axis.high - 100.0).abs() < 1e-6);
        assert_eq!(axis.ticks.len(), 6);
        assert!(axis.y(0.003) > axis.y(40.0), "larger is higher up");
    }

    #[test]
    fn linear_ticks_are_round_and_cover_the_largest_value() {
        let axis = Axis::over([7.3].into_iter(), Scale::Linear).expect("positive values");
        assert!(axis.high >= 7.3 && axis.ticks.len() <= 7);
        assert!((nice_step(1.46) - 2.0).abs() < 1e-9 && (nice_step(0.3) - 0.5).abs() < 1e-9);
    }

    #[test]
    fn nothing_to_draw_is_said() {
        assert!(plot(&[0.0, 0.0], Scale::Log).contains("nothing was measured"));
    }
}
