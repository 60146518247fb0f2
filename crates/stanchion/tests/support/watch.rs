//! Waiting in tests with a limit, so that a bug fails with the state of the queues instead of hanging.
use core::time::Duration;
use stanchion::diagnose::describe;
use stanchion::lock::{ByteLock, counted};
use stanchion::lock_api::RawMutex;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::thread::{self, JoinHandle};
use std::time::Instant;

/// Far beyond what any test needs on a machine that is busy; only a hang reaches it. Emulated machines are
/// told a longer one.
pub(crate) fn limit() -> Duration {
    let told = std::env::var("STANCHION_TEST_LIMIT").ok().and_then(|seconds| seconds.parse().ok());
    told.map_or(Duration::from_mins(1), Duration::from_secs)
}

/// Waits until `done` says so. `what` is told if it never does.
pub(crate) fn until(what: &str, report: impl Fn() -> String, mut done: impl FnMut() -> bool) {
    let began = Instant::now();
    while !done() {
        assert!(began.elapsed() < limit(), "never happened: {what}\n{}\n{}", report(), nodes());
        thread::sleep(Duration::from_micros(50));
    }
}

/// Every queue node in use in this process.
fn nodes() -> String {
    static SILENT: ByteLock = <ByteLock as RawMutex>::INIT;
    static COUNTED: counted::ByteLock = <counted::ByteLock as RawMutex>::INIT;
    format!("silent locks' nodes: {}\ncounting locks' nodes: {}", describe(&SILENT), describe(&COUNTED))
}

/// Threads that are joined with a limit.
pub(crate) struct Crew<T> {
    threads: Vec<Option<JoinHandle<T>>>,
    ends: Receiver<usize>,
    end: Sender<usize>,
}

/// Announces the end of a thread, be it by a panic.
struct Announce(Sender<usize>, usize);

impl Drop for Announce {
    fn drop(&mut self) {
        let _ = self.0.send(self.1); // nobody listens any more if another thread has failed
    }
}

impl<T: Send + 'static> Crew<T> {
    pub(crate) fn new() -> Self {
        let (end, ends) = channel();
        Self { threads: Vec::new(), ends, end }
    }

    pub(crate) fn spawn(&mut self, body: impl FnOnce() -> T + Send + 'static) {
        let announce = Announce(self.end.clone(), self.threads.len());
        self.threads.push(Some(thread::spawn(move || {
            let _announce = announce;
            body()
        })));
    }

    /// The results in the order of the threads. The first panic ends the wait at once, because the threads
    /// that wait for the one that panicked may never end.
    pub(crate) fn join(mut self, report: impl Fn() -> String) -> Vec<T> {
        let mut results: Vec<Option<T>> = self.threads.iter().map(|_| None).collect();
        for left in (1..=results.len()).rev() {
            match self.ends.recv_timeout(limit()) {
                Ok(index) => {
                    let thread = self.threads[index].take().expect("a thread ends once");
                    results[index] =
                        Some(thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)));
                }
                Err(RecvTimeoutError::Timeout) => panic!("{left} threads hang\n{}\n{}", report(), nodes()),
                Err(RecvTimeoutError::Disconnected) => unreachable!("the crew holds a sender itself"),
            }
        }
        results.into_iter().map(|result| result.expect("every thread has ended")).collect()
    }
}
