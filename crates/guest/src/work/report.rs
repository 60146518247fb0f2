//! The records that every workload ends with: one for each vCPU, the wake latencies, and the result.
use crate::board::{Board, Slot};
use crate::cells::Count;
use crate::histogram::Histogram;
use crate::machine::{Machine, Meter};
use crate::record::{self, Fairness, Record, Vcpu, Wake, Work};
use alloc::string::String;
use alloc::vec::Vec;

/// What came of a workload, beside what its board says.
#[derive(Default)]
pub(crate) struct Tale {
    /// Its result, without what is the same for all workloads.
    pub(crate) work: Work<&'static str>,
    /// What went wrong: a word for programs, and a line for humans.
    pub(crate) failures: Vec<(&'static str, String)>,
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
        record::emit::<M>(&Record::<&str>::Vcpu(Vcpu {
            vcpu,
            acquisitions: sum(slots, acquired),
            work_ns: sum(slots, |slot| slot.worked.get()),
            slow_ns: sum(slots, |slot| slot.slow.get()),
            idle_ns: Some(sum(slots, |slot| slot.idle.get())),
            halts: meter.halts,
            halted_ns: meter.halted_ns,
            kicks_sent: meter.kicks_sent,
            kicks_woke: meter.kicks_woke,
            ticks: meter.ticks,
        }));
    }
    record::emit::<M>(&Record::<&str>::Wake(Wake {
        p50_ns: wake.percentile(50),
        p99_ns: wake.percentile(99),
        max_ns: wake.max(),
        count: wake.count(),
    }));
}

/// The result.
pub(crate) fn result<M: Machine>(workload: &str, lock: &str, board: &Board, elapsed: u64, tale: &Tale) {
    let mut waits = Histogram::default();
    for slot in board.slots() {
        waits.merge(&slot.waits.read());
    }
    let shares = || board.vcpus().map(|slots| acquired(&slots[0]));
    let (min, max) = (shares().min().unwrap_or(0), shares().max().unwrap_or(0));
    record::emit::<M>(&Record::Result(Work {
        workload,
        lock,
        elapsed_ns: elapsed,
        correct: tale.failures.is_empty(),
        wait_p50_ns: Some(waits.percentile(50)),
        wait_p99_ns: Some(waits.percentile(99)),
        wait_max_ns: Some(waits.max()),
        fairness: Some(Fairness { min, max }),
        ..tale.work.clone()
    }));
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
