//! The hint that another thread is not running: it said that it runs on the CPU that we run on.
#![cfg(feature = "std")]

#[path = "support/suppressions.rs"]
mod suppressions;

use rustix::thread::{CpuSet, sched_getaffinity, sched_getcpu, sched_setaffinity};
use stanchion::native::Native;
use stanchion::stanchion_core::{CpuId, Machine};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread;

type Here = Native;

/// The tests take turns, because threads of one would take numbers that another gave back.
fn turn() -> MutexGuard<'static, ()> {
    static TURN: Mutex<()> = Mutex::new(());
    TURN.lock().unwrap_or_else(PoisonError::into_inner)
}

fn me() -> CpuId {
    Here::this_cpu().expect("few threads")
}

/// A thread that says where it runs and then sleeps until its handle is dropped.
struct Sleeper {
    id: CpuId,
    wake: Option<Sender<()>>,
    thread: Option<thread::JoinHandle<()>>,
}

impl Sleeper {
    /// `None` if it may not pin itself to `cpu`.
    fn on(cpu: Option<usize>) -> Option<Self> {
        let (tell, told) = channel();
        let (wake, woken): (_, Receiver<()>) = channel();
        let thread = thread::spawn(move || {
            let pinned = cpu.is_none_or(pin);
            let id = me();
            if cpu.is_some() {
                Here::publish_running();
            }
            tell.send(pinned.then_some(id)).expect("the test listens");
            let _ = woken.recv(); // the sender is only ever dropped
        });
        let id = told.recv().expect("the sleeper started")?;
        Some(Self { id, wake: Some(wake), thread: Some(thread) })
    }
}

impl Drop for Sleeper {
    fn drop(&mut self) {
        drop(self.wake.take());
        if let Some(thread) = self.thread.take() {
            assert!(thread.join().is_ok());
        }
    }
}

/// Binds the calling thread to one CPU. Whether the system lets it.
fn pin(cpu: usize) -> bool {
    let mut only = CpuSet::new();
    only.set(cpu);
    sched_setaffinity(None, &only).is_ok() && sched_getcpu() == cpu
}

/// The CPUs that this process may use.
fn allowed() -> Vec<usize> {
    let set = sched_getaffinity(None).expect("a thread may ask for its own CPUs");
    (0..CpuSet::MAX_CPU).filter(|&cpu| set.is_set(cpu)).collect()
}

#[test]
fn nobody_is_preempted_in_his_own_eyes() {
    let _turn = turn();
    let mine = me();
    assert!(!Here::is_preempted(mine), "nothing published yet");
    for _ in 0..100 {
        Here::publish_running();
        assert!(!Here::is_preempted(mine));
    }
}

#[test]
fn a_thread_does_not_inherit_where_the_last_one_with_its_number_ran() {
    let _turn = turn();
    let here = allowed()[0];
    if !pin(here) {
        eprintln!("skipped: this system does not let a thread choose its CPU");
        return;
    }
    me(); // takes a number before the others do
    let told = Sleeper::on(Some(here)).expect("pinned as we are");
    assert!(Here::is_preempted(told.id));
    let number = told.id;
    drop(told);
    // The lowest free numbers are handed out, and numbers of threads that have ended are free when some are
    // needed.
    let silent: Vec<Sleeper> = (0..40).filter_map(|_| Sleeper::on(None)).collect();
    assert!(silent.iter().any(|sleeper| sleeper.id == number), "the number is handed out again");
    assert!(!Here::is_preempted(number), "the thread that has it now never said where it runs");
}

#[test]
fn a_sleeper_on_our_cpu_is_seen_and_one_elsewhere_is_not() {
    let _turn = turn();
    let cpus = allowed();
    let here = cpus[0];
    if !pin(here) {
        eprintln!("skipped: this system does not let a thread choose its CPU");
        return;
    }
    let near = Sleeper::on(Some(here)).expect("pinned as we are");
    assert!(Here::is_preempted(near.id), "it cannot run where we run");
    let Some(&there) = cpus.get(1) else {
        eprintln!("the other half is skipped: there is one CPU only");
        return;
    };
    let far = Sleeper::on(Some(there)).expect("pinned elsewhere");
    assert!(!Here::is_preempted(far.id), "unknown: it may be running");
    assert!(pin(there));
    assert!(Here::is_preempted(far.id), "and now we are where it would run");
    assert!(!Here::is_preempted(near.id));
}
