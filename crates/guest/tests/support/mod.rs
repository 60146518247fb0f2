//! A machine whose vCPUs are threads: the native platform, with timer signals for interrupts.
//!
//! Each run has its own storage, so that tests may run beside each other. A run that is abandoned leaves its
//! threads behind, asleep.
mod platform;
mod timer;

use core::cell::Cell;
use core::fmt;
use core::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};
use core::time::Duration;
pub(crate) use platform::Threads;
use serde_json::Value;
use stanchion::native::Native;
use stanchion_core::{CpuId, Machine as _};
use stanchion_family::platform::FixedDomain;
use stanchion_guest::{LiveHistogram, machine::Handler};
use stanchion_guest::{Machine, Meter, Order, Shared, Verdict, take_part};
use std::sync::{Mutex, OnceLock};
use std::time::Instant;

/// The most vCPUs of a run.
pub(crate) const MOST: usize = 16;

/// One vCPU.
#[derive(Default)]
struct Vcpu {
    /// The number of its thread in the native platform.
    native: OnceLock<CpuId>,
    halts: AtomicU64,
    halted_ns: AtomicU64,
    kicks_sent: AtomicU64,
    ticks: AtomicU64,
    wake: LiveHistogram,
}

/// One run's machine.
pub(crate) struct Run {
    vcpus: Vec<Vcpu>,
    domain: FixedDomain<Threads, MOST>,
    lines: Mutex<Vec<String>>,
    abandoned: AtomicBool,
    panicked: AtomicBool,
}

thread_local! {
    static HERE: Cell<Option<(&'static Run, u16)>> = const { Cell::new(None) };
    static HANDLER: Cell<Option<Handler>> = const { Cell::new(None) };
    static IN_HANDLER: Cell<u32> = const { Cell::new(0) };
}

fn here() -> (&'static Run, u16) {
    HERE.get().expect("the thread is a vCPU of a run")
}

fn me() -> &'static Vcpu {
    let (run, vcpu) = here();
    &run.vcpus[usize::from(vcpu)]
}

/// Stays here for ever if the run is over and this thread stuck.
fn stop_if_abandoned(run: &Run) {
    while run.abandoned.load(Relaxed) {
        std::thread::park();
    }
}

/// The timer signal.
fn on_tick() {
    let Some((run, _)) = HERE.get() else { return };
    stop_if_abandoned(run);
    me().ticks.fetch_add(1, Relaxed);
    if let Some(handler) = HANDLER.get() {
        IN_HANDLER.set(IN_HANDLER.get() + 1);
        handler();
        IN_HANDLER.set(IN_HANDLER.get() - 1);
    }
}

impl Machine for Threads {
    fn vcpus() -> u16 {
        here().0.vcpus.len() as u16
    }

    fn vcpu() -> u16 {
        here().1
    }

    fn emit(line: fmt::Arguments<'_>) {
        // A handler that came while this thread has the list would wait for itself.
        timer::masked(true, || {
            here().0.lines.lock().expect("nobody panics with the list").push(line.to_string());
        });
    }

    fn halt_until(deadline: u64) {
        let now = Self::now();
        if deadline > now {
            me().halts.fetch_add(1, Relaxed);
            timer::sleep(deadline - now);
            me().halted_ns.fetch_add(Self::now() - now, Relaxed);
        }
    }

    fn set_tick(period_nanos: u64, handler: Option<Handler>) {
        timer::masked(true, || {
            HANDLER.set(handler);
            timer::set(if handler.is_some() { period_nanos } else { 0 });
        });
    }

    fn with_interrupts_off<R>(f: impl FnOnce() -> R) -> R {
        timer::masked(true, f)
    }

    fn with_interrupts_on<R>(f: impl FnOnce() -> R) -> R {
        assert!((1..=3).contains(&IN_HANDLER.get()), "only handlers let interrupts in, three deep at most");
        timer::masked(false, f)
    }

    fn meter(vcpu: u16) -> Meter {
        let vcpu = &here().0.vcpus[usize::from(vcpu)];
        Meter {
            halts: vcpu.halts.load(Relaxed),
            halted_ns: vcpu.halted_ns.load(Relaxed),
            kicks_sent: vcpu.kicks_sent.load(Relaxed),
            kicks_woke: 0,
            ticks: vcpu.ticks.load(Relaxed),
            wake: vcpu.wake.read(),
        }
    }

    fn abandon() -> ! {
        here().0.abandoned.store(true, Relaxed);
        loop {
            std::thread::park();
        }
    }
}

/// What came of a run.
pub(crate) struct Outcome {
    /// `None` if it was abandoned.
    pub(crate) verdict: Option<Verdict>,
    /// Its records.
    pub(crate) records: Vec<Value>,
    /// A vCPU has panicked; the others were left behind.
    pub(crate) panicked: bool,
}

impl Outcome {
    /// The records called `name`.
    pub(crate) fn all<'a>(&'a self, name: &'a str) -> impl Iterator<Item = &'a Value> {
        self.records.iter().filter(move |record| record["record"] == name)
    }

    /// The only record called `name`.
    pub(crate) fn only<'a>(&'a self, name: &'a str) -> &'a Value {
        let found: Vec<&Value> = self.all(name).collect();
        assert_eq!(found.len(), 1, "one {name} in {:#?}", self.records);
        found[0]
    }
}

/// Abandons the run when its vCPU panics, as a kernel's panic handler does.
struct Panics(&'static Run);

impl Drop for Panics {
    fn drop(&mut self) {
        if std::thread::panicking() {
            self.0.panicked.store(true, Relaxed);
            self.0.abandoned.store(true, Relaxed);
        }
    }
}

/// Runs the order on so many threads, to its end.
pub(crate) fn run(vcpus: u16, line: &str) -> Outcome {
    run_for(Duration::from_mins(5), vcpus, line)
        .unwrap_or_else(|records| panic!("'{line}' hangs: {records:#?}"))
}

/// Runs it for so long at most. An error is what a run that is overdue has said until then: nobody looks
/// whether somebody is stuck once all vCPUs are, with interrupts off, and it is its host that ends such a
/// guest.
pub(crate) fn run_for(limit: Duration, vcpus: u16, line: &str) -> Result<Outcome, Vec<String>> {
    let order = Order::parse(line).unwrap_or_else(|error| panic!("{line}: {error}"));
    timer::install(on_tick);
    let run: &'static Run = Box::leak(Box::new(Run {
        vcpus: (0..vcpus).map(|_| Vcpu::default()).collect(),
        domain: FixedDomain::new(),
        lines: Mutex::default(),
        abandoned: AtomicBool::new(false),
        panicked: AtomicBool::new(false),
    }));
    let shared: &'static Shared<Threads> = Box::leak(Box::new(Shared::new()));
    let threads: Vec<_> = (0..vcpus)
        .map(|vcpu| {
            let order = order.clone();
            std::thread::spawn(move || {
                run.vcpus[usize::from(vcpu)]
                    .native
                    .get_or_init(|| <Native>::this_cpu().expect("a thread gets a number"));
                HERE.set(Some((run, vcpu)));
                let _panics = Panics(run);
                let verdict = take_part(&order, shared);
                HERE.set(None);
                verdict
            })
        })
        .collect();
    let deadline = Instant::now() + limit;
    while !threads.iter().all(std::thread::JoinHandle::is_finished) && !run.abandoned.load(Relaxed) {
        if Instant::now() >= deadline {
            run.abandoned.store(true, Relaxed);
            return Err(run.lines.lock().expect("nobody panics with the list").clone());
        }
        std::thread::sleep(Duration::from_millis(5));
    }
    let verdict = (!run.abandoned.load(Relaxed)).then(|| {
        let verdicts = threads.into_iter().map(|thread| thread.join().expect("no vCPU panics"));
        verdicts.collect::<Vec<_>>()[0]
    });
    let panicked = run.panicked.load(Relaxed);
    let lines = run.lines.lock().expect("nobody panics with the list");
    let records =
        lines.iter().map(|line| serde_json::from_str(line).unwrap_or_else(|error| panic!("{line}: {error}")));
    Ok(Outcome { verdict, records: records.collect(), panicked })
}
