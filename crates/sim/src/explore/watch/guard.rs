//! What is known of one lock of a run.
use super::super::chooser::Set;
use super::super::failure::{Failure, Kind};
use super::super::sharing::{How, Sharing, Wants};
use super::super::{CONTEXTS, Ctx};
use stanchion_core::transitions::{Table, Word};
use stanchion_family::catalogue::{Asks, SecondByte};
use stanchion_family::tail::NodeCode;

/// Marks in the second byte of a reader-writer lock with a queue: the head lets nobody pass, and it has no
/// CPU.
const WAITING: u8 = 2;
const SLEEPER: u8 = 1;

/// What is known of one lock.
pub(super) struct Guard {
    pub(super) last: Word,
    /// The word of the lock when it was made.
    pub(super) fresh: Word,
    pub(super) inside: Option<Ctx>,
    /// Who acquired it and has not released it visibly.
    pub(super) holder: Option<Ctx>,
    /// Whether the holder has neither queued nor tried.
    pub(super) came_by_itself: bool,
    /// Whether the holder passes whoever waits: it tried, or had no node to queue with.
    pub(super) may_pass: bool,
    /// Who waits for a limited time.
    pub(super) limited: Set,
    /// Who is acquiring it, trying or releasing.
    pub(super) busy: Set,
    /// Who of those is about to give up, and waits no more unless it says so.
    pub(super) gone: Set,
    /// Whether the holder's section is over, so that its next visible write is the release.
    pub(super) leaving: bool,
    /// Who waits in line while the holder releases fairly.
    pub(super) owed_to: Option<Ctx>,
    /// Who queued and has not acquired yet, in order.
    pub(super) queue: Vec<Ctx>,
    /// `overtaken[w][c]`: how often `c` acquired since `w` queued, without having queued before it.
    pub(super) overtaken: [[u32; CONTEXTS]; CONTEXTS],
    /// `by_node[w][n]`: how often contexts on `n` did that together, once they had queued.
    pub(super) by_node: [[u32; CONTEXTS]; CONTEXTS],
    /// Waiters that others from behind have passed, the first one first, and how often that was passed since
    /// it is.
    pub(super) aside: (Vec<Ctx>, u32),
    /// Who asks for the lock, and how often each context acquired since.
    pub(super) forbidder: Option<Ctx>,
    despite: [u32; CONTEXTS],
    /// How often each context has looked since and found the lock free.
    free_looks: [u32; CONTEXTS],
    /// Who is inside of a reader-writer lock.
    pub(super) sharing: Sharing,
    /// The lock that those wait in line for who wait for a reader-writer lock.
    pub(super) line: Option<Line>,
    /// Whose exchange found a head that it may pass because it has no CPU.
    past_sleeper: Option<Ctx>,
}

/// The queue of a reader-writer lock.
pub(super) struct Line {
    pub(super) last: Word,
    pub(super) fresh: Word,
    holder: Option<Ctx>,
}

impl Guard {
    pub(super) fn new(fresh: Word, line: Option<Word>, sharing: Sharing) -> Self {
        Self {
            last: fresh,
            fresh,
            inside: None,
            holder: None,
            came_by_itself: false,
            may_pass: false,
            limited: 0,
            busy: 0,
            gone: 0,
            leaving: false,
            owed_to: None,
            queue: Vec::with_capacity(CONTEXTS),
            overtaken: [[0; CONTEXTS]; CONTEXTS],
            by_node: [[0; CONTEXTS]; CONTEXTS],
            aside: (Vec::new(), 0),
            forbidder: None,
            despite: [0; CONTEXTS],
            free_looks: [0; CONTEXTS],
            sharing,
            line: line.map(|fresh| Line { last: fresh, fresh, holder: None }),
            past_sleeper: None,
        }
    }

    /// `me` stands at the end of the queue from now on.
    pub(super) fn queues(&mut self, me: Ctx) {
        self.queue.retain(|&waiter| waiter != me);
        self.queue.push(me);
        (self.overtaken[me], self.by_node[me]) = ([0; CONTEXTS], [0; CONTEXTS]);
    }

    /// Somebody has passed those in `passed`, who wait still. How often the first of all that were passed was
    /// passed since it is the first.
    pub(super) fn sets_aside(&mut self, passed: &[Ctx]) -> u32 {
        let (aside, times) = &mut self.aside;
        aside.extend(passed.iter().filter(|waiter| !aside.contains(waiter)).collect::<Vec<_>>());
        *times += u32::from(!passed.is_empty());
        *times
    }

    /// `me` waits no more.
    pub(super) fn is_aside_no_more(&mut self, me: Ctx) {
        let (aside, times) = &mut self.aside;
        if aside.first() == Some(&me) {
            *times = 0;
        }
        aside.retain(|&waiter| waiter != me);
    }

    /// Nobody holds a mutual exclusion lock any more, which `me` has let go.
    pub(super) fn is_let_go(&mut self, me: Ctx) -> Result<(), Failure> {
        self.holder = None;
        let owed = self.owed_to.take().map(|waiter| {
            let what = format!("c{me} released fairly, and left the lock to anybody while c{waiter} waited");
            Failure { kind: Kind::Overtaken, what }
        });
        owed.map_or(Ok(()), Err)
    }

    /// The tail has moved, by `me`; `last` stood there. Who takes it away does not queue.
    pub(super) fn tail_moved(&mut self, me: Ctx, last: Option<Ctx>, after: Word, is_taken: bool) {
        if self.holder != Some(me) {
            if !is_taken {
                self.queues(me);
            }
        } else if after.tail != NodeCode::NONE {
            // A holder made somebody else the last: it let the last one out.
            self.queue.retain(|&waiter| Some(waiter) != last);
        }
    }

    /// The second byte of a mutual exclusion lock has changed, by `me`. A head takes back what it has asked
    /// for itself, before another one is head.
    pub(super) fn second_byte_changed(
        &mut self,
        says: SecondByte,
        me: Ctx,
        before: u8,
        after: u8,
    ) -> Result<(), Failure> {
        match says {
            SecondByte::Other => {}
            SecondByte::Pends if after > before => self.queues(me),
            SecondByte::Pends => self.queue.retain(|&waiter| waiter != me),
            SecondByte::AsksNewcomers { bit, .. } => {
                if (before ^ after) & bit != 0 {
                    self.forbidder = (after & bit != 0).then_some(me);
                    (self.despite, self.free_looks) = ([0; CONTEXTS], [0; CONTEXTS]);
                }
            }
            SecondByte::Asks(flag) => {
                if let Some(asks) = self.forbidder.filter(|&asks| before == flag && asks != me) {
                    let what = format!("c{me} took back that c{asks} asked for the lock");
                    return Err(Failure { kind: Kind::Transition, what });
                }
                self.forbidder = (after == flag).then_some(me);
                self.despite = [0; CONTEXTS];
            }
        }
        Ok(())
    }

    /// `me` has looked, and found the lock free.
    pub(super) fn finds_free(&mut self, me: Ctx) {
        self.free_looks[me] += 1;
    }

    /// `me` has acquired a mutual exclusion lock, although somebody asks for it perhaps. It may once, and
    /// each time that it has found it free so often.
    pub(super) fn heeds(&mut self, me: Ctx, looks: u32) -> Result<(), Failure> {
        if let Some(forbidder) = self.forbidder.filter(|&forbidder| forbidder != me) {
            self.despite[me] += 1;
            if self.despite[me] > 1 + self.free_looks[me] / looks {
                let times = self.despite[me];
                let what = format!("c{me} acquired {times} times although c{forbidder} asked for the lock");
                return Err(Failure { kind: Kind::Overtaken, what });
            }
        }
        Ok(())
    }

    /// The word of a reader-writer lock has changed, by `me`.
    pub(super) fn shared_word_changed(
        &mut self,
        asks: Asks,
        me: Ctx,
        before: Word,
        after: Word,
    ) -> Result<(), Failure> {
        if before.locked == 0 && after.locked == 1 {
            self.past_sleeper = (before.pending & SLEEPER != 0).then_some(me);
        }
        let is_head = self.line.as_ref().is_some_and(|line| line.holder == Some(me));
        if after.tail > before.tail && !is_head {
            self.sharing.is_counted(me);
        }
        match asks {
            Asks::Flag if before.locked == 0 && after.locked == 1 => {
                if self.sharing.wants(me) == Some(Wants::Write) {
                    self.sharing.is_asked_for(me);
                }
            }
            Asks::Flag if before.locked == 1 && after.locked == 0 => self.sharing.is_not_asked_for(),
            Asks::Mark | Asks::MarkForReaders => {
                let changed = before.pending ^ after.pending;
                let wrong = |what| Err(Failure { kind: Kind::Transition, what });
                if changed & WAITING != 0 {
                    if after.pending & WAITING != 0 {
                        self.sharing.will_be_asked_for(me);
                        self.forbidder = Some(me);
                    } else if self.forbidder.take() == Some(me) {
                        self.sharing.is_not_asked_for();
                    } else {
                        return wrong(format!("c{me} took back that another one asked for the lock"));
                    }
                }
                let is_sleepers = asks == Asks::Mark && changed & SLEEPER != 0;
                if is_sleepers && self.line.as_ref().is_some_and(|line| line.holder != Some(me)) {
                    return wrong(format!(
                        "c{me} changed the head's mark, and is not the first in the queue"
                    ));
                }
            }
            Asks::Flag | Asks::FastPath(_) => {}
        }
        Ok(())
    }

    /// The byte that keeps readers out has changed.
    pub(super) fn fast_path_changed(&mut self, me: Ctx, value: u64) {
        if value == 1 {
            self.sharing.is_asked_for(me);
        } else {
            self.sharing.is_not_asked_for();
        }
    }

    /// `me` goes in to write to a reader-writer lock. How often the waiter was passed that was passed most.
    pub(super) fn writes(&mut self, me: Ctx, how: How) -> Result<u32, Failure> {
        let past_sleeper = self.past_sleeper.take_if(|passes| *passes == me).is_some();
        self.sharing.writes(me, how, past_sleeper)
    }
}

impl Line {
    /// Whether the word `now` is as it was at first, but for `late` marks.
    pub(super) fn is_fresh(&self, now: Word, late: u8) -> bool {
        Word { pending: now.pending & !late, ..now } == self.fresh
    }

    /// Who is the first in the queue.
    pub(super) fn holder(&self) -> Option<Ctx> {
        self.holder
    }

    /// The word has changed, by `me`. Whether that stands in the queue now.
    pub(super) fn looked_at(&mut self, now: Word, table: Table, me: Ctx) -> Result<bool, Failure> {
        let before = core::mem::replace(&mut self.last, now);
        if before == now {
            return Ok(false);
        }
        if table.row(before, now).is_none() {
            return Err(no_row("the queue's word", before, now));
        }
        let queues = before.tail != now.tail && self.holder != Some(me);
        match (before.locked, now.locked) {
            (0, 1..) => self.holder = Some(me),
            (1.., 0) => self.holder = None,
            _ => {}
        }
        Ok(queues)
    }
}

/// A change of `what` that its table does not list.
pub(super) fn no_row(what: &str, before: Word, after: Word) -> Failure {
    let word = |word: Word| format!("({},{},{})", word.tail, word.pending, word.locked);
    let what = format!("no row of the table takes {what} from {} to {}", word(before), word(after));
    Failure { kind: Kind::Transition, what }
}
