//! The records that every workload ends with: one for each vCPU, the wake latencies, and the result.
use crate::board::{Board, Slot};
use crate::cells::Count;
use crate::histogram::Histogram;
use crate::machine::{Machine, Meter};
use crate::record::{self, Field, Value};
use alloc::string::String;
use alloc::vec::Vec;

/// What came of a workload, beside what its board says.
#[derive(Default)]
pub(crate) struct Tale {
    /// Pieces of work done.
    pub(crate) operations: u64,
    /// All that was asked for was done.
    pub(crate) finished: bool,
    /// What went wrong: a word for programs, and a line for humans.
    pub(crate) failures: Vec<(&'static str, String)>,
    /// Further fields of the result.
    pub(crate) extra: Vec<Field<'static>>,
}

fn sum(slots: &[Slot], count: impl Fn(&Slot) -> u64) -> u64 {
    slots.iter().map(count).sum()
}

fn acquired(slot: &Slot) -> u64 {
    slot.wrote() + slot.read()
}

/// One record for each vCPU, and the wake latencies of all.
pub(crate) fn vcpus<M: Machine>(board: &Board, meters: &[Meter]) {
    let mut wake = Histogram::default();
    for ((vcpu, slots), meter) in (0..).zip(board.vcpus()).zip(meters) {
        wake.merge(&meter.wake);
        let fields = [
            ("vcpu", Value::Number(vcpu)),
            ("acquisitions", sum(slots, acquired).into()),
            ("work_ns", sum(slots, |slot| slot.worked.get()).into()),
            ("slow_ns", sum(slots, |slot| slot.slow.get()).into()),
            ("idle_ns", sum(slots, |slot| slot.idle.get()).into()),
            ("halts", meter.halts.into()),
            ("halted_ns", meter.halted_ns.into()),
            ("kicks_sent", meter.kicks_sent.into()),
            ("kicks_woke", meter.kicks_woke.into()),
            ("ticks", meter.ticks.into()),
        ];
        record::emit::<M>("vcpu", &fields);
    }
    let fields = [
        ("p50_ns", wake.percentile(50).into()),
        ("p99_ns", wake.percentile(99).into()),
        ("max_ns", wake.max().into()),
        ("count", wake.count().into()),
    ];
    record::emit::<M>("wake", &fields);
}

/// The result.
pub(crate) fn result<M: Machine>(workload: &str, lock: &str, board: &Board, elapsed: u64, tale: &Tale) {
    let mut waits = Histogram::default();
    for slot in board.slots() {
        waits.merge(&slot.waits.read());
    }
    let shares = || board.vcpus().map(|slots| acquired(&slots[0]));
    let fairness = [("min", shares().min().unwrap_or(0).into()), ("max", shares().max().unwrap_or(0).into())];
    let mut fields: Vec<Field<'_>> = Vec::from([
        ("workload", Value::Text(&workload)),
        ("lock", Value::Text(&lock)),
        ("elapsed_ns", elapsed.into()),
        ("operations", tale.operations.into()),
        ("finished", tale.finished.into()),
        ("correct", tale.failures.is_empty().into()),
        ("wait_p50_ns", waits.percentile(50).into()),
        ("wait_p99_ns", waits.percentile(99).into()),
        ("wait_max_ns", waits.max().into()),
        ("fairness", Value::Fields(&fairness)),
    ]);
    fields.extend(&tale.extra);
    record::emit::<M>("result", &fields);
}

/// How long an acquisition took.
#[inline]
pub(crate) fn waited(slot: &Slot, nanos: u64, slow_above: u64) {
    slot.waits.record(nanos);
    if nanos > slow_above {
        slot.slow.add(nanos);
    }
}

/// The sum of a count over all slots.
pub(crate) fn total(board: &Board, count: impl Fn(&Slot) -> &Count) -> u64 {
    board.slots().iter().map(|slot| count(slot).get()).sum()
}
