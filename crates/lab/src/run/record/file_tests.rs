//! Files that come back as they were written, and files that something happened to.
use super::*;
use crate::run::record::codec::tests::{encode, some_events};
use crate::run::record::summary::Summary;

fn meta() -> Meta {
    Meta {
        ticks_per_ns: 2.5,
        limit: 1 << 20,
        program: vec!["p".to_owned()],
        provenance: Provenance::collect(0),
        cost: None,
        cpu: Some(CpuTime { wall: 2e9, own: 2.5e9, others: 5e8, cpus: Some(2) }),
    }
}

fn chunk_of(thread: u64) -> Chunk {
    let events = some_events();
    Chunk { process: 1, pid: 77, thread, base: 1000, dropped: 2, number: 5, events: encode(&events) }
}

fn small_file() -> Vec<u8> {
    let mut writer = Writer::begin(Vec::new(), &meta()).expect("memory");
    writer.chunk(&chunk_of(3)).expect("memory");
    writer.chunk(&chunk_of(4)).expect("memory");
    let keys = some_events().into_iter().map(|(_, event)| event.key);
    let locks: Vec<Lock> = keys.take(2).map(|key| (1, key)).collect();
    let totals = Totals { chunks: 2, events: 10, dropped: 4, damaged: 0, is_full: true };
    writer.end(&locks, &totals).expect("memory")
}

fn file_of(chunk: &Chunk, locks: &[Lock], (chunks, events): (u64, u64)) -> Vec<u8> {
    let mut writer = Writer::begin(Vec::new(), &meta()).expect("memory");
    writer.chunk(chunk).expect("memory");
    writer.end(locks, &Totals { chunks, events, ..Totals::default() }).expect("memory")
}

fn read_all(bytes: &[u8]) -> Result<(Whole, Vec<Chunk>), String> {
    let mut chunks = Vec::new();
    let whole = read(bytes, |chunk| {
        chunks.push(chunk.clone());
        chunk.items(|_| {})
    })?;
    Ok((whole, chunks))
}

#[test]
fn a_file_comes_back_as_it_was() {
    let (whole, chunks) = read_all(&small_file()).expect("good");
    assert_eq!(chunks, [chunk_of(3), chunk_of(4)]);
    assert_eq!((whole.locks.len(), whole.totals.dropped, whole.totals.is_full), (2, 4, true));
    assert_eq!((whole.meta.ticks_per_ns, &whole.meta.program[..]), (2.5, &["p".to_owned()][..]));
}

#[test]
fn every_damaged_bit_is_noticed() {
    let good = small_file();
    for at in 0..good.len() {
        for bit in 0..8 {
            let mut bad = good.clone();
            bad[at] ^= 1 << bit;
            let why = read_all(&bad).expect_err("damaged");
            assert!(!why.contains('\n') && !why.is_empty(), "byte {at}: {why}");
        }
    }
}

#[test]
fn every_missing_or_surplus_byte_is_noticed() {
    let good = small_file();
    for end in 0..good.len() {
        assert_eq!(read_all(&good[..end]).expect_err("short"), CUT, "{end} bytes");
    }
    let more = [&good[..], &[0]].concat();
    assert_eq!(read_all(&more).expect_err("long"), DAMAGED);
}

/// Sound checksums do not make a sound file.
#[test]
fn sections_in_another_order_are_refused() {
    let mut writer = Writer::begin(Vec::new(), &meta()).expect("memory");
    writer.section(END, &[0; 40]).expect("memory");
    assert_eq!(read_all(&writer.0).expect_err("no locks"), DAMAGED);
    let bytes = file_of(&Chunk { number: 4, ..chunk_of(1) }, &[], (1, 4));
    assert_eq!(read_all(&bytes).expect_err("a number of events that is not theirs"), DAMAGED);
    assert_eq!(read_all(&file_of(&chunk_of(1), &[], (2, 10))).expect_err("a chunk is missing"), DAMAGED);
}

#[test]
fn the_table_of_locks_names_each_once_in_any_order() {
    let path = tempfile::NamedTempFile::new().expect("a temporary file").into_temp_path();
    let [a, b] = [1, 2].map(|event: usize| (1, some_events()[event].1.key));
    let is_sound = |locks: &[Lock]| {
        std::fs::write(&path, file_of(&chunk_of(3), locks, (1, 5))).expect("written");
        Summary::of(&path).is_ok()
    };
    assert!(is_sound(&[a, b]) && is_sound(&[b, a]));
    assert!(!is_sound(&[a]) && !is_sound(&[a, b, a]));
}

#[test]
fn another_version_is_named() {
    let mut other = small_file();
    other[8] = 9;
    assert!(read_all(&other).expect_err("another").contains("version 9"));
    assert!(read_all(b"#!/bin/sh\necho a script\n").expect_err("no trace").contains("no trace"));
}
