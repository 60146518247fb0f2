//! Files made by hand, and files with anything in them.
use super::*;
use crate::run::record::tests::sparse;

fn put(bytes: &mut [u8], at: usize, value: u64, length: usize) {
    bytes[at..at + length].copy_from_slice(&value.to_le_bytes()[..length]);
}

/// A file with one process, one module and one contended mutex.
fn example() -> Vec<u8> {
    let mut bytes = vec![0; size_of::<File>()];
    bytes[..8].copy_from_slice(&MAGIC.to_le_bytes());
    for (field, value) in [VERSION, RECORD as u32, RECORDS as u32, PROCESSES as u32, MODULES as u32, 1, 1]
        .into_iter()
        .enumerate()
    {
        put(&mut bytes, 8 + 4 * field, value.into(), 4);
    }
    put(&mut bytes, 40 + 8, 3, 8);
    put(&mut bytes, 4096, 77, 4);
    put(&mut bytes, 4100, 5, 4);
    bytes[4104..4108].copy_from_slice(b"prog");
    for (at, value, length) in [(0, 1, 4), (4, 3, 4), (8, 0x1000, 8), (16, 0x2000, 8), (24, 0x500, 8)] {
        put(&mut bytes, AT_MODULES + at, value, length);
    }
    bytes[AT_MODULES + 32..AT_MODULES + 34].copy_from_slice(b"/p");
    let record = AT_RECORDS + 9 * RECORD;
    let fields = [(0, 0xabc, 8), (8, 1, 4), (12, 2 << 16 | 1, 4), (16, 0x1234, 8), (24, 0x1300, 8)];
    let counts = [(56, 1, 8), (64, 100, 8), (72, 40, 8), (112, 7, 8)];
    let times = [(128, 10, 8), (136, 1000, 8), (144, 120, 8), (152 + 4 * 12, 10, 4)];
    for (at, value, length) in fields.into_iter().chain(counts).chain(times) {
        put(&mut bytes, record + at, value, length);
    }
    bytes
}

#[test]
fn what_was_written_is_read() {
    let read = Snapshot::read(&example()).expect("a good file");
    assert_eq!(read.processes, [Process { pid: 77, name: "prog".to_owned() }]);
    let module = Module { process: 0, start: 0x1000, end: 0x2000, offset: 0x500, path: b"/p".to_vec() };
    assert_eq!((read.modules, read.left_to_libc), (vec![module], vec![(LEFT[1], 3)]));
    let [lock] = &read.locks[..] else { panic!("one lock: {:?}", read.locks) };
    assert_eq!((lock.acquisitions, lock.contended, lock.parks, lock.kind), (100, 40, 7, Kind::Mutex));
    assert_eq!(lock.frames, [0x1234, 0x1300]);
    // Ten of 100 ns on average stand for forty.
    assert!((lock.waited_ns - 4000.0).abs() < 1e-9);
    // Bucket 12 is from 64 to 80.
    assert_eq!(lock.wait.p50_ns, Some(72.0));
    assert_eq!(lock.hold.p50_ns, None);
}

#[test]
fn files_that_fuzzing_begins_with_are_sound() {
    for path in crate::tests::corpus("stats") {
        let lines = std::fs::read(&path).expect("readable");
        let read = sparse::file(size_of::<File>(), &lines, Snapshot::read);
        assert!(read.is_ok_and(|read| !read.locks.is_empty() && !read.modules.is_empty()), "{path:?}");
    }
}

#[test]
fn other_files_are_refused() {
    let good = example();
    assert!(Snapshot::read(b"figures\n").is_err());
    assert!(Snapshot::read(&good[..good.len() - 1]).is_err());
    for at in 0..28 {
        let mut bad = good.clone();
        bad[at] ^= 0x10;
        assert!(Snapshot::read(&bad).is_err(), "byte {at}");
    }
    let mut newer = good;
    newer[8] = 2;
    assert!(Snapshot::read(&newer).expect_err("newer").contains("version 2"));
}

#[test]
fn nothing_that_a_program_writes_is_trusted() {
    let good = example();
    let mut chance = fastrand::Rng::with_seed(6);
    for turn in 0..200 {
        let mut bad = good.clone();
        put(&mut bad, AT_RECORDS + 9 * RECORD + 128, turn % 2, 8);
        for _ in 0..40 {
            let place = match chance.u8(..3) {
                0 => 28..8192,
                1 => AT_MODULES..AT_MODULES + 2 * MODULE,
                _ => AT_RECORDS..AT_RECORDS + 12 * RECORD,
            };
            bad[chance.usize(place)] = chance.u8(..);
        }
        let read = Snapshot::read(&bad).expect("head and length are right");
        for lock in &read.locks {
            assert!(lock.process < read.processes.len());
            assert!(lock.wait.timed > 0 || lock.waited_ns == 0.0, "nothing was timed");
            for times in [&lock.wait, &lock.hold] {
                assert!(times.p99_ns.is_none_or(|time| time >= 0.0));
            }
        }
    }
}

#[test]
fn a_lock_is_named_after_the_side_that_waited_most() {
    let mut bytes = example();
    let record = AT_RECORDS + 9 * RECORD;
    // Others at the same address, before and behind it, that waited less and of whose use nothing is known.
    for other in [3, 12].map(|number| AT_RECORDS + number * RECORD) {
        bytes.copy_within(record..record + RECORD, other);
        put(&mut bytes, other + 12, 1, 4);
        put(&mut bytes, other + 72, 4, 8);
    }
    let stats = crate::run::stats::Stats::prepare(10, None, false).expect("a temporary file");
    std::fs::write(&stats.file, bytes).expect("written");
    let places = stats.places();
    assert_eq!(places.len(), 1);
    assert!(!places[&(77, "0xabc".to_owned())].is_empty(), "{places:?}");
}
