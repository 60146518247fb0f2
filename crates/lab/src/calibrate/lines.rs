//! Lines that move between CPUs.
use super::places::Places;
use super::sample::{Figures, Reach, What};
use super::threads::{alone, both, each, on, timed};
use core::hint::{black_box, spin_loop};
use core::sync::atomic::{AtomicBool, AtomicU32, AtomicUsize, Ordering};
use crossbeam_utils::CachePadded;

/// Lines that one CPU writes and the other one reads: few enough for a first-level cache. A power of two.
const LINES: usize = 64;
/// Hand-overs in a round of ping-pong.
const TURNS: u32 = 4_000;

/// One line, far enough from the next that no neighbour is fetched along with it.
#[repr(align(256))]
struct Line(AtomicUsize);

/// Lines chained in a random order, so that each access waits for the one before it.
struct Lines(Vec<Line>);

impl Lines {
    fn new() -> Self {
        // One cycle through all of them, in an order that no prefetcher follows.
        Self((0..LINES).map(|index| Line(AtomicUsize::new((index * 37 + 11) % LINES))).collect())
    }

    fn read(&self) -> f64 {
        let mut at = 0;
        each(LINES as u32, || at = self.0[at].0.load(Ordering::Acquire) % LINES)
    }

    fn own(&self) -> f64 {
        let mut at = 0;
        // Adding nothing would be compiled to a fence and a load, and the line would never be owned.
        each(LINES as u32, || at = self.0[at].0.fetch_add(LINES, Ordering::AcqRel) % LINES)
    }
}

/// Latencies between two CPUs, by phases that take turns.
pub(super) fn between(reach: Reach, cpus: (usize, usize), rmw: f64, figures: &mut Figures) {
    let (lines, turn) = (Lines::new(), CachePadded::new(AtomicU32::new(0)));
    let give = |phase| turn.store(phase, Ordering::SeqCst);
    let wait = |phase| {
        while turn.load(Ordering::SeqCst) != phase {
            spin_loop();
        }
    };
    let mut add = |what, value: f64| figures.add(what, value.max(0.1));
    let (read, own, upgrade) = both(
        cpus,
        || {
            lines.own();
            give(1);
            wait(2);
            // The other one has read what we wrote: both share it.
            let upgrade = lines.own();
            give(3);
            wait(4);
            // The other one has written: all lines are dirty there.
            let read = lines.read();
            give(5);
            wait(6);
            let own = lines.own();
            (read, own, upgrade)
        },
        || {
            wait(1);
            black_box(lines.read());
            give(2);
            wait(3);
            lines.own();
            give(4);
            wait(5);
            lines.own();
            give(6);
        },
    );
    add(What::DirtyRead(reach), read);
    add(What::DirtyOwn(reach), own - rmw);
    add(What::Upgrade(reach), upgrade - rmw);
    add(What::PingPong(reach), one_way(cpus, ping_pong));
    add(What::Exchange(reach), one_way(cpus, exchange));
}

/// One way of a word that is passed to and fro: `pass` waits until it is the first number, and makes it the
/// second.
fn one_way(cpus: (usize, usize), pass: impl Fn(&AtomicU32, u32, u32) + Sync) -> f64 {
    let word = CachePadded::new(AtomicU32::new(0));
    let passes = |mine: u32| {
        for round in 0..TURNS {
            pass(&word, 2 * round + mine, 2 * round + mine + 1);
        }
    };
    both(cpus, || timed(|| passes(0)), || passes(1)) / f64::from(2 * TURNS)
}

/// By loads and stores. Without a spin hint: its length is measured apart, and would hide the line's.
fn ping_pong(word: &AtomicU32, from: u32, to: u32) {
    while word.load(Ordering::Acquire) != from {}
    word.store(to, Ordering::Release);
}

/// By compare-exchanges that are tried until they succeed.
fn exchange(word: &AtomicU32, from: u32, to: u32) {
    while word.compare_exchange(from, to, Ordering::AcqRel, Ordering::Relaxed).is_err() {}
}

/// All CPUs add to one word: nanoseconds of one addition. And, with three CPUs or more, what each further
/// reader of a line that was written adds to the time until all have it.
pub(super) fn together(places: &Places, figures: &mut Figures) {
    let cpus: Vec<usize> = places.all.iter().map(|place| place.cpu).collect();
    let word = CachePadded::new(AtomicU32::new(0));
    let ready = AtomicUsize::new(0);
    let adds = || {
        ready.fetch_add(1, Ordering::SeqCst);
        while ready.load(Ordering::SeqCst) < cpus.len() {
            spin_loop();
        }
        each(TURNS, || {
            word.fetch_add(1, Ordering::AcqRel);
        })
    };
    let times: Vec<f64> = std::thread::scope(|scope| {
        let threads: Vec<_> = cpus.iter().map(|&cpu| on(scope, cpu, adds)).collect();
        threads.into_iter().map(|thread| thread.join().expect("measuring does not panic")).collect()
    });
    if cpus.len() > 1 {
        figures.add(What::AddsByAll, times.iter().sum::<f64>() / (times.len() * times.len()) as f64);
    }
    if cpus.len() > 2 {
        let all = storm(&cpus);
        let two = storm(&cpus[..2]);
        figures.add(What::StormReader, ((all - two) / (cpus.len() - 2) as f64).max(0.0));
    }
}

/// How long it takes until all readers have seen a write and said so, each in a word of its own.
fn storm(cpus: &[usize]) -> f64 {
    const ROUNDS: u32 = 300;
    let word = CachePadded::new(AtomicU32::new(0));
    let over = AtomicBool::new(false);
    let seen: Vec<CachePadded<AtomicU32>> = cpus[1..].iter().map(|_| CachePadded::default()).collect();
    std::thread::scope(|scope| {
        for (&cpu, seen) in cpus[1..].iter().zip(&seen) {
            let (word, over) = (&word, &over);
            on(scope, cpu, move || {
                while !over.load(Ordering::Relaxed) {
                    seen.store(word.load(Ordering::Acquire), Ordering::Release);
                }
            });
        }
        let time = alone(cpus[0], || {
            each(ROUNDS, || {
                let now = word.fetch_add(1, Ordering::AcqRel) + 1;
                for seen in &seen {
                    while seen.load(Ordering::Acquire) != now {
                        spin_loop();
                    }
                }
            })
        });
        over.store(true, Ordering::Relaxed);
        time
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_chain_of_lines_comes_back_to_its_start_last() {
        let lines = Lines::new();
        let (mut at, mut steps) = (0, 0);
        loop {
            at = lines.0[at].0.load(Ordering::Relaxed);
            steps += 1;
            if at == 0 || steps > LINES {
                break;
            }
        }
        assert_eq!(steps, LINES);
    }
}
