//! A routing table that every thread looks at and one thread now and then changes, behind each reader-writer
//! lock of the crate.
//!
//! `cargo run --release --example read_mostly [SECONDS]` prints lookups and changes a second. It is an
//! example of use, not a benchmark: see `stanchion bench --rw`.
use core::sync::atomic::{AtomicBool, Ordering};
use core::time::Duration;
use stanchion::RwLock;
use stanchion::percpu::{Class, PerCpuRwLock};
use std::collections::BTreeMap;
use std::thread;
use std::time::Instant;

/// First address of a network, and where its packets go.
type Routes = BTreeMap<u32, u16>;

/// Locks that a thread may read at the same time belong to different classes; this program has one lock, so
/// one class.
static TABLES: Class = Class::new();

static PER_CPU: PerCpuRwLock<Routes> = PerCpuRwLock::new(&TABLES, Routes::new());
static QUEUED: RwLock<Routes> = RwLock::new(Routes::new());

/// Where packets to `address` go.
fn route(routes: &Routes, address: u32) -> Option<u16> {
    routes.range(..=address).next_back().map(|(_, &port)| port)
}

/// Runs lookups on as many threads as there are CPUs, and a change every millisecond.
fn run(
    name: &str,
    time: Duration,
    look_up: impl Fn(u32) -> Option<u16> + Sync,
    change: impl Fn(u32, u16) + Sync,
) {
    let stop = AtomicBool::new(false);
    let threads = thread::available_parallelism().map_or(2, core::num::NonZero::get);
    let (look_up, stop) = (&look_up, &stop);
    change(0, 0); // the default route
    let began = Instant::now();
    let (lookups, changes) = thread::scope(|scope| {
        let readers: Vec<_> = (0..threads)
            .map(|reader| {
                scope.spawn(move || {
                    let (mut lookups, mut address) = (0_u64, reader as u32);
                    while !stop.load(Ordering::Relaxed) {
                        address = address.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
                        assert!(look_up(address).is_some(), "there is a default route");
                        lookups += 1;
                    }
                    lookups
                })
            })
            .collect();
        let mut changes = 0_u32;
        while began.elapsed() < time {
            change(changes.wrapping_mul(0x9E37_79B9), changes as u16);
            changes += 1;
            thread::sleep(Duration::from_millis(1));
        }
        stop.store(true, Ordering::Relaxed);
        let lookups: u64 = readers.into_iter().map(|reader| reader.join().expect("no panic")).sum();
        (lookups, changes)
    });
    let seconds = began.elapsed().as_secs_f64();
    println!(
        "{name:>10}: {:7.2} million lookups/s, {:4.0} changes/s",
        lookups as f64 / seconds / 1e6,
        f64::from(changes) / seconds
    );
}

fn main() {
    let seconds = std::env::args().nth(1).map_or(Ok(1.0), |text| text.parse::<f64>());
    let Some(time) = seconds.ok().and_then(|seconds| Duration::try_from_secs_f64(seconds).ok()) else {
        eprintln!("the argument is how many seconds to run, such as 0.5");
        std::process::exit(2);
    };
    run(
        "percpu-rw",
        time,
        |address| route(&PER_CPU.read(), address),
        |address, port| {
            PER_CPU.write().insert(address, port);
        },
    );
    run(
        "qrw",
        time,
        |address| route(&QUEUED.read(), address),
        |address, port| {
            QUEUED.write().insert(address, port);
        },
    );
}
