//! One lock's run, in a child process of its own: starts the workers, looks after them, and says how it went.
//!
//! The process is the unit of damage. A lock that crashes takes only its child down; one that stalls leaves
//! threads behind that nobody could join, and the child simply ends with them.
#![expect(unsafe_code, reason = "a lock under torture is given back by unsafe functions")]
use super::arena::{Arena, Places, TestLock};
use super::chance::{Rng, stream};
use super::counts::{Counts, Shared};
use super::handler;
use super::lock::{Side, Skills, Tortured};
use super::orders::Orders;
use super::outcome::{Event, Failure, Finished, Stall, StalledWorker};
use super::slot::Slot;
use super::test_locks::{TEST_LOCKS, lock_name};
use super::tormentor::{self, Shuffle};
use super::watchdog::{Sample, Verdict, Watchdog};
use super::worker;
use core::ops::RangeInclusive;
use core::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};
use core::time::Duration;
use lab_kit::output::tell;
use lab_kit::stats::jain;
use std::io;
use std::thread::JoinHandle;
use std::time::Instant;

/// A slot that was left is empty for up to this long.
const TICK: Duration = Duration::from_millis(1);
/// From this much standstill on, nothing is done to a worker that might get it going again.
const HANDS_OFF: Duration = Duration::from_millis(100);
/// How long the stutter pauses, and the time between two shuffles.
const PAUSE_MS: RangeInclusive<u64> = 10..=100;
const SHUFFLE_MS: RangeInclusive<u64> = 20..=200;
/// A reader comes in beside another one, where nobody writes, in far less than this.
const COMPANY: Duration = Duration::from_secs(2);
pub(super) const EXIT_NOT_STARTED: i32 = 3;
/// Stack of a worker: enough for its handlers five deep, with room for the registers that signals save.
pub(super) const STACK: usize = 512 * 1024;

/// Set when the parent wants an early end, or is gone.
static CUT_SHORT: AtomicBool = AtomicBool::new(false);

/// Sits in the slot of that number, as its occupant of that generation.
type Work = dyn Fn(usize, u64) + Sync;

/// Does not return.
pub(super) fn run<L: Tortured>(orders: Orders, skills: Skills) {
    // Loops, as iterators would be compiled for each lock as well.
    let (mut locks, mut places) = (Vec::with_capacity(TEST_LOCKS), Places::new());
    for test_lock in 0..TEST_LOCKS {
        locks.push(TestLock::new(test_lock, L::new(test_lock)));
    }
    let locks: &'static [TestLock<L>] = locks.leak();
    for lock in locks {
        places.push(lock);
    }
    let arena = Arena::leak(orders, skills, places);
    let work = Box::new(move |number, generation| worker::work(arena, locks, number, generation));
    conduct(arena, Box::leak(work));
}

/// What is the same for all locks, so that it is compiled once.
fn conduct(arena: &'static Arena, work: &'static Work) {
    // The parent holds the other end of standard input for as long as it wants this run to go on.
    spawn("parent".to_owned(), || {
        let _ = io::copy(&mut io::stdin(), &mut io::sink());
        CUT_SHORT.store(true, Relaxed);
    });
    let finished = Session::start(arena, work).supervise();
    Event::Finished(Box::new(finished)).send();
    // Not by returning: threads that are stuck for ever would not mind, but nobody should wait for them.
    std::process::exit(0);
}

fn give_up(what: &str, error: &io::Error) -> ! {
    tell!("stanchion: {what}: {error}");
    std::process::exit(EXIT_NOT_STARTED);
}

struct Session {
    arena: &'static Arena,
    work: &'static Work,
    start: Instant,
    /// The tormentor has the stream after this one.
    rng: Rng,
    shuffle: Option<Shuffle>,
    /// The workers', then the tormentor's if there is one.
    threads: Vec<Option<JoinHandle<()>>>,
    /// How many threads each worker's slot had before: what they draw depends on no other slot.
    had: Vec<u64>,
    watchdog: Watchdog,
    done: Finished,
    next_stats: Duration,
    /// When a pause begins or ends.
    next_turn: Duration,
    next_shuffle: Duration,
}

impl Session {
    fn start(arena: &'static Arena, work: &'static Work) -> Self {
        let (orders, extras) = (&arena.orders, arena.orders.extras);
        if extras.signals {
            handler::install().unwrap_or_else(|error| give_up("cannot install signal handlers", &error));
        }
        let probe =
            || Shuffle::probe().unwrap_or_else(|error| give_up("cannot bind threads to CPUs", &error));
        let stall = Duration::from_secs_f64(orders.stall_seconds);
        let long_hold = Duration::from_millis(orders.long_hold_ms);
        let mut threads: Vec<_> = arena.workers().iter().map(|_| None).collect();
        if extras.signals {
            threads.push(Some(spawn("tormentor".to_owned(), move || tormentor::torment(arena))));
        }
        let mut session = Self {
            arena,
            work,
            start: Instant::now(),
            rng: stream(orders.seed, u64::MAX - 1),
            shuffle: extras.shuffle.then(probe),
            threads,
            had: vec![0; arena.workers().len()],
            watchdog: Watchdog::new(arena.slots.len(), stall, long_hold),
            done: Finished::default(),
            next_stats: Duration::from_secs_f64(orders.stat_interval),
            next_turn: Duration::from_secs_f64(orders.stutter),
            next_shuffle: Duration::ZERO,
        };
        session.usher();
        session
    }

    fn supervise(mut self) -> Finished {
        let length = Duration::from_secs_f64(self.arena.orders.seconds);
        while self.threads.iter().any(Option::is_some) {
            let now = self.start.elapsed();
            self.done.cut_short |= CUT_SHORT.load(Relaxed);
            if now >= self.next_stats {
                self.next_stats = now + Duration::from_secs_f64(self.arena.orders.stat_interval);
                let (writes, reads) = self.arena.tallies();
                Event::Stats(writes, reads).send();
            }
            if now >= length || self.done.cut_short {
                self.arena.switches.pause.store(false, Relaxed);
                self.arena.switches.stop.store(true, Relaxed);
            } else {
                self.stutter(now);
                self.move_some(now);
            }
            self.usher();
            if self.judge(now) {
                return self.sums(now, false);
            }
            std::thread::sleep(TICK);
        }
        self.sums(self.start.elapsed(), true)
    }

    /// A test lock at which a reader does not come in beside another although nobody else is there.
    fn serial(&self) -> Option<String> {
        let serial = |test_lock: &usize| {
            let lock = &self.arena.test_locks[*test_lock].lock;
            lock.acquire(Side::Reads);
            let reader = spawn("reader".to_owned(), || {
                lock.acquire(Side::Reads);
                // SAFETY: this thread has just acquired it.
                unsafe { lock.release(Side::Reads) };
            });
            // Not by the clock: a machine that was suspended is nobody's fault.
            let mut ticks = COMPANY.as_millis() / TICK.as_millis();
            while !reader.is_finished() && ticks > 0 {
                ticks -= 1;
                std::thread::sleep(TICK);
            }
            let alone = !reader.is_finished();
            // SAFETY: acquired to read, above.
            unsafe { lock.release(Side::Reads) };
            alone || reader.join().is_err()
        };
        (0..TEST_LOCKS).find(serial).map(lock_name)
    }

    /// Joins those who left, and fills the workers' slots while the run lasts.
    fn usher(&mut self) {
        for (number, thread) in self.threads.iter_mut().enumerate() {
            if let Some(gone) = thread.take_if(|thread| thread.is_finished()) {
                self.done.panicked += u64::from(gone.join().is_err());
            }
            if thread.is_none() && number < self.arena.workers().len() && !self.arena.stopping() {
                let (work, generation) = (self.work, self.had[number]);
                self.had[number] += 1;
                self.done.threads += 1;
                *thread = Some(spawn(self.arena.name(number), move || work(number, generation)));
            }
        }
    }

    /// Samples everybody and acts on the watchdog's verdict; true if the lock is stalled.
    fn judge(&mut self, now: Duration) -> bool {
        let sample = |slot: &Slot| Sample { progress: slot.progress(), doing: slot.doing() };
        let samples: Vec<Sample> = self.arena.slots.iter().map(sample).collect();
        let verdict = self.watchdog.judge(now, &samples);
        for (number, slot) in self.arena.slots.iter().enumerate() {
            slot.spared.store(self.watchdog.idle(number) >= HANDS_OFF, Relaxed);
        }
        self.arena.switches.hush.store(self.watchdog.idle_all() >= HANDS_OFF, Relaxed);
        let stalled = matches!(verdict, Verdict::Stalled(_));
        let failure = match verdict {
            Verdict::Healthy => return false,
            Verdict::Stalled(since) => Failure::Stall(self.stall(since, &samples)),
            Verdict::Starved(number, since) => {
                let (seconds, doing) = (since.as_secs_f64(), samples[number].doing.to_string());
                Failure::Starved { worker: self.arena.name(number), seconds, doing }
            }
        };
        Event::Failed(failure).send();
        stalled
    }

    fn stall(&self, since: Duration, samples: &[Sample]) -> Stall {
        let involved = |test_lock: usize| {
            let mut contexts = samples.iter().flat_map(|sample| sample.doing.contexts());
            contexts.any(|(activity, at)| activity.involves_lock() && at == test_lock)
        };
        let describe = |test_lock| (lock_name(test_lock), self.arena.test_locks[test_lock].lock.describe());
        let workers = samples.iter().enumerate().map(|(number, sample)| StalledWorker {
            name: self.arena.name(number),
            doing: sample.doing.to_string(),
            seconds: self.watchdog.idle(number).as_secs_f64(),
            acquired: sample.progress,
        });
        Stall {
            seconds: since.as_secs_f64(),
            at_end: self.arena.stopping(),
            locks: (0..TEST_LOCKS).filter(|&test_lock| involved(test_lock)).map(describe).collect(),
            workers: workers.collect(),
        }
    }

    /// Holds everybody back now and then. Not while something looks stuck: a pause would hide it.
    fn stutter(&mut self, now: Duration) {
        if !self.arena.orders.extras.stutter || now < self.next_turn {
            return;
        }
        let pause = &self.arena.switches.pause;
        if pause.load(Relaxed) {
            pause.store(false, Relaxed);
            self.next_turn = now + Duration::from_secs_f64(self.arena.orders.stutter);
        } else if self.watchdog.idle_all() < HANDS_OFF {
            pause.store(true, Relaxed);
            self.done.pauses += 1;
            self.next_turn = now + Duration::from_millis(self.rng.u64(PAUSE_MS));
        }
    }

    fn move_some(&mut self, now: Duration) {
        if let Some(shuffle) = &self.shuffle
            && now >= self.next_shuffle
        {
            self.next_shuffle = now + Duration::from_millis(self.rng.u64(SHUFFLE_MS));
            for slot in self.arena.workers() {
                let moved = self.rng.bool() && shuffle.one(slot, &mut self.rng);
                self.done.moves += u64::from(moved);
            }
        }
    }

    /// What it all came to. Only when every thread was `joined` can the protected counters be compared.
    fn sums(&self, now: Duration, joined: bool) -> Finished {
        let arena = self.arena;
        let sum =
            |of: fn(&Slot) -> &AtomicU64| arena.slots.iter().map(|slot| of(slot).load(Relaxed)).sum::<u64>();
        let counts = Counts {
            exclusion: sum(|slot| &slot.counts.exclusion),
            torn: sum(|slot| &slot.counts.torn),
            handler_runs: sum(|slot| &slot.counts.handler_runs),
            handler_refused: sum(|slot| &slot.counts.handler_refused),
            handler_fifth: sum(|slot| &slot.counts.handler_fifth),
            nested: sum(|slot| &slot.counts.nested),
            tries: sum(|slot| &slot.counts.tries),
            tries_won: sum(|slot| &slot.counts.tries_won),
        };
        let handler_again = sum(|slot| &slot.shared.handler_again);
        let shared = arena.skills.shares.then(|| Shared {
            together: sum(|slot| &slot.shared.together),
            again: sum(|slot| &slot.shared.again) + handler_again,
            handler_again,
            any_order: sum(|slot| &slot.shared.any_order),
            downgrades: sum(|slot| &slot.shared.downgrades),
            upgrades: sum(|slot| &slot.shared.upgrades),
        });
        let counters = (0..TEST_LOCKS).filter(|_| joined).map(|test_lock| {
            let written = arena.slots.iter().map(|slot| slot.written[test_lock].load(Relaxed)).sum();
            (lock_name(test_lock), arena.test_locks[test_lock].section.counted(), written)
        });
        // Whoever left a lock locked has been found out by now.
        let serial = joined && arena.skills.shares && counts.exclusion + counts.torn == 0;
        let (writers, workers) = (&arena.slots[..arena.orders.writers], arena.workers());
        let shares: Vec<u64> = writers.iter().map(|slot| slot.written() + slot.read()).collect();
        let (writes, reads) = arena.tallies();
        let deepest = arena.slots.iter().map(|slot| slot.handler_deepest.load(Relaxed)).max();
        Finished {
            elapsed: now.as_secs_f64(),
            writes,
            reads,
            jain: jain(&shares),
            counts,
            miscounted: counters.filter(|(_, counted, written)| counted != written).collect(),
            handler_acquired: workers.iter().map(Slot::handled).sum(),
            handler_deepest: deepest.unwrap_or(0),
            shared,
            serial: serial.then(|| self.serial()).flatten(),
            ..self.done.clone()
        }
    }
}

fn spawn(name: String, body: impl FnOnce() + Send + 'static) -> JoinHandle<()> {
    std::thread::Builder::new()
        .name(name)
        .stack_size(STACK)
        .spawn(body)
        .unwrap_or_else(|error| give_up("cannot start a thread", &error))
}
