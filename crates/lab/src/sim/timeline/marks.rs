//! What is drawn over the lanes: who runs, whom everybody waits for, who kicked whom.
use super::stalls::Why;
use super::{GAP, LANE, LEFT, MOST_ARROWS, Picture};
use core::fmt::Write;
use lab_kit::units::round_ns;
use stanchion_sim::{NS, Time};

/// How stalls are drawn.
pub(super) const OUTLINE: &str = "stroke=\"#10151d\" stroke-width=\"1.6\"";

impl Picture<'_> {
    /// Who runs, written into the lanes of CPUs where there is room.
    pub(super) fn names_of_running(&self, svg: &mut String) {
        for cpu in 0..self.cpus {
            let mut stays: Vec<(usize, Time, Time)> = Vec::new();
            for ran in self.recording.ran.iter().filter(|ran| ran.cpu == cpu) {
                match stays.last_mut() {
                    // A tick or a short halt is no change of who runs.
                    Some((context, _, to))
                        if *context == ran.context && ran.from - *to < self.length() / 200 =>
                    {
                        *to = ran.to;
                    }
                    _ => stays.push((ran.context, ran.from, ran.to)),
                }
            }
            let y = self.cpu_y(cpu);
            for (context, from, to) in stays {
                let (start, end) = (self.x(from), self.x(to));
                let label = if end - start > 60.0 { format!("vCPU {context}") } else { context.to_string() };
                if end - start > 14.0 {
                    let _ = write!(
                        svg,
                        "<path d=\"M{start:.1} {y}v{LANE}\" stroke=\"#fff\" stroke-width=\"1.5\"/>\
                         <text x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"middle\" font-weight=\"600\" stroke=\"#fff\" stroke-width=\"3\" paint-order=\"stroke\">{label}</text>",
                        f64::midpoint(start, end),
                        y + LANE / 2.0 + 4.0
                    );
                }
            }
        }
        svg.push('\n');
    }

    pub(super) fn outline_stalls(&self, svg: &mut String) {
        for stall in self.stalls() {
            let (from, to, y) = (self.x(stall.from), self.x(stall.to), self.vcpu_y(stall.vcpu));
            let _ = write!(
                svg,
                "<rect x=\"{from:.1}\" y=\"{y:.1}\" width=\"{:.1}\" height=\"{LANE}\" fill=\"none\" {OUTLINE}/>",
                to - from
            );
            let words = match stall.why {
                Why::HolderPreempted => "holds the lock",
                Why::Free { giver } => {
                    if giver < self.vcpus {
                        let start = self.vcpu_y(giver) + LANE / 2.0;
                        let end = if y > start { y } else { y + LANE };
                        let _ = write!(
                            svg,
                            "<path d=\"M{from:.1} {start:.1}V{end:.1}\" {OUTLINE} marker-end=\"url(#head)\"/>"
                        );
                    }
                    "is next, lock free"
                }
            };
            let words = format!("{words}: {}", round_ns((stall.length() / NS) as f64));
            if to - from > 6.8 * words.len() as f64 {
                let _ = write!(
                    svg,
                    "<text x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"middle\" font-weight=\"600\">{words}</text>",
                    f64::midpoint(from, to),
                    y + LANE / 2.0 + 4.0
                );
            }
            svg.push('\n');
        }
    }

    pub(super) fn kicks(&self, svg: &mut String) {
        let kicks: Vec<_> =
            self.recording.kicks.iter().filter(|kick| kick.from.max(kick.to) < self.vcpus).collect();
        if kicks.is_empty() {
            return;
        }
        let bottom = self.vcpu_y(self.vcpus) - GAP + 38.0;
        let drawn = kicks.len() <= MOST_ARROWS;
        let remark = if drawn { "arrows in blue" } else { "too many to draw" };
        let _ = write!(
            svg,
            "<text x=\"{LEFT}\" y=\"{bottom:.0}\" fill=\"#1f5fa8\">{} kicks, {remark}</text>",
            kicks.len()
        );
        if drawn {
            for kick in kicks {
                let _ = write!(
                    svg,
                    "<path d=\"M{:.1} {:.1}L{:.1} {:.1}\" stroke=\"#1f5fa8\" stroke-width=\"1.2\" marker-end=\"url(#head)\"/>",
                    self.x(kick.sent),
                    self.vcpu_y(kick.from) + LANE / 2.0,
                    self.x(kick.arrives),
                    self.vcpu_y(kick.to) + LANE / 2.0
                );
            }
        }
        svg.push('\n');
    }
}
