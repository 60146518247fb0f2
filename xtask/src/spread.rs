//! Spreads tasks over threads.
use anyhow::{Result, bail};
use std::sync::{Mutex, PoisonError};
use std::thread;

/// Performs the tasks, each with one of the workers, in any order. After an error its worker begins no other.
pub(crate) fn spread<W: Sync, T, R: Send>(
    workers: &[W],
    tasks: impl IntoIterator<Item = T, IntoIter: Send>,
    perform: impl Fn(&W, T) -> Result<R> + Sync,
) -> Result<Vec<R>> {
    let tasks = Mutex::new(tasks.into_iter());
    let next = || tasks.lock().unwrap_or_else(PoisonError::into_inner).next();
    let of_one =
        |worker: &W| core::iter::from_fn(next).map(|task| perform(worker, task)).collect::<Result<Vec<R>>>();
    thread::scope(|scope| {
        let all: Vec<_> = workers.iter().map(|worker| scope.spawn(|| of_one(worker))).collect();
        let mut results = Vec::new();
        for one in all {
            results.extend(one.join().unwrap_or_else(|_| bail!("a worker panicked"))?);
        }
        Ok(results)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_task_is_performed_once() {
        let mut results = spread(&[10, 10], 0..5, |ten, task| anyhow::Ok(ten + task)).expect("no error");
        results.sort_unstable();
        assert_eq!(results, [10, 11, 12, 13, 14]);
        assert!(spread(&[], [1, 2], |(), _| anyhow::Ok(())).expect("no worker").is_empty());
    }

    #[test]
    fn errors_and_panics_come_back() {
        assert!(spread(&[()], [1], |(), _| -> Result<()> { bail!("no") }).is_err());
        assert!(spread(&[()], [1], |(), _| -> Result<()> { panic!("it is shown that it is seen") }).is_err());
    }
}
