//! Who is inside of a reader-writer lock, who waits for it, and who passed whom.
//!
//! Contexts are told when they begin an acquisition, and when they go in and out; what a lock's word says is
//! looked at elsewhere. An acquisition *passes* a waiter that began before it and that it keeps out: a reader
//! passes no reader. What need not wait (a context that reads again, one with priority) passes nobody. Where
//! readers pass whoever waits, those that pass are writers, and those that are passed readers.
use super::chooser::{Set, bit};
use super::failure::{Failure, Kind};
use super::{CONTEXTS, Ctx};

/// What an acquisition is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Wants {
    Read,
    Write,
    Upgradable,
}

/// How an acquisition went.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum How {
    /// It began, and waited perhaps.
    Waited,
    /// At once, by a try.
    Tried,
    /// As one that need not wait.
    Free,
}

impl Wants {
    /// Whether a waiter for this is passed by an acquisition for `other`. One that is to be upgradable is
    /// not: it goes on trying as long as readers come and go, and so states no bound.
    fn is_passed_by(self, other: Self) -> bool {
        match self {
            Self::Read => other == Self::Write,
            Self::Write => true,
            Self::Upgradable => false,
        }
    }
}

/// How often a waiter may be passed.
#[derive(Clone, Copy, Debug)]
pub(super) struct Passed {
    /// From when it began.
    pub(super) all: u32,
    /// From when it was the first in the queue.
    pub(super) as_head: u32,
}

/// What is known of one lock.
#[derive(Clone, Debug, Default)]
pub(super) struct Sharing {
    /// So many read locks are given at once.
    most: Option<u32>,
    /// Whether all are counted, so that there are no more than that.
    counts_all: bool,
    /// A waiter may be passed so often while it looks.
    bound: Option<Passed>,
    /// Whether readers pass whoever waits.
    readers_pass: bool,
    /// Who holds it alone.
    alone: Option<Ctx>,
    /// How often each context reads.
    readers: [u8; CONTEXTS],
    /// Who is among them and may become the writer.
    upgradable: Option<Ctx>,
    /// Who is among them that became one from being upgradable, which is not refused in time.
    turned: Set,
    /// Who is among them and does nothing to the lock at this moment.
    settled: Set,
    /// How many acquisitions have begun.
    begun: u64,
    /// Who waits, which acquisition that is, and what for.
    waits: [Option<(u64, Wants)>; CONTEXTS],
    /// Who has queued since it began to wait, or has slept, so it queues.
    slept: Set,
    /// For each reader, who queued to read when it was counted last, or began if it queued itself, and how
    /// many acquisitions had begun by then.
    behind: [(Set, u64); CONTEXTS],
    /// How often it was passed while it looked.
    passed: [u32; CONTEXTS],
    /// Who is the first in the queue, and how often it was passed since, while it looked.
    head: Option<Ctx>,
    passed_as_head: u32,
    /// Who is about to become the writer, whether it has looked since, and how often each context went in to
    /// read from then on.
    upgrades: Option<Ctx>,
    has_begun: bool,
    beside: [u8; CONTEXTS],
    /// Who has looked since it was passed last.
    looked: Set,
    /// Who asks for the lock, and how often each context passed it since.
    asks: Option<Ctx>,
    /// Who has said that it will, and does once it looks as the first in the queue.
    will_ask: Option<Ctx>,
    despite: [u8; CONTEXTS],
    /// How many attempts to read, or to read no more, each context makes at this moment, and the most read
    /// locks and attempts of others meanwhile: any of those may be counted.
    attempts: [u8; CONTEXTS],
    most_seen: [u32; CONTEXTS],
}

impl Sharing {
    /// Of a lock that gives so many read locks at once, those in cells not counted unless it `counts_all`;
    /// and whose waiters may be passed so often while they look.
    pub(super) fn new(most: Option<u32>, counts_all: bool, bound: Option<Passed>) -> Self {
        Self { most, counts_all, bound, ..Self::default() }
    }

    /// The same of a lock whose readers pass whoever waits, if they do.
    pub(super) fn letting_readers_pass(self, readers_pass: bool) -> Self {
        Self { readers_pass, ..self }
    }

    /// An acquisition of `me` begins that others may have to wait for, or it for others.
    pub(super) fn begins(&mut self, me: Ctx, wants: Wants) {
        self.begun += 1;
        (self.waits[me], self.passed[me]) = (Some((self.begun, wants)), 0);
        self.looked &= !bit(me);
        self.slept &= !bit(me);
        self.is_counted(me);
    }

    /// `me` waits no more, and is not in.
    pub(super) fn gives_up(&mut self, me: Ctx) {
        self.waits[me] = None;
        self.asks = self.asks.filter(|&asks| asks != me);
    }

    /// `me` sleeps, or stands in the queue.
    pub(super) fn sleeps(&mut self, me: Ctx) {
        self.slept |= bit(me);
    }

    /// `me` begins to wait, or is counted and has not queued.
    pub(super) fn is_counted(&mut self, me: Ctx) {
        self.behind[me] = (self.slept & self.waiting_to_read(), self.begun);
    }

    /// `me` goes in to read, ahead of whoever waits to.
    pub(super) fn is_beside_all(&mut self, me: Ctx) {
        self.behind[me] = (self.waiting_to_read(), self.begun);
    }

    fn waiting_to_read(&self) -> Set {
        (0..CONTEXTS).filter(|&ctx| self.wants(ctx) == Some(Wants::Read)).map(bit).sum()
    }

    /// Somebody that `me`, which reads, may wait for: it waited to read then, and does so still.
    pub(super) fn left_behind(&self, me: Ctx) -> Option<Ctx> {
        let (then, begun) = self.behind[me];
        let waits_still = |ctx: Ctx| self.waits[ctx].is_some_and(|(began, _)| began <= begun);
        (0..CONTEXTS).find(|&ctx| ctx != me && then & bit(ctx) != 0 && waits_still(ctx))
    }

    /// Who is the first in the queue.
    pub(super) fn is_head(&mut self, head: Option<Ctx>) {
        if self.head != head {
            (self.head, self.passed_as_head) = (head, 0);
        }
    }

    /// `me` has looked at the word.
    #[inline]
    pub(super) fn looks(&mut self, me: Ctx) {
        self.looked |= bit(me);
        self.has_begun |= self.upgrades == Some(me);
        if self.head == Some(me) && self.will_ask == Some(me) {
            self.is_asked_for(me);
        }
    }

    /// Whether `me` is at an acquisition of its own.
    pub(super) fn is_waiting(&self, me: Ctx) -> bool {
        self.waits[me].is_some()
    }

    /// What `me` waits for.
    pub(super) fn wants(&self, me: Ctx) -> Option<Wants> {
        self.waits[me].map(|(_, wants)| wants)
    }

    /// The waiter that has waited longest.
    pub(super) fn first_waiting(&self) -> Option<Ctx> {
        (0..CONTEXTS)
            .filter(|&ctx| self.is_waiting(ctx))
            .min_by_key(|&ctx| self.waits[ctx].map(|wait| wait.0))
    }

    /// `me` asks for the lock from now on.
    pub(super) fn is_asked_for(&mut self, me: Ctx) {
        (self.asks, self.will_ask, self.despite) = (Some(me), None, [0; CONTEXTS]);
    }

    /// `me` asks for the lock from when it looks as the first in the queue: those before it go in before it.
    pub(super) fn will_be_asked_for(&mut self, me: Ctx) {
        self.will_ask = Some(me);
    }

    /// Nobody asks for the lock any more.
    pub(super) fn is_not_asked_for(&mut self) {
        (self.asks, self.will_ask) = (None, None);
    }

    /// `me` goes in. `may_pass` what asks for the lock. How often the waiter was passed that was passed most.
    fn goes_in(&mut self, me: Ctx, wants: Wants, how: How, may_pass: bool) -> Result<u32, Failure> {
        let began = match how {
            How::Waited => self.waits[me].take().map_or(0, |(began, _)| began),
            How::Tried => self.begun + 1,
            How::Free => return Ok(0),
        };
        let mut worst = 0;
        for waiter in 0..CONTEXTS {
            let passes =
                self.waits[waiter].is_some_and(|(waits, what)| waits < began && what.is_passed_by(wants));
            let passes = passes && !(self.readers_pass && self.wants(waiter) == Some(Wants::Write));
            if !passes || may_pass || self.looked & bit(waiter) == 0 {
                continue;
            }
            self.looked &= !bit(waiter);
            self.passed[waiter] += 1;
            worst = worst.max(self.passed[waiter]);
            self.passed_as_head += u32::from(self.head == Some(waiter));
            let Some(bound) = self.bound else { continue };
            let times = self.passed[waiter];
            let what = if times > bound.all {
                format!("c{waiter} was passed {times} times by later acquisitions, and looked in between")
            } else if self.head == Some(waiter) && self.passed_as_head > bound.as_head {
                let times = self.passed_as_head;
                format!("c{waiter}, the first in the queue, was passed {times} times, and looked in between")
            } else {
                continue;
            };
            return Err(Failure { kind: Kind::Overtaken, what });
        }
        let may_pass = may_pass || (self.readers_pass && wants == Wants::Read);
        if let Some(asks) = self.asks.filter(|&asks| asks != me && !may_pass) {
            self.despite[me] += 1;
            if self.despite[me] > 1 {
                let what =
                    format!("c{me} went in {} times although c{asks} asked for the lock", self.despite[me]);
                return Err(Failure { kind: Kind::Overtaken, what });
            }
        }
        self.asks = self.asks.filter(|&asks| asks != me);
        Ok(worst)
    }

    /// `me` goes in to read.
    pub(super) fn reads(&mut self, me: Ctx, how: How) -> Result<u32, Failure> {
        if let Some(writer) = self.alone {
            return Err(broken(format!("c{me} entered as a reader while c{writer} wrote")));
        }
        self.readers[me] += 1;
        let counted = self.counted();
        let most = self.most.filter(|_| self.counts_all);
        if most.is_some_and(|most| counted > most + self.turned.count_ones()) {
            return Err(broken(format!("c{me} entered as one reader too many: there are {counted}")));
        }
        if self.upgrades.is_some() && self.has_begun && how != How::Free {
            self.beside[me] += 1;
            if self.beside[me] > 1 {
                let what = format!("c{me} went in to read {} times beside an upgrade", self.beside[me]);
                return Err(Failure { kind: Kind::Overtaken, what });
            }
        }
        self.goes_in(me, Wants::Read, how, false)
    }

    /// `me`, the upgradable holder, is about to become the writer: keeps readers out, but for those that are
    /// past their look.
    pub(super) fn begins_upgrade(&mut self, me: Ctx) {
        (self.upgrades, self.has_begun, self.beside) = (Some(me), false, [0; CONTEXTS]);
    }

    /// Read locks that are held, as the lock counts them.
    fn counted(&self) -> u32 {
        self.readers.iter().map(|&times| u32::from(times)).sum::<u32>() - u32::from(self.upgradable.is_some())
    }

    /// `me` tries to get a read lock, once more perhaps; or gives one up.
    pub(super) fn attempts(&mut self, me: Ctx) {
        if self.attempts[me] == 0 {
            self.most_seen[me] = 0;
        }
        self.attempts[me] += 1;
        self.recount();
    }

    /// There may be more read locks, as the lock counts them.
    fn recount(&mut self) {
        let all = self.counted() + self.attempts.iter().map(|&attempts| u32::from(attempts)).sum::<u32>();
        for ctx in (0..CONTEXTS).filter(|&ctx| self.attempts[ctx] > 0) {
            self.most_seen[ctx] = self.most_seen[ctx].max(all - 1);
        }
    }

    /// It got one, or not; or it is gone.
    pub(super) fn attempted(&mut self, me: Ctx) {
        self.attempts[me] -= 1;
    }

    /// `me` was told, before [`Sharing::attempted`], that there are too many readers. So there must have
    /// been, those counted that tried.
    pub(super) fn is_refused(&mut self, me: Ctx, how: How) -> Result<(), Failure> {
        if how == How::Waited {
            self.waits[me] = None;
        }
        let most = self.most.unwrap_or(u32::MAX);
        if self.most_seen[me] >= most {
            return Ok(());
        }
        let seen = self.most_seen[me];
        Err(broken(format!("c{me} was refused for too many readers, and there were {seen} at most")))
    }

    /// `me` reads once less.
    pub(super) fn stops_reading(&mut self, me: Ctx) {
        self.readers[me] -= 1;
        self.settled &= !bit(me);
        self.turned &= !bit(me);
    }

    /// `me`, a reader, does nothing to the lock for a while; or does so again.
    pub(super) fn settles(&mut self, me: Ctx, settled: bool) {
        self.settled = if settled { self.settled | bit(me) } else { self.settled & !bit(me) };
    }

    /// Nobody can go on but `ready`. A context that waits to read, or to hold it upgradably, all the same,
    /// though nobody is in or waits that it must wait for, and those that are in do nothing to the lock.
    pub(super) fn waits_in_vain(&self, ready: Set) -> Option<Ctx> {
        let waits = |what| (0..CONTEXTS).any(|ctx| self.wants(ctx) == Some(what));
        let has_reason = self.alone.or(self.upgrades).is_some()
            || waits(Wants::Write)
            || (self.upgradable.is_some() && waits(Wants::Upgradable));
        (0..CONTEXTS).find(|&ctx| ready & !self.settled == 0 && !has_reason && self.is_waiting(ctx))
    }

    /// `me` goes in to write. `past_sleeper`: its exchange found a head without a CPU, which it may pass.
    pub(super) fn writes(&mut self, me: Ctx, how: How, past_sleeper: bool) -> Result<u32, Failure> {
        if let Some(writer) = self.alone {
            return Err(broken(format!("c{me} entered as a writer while c{writer} wrote")));
        }
        if let Some(reader) = (0..CONTEXTS).find(|&ctx| self.readers[ctx] > 0) {
            return Err(broken(format!("c{me} entered as a writer while c{reader} read")));
        }
        self.alone = Some(me);
        self.goes_in(me, Wants::Write, how, past_sleeper)
    }

    /// The writer writes no more.
    pub(super) fn stops_writing(&mut self) {
        self.alone = None;
    }

    /// The writer `me` reads from now on, or is upgradable.
    pub(super) fn turns_to_reading(&mut self, me: Ctx) {
        self.alone = None;
        self.readers[me] += 1;
        self.recount();
    }

    /// `me` goes in upgradably.
    pub(super) fn may_upgrade(&mut self, me: Ctx, how: How) -> Result<u32, Failure> {
        if let Some(writer) = self.alone {
            return Err(broken(format!("c{me} entered upgradably while c{writer} wrote")));
        }
        self.readers[me] += 1;
        self.is_upgradable(me)?;
        self.goes_in(me, Wants::Upgradable, how, false)
    }

    /// `me`, which is counted among the readers, is from now on the one that may become the writer.
    pub(super) fn is_upgradable(&mut self, me: Ctx) -> Result<(), Failure> {
        if let Some(other) = self.upgradable.replace(me) {
            return Err(broken(format!("c{me} entered upgradably while c{other} was in so")));
        }
        Ok(())
    }

    /// It is not any more, and reads, or goes.
    pub(super) fn may_not_upgrade(&mut self) {
        self.upgrades = None;
        self.turned |= self.upgradable.take().map_or(0, bit);
        self.recount();
    }

    /// Somebody who is in.
    pub(super) fn holder(&self) -> Option<Ctx> {
        self.alone.or_else(|| (0..CONTEXTS).find(|&ctx| self.readers[ctx] > 0))
    }
}

fn broken(what: String) -> Failure {
    Failure { kind: Kind::Exclusion, what }
}

#[cfg(test)]
mod tests;
