//! Threads borrow connections from a pool that has one for four threads.
mod rounds;

use core::convert::Infallible;
use core::sync::atomic::{AtomicU32, Ordering::Relaxed};

struct Numbers(AtomicU32);

impl r2d2::ManageConnection for Numbers {
    type Connection = u64;
    type Error = Infallible;

    fn connect(&self) -> Result<u64, Infallible> {
        self.0.fetch_add(1, Relaxed);
        Ok(0)
    }

    fn is_valid(&self, _: &mut u64) -> Result<(), Infallible> {
        Ok(())
    }

    fn has_broken(&self, _: &mut u64) -> bool {
        false
    }
}

fn main() {
    let size = (rounds::asked().0 / 4).max(1) as u32;
    let builder = r2d2::Pool::builder().max_size(size).test_on_check_out(false);
    let pool = builder.build(Numbers(AtomicU32::new(0))).expect("a pool");
    let done = rounds::threads(|_, _| {
        let mut connection = pool.get().expect("within half a minute");
        for _ in 0..100 {
            *connection = core::hint::black_box(*connection + 1);
        }
    });
    let all: Vec<_> = (0..size).map(|_| pool.get().expect("all are back")).collect();
    assert_eq!(all.iter().map(|connection| **connection).sum::<u64>(), done * 100, "no query is lost");
}
