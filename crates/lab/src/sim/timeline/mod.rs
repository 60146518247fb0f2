//! A recording as a picture: a lane for each CPU and each vCPU over time, coloured by what it did.
//!
//! Lanes are cut into columns a bit wider than a pixel, and a column shows the shares of causes within it. So
//! a picture says the same as the recording however long that is, and neighbours that look the same become
//! one shape.
use core::fmt::{self, Display, Write};
use lab_kit::export::svg::escape;
use lab_kit::units::{percent, round_ns, three_figures};
use stanchion_sim::{Cause, NS, Recording, Time};

mod lanes;
mod marks;
mod stalls;

use lanes::{Lane, lanes};
use marks::OUTLINE;
use stalls::{Stall, Why};

/// A colour for each cause: work is green, waiting on a CPU is warm, waiting without one is pale.
pub(super) const COLOURS: [&str; Cause::ALL.len()] =
    ["#3fae6a", "#0b6b3a", "#9cc23c", "#eda81c", "#d7302a", "#8e5bb5", "#b4bac4", "#a6cdf2", "#e3ebf4"];

/// What a picture or a trace is of.
pub(crate) struct Caption<'a> {
    /// What a context is called.
    pub context: &'a str,
    pub lock: &'a str,
    pub machine: &'a str,
    pub workload: &'a str,
    pub cpus: usize,
    pub seed: u64,
    /// Of the whole run, not of the part that is shown.
    pub ops_per_second: f64,
}

impl Display for Caption<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} on {}, workload {}, seed {}", self.lock, self.machine, self.workload, self.seed)
    }
}

const WIDTH: f64 = 1120.0;
const LEFT: f64 = 78.0;
const RIGHT: f64 = 16.0;
const TOP: f64 = 122.0;
const LANE: f64 = 34.0;
const GAP: f64 = 9.0;
/// Between the lanes of CPUs and those of vCPUs.
const DIVIDE: f64 = 22.0;
/// Columns of a lane.
const COLUMNS: usize = 640;
/// A stall of this share of the picture is worth an outline …
const STALL_SHARE: f64 = 0.004;
/// … if there are not too many of them; the longest come first. Nor are more arrows of kicks drawn.
const MOST_ARROWS: usize = 60;
/// More lanes than this are no picture.
const MOST_LANES: usize = 64;

/// The picture, and a remark if something had to be left out.
pub(crate) fn write(recording: &Recording, caption: &Caption) -> (String, Option<String>) {
    let cpus = caption.cpus.min(MOST_LANES);
    let vcpus = recording.contexts.min(MOST_LANES);
    let note = (cpus < caption.cpus || vcpus < recording.contexts)
        .then(|| format!(" (only the first {MOST_LANES} CPUs and vCPUs)"));
    let picture = Picture { recording, caption, cpus, vcpus };
    (picture.render(), note)
}

struct Picture<'a> {
    recording: &'a Recording,
    caption: &'a Caption<'a>,
    cpus: usize,
    vcpus: usize,
}

impl Picture<'_> {
    fn render(&self) -> String {
        let lanes = lanes(self.recording, self.cpus, self.vcpus, COLUMNS);
        let bottom = self.vcpu_y(self.vcpus) - GAP;
        let mut svg = format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH} {height:.0}\" role=\"img\" aria-label=\"{title}\" \
             font-family=\"system-ui, 'DejaVu Sans', sans-serif\" font-size=\"12\" fill=\"#1c2330\">\n\
             <rect width=\"100%\" height=\"100%\" fill=\"#ffffff\"/>\n\
             <defs><marker id=\"head\" viewBox=\"0 0 8 8\" refX=\"7\" refY=\"4\" markerWidth=\"7\" markerHeight=\"7\" orient=\"auto\">\
             <path d=\"M0 0L8 4L0 8z\" fill=\"#10151d\"/></marker></defs>\n",
            height = bottom + 44.0,
            title = escape(&self.caption.to_string())
        );
        self.head(&mut svg, &lanes);
        self.axis(&mut svg, bottom);
        for (index, lane) in lanes.iter().enumerate() {
            let (y, name) = match index.checked_sub(self.cpus) {
                None => (self.cpu_y(index), format!("CPU {index}")),
                Some(vcpu) => (self.vcpu_y(vcpu), format!("{} {vcpu}", self.caption.context)),
            };
            let _ = writeln!(
                svg,
                "<text x=\"{:.0}\" y=\"{:.1}\" text-anchor=\"end\">{name}</text><rect x=\"{LEFT}\" y=\"{y}\" width=\"{:.0}\" height=\"{LANE}\" fill=\"#f3f5f8\"/>",
                LEFT - 8.0,
                y + LANE / 2.0 + 4.0,
                WIDTH - LEFT - RIGHT
            );
            fill(&mut svg, lane, y);
        }
        self.names_of_running(&mut svg);
        self.outline_stalls(&mut svg);
        self.kicks(&mut svg);
        svg.push_str("</svg>\n");
        svg
    }

    #[expect(clippy::unused_self, reason = "beside its sibling, which needs it")]
    fn cpu_y(&self, cpu: usize) -> f64 {
        TOP + (LANE + GAP) * cpu as f64
    }

    fn vcpu_y(&self, vcpu: usize) -> f64 {
        self.cpu_y(self.cpus) + DIVIDE + (LANE + GAP) * vcpu as f64
    }

    fn length(&self) -> Time {
        self.recording.to - self.recording.from
    }

    fn x(&self, time: Time) -> f64 {
        let share = (time - self.recording.from) as f64 / self.length().max(1) as f64;
        LEFT + share * (WIDTH - LEFT - RIGHT)
    }

    /// What is seen, in words and figures, and the legend.
    fn head(&self, svg: &mut String, lanes: &[Lane]) {
        let caption = self.caption;
        let busy = |causes: &[Cause]| {
            let of = |cause: &Cause| lanes[..self.cpus].iter().map(|lane| lane.total(*cause)).sum::<Time>();
            let all = self.length() * self.cpus as Time;
            percent(causes.iter().map(of).sum::<Time>() as f64 / all.max(1) as f64)
        };
        let words = format!(
            "CPU time: {} useful, {} spinning, {} waiting for cache lines; {} handovers to another {}",
            busy(&[Cause::Computing, Cause::Holding]),
            busy(&[Cause::Spinning]),
            busy(&[Cause::Transfer]),
            self.recording.handovers.len(),
            caption.context
        );
        let stalls = self.stalls();
        let mut more = String::new();
        if !stalls.is_empty() && self.recording.handovers.iter().all(|handover| handover.lock == 0) {
            let length = self.length().max(1) as f64;
            let share = |free: bool| {
                let of = |stall: &&Stall| (stall.why != Why::HolderPreempted) == free;
                percent(stalls.iter().filter(of).map(Stall::length).sum::<Time>() as f64 / length)
            };
            more = format!(
                "for {} of the time the lock lies free for one that does not come, for {} its holder has no CPU",
                share(true),
                share(false)
            );
        }
        let _ = writeln!(
            svg,
            "<text x=\"{LEFT}\" y=\"24\" font-size=\"17\" font-weight=\"600\">{}: {} {}s on {} CPUs ({}, workload {}, seed {}): {} million units/s</text>\n\
             <text x=\"{LEFT}\" y=\"45\" font-size=\"13\">{}</text><text x=\"{LEFT}\" y=\"62\" font-size=\"13\">{more}</text>",
            escape(caption.lock),
            self.recording.contexts,
            caption.context,
            caption.cpus,
            escape(caption.machine),
            escape(caption.workload),
            caption.seed,
            three_figures(caption.ops_per_second / 1e6),
            escape(&words)
        );
        let mut x = LEFT;
        for cause in Cause::ALL {
            if lanes[self.cpus..].iter().all(|lane| lane.total(cause) == 0) {
                continue;
            }
            let name = if cause == Cause::Preempted { "preempted (stolen)" } else { cause.name() };
            let _ = write!(
                svg,
                "<rect x=\"{x:.0}\" y=\"76\" width=\"13\" height=\"13\" fill=\"{}\"/><text x=\"{:.0}\" y=\"87\">{name}</text>",
                COLOURS[cause as usize],
                x + 18.0
            );
            x += 40.0 + 6.6 * name.len() as f64;
        }
        if !stalls.is_empty() {
            let _ = write!(
                svg,
                "<rect x=\"{:.0}\" y=\"97.5\" width=\"22\" height=\"12\" fill=\"none\" {OUTLINE}/>\
                 <text x=\"{:.0}\" y=\"108\">everybody waits for this {}, which holds the lock or is the next to have it (arrow: the lock is released to it)</text>",
                LEFT + 0.8,
                LEFT + 29.0,
                caption.context
            );
        }
        svg.push('\n');
    }

    fn axis(&self, svg: &mut String, bottom: f64) {
        let step = tick_step(self.length());
        let mut at = 0;
        while at <= self.length() {
            let x = self.x(self.recording.from + at);
            let _ = write!(
                svg,
                "<path d=\"M{x:.1} {:.1}V{:.1}\" stroke=\"#d9dee6\"/><text x=\"{x:.1}\" y=\"{:.1}\" text-anchor=\"middle\" fill=\"#5a6475\">{}</text>",
                TOP - 4.0,
                bottom + 6.0,
                bottom + 21.0,
                round_ns((at / NS) as f64)
            );
            at += step;
        }
        svg.push('\n');
    }

    /// When nobody could have the lock for long, the longest first.
    fn stalls(&self) -> Vec<Stall> {
        let least = (self.length() as f64 * STALL_SHARE) as Time;
        let mut stalls = stalls::find(self.recording, least, MOST_ARROWS);
        stalls.retain(|stall| stall.vcpu < self.vcpus);
        stalls
    }
}

/// The colours of one lane, a path for each cause.
fn fill(svg: &mut String, lane: &Lane, y: f64) {
    let column = (WIDTH - LEFT - RIGHT) / COLUMNS as f64;
    for cause in Cause::ALL {
        let blocks = lane.blocks(cause);
        if blocks.is_empty() {
            continue;
        }
        let _ = write!(svg, "<path fill=\"{}\" d=\"", COLOURS[cause as usize]);
        for block in blocks {
            let level = |level: u32| y + LANE * (1.0 - f64::from(level) / f64::from(lanes::LEVELS));
            let _ = write!(
                svg,
                "M{:.1} {:.1}h{:.1}V{:.1}h-{2:.1}z",
                LEFT + column * block.first as f64,
                level(block.low),
                column * (block.end - block.first) as f64,
                level(block.high)
            );
        }
        svg.push_str("\"/>\n");
    }
}

/// A round span, of which five to twelve fit.
fn tick_step(length: Time) -> Time {
    let mut step = 1;
    loop {
        for factor in [1, 2, 5] {
            if length / (step * factor) <= 12 {
                return (step * factor).max(1);
            }
        }
        step *= 10;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sim::testing;
    use stanchion_sim::Handover;

    #[test]
    fn a_picture_has_every_lane_and_is_small_and_well_formed() {
        for lock in ["ticket", "pv-qspin"] {
            let (recording, caption) = testing::recording(lock, 4);
            let (svg, note) = write(&recording, &caption);
            assert_eq!(note, None);
            for name in ["CPU 0<", "CPU 1<", "vCPU 0<", "vCPU 3<", "computing", "preempted"] {
                assert!(svg.contains(name), "{lock}: {name}");
            }
            assert!(svg.len() < 300_000, "{lock}: {} bytes", svg.len());
            assert!(!svg.contains("NaN") && !svg.contains("inf"), "{lock}");
            for tag in ["svg", "text", "defs", "marker"] {
                let opened =
                    svg.matches(&format!("<{tag} ")).count() + svg.matches(&format!("<{tag}>")).count();
                assert_eq!(opened, svg.matches(&format!("</{tag}>")).count(), "{lock}: {tag}");
            }
        }
    }

    #[test]
    fn a_lock_that_lies_free_for_long_is_told() {
        let (mut recording, caption) = testing::recording("byte", 3);
        recording.handovers.clear();
        let (from, to) = (recording.from, recording.to);
        recording.spells.clear();
        assert!(!write(&recording, &caption).0.contains("everybody waits"));
        let (released, acquired) = (from, from + (to - from) / 2);
        recording.handovers.push(Handover { lock: 0, giver: 0, released, taker: 2, acquired });
        let svg = write(&recording, &caption).0;
        assert!(svg.contains("for 50 % of the time the lock lies free") && svg.contains("everybody waits"));
        assert!(svg.contains("is next, lock free: 3 ms"));
    }

    #[test]
    fn ticks_are_round_and_few() {
        for (length, step) in [(60, 5), (100, 10), (130, 20), (7_000_000, 1_000_000), (1, 1)] {
            assert_eq!(tick_step(length), step, "{length}");
        }
    }
}
