//! The life of a context: it reads its thread's script and does what stands there.
use super::script::Mark;
use super::{Class, Recorded, Replay, Script, Step, Tally, time};
use crate::here::Here;
use crate::time::{MS, NS, Time, percent};
use core::cell::{Cell, RefCell};
use std::collections::VecDeque;

/// What instructions of a lock cost that is in this core's cache, and that nobody else wants.
const UNCONTENDED: Time = 8 * NS;
/// Who holds a lock waits no longer than this for a condition: in the recording the notification came before
/// it was taken, here it may need that lock.
const PATIENCE: Time = MS;
/// Locks of which waits are kept, from the first.
const KEPT: usize = 1024;

/// What contexts of a run share.
pub(super) struct Running {
    replay: Replay,
    /// How often each context has notified.
    notices: RefCell<Vec<u64>>,
    /// Who sleeps until context *n* has notified so often.
    asleep: RefCell<Vec<Vec<(usize, u64)>>>,
    /// Who of other copies sleeps until it notifies once more; each time one of them goes on.
    strangers: RefCell<Vec<VecDeque<usize>>>,
    /// Who was notified by the holder of each mutex, and is woken when that is released.
    relays: RefCell<Vec<VecDeque<usize>>>,
    /// Where each copy begins, in nanoseconds of the recording.
    begins: RefCell<Vec<Option<u64>>>,
    tallies: RefCell<Vec<Tally>>,
}

/// Who a context is.
struct Role<'r> {
    script: &'r Script,
    copy: usize,
}

impl Running {
    pub(super) fn new(replay: Replay) -> Self {
        let locks = replay.recorded.locks.len();
        Self {
            tallies: RefCell::new(vec![Tally::default(); locks.min(KEPT)]),
            relays: RefCell::new(vec![VecDeque::new(); locks]),
            replay,
            notices: RefCell::default(),
            asleep: RefCell::default(),
            strangers: RefCell::default(),
            begins: RefCell::default(),
        }
    }

    pub(super) fn recorded(&self) -> &Recorded {
        &self.replay.recorded
    }

    pub(super) fn take_tallies(&self) -> Vec<Tally> {
        self.tallies.take()
    }

    /// Other threads come first, then worker after worker, copy after copy.
    fn role(&self, context: usize) -> Role<'_> {
        let (workers, others) = (self.recorded().workers.len(), self.recorded().others.len());
        let (thread, copy) = match context.checked_sub(others) {
            None => (workers + context, 0),
            Some(worker) => (worker % workers.max(1), worker / workers.max(1)),
        };
        Role { script: self.recorded().script(thread), copy }
    }

    /// The context that is thread `thread` in copy `copy`; the only one, or the first, if that copy has none.
    fn context_of(&self, thread: usize, copy: usize, contexts: usize) -> Option<usize> {
        let (workers, others) = (self.recorded().workers.len(), self.recorded().others.len());
        match thread.checked_sub(workers) {
            Some(other) => (other < others).then_some(other),
            None => [copy, 0]
                .map(|copy| others + copy * workers + thread)
                .into_iter()
                .find(|&context| context < contexts),
        }
    }

    /// Where copy `copy` begins: drawn by whoever of it comes first.
    fn begins(&self, here: &Here, copy: usize) -> u64 {
        if self.recorded().once {
            return self.recorded().first();
        }
        let (from, to) = self.recorded().common();
        let mut begins = self.begins.borrow_mut();
        if begins.len() <= copy {
            begins.resize(copy + 1, None);
        }
        *begins[copy].get_or_insert_with(|| from + here.random(to - from))
    }

    /// Where a thread goes on that has come to its end.
    fn again(&self, script: &Script) -> Mark {
        if self.recorded().once { script.first() } else { script.mark(self.recorded().common().0) }
    }

    /// For how much of the time between two rounds a thread was not there that goes on at `again`.
    fn absent(&self, script: &Script, again: Mark) -> u64 {
        let ((from, to), (_, end)) = (self.recorded().common(), script.span());
        again.at.saturating_sub(from) + to.saturating_sub(end)
    }

    pub(super) fn play(&self, here: &Here) {
        let role = self.role(here.index());
        let begins = self.begins(here, role.copy);
        let again = self.again(role.script);
        let first = if self.recorded().once { again } else { role.script.mark(begins) };
        self.notices.borrow_mut().resize(here.contexts(), 0);
        self.asleep.borrow_mut().resize(here.contexts(), Vec::new());
        self.strangers.borrow_mut().resize(here.contexts(), VecDeque::new());
        self.notices.borrow_mut()[here.index()] += first.notices;
        if let Some(late) = first.at.checked_sub(begins).filter(|&late| late > 0) {
            here.sleep(time(late));
        }
        let player = Player { running: self, here, role, held: RefCell::default(), rounds: Cell::new(0) };
        let mut byte = first.byte;
        loop {
            let began = here.now();
            while let Some((computes, step)) = player.role.script.step(&mut byte) {
                player.computes(time(computes));
                player.perform(step);
            }
            if self.recorded().once {
                return;
            }
            let absent = self.absent(player.role.script, again);
            if absent > 0 {
                here.sleep(time(absent));
            }
            byte = again.byte;
            player.rounds.set(player.rounds.get() + 1);
            if here.now() == began {
                here.compute(NS); // a script without anything in it, round after round
            }
        }
    }
}

/// A context at work.
struct Player<'r> {
    running: &'r Running,
    here: &'r Here,
    role: Role<'r>,
    /// Locks that it holds, in the order in which it took them.
    held: RefCell<Vec<u32>>,
    /// How often the script was begun again.
    rounds: Cell<u64>,
}

impl Player<'_> {
    #[inline]
    fn computes(&self, span: Time) {
        let holds = !self.held.borrow().is_empty();
        let span = if holds { percent(span, self.running.replay.holds_percent) } else { span };
        if span > 0 {
            self.here.compute(span);
        }
    }

    #[inline]
    fn perform(&self, step: Step) {
        let here = self.here;
        match step {
            Step::Acquire(lock) => self.acquires(lock, || {
                here.acquire(lock as usize);
                // The data's miss overlaps with the work inside.
                here.fetch(lock as usize..lock as usize + 1);
            }),
            Step::AcquireRead(lock) => self.acquires(lock, || here.acquire_read(lock as usize)),
            Step::Release(lock) => {
                here.touch(lock as usize..lock as usize + 1, true);
                // As in the interposer: chosen by the holder, woken behind the release.
                let relayed = self.running.relays.borrow_mut()[lock as usize].pop_front();
                here.release(lock as usize);
                self.releases(lock);
                if let Some(who) = relayed {
                    here.wake(who);
                }
            }
            Step::ReleaseRead(lock) => {
                here.touch(lock as usize..lock as usize + 1, false);
                here.release_read(lock as usize);
                self.releases(lock);
            }
            Step::Private => {
                here.compute(UNCONTENDED);
                here.op();
            }
            Step::Sleep(nanos) => here.sleep(time(nanos.max(1))),
            Step::Wait { thread, notices } => self.waits(thread as usize, notices),
            Step::Notify => self.notifies(),
        }
    }

    fn acquires(&self, lock: u32, acquire: impl FnOnce()) {
        let began = self.here.now();
        acquire();
        self.held.borrow_mut().push(lock);
        self.here.op();
        if self.here.is_measured()
            && let Some(tally) = self.running.tallies.borrow_mut().get_mut(lock as usize)
        {
            tally.waits((self.here.now() - began) / NS);
        }
    }

    fn releases(&self, lock: u32) {
        let mut held = self.held.borrow_mut();
        if let Some(at) = held.iter().rposition(|&other| other == lock) {
            held.remove(at);
        }
    }

    /// Goes on when `thread` has notified as often as it had when the recorded wait ended.
    fn waits(&self, thread: usize, notices: u64) {
        let running = self.running;
        let Some(whom) = running.context_of(thread, self.role.copy, self.here.contexts()) else { return };
        let (there, me) = (running.role(whom), self.here.index());
        if there.copy != self.role.copy {
            // Elsewhere in the recording: its next one will do.
            running.strangers.borrow_mut()[whom].push_back(me);
            while running.strangers.borrow()[whom].contains(&me) {
                if self.held.borrow().is_empty() {
                    self.here.sleep_until_woken();
                } else {
                    self.here.sleep(PATIENCE);
                    running.strangers.borrow_mut()[whom].retain(|&who| who != me);
                }
            }
            return;
        }
        let round = there.script.notices() - running.again(there.script).notices;
        let wanted = notices + self.rounds.get() * round;
        while running.notices.borrow()[whom] < wanted {
            running.asleep.borrow_mut()[whom].push((me, wanted));
            let is_patient = self.held.borrow().is_empty();
            if is_patient {
                self.here.sleep_until_woken();
            } else {
                self.here.sleep(PATIENCE);
            }
            self.sleeps_no_more(whom);
            if !is_patient {
                return;
            }
        }
    }

    /// Neither `whom` nor a holder that it was left with is to wake it.
    fn sleeps_no_more(&self, whom: usize) {
        let me = self.here.index();
        self.running.asleep.borrow_mut()[whom].retain(|&(who, _)| who != me);
        self.running.relays.borrow_mut().iter_mut().for_each(|relay| relay.retain(|&who| who != me));
    }

    fn notifies(&self) {
        let me = self.here.index();
        self.running.notices.borrow_mut()[me] += 1;
        let count = self.running.notices.borrow()[me];
        let is_ready = |&mut (_, wanted): &mut (usize, u64)| wanted <= count;
        let mut ready: Vec<usize> =
            self.running.asleep.borrow_mut()[me].extract_if(.., is_ready).map(|(who, _)| who).collect();
        ready.extend(self.running.strangers.borrow_mut()[me].pop_front());
        for &who in &ready {
            self.wakes(who, ready.len() == 1);
        }
    }

    /// Wakes somebody who waits for a condition, or leaves it with the mutex that this context took last: as
    /// in the interposer, unless it is notified alone, slept on another CPU, and passes nobody there.
    fn wakes(&self, who: usize, alone: bool) {
        let is_mutex = |lock: &&u32| self.running.recorded().locks[**lock as usize] == Class::Mutex;
        let mutex = self.held.borrow().iter().rev().find(is_mutex).copied();
        if let Some(mutex) = mutex.filter(|_| self.running.replay.relays) {
            let relay = &mut self.running.relays.borrow_mut()[mutex as usize];
            if !alone || self.here.is_at_home(who) || !relay.is_empty() {
                return relay.push_back(who);
            }
        }
        self.here.wake(who);
    }
}
