//! What one thread did, from its events to its script.
//!
//! A hold is told of at its end. What is told of before may belong into it: holds that ended within it, and
//! marks.
use super::load::{Program, identity};
use super::recorder::Recorder;
use crate::run::record::codec::{Event, Item, Kind, What};
use crate::run::record::raw::Chunk;
use stanchion_sim::replay::{Script, Step, Writer};
use std::collections::VecDeque;

pub(super) fn script(program: &Program, index: usize, chunks: &[Chunk]) -> Option<Script> {
    let base = chunks.first()?.base;
    let mut outer = Vec::new();
    for chunk in chunks {
        chunk.events(|event| outer.extend((event.think < 0).then_some(*event)))?;
    }
    outer.sort_by_key(|event| event.came);
    let mut telling = Telling {
        writer: Writer::new(program.ns(base.saturating_sub(program.begins)) as u64),
        program,
        index,
        recorder: Recorder::new(program.meta),
        last: base,
        outer: outer.into(),
        marks: VecDeque::new(),
        waits: 0,
    };
    for chunk in chunks {
        chunk.items(|item| telling.item(item))?;
    }
    telling.marks_until(u64::MAX);
    Some(telling.writer.finish())
}

/// One thread's story, from its events to its script.
struct Telling<'p> {
    program: &'p Program<'p>,
    index: usize,
    writer: Writer,
    recorder: Recorder,
    /// When it last did something.
    last: u64,
    outer: VecDeque<Event>,
    /// Marks that may belong into the hold that is told of next, because a hold is told of at its end.
    marks: VecDeque<(u64, What)>,
    waits: usize,
}

impl Telling<'_> {
    fn item(&mut self, item: Item) {
        match item {
            Item::Event(event) => {
                if event.think >= 0 {
                    self.marks_until(event.came);
                    self.outer_until(event.came);
                    self.acquire(&event);
                }
                let released = event.came + event.wait + event.hold;
                self.marks_until(released);
                self.outer_until(released);
                self.step(released, Self::release(self.number(&event), event.key.kind()));
                self.recorder.released(event.key.kind());
            }
            Item::Mark(at, what) => self.marks.push_back((at, what)),
        }
    }

    fn marks_until(&mut self, at: u64) {
        while let Some((at, what)) = self.marks.pop_front_if(|(mark, _)| *mark <= at) {
            self.outer_until(at);
            self.mark(at, what);
        }
    }

    /// Locks that were taken up to then and are released later than others.
    fn outer_until(&mut self, at: u64) {
        while let Some(event) = self.outer.pop_front_if(|event| event.came <= at) {
            self.acquire(&event);
        }
    }

    fn number(&self, event: &Event) -> Option<u32> {
        self.program.numbers.get(&identity(event)).copied()
    }

    fn acquire(&mut self, event: &Event) {
        let step = match (self.number(event), event.key.kind()) {
            (None, _) => Step::Private,
            (Some(lock), Kind::Read) => Step::AcquireRead(lock),
            (Some(lock), _) => Step::Acquire(lock),
        };
        self.step(event.came, Some(step));
        self.recorder.acquired(event.key.kind());
        // Waiting is simulated.
        self.last = self.last.max(event.came + event.wait);
    }

    fn release(number: Option<u32>, kind: Kind) -> Option<Step> {
        Some(if kind == Kind::Read { Step::ReleaseRead(number?) } else { Step::Release(number?) })
    }

    /// The thread did something at `at`, and computed before it. Releases of locks that nobody else takes are
    /// no step.
    fn step(&mut self, at: u64, step: Option<Step>) {
        let computes = self.program.ns(at.saturating_sub(self.last));
        self.writer.compute(self.recorder.without(computes));
        self.last = self.last.max(at);
        if let Some(step) = step {
            self.writer.step(self.program.ns(self.last.saturating_sub(self.program.begins)), step);
        }
    }

    fn mark(&mut self, at: u64, what: What) {
        match what {
            What::Off { asked, waited, ran, slept } => {
                // It stands before what happened at the same moment. Who was put aside would have computed.
                let since = at.saturating_sub(self.last);
                let ran = (ran as f64 * self.program.meta.ticks_per_ns) as u64;
                let off = asked.saturating_sub(waited).saturating_sub(ran).min(since);
                if off == 0 {
                    return;
                }
                if slept {
                    self.step(at - off, Some(Step::Sleep(self.program.ns(off) as u64)));
                    self.last = at;
                } else {
                    self.last += off;
                }
            }
            What::Waited { span, was_notified, .. } => {
                let cause = if was_notified {
                    self.waits += 1;
                    self.program.causes.of(self.index, self.waits - 1)
                } else {
                    None
                };
                let step = match cause {
                    Some((thread, number)) => Step::Wait { thread: thread as u32, notices: number + 1 },
                    None => Step::Sleep(self.program.ns(span) as u64),
                };
                self.step(at.saturating_sub(span), Some(step));
                self.recorder.marked();
                self.last = at;
            }
            What::Notified { .. } => {
                self.step(at, Some(Step::Notify));
                self.recorder.marked();
            }
        }
    }
}
