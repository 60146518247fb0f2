//! Waiting at a line: a spinning context costs nothing until the line changes.
//!
//! A context that spins sleeps on the list of its line, sorted by core group. When a write becomes visible,
//! the waiters read the line again. One waiter costs one event. Many (a read storm) cost one event a *group*:
//! the first of a group fetches the line, the others are served by the group's cache one after the other;
//! whoever sees what it wants gets an event of its own at the time it is served, the others stay asleep. So a
//! storm of n waiters in g groups costs O(g) events and O(n) calls of predicates.
use super::context::{Check, Doing, Presence, told};
use super::queue::Kind;
use super::{Cause, Engine, with};
use crate::coroutine::suspend;
use crate::time::Time;

/// Who waits at which line.
pub(super) struct Waiting {
    lines: Vec<Vec<Group>>,
}

/// The waiters of one core group at one line, in the order they came.
struct Group {
    index: u16,
    waiters: Vec<u32>,
    /// Whether the group's reads are under way.
    storms: bool,
}

impl Waiting {
    pub(super) fn new(lines: usize) -> Self {
        Self { lines: core::iter::repeat_with(Vec::new).take(lines).collect() }
    }

    fn add(&mut self, line: usize, group: u16, who: u32) {
        let groups = &mut self.lines[line];
        if let Some(entry) = groups.iter_mut().find(|entry| entry.index == group) {
            entry.waiters.push(who);
        } else {
            groups.push(Group { index: group, waiters: vec![who], storms: false });
        }
    }

    fn remove(&mut self, line: usize, group: u16, who: u32) {
        if let Some(entry) = self.lines[line].iter_mut().find(|entry| entry.index == group)
            && let Some(at) = entry.waiters.iter().position(|&waiter| waiter == who)
        {
            entry.waiters.remove(at);
        }
    }
}

impl Engine {
    fn group_of(&self, who: usize) -> u16 {
        self.directory.group(self.contexts[who].core) as u16
    }

    /// The running context waits at `line` until its question is answered with yes.
    fn start_spinning(&mut self, line: usize, check: Check, deadline: Time) {
        let who = self.current;
        let group = self.group_of(who);
        self.waiting.add(line, group, who as u32);
        let context = &mut self.contexts[who];
        context.doing = Doing::Spinning;
        context.check = Some(check);
        context.line = line as u32;
        context.deadline = deadline;
        context.rereads = false;
        let generation = context.generation;
        if deadline != Time::MAX {
            self.queue.push(deadline, Kind::Deadline, who as u32, generation, 0);
        }
        // Somebody may have begun to take the line before this context waits for it.
        if let Some(lost_at) = self.directory.lost_at(line, self.contexts[who].core) {
            self.poll_later(who, lost_at);
        }
        if let Some(at) = self.pause_loop_starts(who) {
            self.queue.push(at, Kind::PauseLoop, who as u32, generation, 0);
        }
        self.set_presence(who, Presence::Spins);
        self.switch_cause(who, Cause::Spinning);
    }

    /// Context `who` waits at its line no longer.
    pub(super) fn stop_spinning(&mut self, who: usize) {
        let group = self.group_of(who);
        let context = &mut self.contexts[who];
        context.check = None;
        let line = context.line as usize;
        self.waiting.remove(line, group, who as u32);
        self.set_presence(who, Presence::Quiet);
    }

    /// A write to `line` became visible: its waiters read it again.
    #[inline]
    pub(super) fn notify(&mut self, line: usize) {
        match self.waiting.lines[line].as_slice() {
            [] => {}
            [Group { waiters, storms: false, .. }] if waiters.len() == 1 => {
                let who = waiters[0] as usize;
                self.send_reread(line, who);
            }
            _ => self.notify_all(line),
        }
    }

    fn send_reread(&mut self, line: usize, who: usize) {
        let context = &mut self.contexts[who];
        if context.rereads {
            return; // the read under way will see this write too
        }
        context.rereads = true;
        let (core, generation) = (context.core, context.generation);
        let served = self.reads(line, core, self.now);
        self.effort.memory_events += 1;
        self.queue.push(served.at, Kind::Reread, who as u32, generation, 0);
    }

    /// Another core has read the line and takes it from `loser` at `lost_at`. Who waits for it there reads it
    /// again with its next poll.
    pub(super) fn poll_again(&mut self, line: usize, loser: usize, lost_at: Time) {
        for group in 0..self.waiting.lines[line].len() {
            if self.waiting.lines[line][group].storms {
                continue;
            }
            for at in 0..self.waiting.lines[line][group].waiters.len() {
                let who = self.waiting.lines[line][group].waiters[at] as usize;
                if self.contexts[who].rereads || self.contexts[who].core != loser {
                    continue;
                }
                self.poll_later(who, lost_at);
            }
        }
    }

    /// Context `who` polls within a poll's time after `lost_at`.
    fn poll_later(&mut self, who: usize, lost_at: Time) {
        self.contexts[who].rereads = true;
        let until = self.now.max(lost_at) + self.directory.draw(self.machine.memory.poll as usize) as Time;
        self.queue.push(until, Kind::Poll, who as u32, self.contexts[who].generation, 0);
    }

    /// Context `who`, which waits at a line, polls.
    pub(super) fn poll(&mut self, who: usize, generation: u32) {
        let context = &mut self.contexts[who];
        if context.generation == generation {
            context.rereads = false;
            let line = context.line as usize;
            self.send_reread(line, who);
        }
    }

    fn notify_all(&mut self, line: usize) {
        // Whose request comes first is nobody's merit: the groups start at a random place.
        let groups = self.waiting.lines[line].len();
        let start = self.directory.draw(groups);
        for step in 0..groups {
            let at = (start + step) % groups;
            let entry = &self.waiting.lines[line][at];
            if entry.storms {
                continue;
            }
            match entry.waiters.as_slice() {
                [] => {}
                &[who] => self.send_reread(line, who as usize),
                &[first, ..] => {
                    let group = entry.index;
                    self.waiting.lines[line][at].storms = true;
                    let core = self.contexts[first as usize].core;
                    let served = self.reads(line, core, self.now);
                    self.queue.push(served.at, Kind::Storm, line as u32, 0, group);
                }
            }
        }
    }

    /// The first waiter of a group has the line, the others get it in turn.
    pub(super) fn storm(&mut self, line: usize, group: u16) {
        let Some(at) = self.waiting.lines[line].iter().position(|entry| entry.index == group) else { return };
        self.waiting.lines[line][at].storms = false;
        let waiters = core::mem::take(&mut self.waiting.lines[line][at].waiters);
        if let Some(&first) = waiters.first() {
            let core = self.contexts[first as usize].core;
            let interval = self.directory.storm(line, core, self.now, waiters.len() - 1);
            self.effort.memory_events += waiters.len() as u64;
            for (turn, &who) in waiters.iter().enumerate() {
                let who = who as usize;
                self.directory.joins(line, self.contexts[who].core);
                if !self.contexts[who].rereads && self.asks(who) {
                    // Its turn comes later; what it sees then counts.
                    let context = &mut self.contexts[who];
                    context.rereads = true;
                    let at = self.now + interval * turn as Time;
                    self.queue.push(at, Kind::Reread, who as u32, context.generation, 0);
                }
            }
        }
        self.waiting.lines[line][at].waiters = waiters;
    }

    /// Asks context `who`, which spins, whether it has seen enough.
    fn asks(&mut self, who: usize) -> bool {
        let Some(check) = self.contexts[who].check else { return false };
        // SAFETY: IE3: the question stands on the stack of `who`, which is suspended in `wait` and removes it
        // first thing when it goes on; asking does not enter the engine.
        unsafe { (*check)() }
    }

    /// Context `who` has read its line again.
    pub(super) fn reread(&mut self, who: usize, generation: u32) {
        if self.contexts[who].generation != generation {
            return;
        }
        self.contexts[who].rereads = false;
        if self.asks(who) {
            self.stop_spinning(who);
            self.void(who);
            let exit = self.machine.memory.spin_exit;
            let context = &mut self.contexts[who];
            context.tell = told::DONE;
            let at = (self.now + exit).max(context.not_before);
            context.runs_on_since = at;
            context.doing = Doing::Computing(at);
            let generation = context.generation;
            self.queue.push(at, Kind::Resume, who as u32, generation, 0);
        }
    }

    /// The budget of `who` is used up.
    pub(super) fn deadline(&mut self, who: usize, generation: u32) -> Option<(usize, u32)> {
        if self.contexts[who].generation != generation {
            return None;
        }
        self.stop_spinning(who);
        self.void(who);
        self.goes_on(who);
        self.contexts[who].runs_on_since = self.now;
        self.note(who as u64);
        Some((who, told::TIMEOUT))
    }
}

/// Spins on the cell at `address` until `check` says yes, or for at most `polls` polls. Whether it did.
pub(crate) fn wait(address: usize, polls: Option<u32>, check: &mut dyn FnMut() -> bool) -> bool {
    let place = with(|engine, _| engine.line(address).map(|line| (line, engine.machine.memory.poll)));
    let Some((line, poll)) = place.flatten() else {
        assert!(check(), "a context waits for private memory to change, which nobody else can change");
        return true;
    };
    let mut left = polls.map_or(Time::MAX, |polls| poll * Time::from(polls));
    loop {
        if super::load(address).is_some() {
            super::fence(); // what we stored there ourselves is what we see, so it has to be there
        }
        if check() {
            return true;
        }
        if left == 0 {
            return false;
        }
        let question: *mut (dyn FnMut() -> bool + '_) = &raw mut *check;
        #[expect(clippy::transmute_ptr_to_ptr, reason = "a cast cannot forget a trait object's lifetime")]
        // SAFETY: only the lifetime is forgotten; IE3 keeps the question from being asked after this function
        // has gone on.
        let question: Check = unsafe { core::mem::transmute(question) };
        with(|engine, _| {
            let deadline = if left == Time::MAX { Time::MAX } else { engine.now + left };
            engine.start_spinning(line, question, deadline);
        });
        match suspend() {
            told::DONE => return true,
            told::TIMEOUT => return check(),
            _ => {
                // Put aside for a while: the budget counts polls, and it has not polled meanwhile.
                left = with(|engine, who| engine.contexts[who].deadline).unwrap_or(0);
            }
        }
    }
}
