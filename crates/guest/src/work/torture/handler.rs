//! What torture does in the timer interrupt: takes locks, with further interrupts let in.
use super::{Context, DEPTHS, TASKS, Torture, Watch, busy, shared_lock};
use crate::cells::Count;
use crate::machine::Machine;
use crate::subject::{Side, Subject};
use core::array;

/// One section in this many is long enough for the next tick to come inside.
const LONG_ONE_IN: u64 = 16;

/// The handlers of one vCPU, which write here one inside of the other, never half-done.
#[derive(Debug)]
#[repr(align(128))]
pub(super) struct Interrupted {
    /// How many are inside of each other.
    depth: Count,
    /// How many there were.
    runs: Count,
    /// When the last one at each depth was done.
    done: [Count; DEPTHS],
    /// The greatest depth at which a lock was taken.
    pub(super) deepest: Count,
}

impl Default for Interrupted {
    fn default() -> Self {
        Self {
            depth: Count::default(),
            runs: Count::default(),
            done: array::from_fn(|_| Count::default()),
            deepest: Count::default(),
        }
    }
}

impl<M: Machine, S: Subject> Torture<M, S> {
    /// The tick of `vcpu`, with interrupts off.
    pub(super) fn interrupt(&self, vcpu: u16, watch: &Watch) {
        let state = &self.interrupted[usize::from(vcpu)];
        let depth = state.depth.get() as usize + 1;
        state.depth.set(depth as u64);
        let now = M::now();
        watch.look(now);
        if let Some(done) = state.done.get(depth - 1)
            // Where handlers take longer than a tick, whoever they interrupt must come to its turn.
            && now.saturating_sub(done.get()) >= self.tick / 2
        {
            state.runs.add(1);
            state.deepest.raise(depth as u64);
            self.acquire_locks(vcpu, self.context(vcpu, depth, state.runs.get()), depth);
            done.set(M::now());
        }
        state.depth.set(depth as u64 - 1);
    }

    fn acquire_locks(&self, vcpu: u16, mut context: Context<'_>, depth: usize) {
        let reads = S::SKILLS.shares && (!S::SKILLS.handlers_write || context.dice.bool());
        let side = if reads { Side::Reads } else { Side::Writes };
        let lingers = context.dice.u64(0..LONG_ONE_IN) == 0;
        M::with_interrupts_on(|| {
            self.section(&mut context, shared_lock(vcpu, depth), side, |_| {
                if lingers {
                    busy::<M>(M::now() + self.tick);
                }
            });
        });
        // One depth only: a handler in this handler would wait for it.
        if depth == 1 {
            if context.dice.bool() {
                self.section(&mut context, shared_lock(vcpu, 0), side, |_| {});
            }
            if S::SKILLS.reads_again && context.dice.bool() {
                // The last one in the order of tasks: whoever has it waits for no other, as the task may have
                // it that we have interrupted.
                self.read_again(&mut context, TASKS - 1);
            }
        }
    }
}
