//! What one thread did, from its events to its script.
//!
//! What recording adds to times is taken off again, as far as the recording knows it
//! (`run/record/cost.rs`). The simulator adds the instructions of the lock that it has.
use super::program::{Program, identity};
use super::walk::{Held, Moment, walk};
use crate::run::record::codec::{Event, Kind, What};
use crate::run::record::cost::{Cost, Costs};
use crate::run::record::file::Meta;
use crate::run::record::raw::Chunk;
use stanchion_sim::replay::{Script, Step, Writer};

/// A thread's script, and what it did in nanoseconds.
pub(super) struct Told {
    pub script: Script,
    pub computed: f64,
    /// For locks.
    pub waited: f64,
    /// Off its CPU, asleep or put aside.
    pub off: f64,
    /// How many acquisitions are taken as free, because the locks are taken in both orders.
    pub free: u64,
}

/// What other processes do while a thread seems to compute, or is off its CPU.
#[derive(Clone, Copy)]
pub(super) struct Beside {
    /// What they compute for each nanosecond that the thread is off its CPU. It stands in the script as the
    /// thread's own.
    pub busy: f64,
    /// The part of what the thread seems to compute that it does compute.
    pub own: f64,
}

impl Beside {
    pub(super) const NOTHING: Self = Self { busy: 0.0, own: 1.0 };
}

pub(super) fn script(program: &Program, index: usize, chunks: &[Chunk], beside: Beside) -> Option<Told> {
    let base = chunks.first()?.base.max(program.window.from);
    let mut telling = Telling {
        writer: Writer::new(program.meta.ns(base.saturating_sub(program.begins)) as u64),
        program,
        index,
        recorder: Recorder::new(program.meta),
        last: base,
        held: Held::default(),
        waits: 0,
        beside,
        owed: 0.0,
        computed: 0.0,
        waited: 0.0,
        off: 0.0,
        free: 0,
    };
    walk(program.window, chunks, |moment| match moment {
        Moment::Acquire(event) => telling.acquire(event),
        Moment::Release(event) => telling.release(event),
        Moment::Mark(at, what) => telling.mark(at, what),
    })?;
    let Telling { writer, computed, waited, off, free, .. } = telling;
    Some(Told { script: writer.finish(), computed, waited, off, free })
}

struct Telling<'p> {
    program: &'p Program<'p>,
    index: usize,
    writer: Writer,
    recorder: Recorder<'p>,
    /// When it last did something.
    last: u64,
    held: Held,
    waits: u64,
    beside: Beside,
    /// What others computed, and is not in the script yet.
    owed: f64,
    computed: f64,
    waited: f64,
    off: f64,
    free: u64,
}

impl Telling<'_> {
    /// What other processes computed up to now: outside of sections that others wait for, wherever it was.
    fn others_compute(&mut self) {
        if !self.held.is_waited_for() {
            self.writer.compute(core::mem::take(&mut self.owed));
        }
    }

    /// The number of a lock that is shared, and that is not taken as free here.
    fn number(&mut self, event: &Event) -> Option<u32> {
        let number = self.program.numbers.get(&identity(event)).copied()?;
        let is_free = self.held.over(event).any(|(_, outer)| self.program.rare.contains(&(outer, number)));
        self.free += u64::from(is_free);
        (!is_free).then_some(number)
    }

    fn acquire(&mut self, event: &Event) {
        let acquire = if event.key.kind() == Kind::Read { Step::AcquireRead } else { Step::Acquire };
        self.others_compute();
        let number = self.number(event);
        let number = self.held.acquire(event, number);
        self.step(event.came, Some(number.map_or(Step::Private, acquire)));
        self.recorder.begins(event.key.kind(), event.wait > 0, |cost| cost.hold);
        // Waiting is simulated.
        self.last = self.last.max(event.came + event.wait);
        self.waited += self.program.meta.ns(event.wait);
    }

    fn release(&mut self, event: &Event) {
        let release = if event.key.kind() == Kind::Read { Step::ReleaseRead } else { Step::Release };
        let number = self.held.release(event);
        self.step(event.released(), number.map(release));
        self.others_compute();
        self.recorder.begins(event.key.kind(), event.wait > 0, |cost| cost.think);
    }

    /// The thread did something at `at`, and computed before it. Releases of private locks are no step.
    fn step(&mut self, at: u64, step: Option<Step>) {
        let computes = self.program.meta.ns(at.saturating_sub(self.last));
        let computes = self.recorder.without(computes);
        self.computed += computes;
        self.writer.compute(computes * self.beside.own);
        self.last = self.last.max(at);
        if let Some(step) = step {
            self.writer.step(self.program.meta.ns(self.last.saturating_sub(self.program.begins)), step);
        }
    }

    fn mark(&mut self, at: u64, what: What) {
        match what {
            What::Off { asked, waited, ran, slept } => {
                // It stands before what happened at the same moment. Who was put aside would have computed.
                let since = at.saturating_sub(self.last);
                let ran = (ran as f64 * self.program.meta.ticks_per_ns) as u64;
                let off = asked.saturating_sub(waited).saturating_sub(ran).min(since);
                let nanos = self.program.meta.ns(off);
                self.off += nanos;
                let (busy, sleeps) = (nanos * self.beside.busy, (nanos * (1.0 - self.beside.busy)) as u64);
                if slept && sleeps > 0 {
                    self.step(at - off, Some(Step::Sleep(sleeps)));
                    self.last = at;
                } else {
                    self.last += off;
                }
                self.owed += busy;
            }
            What::Waited { span, was_notified, .. } => {
                let span = span.min(at.saturating_sub(self.last)); // it may have begun in an end that is left out
                let cause = self.program.causes.get(&(self.index, self.waits)).filter(|_| was_notified);
                self.waits += u64::from(was_notified);
                let step = match cause {
                    Some(&(thread, number)) => Step::Wait { thread: thread as u32, notices: number + 1 },
                    None => Step::Sleep(self.program.meta.ns(span) as u64),
                };
                self.step(at.saturating_sub(span), Some(step));
                self.recorder.begins(Kind::Mutex, false, |cost| cost.hold);
                self.last = self.last.max(at); // the recorder may have kept it since
            }
            What::Kept { span } => self.last += span.min(at.saturating_sub(self.last)),
            What::Notified { .. } => {
                self.step(at, Some(Step::Notify));
                self.recorder.begins(Kind::Mutex, false, |cost| cost.hold);
            }
        }
    }
}

/// A reading of a clock that is quick, in nanoseconds.
const CLOCK: f64 = 7.0;

struct Recorder<'m> {
    meta: &'m Meta,
    /// What is in the time that runs.
    cost: f64,
    /// Cost beyond the times up to now: a clock that goes in steps makes one too short and another too long.
    owed: f64,
}

impl<'m> Recorder<'m> {
    fn new(meta: &'m Meta) -> Self {
        let mut new = Self { meta, cost: 0.0, owed: 0.0 };
        new.begins(Kind::Mutex, false, |cost| cost.think);
        new
    }

    /// What is left of a time that ends with a step.
    fn without(&mut self, nanos: f64) -> f64 {
        let left = nanos - self.cost - self.owed;
        // It owes no more than one time contains: what is missing beyond that was never there.
        self.owed = (-left).clamp(0.0, self.cost);
        left.max(0.0)
    }

    /// What begins is a time that contains this part of an empty section: its hold behind an acquisition, and
    /// what is between two behind a release. A mark is written as an acquisition of a mutex. Waits of
    /// reader-writer locks do not say whether anybody waited.
    fn begins(&mut self, kind: Kind, waited: bool, part: fn(&Cost) -> f64) {
        let waited = waited && kind == Kind::Mutex;
        let of = |costs: &'m Costs| costs.waited.as_ref().filter(|_| waited).or(costs.alone.get(&kind));
        let cost = self.meta.cost.as_ref().and_then(of);
        self.cost = cost.map_or(CLOCK, |cost| part(cost).max(0.0) / self.meta.ticks_per_ns);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use lab_kit::provenance::Provenance;

    fn meta(cost: Option<Cost>, ticks_per_ns: f64) -> Meta {
        let alone = |cost| Kind::ALL.into_iter().map(|kind| (kind, cost)).collect();
        let cost = cost.map(|cost| Costs { alone: alone(cost), waited: None });
        let (program, provenance) = (Vec::new(), Provenance::collect(0));
        Meta { ticks_per_ns, limit: 1, program, provenance, cost, cpu: None }
    }

    #[test]
    fn empty_sections_are_empty_also_by_a_clock_that_goes_in_steps() {
        let meta = meta(Some(Cost { hold: 44.0, think: 66.0 }), 2.0);
        let mut taking = Recorder::new(&meta);
        let mut all = 0.0;
        for round in 0..1000 {
            taking.begins(Kind::Mutex, false, |cost| cost.hold);
            all += taking.without(if round % 5 == 0 { 30.0 } else { 20.0 }); // 22 on the average
            taking.begins(Kind::Mutex, false, |cost| cost.think);
            all += taking.without(if round % 10 < 3 { 40.0 } else { 30.0 }); // 33
        }
        assert!(all < 1000.0, "less than half a nanosecond a section: {all}");
    }

    #[test]
    fn a_mutex_that_was_waited_for_contains_transfers() {
        let mut meta = meta(Some(Cost { hold: 20.0, think: 30.0 }), 1.0);
        let costs = meta.cost.as_mut().expect("known");
        costs.waited = Some(Cost { hold: 60.0, think: 90.0 });
        let mut taking = Recorder::new(&meta);
        let mut left = |kind, waited| {
            taking.begins(kind, waited, |cost| cost.hold);
            taking.without(100.0).round() as u64
        };
        assert_eq!([left(Kind::Mutex, true), left(Kind::Mutex, false)], [40, 80]);
        assert_eq!(left(Kind::Read, true), 80, "nobody knows");
    }

    #[test]
    fn what_was_never_there_is_not_owed_for_ever() {
        let known = meta(Some(Cost { hold: 20.0, think: 30.0 }), 1.0);
        let mut taking = Recorder::new(&known);
        taking.begins(Kind::Read, false, |cost| cost.hold);
        for _ in 0..1000 {
            assert!(taking.without(5.0) < 1e-9);
        }
        assert!(taking.without(1000.0) >= 960.0);
        assert!((Recorder::new(&meta(None, 1.0)).without(100.0) - 93.0).abs() < 1e-9, "an old recording");
        let odd = meta(Some(Cost { hold: -20.0, think: -30.0 }), 1.0);
        assert!(
            (Recorder::new(&odd).without(100.0) - 100.0).abs() < 1e-9,
            "a recording that somebody made up"
        );
    }
}
