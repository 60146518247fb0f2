//! All measurements, round after round: a disturbance of the machine hits neighbours in time and not one
//! quantity.
use super::places::Places;
use super::sample::{Figures, Reach, What};
use super::{alone, lines, sleep, turns};
use core::time::Duration;
use lab_kit::interrupt;
use lab_kit::progress::Progress;
use std::collections::BTreeMap;

/// Pairs of CPUs that stand for one distance.
const PAIRS: usize = 4;
/// How long turns and ticks are watched in one round.
const WATCH: Duration = Duration::from_millis(120);

/// What came of it.
pub(super) struct Measured {
    pub(super) figures: Figures,
    pub(super) rounds: usize,
    /// The user stopped it.
    pub(super) interrupted: bool,
}

/// Measures for `rounds` rounds.
pub(super) fn measure(places: &Places, rounds: usize, quiet: bool) -> Measured {
    let cpus: Vec<usize> = places.all.iter().map(|place| place.cpu).collect();
    // The first CPU usually serves the interrupts.
    let last = cpus.last().copied().unwrap_or(0);
    let pairs = places.pairs(PAIRS);
    let (own, shared) = cache_sizes(last);
    let mut chains = alone::Caches::new(own, shared);
    let progress = Progress::new(rounds as u64, quiet);
    let mut measured = Measured { figures: Figures::default(), rounds: 0, interrupted: false };
    for round in 0..rounds {
        if interrupt::requested() {
            measured.interrupted = true;
            break;
        }
        progress.now(format!("round {} of {rounds}", round + 1));
        let figures = &mut measured.figures;
        alone::instructions(last, figures);
        chains.measure(last, figures);
        sleep::calls(last, figures);
        sleep::on_one(last, figures);
        sleep::barriers(&cpus, figures);
        let rmw = figures.get(What::Rmw).map_or(0.0, |figure| figure.median);
        for (&reach, pairs) in &pairs {
            lines::between(reach, pairs[round % pairs.len()], rmw, figures);
        }
        lines::together(places, figures);
        // Threads of the same core share its idleness; what is woken there says little.
        if let Some(pair) = far_pair(&pairs, round) {
            sleep::across(pair, figures);
            sleep::moves(pair, figures);
            // A CPU on which others run does not become idle.
            if crate::bench::other_runnable() == 0 {
                turns::pull(pair, figures);
            }
        }
        turns::ticks(last, WATCH, figures);
        turns::turns(last, WATCH, figures);
        measured.rounds += 1;
        progress.step();
    }
    progress.finish();
    measured
}

/// A pair of CPUs on different cores, the nearest ones.
fn far_pair(pairs: &BTreeMap<Reach, Vec<(usize, usize)>>, round: usize) -> Option<(usize, usize)> {
    let (_, pairs) = pairs.iter().find(|(reach, _)| **reach > Reach::Core).or_else(|| pairs.iter().next())?;
    Some(pairs[round % pairs.len()])
}

/// Bytes of the largest cache of the core itself, and of the shared one; the kernel tells kibibytes.
fn cache_sizes(cpu: usize) -> (Option<usize>, Option<usize>) {
    let read = |index: u32, name: &str| {
        std::fs::read_to_string(format!("/sys/devices/system/cpu/cpu{cpu}/cache/index{index}/{name}")).ok()
    };
    let size = |level: &str| {
        let index = (0..8).find(|&index| read(index, "level").is_some_and(|text| text.trim() == level))?;
        Some(read(index, "size")?.trim().strip_suffix('K')?.parse::<usize>().ok()? * 1024)
    };
    (size("2"), size("3"))
}
