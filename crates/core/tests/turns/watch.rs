//! What the turn-by-turn world keeps an eye on: the lock's word, its queue, and who overtook whom.
use super::CONTEXTS;
use core::cell::Cell;
use stanchion_core::tail::NodeCode;
use stanchion_core::transitions::{Row, Table, Word};

thread_local! {
    /// Set while the watch reads the word: those loads are not steps of the run.
    pub(super) static QUIET: Cell<bool> = const { Cell::new(false) };
}

/// The lock under test and what has been seen of it.
pub(super) struct Watch {
    word: Box<dyn Fn() -> Word + Send>,
    table: Table,
    last: Word,
    pub(super) rows: Vec<&'static Row>,
    /// Who queued and has not acquired yet, in order.
    queue: Vec<usize>,
    /// `overtaken[w][c]`: how often `c` acquired since `w` queued without having queued before it.
    overtaken: [[u32; CONTEXTS]; CONTEXTS],
    pub(super) worst: u32,
}

impl Watch {
    /// Watches the lock whose word `read` reads.
    pub(super) fn new(read: impl Fn() -> Word + Send + 'static, table: Table) -> Self {
        Self {
            word: Box::new(move || {
                QUIET.set(true);
                let word = read();
                QUIET.set(false);
                word
            }),
            table,
            last: Word { tail: 0, pending: 0, locked: 0 },
            rows: Vec::new(),
            queue: Vec::new(),
            overtaken: [[0; CONTEXTS]; CONTEXTS],
            worst: 0,
        }
    }

    /// Whether `context` has queued and not acquired yet.
    pub(super) fn has_queued(&self, context: usize) -> bool {
        self.queue.contains(&context)
    }

    /// Looks at the word after a write by context `me`; the error says what it must not have done.
    pub(super) fn look(&mut self, me: usize) -> Result<(), String> {
        let (before, after) = (self.last, (self.word)());
        if before == after {
            return Ok(());
        }
        self.last = after;
        let row = self.table.row(before, after).ok_or(format!("no row allows {before:?} -> {after:?}"))?;
        if !self.rows.contains(&row) {
            self.rows.push(row);
        }
        if let Some(code) = NodeCode::from_raw(after.tail).filter(|_| after.tail != before.tail) {
            let queued = usize::from(code.cpu().index());
            if self.queue.contains(&queued) {
                // The last waiter was let out, and the one in front of it is the last again.
                let out = NodeCode::from_raw(before.tail).map(|code| usize::from(code.cpu().index()));
                self.queue.retain(|&waiter| Some(waiter) != out);
            } else {
                self.queue.push(queued);
                self.overtaken[queued] = [0; CONTEXTS];
            }
        }
        if before.locked == 0 && after.locked == 1 {
            let ahead = self.queue.iter().position(|&queued| queued == me);
            for &waiter in &self.queue[..ahead.unwrap_or(self.queue.len())] {
                self.overtaken[waiter][me] += 1;
                self.worst = self.worst.max(self.overtaken[waiter][me]);
            }
            if let Some(position) = ahead {
                self.queue.remove(position);
            }
        }
        Ok(())
    }
}
