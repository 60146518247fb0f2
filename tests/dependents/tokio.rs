//! Tasks on as many workers as there are threads share a semaphore, a limit as servers have it, and tell by a
//! channel what they did.
mod rounds;

use core::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::sync::Arc;
use std::time::Instant;
use tokio::sync::{Semaphore, watch};

fn main() {
    let (threads, time) = rounds::asked();
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(threads).enable_time().build();
    let runtime = runtime.expect("a runtime");
    let (done, took) = runtime.block_on(async {
        let (stop, limit) = (Arc::new(AtomicBool::new(false)), Arc::new(Semaphore::new(threads / 2 + 1)));
        let latest = Arc::new(watch::Sender::new(0_u64));
        let tasks: Vec<_> = (0..threads * 4)
            .map(|_| {
                let (stop, limit, latest) = (Arc::clone(&stop), Arc::clone(&limit), Arc::clone(&latest));
                tokio::spawn(async move {
                    let mut done = 0;
                    while !stop.load(Relaxed) {
                        let _permit = limit.acquire().await.expect("it is never closed");
                        latest.send_modify(|value| *value += 1);
                        done += 1;
                        tokio::task::yield_now().await;
                    }
                    done
                })
            })
            .collect();
        let begun = Instant::now();
        tokio::time::sleep(time).await;
        stop.store(true, Relaxed);
        let took = begun.elapsed();
        let mut done = 0_u64;
        for task in tasks {
            done += task.await.expect("no panic");
        }
        assert_eq!(*latest.borrow(), done, "nothing is lost");
        (done, took)
    });
    rounds::tell(done, took);
}
