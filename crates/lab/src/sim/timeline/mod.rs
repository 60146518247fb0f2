//! A recording as a picture: a lane for each CPU and each vCPU over time, coloured by what it did.
//!
//! Lanes are cut into columns a bit wider than a pixel, which show the shares of causes within them: true for
//! recordings of any length. Neighbours that look the same become one shape.
use core::fmt::{self, Display};
use lab_kit::export::svg::at;
use lab_kit::units::{percent, round_ns, three_figures};
use maud::{Markup, html};
use stanchion_sim::{Cause, NS, Recording, Time};

mod lanes;
mod stalls;

use lanes::{Lane, lanes};
use stalls::Stall;

/// A colour for each cause: work is green, waiting on a CPU is warm, waiting without one is pale.
pub(super) const COLOURS: [&str; Cause::ALL.len()] =
    ["#3fae6a", "#0b6b3a", "#9cc23c", "#eda81c", "#d7302a", "#8e5bb5", "#b4bac4", "#a6cdf2", "#e3ebf4"];

/// What a picture or a trace is of.
pub(crate) struct Caption<'a> {
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
const RIGHT: f64 = 26.0;
const TOP: f64 = 122.0;
const LANE: f64 = 34.0;
const GAP: f64 = 9.0;
/// Between the lanes of CPUs and those of vCPUs.
const DIVIDE: f64 = 22.0;
const COLUMNS: usize = 640;
/// A stall of this share of the picture is worth an outline …
const STALL_SHARE: f64 = 0.004;
/// … if there are not too many of them; the longest come first. Nor are more arrows of kicks drawn.
const MOST_ARROWS: usize = 60;
/// More lanes than this are no picture.
const MOST_LANES: usize = 64;

/// A remark if something has to be left out of the picture.
pub(super) fn note(recording: &Recording, caption: &Caption) -> Option<String> {
    (caption.cpus.max(recording.contexts) > MOST_LANES)
        .then(|| format!("the timeline shows the first {MOST_LANES} CPUs and vCPUs only"))
}

pub(crate) fn write(recording: &Recording, caption: &Caption) -> String {
    let (cpus, vcpus) = (caption.cpus.min(MOST_LANES), recording.contexts.min(MOST_LANES));
    let least = ((recording.to - recording.from) as f64 * STALL_SHARE) as Time;
    let mut stalls = stalls::find(recording, least, MOST_ARROWS);
    stalls.retain(|stall| stall.vcpu < vcpus);
    let picture = Picture { recording, caption, cpus, vcpus, stalls };
    let lanes = lanes(recording, cpus, vcpus, COLUMNS);
    let svg = html! {
        svg xmlns="http://www.w3.org/2000/svg" viewBox=(format_args!("0 0 {WIDTH} {:.0}", picture.bottom() + 44.0)) role="img"
            font-family="system-ui, 'DejaVu Sans', sans-serif" font-size="12" fill="#1c2330" {
            title { (caption) }
            rect width="100%" height="100%" fill="#ffffff" {}
            defs {
                marker id="head" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7" markerHeight="7" orient="auto" {
                    path d="M0 0L8 4L0 8z" fill="#10151d" {}
                }
            }
            (picture.head(&lanes))
            (picture.axis())
            @for (index, lane) in lanes.iter().enumerate() { (picture.lane(index, lane)) }
            (picture.names_of_running())
            @for stall in &picture.stalls { (picture.outline(stall)) }
            (picture.kicks())
        }
    };
    svg.0 + "\n"
}

struct Picture<'a> {
    recording: &'a Recording,
    caption: &'a Caption<'a>,
    cpus: usize,
    vcpus: usize,
    /// When nobody could have the lock for long, the longest first.
    stalls: Vec<Stall>,
}

impl Picture<'_> {
    /// The top of a lane: first come those of CPUs.
    fn y(&self, lane: usize) -> f64 {
        TOP + (LANE + GAP) * lane as f64 + if lane < self.cpus { 0.0 } else { DIVIDE }
    }

    fn middle(&self, vcpu: usize) -> f64 {
        self.y(self.cpus + vcpu) + LANE / 2.0
    }

    fn bottom(&self) -> f64 {
        self.y(self.cpus + self.vcpus) - GAP
    }

    fn length(&self) -> Time {
        self.recording.to - self.recording.from
    }

    fn x(&self, time: Time) -> f64 {
        let share = (time - self.recording.from) as f64 / self.length().max(1) as f64;
        LEFT + share * (WIDTH - LEFT - RIGHT)
    }

    /// What is seen, in words and figures, and the legend.
    fn head(&self, lanes: &[Lane]) -> Markup {
        let Caption { context, lock, machine, workload, cpus, seed, ops_per_second } = self.caption;
        let all = (self.length() * self.cpus as Time).max(1) as f64;
        let busy = |causes: &[Cause]| {
            let of = |cause: &Cause| lanes[..self.cpus].iter().map(|lane| lane.total(*cause)).sum::<Time>();
            percent(causes.iter().map(of).sum::<Time>() as f64 / all)
        };
        let is_there = |cause: &Cause| lanes[self.cpus..].iter().any(|lane| lane.total(*cause) > 0);
        let legend = Cause::ALL.into_iter().filter(is_there).scan(LEFT, |end, cause| {
            let (x, name) =
                (*end, if cause == Cause::Preempted { "preempted (stolen)" } else { cause.name() });
            *end += 40.0 + 6.6 * name.len() as f64;
            Some((x, name, COLOURS[cause as usize]))
        });
        let share = |free: bool| {
            let those = self.stalls.iter().filter(|stall| stall.giver.is_some() == free);
            let time: Time = those.map(Stall::length).sum();
            percent(time as f64 / self.length().max(1) as f64)
        };
        let handovers = &self.recording.handovers;
        html! {
            text x=(at(LEFT)) y="24.0" font-size="17" font-weight="600" {
                (lock) ": " (self.recording.contexts) " " (context) "s on " (cpus) " CPUs (" (machine) ", workload " (workload)
                ", seed " (seed) "): " (three_figures(ops_per_second / 1e6)) " million units/s"
            }
            text x=(at(LEFT)) y="45.0" font-size="13" {
                "CPU time: " (busy(&[Cause::Computing, Cause::Holding])) " useful, " (busy(&[Cause::Spinning])) " spinning, "
                (busy(&[Cause::Transfer])) " waiting for cache lines; " (handovers.len()) " handovers to another " (context)
            }
            @for (x, name, colour) in legend {
                rect x=(at(x)) y="76.0" width="13.0" height="13.0" fill=(colour) {}
                text x=(at(x + 18.0)) y="87.0" { (name) }
            }
            @if !self.stalls.is_empty() {
                rect x=(at(LEFT + 0.8)) y="97.5" width="22.0" height="12.0" stroke="#10151d" stroke-width="1.6" fill="none" {}
                text x=(at(LEFT + 29.0)) y="108.0" {
                    "everybody waits for this " (context) ", which holds the lock or is the next to have it "
                    "(arrow: the lock is released to it)"
                }
                @if handovers.iter().all(|handover| handover.lock == 0) {
                    text x=(at(LEFT)) y="62.0" font-size="13" {
                        "for " (share(true)) " of the time the lock lies free for one that does not come, for " (share(false))
                        " its holder has no CPU"
                    }
                }
            }
        }
    }

    fn axis(&self) -> Markup {
        let bottom = self.bottom();
        html! {
            @for time in (0..=self.length()).step_by(tick_step(self.length()) as usize) {
                @let x = at(self.x(self.recording.from + time));
                path stroke="#d9dee6" d={ "M" (x) " " (at(TOP - 4.0)) "V" (at(bottom + 6.0)) } {}
                text x=(x) y=(at(bottom + 21.0)) text-anchor="middle" fill="#5a6475" { (round_ns((time / NS) as f64)) }
            }
        }
    }

    /// The name of a lane, and its colours: a path for each cause.
    fn lane(&self, index: usize, lane: &Lane) -> Markup {
        let y = self.y(index);
        let name = match index.checked_sub(self.cpus) {
            None => format!("CPU {index}"),
            Some(vcpu) => format!("{} {vcpu}", self.caption.context),
        };
        let column = (WIDTH - LEFT - RIGHT) / COLUMNS as f64;
        let level = |level: u32| at(y + LANE * (1.0 - f64::from(level) / f64::from(lanes::LEVELS)));
        html! {
            text x=(at(LEFT - 8.0)) y=(at(y + LANE / 2.0 + 4.0)) text-anchor="end" { (name) }
            rect x=(at(LEFT)) y=(at(y)) width=(at(WIDTH - LEFT - RIGHT)) height=(at(LANE)) fill="#f3f5f8" {}
            @for (cause, blocks) in Cause::ALL.map(|cause| (cause, lane.blocks(cause))) {
                @if !blocks.is_empty() {
                    path fill=(COLOURS[cause as usize]) d={
                        @for block in blocks {
                            @let width = at(column * (block.end - block.first) as f64);
                            "M" (at(LEFT + column * block.first as f64)) " " (level(block.low)) "h" (width) "V" (level(block.high))
                            "h-" (width) "z"
                        }
                    } {}
                }
            }
        }
    }

    /// Who runs, written into the lanes of CPUs where there is room.
    fn names_of_running(&self) -> Markup {
        let short = self.length() / 200;
        let stays = (0..self.cpus).flat_map(|cpu| {
            let mut stays: Vec<(usize, Time, Time)> = Vec::new();
            for ran in self.recording.ran.iter().filter(|ran| ran.cpu == cpu) {
                match stays.last_mut() {
                    // A tick or a short halt is no change of who runs.
                    Some((who, _, to)) if *who == ran.context && ran.from - *to < short => *to = ran.to,
                    _ => stays.push((ran.context, ran.from, ran.to)),
                }
            }
            stays.into_iter().map(move |(who, from, to)| (who, self.x(from), self.x(to), self.y(cpu)))
        });
        html! {
            @for (who, from, to, y) in stays.filter(|(_, from, to, _)| to - from > 14.0) {
                path stroke="#fff" stroke-width="1.5" d={ "M" (at(from)) " " (y) "v" (LANE) } {}
                text x=(at(f64::midpoint(from, to))) y=(at(y + LANE / 2.0 + 4.0)) text-anchor="middle" font-weight="600"
                    stroke="#fff" stroke-width="3" paint-order="stroke" {
                    @if to - from > 60.0 { (self.caption.context) " " } (who)
                }
            }
        }
    }

    fn outline(&self, stall: &Stall) -> Markup {
        let (from, to, y) = (self.x(stall.from), self.x(stall.to), self.y(self.cpus + stall.vcpu));
        let words = if stall.giver.is_some() { "is next, lock free" } else { "holds the lock" };
        let words = format!("{words}: {}", round_ns((stall.length() / NS) as f64));
        html! {
            rect x=(at(from)) y=(at(y)) width=(at(to - from)) height=(at(LANE)) stroke="#10151d" stroke-width="1.6" fill="none" {}
            @if let Some(giver) = stall.giver.filter(|&giver| giver < self.vcpus) {
                @let start = self.middle(giver);
                path stroke="#10151d" stroke-width="1.6" fill="none" marker-end="url(#head)"
                    d={ "M" (at(from)) " " (at(start)) "V" (at(if y > start { y } else { y + LANE })) } {}
            }
            @if to - from > 6.8 * words.len() as f64 {
                text x=(at(f64::midpoint(from, to))) y=(at(y + LANE / 2.0 + 4.0)) text-anchor="middle" font-weight="600" { (words) }
            }
        }
    }

    fn kicks(&self) -> Markup {
        let kicks = self.recording.kicks.iter().filter(|kick| kick.from.max(kick.to) < self.vcpus);
        let kicks: Vec<_> = kicks.collect();
        let drawn = kicks.len() <= MOST_ARROWS;
        html! {
            @if !kicks.is_empty() {
                text x=(at(LEFT)) y=(at(self.bottom() + 38.0)) fill="#1f5fa8" {
                    (kicks.len()) " kicks, " (if drawn { "arrows in blue" } else { "too many to draw" })
                }
            }
            @for kick in kicks.iter().filter(|_| drawn) {
                @let (from, to) = (at(self.middle(kick.from)), at(self.middle(kick.to)));
                path stroke="#1f5fa8" stroke-width="1.2" marker-end="url(#head)"
                    d={ "M" (at(self.x(kick.sent))) " " (from) "L" (at(self.x(kick.arrives))) " " (to) } {}
            }
        }
    }
}

/// A round span, of which five to twelve fit.
fn tick_step(length: Time) -> Time {
    let mut steps = (0..).flat_map(|power| [1, 2, 5].map(|factor| factor * Time::pow(10, power)));
    steps.find(|step| length / step <= 12).unwrap_or(1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sim::tests as testing;
    use stanchion_sim::Handover;

    #[test]
    fn a_picture_has_every_lane_and_is_small_and_well_formed() {
        for lock in ["ticket", "pv-qspin"] {
            let (recording, caption) = testing::recording(lock, 4);
            let svg = write(&recording, &caption);
            assert_eq!(note(&recording, &caption), None);
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
    fn nothing_is_an_empty_picture() {
        let (mut recording, caption) = testing::recording("byte", 2);
        (recording.from, recording.to, recording.contexts) = (0, 0, 0);
        recording.ran.clear();
        recording.spells.clear();
        recording.handovers.clear();
        recording.kicks.clear();
        let svg = write(&recording, &caption);
        assert!(svg.contains("byte: 0 vCPUs") && !svg.contains("NaN") && !svg.contains("inf"), "{svg}");
    }

    #[test]
    fn a_lock_that_lies_free_for_long_is_told() {
        let (mut recording, caption) = testing::recording("byte", 3);
        recording.handovers.clear();
        let (from, to) = (recording.from, recording.to);
        recording.spells.clear();
        assert!(!write(&recording, &caption).contains("everybody waits"));
        let (released, acquired) = (from, from + (to - from) / 2);
        recording.handovers.push(Handover { lock: 0, giver: 0, released, taker: 2, acquired });
        let svg = write(&recording, &caption);
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
