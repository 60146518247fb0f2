//! Tells a stalled lock from a slow one, and a starved waiter from an unlucky one.
//!
//! The watchdog is a function of what was sampled and when, nothing else: it reads no clock and touches no
//! thread, so that the tests below can put any history in front of it.
use super::slot::{Activity, Doing};
use core::time::Duration;

/// How many stall times a single waiter waits before it counts as starved…
const STARVED_AFTER_STALLS: u32 = 5;
/// …and how often, per worker, others were served meanwhile. A first-come-first-served lock serves each of
/// them once before the waiter, so this is far from what a fair lock does even where a hand-over takes a time
/// slice of every thread in the queue and a wait takes minutes.
const STARVED_AFTER_ROUNDS: u64 = 100;

#[derive(Clone, Copy)]
pub(crate) struct Sample {
    /// Acquisitions so far; only whether it changed matters.
    pub(crate) progress: u64,
    pub(crate) doing: Doing,
}

impl Sample {
    fn does(&self, what: impl Fn(Activity) -> bool) -> bool {
        self.doing.contexts().any(|(activity, _)| what(activity))
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Verdict {
    Healthy,
    /// Nobody has got anything for this long, although somebody holds or wants a lock.
    Stalled(Duration),
    /// This slot has waited for this long while others were served. Said once per wait.
    Starved(usize, Duration),
}

pub(crate) struct Watchdog {
    stall: Duration,
    long_hold: Duration,
    tracks: Vec<Track>,
    last: Duration,
    /// When somebody was last seen that holds for long.
    held_long: Option<Duration>,
}

#[derive(Clone, Copy, Default)]
struct Track {
    progress: u64,
    since: Duration,
    /// What everybody together had acquired at `since`.
    served: u64,
    reported: bool,
}

impl Watchdog {
    pub(crate) fn new(slots: usize, stall: Duration, long_hold: Duration) -> Self {
        let tracks = vec![Track::default(); slots];
        Self { stall, long_hold, tracks, last: Duration::ZERO, held_long: None }
    }

    /// How long `slot` has made no progress, as of the last judgement.
    pub(crate) fn idle(&self, slot: usize) -> Duration {
        self.last.saturating_sub(self.tracks[slot].since)
    }

    /// How long nobody at all has made progress, as of the last judgement.
    pub(crate) fn idle_all(&self) -> Duration {
        (0..self.tracks.len()).map(|slot| self.idle(slot)).min().unwrap_or_default()
    }

    /// Judges what was sampled at `now` (time since the start).
    pub(crate) fn judge(&mut self, now: Duration, samples: &[Sample]) -> Verdict {
        debug_assert_eq!(samples.len(), self.tracks.len());
        // One that overslept (a suspended or badly overcommitted machine) knows nothing about the workers,
        // who were not running either: the gap is taken off everybody's account.
        let gap = now.saturating_sub(self.last);
        if gap > self.stall / 2 {
            self.tracks.iter_mut().for_each(|track| track.since += gap);
        }
        self.last = now;
        if samples.iter().any(|sample| sample.does(|activity| activity == Activity::HoldingLong)) {
            self.held_long = Some(now);
        }
        let served = samples.iter().map(|sample| sample.progress).sum();
        for (track, sample) in self.tracks.iter_mut().zip(samples) {
            // A context between acquisitions waits for nothing, so its wait has not begun.
            let between = !sample.does(Activity::involves_lock);
            if track.progress != sample.progress || between && track.reported {
                *track = Track { progress: sample.progress, since: now, served, reported: false };
            }
        }
        let idle = self.idle_all();
        let involved = samples.iter().any(|sample| sample.does(Activity::involves_lock));
        if involved && idle >= self.limit() {
            return Verdict::Stalled(idle);
        }
        self.starved(samples, served)
    }

    /// While somebody holds for long, everybody else is excused for as long as that takes; and then until the
    /// next one has the lock.
    fn limit(&self) -> Duration {
        let excused = self.held_long.is_some_and(|seen| self.last.saturating_sub(seen) < self.stall);
        if excused { self.stall + self.long_hold } else { self.stall }
    }

    fn starved(&mut self, samples: &[Sample], served: u64) -> Verdict {
        let rounds = STARVED_AFTER_ROUNDS * samples.len() as u64;
        let limit = self.limit() * STARVED_AFTER_STALLS;
        for (slot, sample) in samples.iter().enumerate() {
            let idle = self.idle(slot);
            let waits = sample.doing.at(sample.doing.depth()).0 == Activity::Waiting;
            let track = &mut self.tracks[slot];
            if waits && idle >= limit && served - track.served >= rounds && !track.reported {
                track.reported = true;
                return Verdict::Starved(slot, idle);
            }
        }
        Verdict::Healthy
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const STALL: Duration = Duration::from_secs(3);
    const LONG: Duration = Duration::from_millis(20);

    fn sample(progress: u64, activity: Activity) -> Sample {
        Sample { progress, doing: Doing::default().with(0, activity, 0) }
    }

    /// Judges `samples(step)` every 100 ms; the first verdict that is not healthy, and when it came.
    fn watch(
        steps: u32,
        long_hold: Duration,
        samples: impl Fn(u32) -> Vec<Sample>,
    ) -> Option<(u32, Verdict)> {
        let mut dog = Watchdog::new(samples(0).len(), STALL, long_hold);
        (1..=steps).find_map(|step| {
            let verdict = dog.judge(Duration::from_millis(100) * step, &samples(step));
            (verdict != Verdict::Healthy).then_some((step, verdict))
        })
    }

    #[test]
    fn progress_of_one_keeps_the_lock_alive() {
        let seen = watch(140, LONG, |step| {
            vec![sample(u64::from(step), Activity::Holding), sample(7, Activity::Waiting)]
        });
        assert_eq!(seen, None, "14 s of waiting are short of five stalls");
    }

    #[test]
    fn nobody_s_progress_is_a_stall_after_the_limit() {
        let seen = watch(100, LONG, |_| vec![sample(0, Activity::Waiting), sample(0, Activity::Thinking)]);
        assert_eq!(seen, Some((30, Verdict::Stalled(STALL))));
    }

    #[test]
    fn a_stall_counts_from_the_last_progress() {
        let seen = watch(100, LONG, |step| vec![sample(u64::from(step.min(20)), Activity::Waiting)]);
        assert_eq!(seen, Some((50, Verdict::Stalled(STALL))));
    }

    #[test]
    fn pauses_and_sleeps_are_not_the_lock_s_fault() {
        let seen = watch(500, LONG, |_| vec![sample(4, Activity::Paused), sample(9, Activity::Sleeping)]);
        assert_eq!(seen, None);
    }

    #[test]
    fn a_holder_that_never_comes_out_of_unlock_is_a_stall() {
        let seen = watch(100, LONG, |_| vec![sample(3, Activity::Releasing), sample(9, Activity::Paused)]);
        assert!(matches!(seen, Some((_, Verdict::Stalled(_)))));
    }

    #[test]
    fn a_long_hold_excuses_for_as_long_as_it_takes() {
        let long = Duration::from_secs(5);
        let held = |_| vec![sample(3, Activity::HoldingLong), sample(9, Activity::Waiting)];
        assert_eq!(watch(79, long, held), None);
        assert!(
            matches!(watch(90, long, held), Some((81, Verdict::Stalled(_)))),
            "{:?}",
            watch(90, long, held)
        );
    }

    #[test]
    fn a_hand_over_after_a_long_hold_may_take_its_time_but_not_for_ever() {
        let held_until = |step: u32| {
            let activity = if step <= 50 { Activity::HoldingLong } else { Activity::Releasing };
            vec![sample(3, activity), sample(9, Activity::Waiting)]
        };
        let seen = watch(200, Duration::from_secs(5), held_until);
        assert!(matches!(seen, Some((80, Verdict::Stalled(_)))), "{seen:?}");
    }

    #[test]
    fn one_waiter_among_busy_ones_is_starved_and_said_once() {
        let samples =
            |step: u32| vec![sample(u64::from(step) * 9, Activity::Thinking), sample(7, Activity::Waiting)];
        let (step, verdict) = watch(400, LONG, samples).expect("it starves");
        assert_eq!((step, verdict), (151, Verdict::Starved(1, STALL * STARVED_AFTER_STALLS)));

        let mut dog = Watchdog::new(2, STALL, LONG);
        let reports = (1..=1000)
            .filter(|&step| dog.judge(Duration::from_millis(100) * step, &samples(step)) != Verdict::Healthy)
            .count();
        assert_eq!(reports, 1);
    }

    #[test]
    fn a_long_wait_while_few_are_served_is_a_slow_lock_not_an_unfair_one() {
        // One hand-over a second among 128 threads: the last in the queue waits for two minutes, in turn.
        let crowd =
            |step: u32| (0..128).map(|slot| sample(u64::from(step / 10 > slot), Activity::Waiting)).collect();
        assert_eq!(watch(1270, LONG, crowd), None);
    }

    #[test]
    fn a_worker_that_does_not_want_the_lock_does_not_starve() {
        let seen = watch(900, LONG, |step| {
            vec![sample(u64::from(step), Activity::Holding), sample(7, Activity::Sleeping)]
        });
        assert_eq!(seen, None);
    }

    #[test]
    fn a_suspended_machine_is_nobody_s_fault() {
        let mut dog = Watchdog::new(1, STALL, LONG);
        let stuck = [sample(0, Activity::Waiting)];
        assert_eq!(dog.judge(Duration::from_secs(1), &stuck), Verdict::Healthy);
        assert_eq!(dog.judge(Duration::from_hours(1), &stuck), Verdict::Healthy);
        assert_eq!(dog.judge(Duration::from_secs(3601), &stuck), Verdict::Healthy);
        assert!(matches!(dog.judge(Duration::from_secs(3602), &stuck), Verdict::Stalled(_)));
    }

    #[test]
    fn a_handler_that_waits_is_a_waiter() {
        let doing = Doing::default().with(0, Activity::Thinking, 0).with(1, Activity::Waiting, 4);
        let seen = watch(100, LONG, |_| vec![Sample { progress: 0, doing }]);
        assert!(matches!(seen, Some((30, Verdict::Stalled(_)))));
    }
}
