//! Work that is spread over the CPUs of this machine.
use crate::one_by_one::cpus;
use core::sync::atomic::{AtomicUsize, Ordering};
use lab_kit::interrupt;
use lab_kit::progress::Progress;
use std::thread::scope;

/// Performs all tasks, as many at once as there are CPUs. None for those that the user did not wait for.
pub(crate) fn all<T: Sync, R: Send>(
    tasks: &[T],
    progress: &Progress,
    perform: impl Fn(&T) -> R + Sync,
) -> Vec<Option<R>> {
    let next = AtomicUsize::new(0);
    let work = || {
        let mut done = Vec::new();
        while !interrupt::requested() {
            let index = next.fetch_add(1, Ordering::Relaxed);
            let Some(task) = tasks.get(index) else { break };
            done.push((index, perform(task)));
            progress.step();
        }
        done
    };
    let mut results: Vec<Option<R>> = tasks.iter().map(|_| None).collect();
    scope(|scope| {
        let threads: Vec<_> = (0..cpus()).map(|_| scope.spawn(work)).collect();
        for (index, result) in threads.into_iter().flat_map(|thread| thread.join().expect("no task panics")) {
            results[index] = Some(result);
        }
    });
    progress.finish();
    results
}
