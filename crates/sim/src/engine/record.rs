//! What happened, kept for a trace: who ran where, what each context did, handovers and kicks.
use super::Cause;
use crate::time::Time;

/// A context ran on a CPU.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ran {
    /// The hardware thread.
    pub cpu: usize,
    /// The vCPU or thread.
    pub context: usize,
    /// From then…
    pub from: Time,
    /// …until then.
    pub to: Time,
}

/// A context's time went to one cause.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Spell {
    /// The vCPU or thread.
    pub context: usize,
    /// What it did.
    pub cause: Cause,
    /// From then…
    pub from: Time,
    /// …until then.
    pub to: Time,
}

/// A lock went from one context to the next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Handover {
    /// Which lock of the workload.
    pub lock: usize,
    /// Who released it.
    pub giver: usize,
    /// When the release began.
    pub released: Time,
    /// Who acquired it.
    pub taker: usize,
    /// When it went on as holder.
    pub acquired: Time,
}

/// A kick.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Kick {
    /// Who kicked.
    pub from: usize,
    /// Who was kicked.
    pub to: usize,
    /// When it was sent.
    pub sent: Time,
    /// When it arrives.
    pub arrives: Time,
}

/// Everything that happened in a part of a run.
#[derive(Clone, Debug)]
pub struct Recording {
    /// The part.
    pub from: Time,
    /// The part's end.
    pub to: Time,
    /// How many contexts there are.
    pub contexts: usize,
    /// Who ran where, by the time it ended.
    pub ran: Vec<Ran>,
    /// What contexts did, by the time it ended.
    pub spells: Vec<Spell>,
    /// Handovers, by the time of the acquisition.
    pub handovers: Vec<Handover>,
    /// Kicks, by the time they were sent.
    pub kicks: Vec<Kick>,
}

impl Recording {
    /// An empty recording of what will happen between `from` and `to`.
    pub(crate) fn new(contexts: usize, from: Time, to: Time) -> Self {
        let (ran, spells) = (Vec::new(), Vec::new());
        Self { from, to, contexts, ran, spells, handovers: Vec::new(), kicks: Vec::new() }
    }

    /// The part of a span that is recorded.
    fn clip(&self, from: Time, to: Time) -> Option<(Time, Time)> {
        let (from, to) = (from.max(self.from), to.min(self.to));
        (from < to).then_some((from, to))
    }

    pub(super) fn spell(&mut self, context: usize, cause: Cause, from: Time, to: Time) {
        if let Some((from, to)) = self.clip(from, to) {
            // A wait that was interrupted by nothing is one spell.
            if let Some(last) = self.spells.iter_mut().rev().take(4).find(|spell| spell.context == context)
                && last.cause == cause
                && last.to == from
            {
                last.to = to;
                return;
            }
            self.spells.push(Spell { context, cause, from, to });
        }
    }

    pub(super) fn ran(&mut self, cpu: usize, context: usize, from: Time, to: Time) {
        if let Some((from, to)) = self.clip(from, to) {
            self.ran.push(Ran { cpu, context, from, to });
        }
    }

    pub(crate) fn handover(&mut self, handover: Handover) {
        if handover.released >= self.from && handover.acquired <= self.to {
            self.handovers.push(handover);
        }
    }

    pub(super) fn kick(&mut self, kick: Kick) {
        if kick.sent >= self.from && kick.arrives <= self.to {
            self.kicks.push(kick);
        }
    }
}
