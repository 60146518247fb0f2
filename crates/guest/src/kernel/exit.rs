//! How a run ends: through QEMU's device for that, or, without it, never.
use super::{arch, serial};
use core::fmt;
use core::panic::PanicInfo;
use core::sync::atomic::{AtomicBool, Ordering};
use stanchion_guest::Verdict;
use stanchion_guest::record::{Record, Test, TestOutcome};

/// QEMU's `isa-debug-exit`: its exit status is twice the value, plus one.
const PORT: u16 = 0xF4;
const OK: u32 = 0x10;
const FAILED: u32 = 0x11;
const PANICKED: u32 = 0x12;

/// Ticks of the time stamp counter: a second or more.
const A_WHILE: u64 = 1 << 32;

fn end(status: u32) -> ! {
    arch::out32(PORT, status);
    // QEMU may let the vCPU go on for a moment.
    let since = arch::ticks();
    while arch::ticks().wrapping_sub(since) < A_WHILE {
        core::hint::spin_loop();
    }
    serial::last_line(format_args!(
        "the device isa-debug-exit is missing: this machine stops, and has to be ended from outside"
    ));
    arch::stop()
}

/// The run is over, and the records are out.
pub(super) fn over(verdict: Verdict) -> ! {
    end(if verdict == Verdict::Ok { OK } else { FAILED })
}

/// The run has failed, and the records are out.
pub(super) fn failed() -> ! {
    end(FAILED)
}

/// The run cannot go on: says so in the records, and ends it as failed.
pub(super) fn fatal(what: &str, detail: fmt::Arguments<'_>) -> ! {
    once();
    last_record(&Record::Failure { what: &what, detail: &detail });
    last_record(&Record::End { ok: false });
    end(FAILED)
}

#[panic_handler]
fn panicked(panic: &PanicInfo<'_>) -> ! {
    once();
    // The suite's assertions come here.
    if let Some(test) = stanchion_guest::running_test() {
        last_record(&Record::Test(Test { name: &test, outcome: TestOutcome::Failed, detail: Some(panic) }));
    }
    last_record(&Record::Panic { message: panic });
    end(PANICKED)
}

fn last_record(record: &Record<&dyn fmt::Display>) {
    serial::last_line(format_args!("{record}"));
}

/// Whoever comes here second, on this vCPU or on another, only stops: the first one is about to end the
/// machine.
fn once() {
    static ENDING: AtomicBool = AtomicBool::new(false);
    arch::disable_interrupts();
    // ord: AB17 alone: only who is first matters
    if ENDING.swap(true, Ordering::Relaxed) {
        arch::stop();
    }
}
