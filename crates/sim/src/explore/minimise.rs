//! A failure made small: fewer contexts, fewer rounds, fewer turns, as long as it stays the same kind of
//! failure.
use super::failure::{Failure, Kind};
use super::plan::{Options, Plan};
use super::run::{Mode, Seen, run};
use super::script::{Item, Script};
use super::subjects::Subject;

/// So many schedules are tried to make one smaller.
const MOST_TRIES: u32 = 20_000;
/// The same where each of them goes on up to the step limit.
const MOST_HUNG_TRIES: u32 = 500;
/// A handler that is left out took up to so many turns.
const HANDLER_TURNS: u32 = 80;

/// A failure to be read and to be run again.
#[derive(Clone, Debug)]
pub struct Finding {
    /// What went wrong in the smallest schedule.
    pub failure: Failure,
    /// What brings that schedule up again; see [`Replay`].
    pub replay: String,
    /// The smallest schedule, a line a step.
    pub interleaving: String,
    /// How many turns went from one context to another, in the schedule that was found and in the smallest.
    pub switches: (usize, usize),
}

/// What to run again: a seed, or a seed and the turns, written `seed` or `seed/rounds/faults/turns`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Replay {
    seed: u64,
    script: Option<Script>,
}

impl core::fmt::Display for Replay {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        write!(f, "{}", self.seed)?;
        self.script.as_ref().map_or(Ok(()), |script| write!(f, "/{script}"))
    }
}

impl core::str::FromStr for Replay {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let (seed, script) = text.split_once('/').map_or((text, None), |(seed, script)| (seed, Some(script)));
        let seed = seed.parse().map_err(|_| format!("'{seed}' is no seed"))?;
        Ok(Self { seed, script: script.map(str::parse).transpose()? })
    }
}

/// Runs one schedule again; the interleaving, and the failure if there is one.
pub fn replay(subject: &Subject, options: &Options, what: &Replay) -> (String, Option<Failure>) {
    let mut plan = Plan::draw(subject, options, what.seed);
    if let Some(script) = &what.script {
        script.apply(&mut plan);
    }
    let seen = run(subject, &plan, Mode { script: what.script.as_ref(), traces: true, records: false });
    (seen.interleaving.unwrap_or_default(), seen.failure)
}

/// Finds the smallest schedule that fails as `seed` does. `None` if `seed` does not fail.
pub fn investigate(subject: &Subject, options: &Options, seed: u64) -> Option<Finding> {
    let plan = Plan::draw(subject, options, seed);
    let seen = run(subject, &plan, Mode { records: true, ..Mode::default() });
    let kind = seen.failure?.kind;
    let items = seen.recorded.unwrap_or_default();
    let found = Script { rounds: plan.rounds.clone(), faults: plan.faults, items };
    let mut search = Search { subject, plan, kind, tries: 0 };
    let smallest = if search.fails(&found) { search.shrink(found.clone()) } else { found.clone() };
    let what = Replay { seed, script: Some(smallest.clone()) };
    let (interleaving, failure) = replay(subject, options, &what);
    Some(Finding {
        failure: failure?,
        replay: what.to_string(),
        interleaving,
        switches: (found.switches(), smallest.switches()),
    })
}

struct Search<'a> {
    subject: &'a Subject,
    plan: Plan,
    kind: Kind,
    tries: u32,
}

impl Search<'_> {
    fn run(&mut self, script: &Script) -> Seen {
        self.tries += 1;
        let mut plan = self.plan.clone();
        script.apply(&mut plan);
        run(self.subject, &plan, Mode { script: Some(script), records: true, traces: false })
    }

    fn fails(&mut self, script: &Script) -> bool {
        self.run(script).failure.is_some_and(|failure| failure.kind == self.kind)
    }

    fn shrink(&mut self, mut best: Script) -> Script {
        loop {
            let before = best.clone();
            self.drop_faults(&mut best);
            self.drop_contexts(&mut best);
            self.drop_rounds(&mut best);
            self.drop_interrupts(&mut best);
            self.drop_items(&mut best);
            self.move_together(&mut best);
            self.shorten(&mut best);
            if best == before || self.tries >= self.most_tries() {
                return self.as_it_went(best);
            }
        }
    }

    fn most_tries(&self) -> u32 {
        if self.kind == Kind::Hung { MOST_HUNG_TRIES } else { MOST_TRIES }
    }

    /// Takes `candidate` for the best if it fails.
    fn adopt(&mut self, best: &mut Script, candidate: Script) -> bool {
        let candidate = candidate.tidied();
        let adopted = self.tries < self.most_tries() && candidate != *best && self.fails(&candidate);
        if adopted {
            *best = candidate;
        }
        adopted
    }

    fn drop_faults(&mut self, best: &mut Script) {
        for fault in best.faults.iter() {
            let mut candidate = best.clone();
            candidate.faults = candidate.faults.without(fault);
            self.adopt(best, candidate);
        }
    }

    /// A context without rounds is not there.
    fn drop_contexts(&mut self, best: &mut Script) {
        for ctx in 0..best.rounds.len() {
            if best.rounds[ctx] > 0 {
                let mut candidate = best.clone();
                candidate.rounds[ctx] = 0;
                candidate.items.retain(|item| item.context() != ctx);
                self.adopt(best, candidate);
            }
        }
    }

    fn drop_rounds(&mut self, best: &mut Script) {
        for ctx in 0..best.rounds.len() {
            while best.rounds[ctx] > 1 {
                let mut candidate = best.clone();
                candidate.rounds[ctx] -= 1;
                if !self.adopt(best, candidate) {
                    break;
                }
            }
        }
    }

    /// Leaves out interrupts, the last first, together with the turns that their handlers took.
    fn drop_interrupts(&mut self, best: &mut Script) {
        for at in (0..best.items.len()).rev() {
            let Some(&Item::Interrupt(ctx)) = best.items.get(at) else { continue };
            let mut without = best.clone();
            without.items.remove(at);
            for _ in 0..HANDLER_TURNS {
                if self.adopt(best, without.clone()) {
                    break;
                }
                let later = without.items[at..].iter_mut().find_map(|item| match item {
                    Item::Turns(whose, turns) if *whose == ctx && *turns > 0 => Some(turns),
                    _ => None,
                });
                let Some(turns) = later else { break };
                *turns -= 1;
            }
        }
    }

    /// Leaves out items, many at a time at first.
    fn drop_items(&mut self, best: &mut Script) {
        let mut chunk = best.items.len().div_ceil(2);
        while chunk > 0 {
            let mut at = 0;
            while at < best.items.len() {
                let mut candidate = best.clone();
                candidate.items.drain(at..(at + chunk).min(best.items.len()));
                if !self.adopt(best, candidate) {
                    at += chunk;
                }
            }
            chunk = if chunk == 1 { 0 } else { chunk.div_ceil(2) };
        }
    }

    /// Lets a context have its next turns at once, so that two changes of turn become none.
    fn move_together(&mut self, best: &mut Script) {
        let mut at = 0;
        while at + 2 < best.items.len() {
            let (first, between) = (best.items[at], best.items[at + 1]);
            let again = best.items[at + 2];
            if let (Item::Turns(ctx, _), Item::Turns(..), Item::Turns(same, _)) = (first, between, again)
                && ctx == same
            {
                let mut candidate = best.clone();
                candidate.items.swap(at + 1, at + 2);
                if self.adopt(best, candidate) {
                    continue;
                }
                let mut candidate = best.clone();
                candidate.items.swap(at, at + 1);
                if self.adopt(best, candidate) {
                    continue;
                }
            }
            at += 1;
        }
    }

    /// Gives fewer turns at a time.
    fn shorten(&mut self, best: &mut Script) {
        let mut at = 0;
        while at < best.items.len() {
            if let Item::Turns(ctx, turns) = best.items[at]
                && turns > 1
            {
                let mut candidate = best.clone();
                candidate.items[at] = Item::Turns(ctx, turns / 2);
                if self.adopt(best, candidate) {
                    continue;
                }
            }
            at += 1;
        }
    }

    /// The turns as they were taken in the end, what the script leaves open included; up to the failure.
    fn as_it_went(&mut self, best: Script) -> Script {
        let went = self.run(&best).recorded.unwrap_or_default();
        let whole = Script { items: went, ..best.clone() };
        if self.fails(&whole) { whole } else { best }
    }
}
