//! Spreads tasks over threads.
use std::collections::VecDeque;
use std::sync::{Mutex, PoisonError};
use std::{io, thread};

/// Performs the tasks, each with one of the workers, in any order. After an error its worker begins no other.
pub(crate) fn spread<W: Sync, T: Send, R: Send, E: From<io::Error> + Send>(
    workers: &[W],
    tasks: impl IntoIterator<Item = T>,
    perform: impl Fn(&W, T) -> Result<R, E> + Sync,
) -> Result<Vec<R>, E> {
    let tasks: Mutex<VecDeque<T>> = Mutex::new(tasks.into_iter().collect());
    let next = || tasks.lock().unwrap_or_else(PoisonError::into_inner).pop_front();
    let of_one = |worker: &W| {
        core::iter::from_fn(next).map(|task| perform(worker, task)).collect::<Result<Vec<R>, E>>()
    };
    thread::scope(|scope| {
        let all: Vec<_> = workers.iter().map(|worker| scope.spawn(|| of_one(worker))).collect();
        let mut results = Vec::new();
        for one in all {
            let panicked = |_| Err(io::Error::other("a worker panicked").into());
            results.extend(one.join().unwrap_or_else(panicked)?);
        }
        Ok(results)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_task_is_performed_once() {
        let mut results = spread(&[10, 10], 0..5, |ten, task| io::Result::Ok(ten + task)).expect("no error");
        results.sort_unstable();
        assert_eq!(results, [10, 11, 12, 13, 14]);
        assert!(spread(&[], [1, 2], |(), _| io::Result::Ok(())).expect("no worker").is_empty());
    }

    #[test]
    fn errors_and_panics_come_back() {
        assert!(spread(&[()], [1], |(), _| Err::<(), _>(io::Error::other("no"))).is_err());
        assert!(
            spread(&[()], [1], |(), _| -> io::Result<()> { panic!("it is shown that it is seen") }).is_err()
        );
    }
}
