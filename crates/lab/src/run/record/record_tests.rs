//! What the library may leave behind, made by hand.
use super::*;
use std::fs::File;

#[path = "../../../../../fuzz/targets/sparse.rs"]
pub(crate) mod sparse;

fn record(dir: &Path) -> Record {
    Record::prepare(&dir.join("trace"), 1, false, true).expect("a new file")
}

/// As the library writes the header and a chunk; `pages` is what the chunk says of itself.
fn write_chunk(record: &Record, at_page: u64, pages: u32, events: &[u8], number: u32) {
    let file = record.raw.as_file();
    let put = |bytes: &[u8], at: u64| file.write_all_at(bytes, at).expect("written");
    put(&2_u32.to_le_bytes(), 12);
    put(&9_u64.to_le_bytes(), 24);
    let start = at_page * raw::PAGE;
    put(b"CHNK", start);
    put(&pages.to_le_bytes(), start + 4);
    put(&1000_u64.to_le_bytes(), start + 24);
    put(&(events.len() as u32).to_le_bytes(), start + 32);
    put(&number.to_le_bytes(), start + 36);
    put(events, start + size_of::<stanchion_wire::trace::Chunk>() as u64);
}

#[test]
fn gaps_are_passed_and_destroyed_pieces_are_counted() {
    let dir = tempfile::tempdir().expect("a temporary directory");
    assert_eq!(record(dir.path()).write(&[]).expect_err("the library was never there"), NOTHING);
    let record = record(dir.path());
    let events = codec::tests::encode(&codec::tests::some_events());
    write_chunk(&record, 1, 1, &events, 5);
    write_chunk(&record, 3, 2, &events, 5);
    write_chunk(&record, 5, 17, &events, 5);
    write_chunk(&record, 6, 1, &events, 4);
    write_chunk(&record, 7, 1, &events[1..], 5);
    write_chunk(&record, 9, 2, &events, 5);
    let totals = record.write(&[]).expect("written");
    // The last one would go beyond the pages that were taken.
    assert_eq!((totals.chunks, totals.events, totals.damaged), (2, 10, 4));
    let summary = Summary::of(&dir.path().join("trace")).expect("a sound file");
    assert!(summary.text().contains("destroyed 4 pieces"), "{}", summary.text());
}

#[test]
fn numbers_without_sense_are_borne() {
    let dir = tempfile::tempdir().expect("a temporary directory");
    let record = record(dir.path());
    let events = codec::tests::encode(&codec::tests::some_events());
    for page in [1, 2] {
        write_chunk(&record, page, 1, &events, 5);
        let dropped = page * raw::PAGE + core::mem::offset_of!(stanchion_wire::trace::Chunk, dropped) as u64;
        record.raw.as_file().write_all_at(&u64::MAX.to_le_bytes(), dropped).expect("written");
    }
    let totals = record.write(&[]).expect("written");
    assert_eq!((totals.chunks, totals.dropped), (2, u64::MAX));
    let missing = Totals { damaged: 1, ..totals }.missing().expect("much is");
    assert!(missing.starts_with("18446744073709551615 events were dropped"), "{missing}");
}

#[test]
fn files_that_fuzzing_begins_with_are_sound() {
    for path in crate::tests::corpus("trace") {
        assert!(Summary::of(&path).is_ok(), "{}", path.display());
    }
    for path in crate::tests::corpus("raw") {
        let lines = std::fs::read(&path).expect("readable");
        let mut raw = tempfile::tempfile().expect("a temporary file");
        sparse::file(1 << 17, &lines, |bytes| io::Write::write_all(&mut raw, bytes)).expect("written");
        let header = Header::read(&raw).expect("sound").expect("recorded");
        assert_eq!(raw::chunks(&raw, &header, |_| Ok(())).ok(), Some(0));
    }
}

#[test]
fn a_file_that_is_no_longer_ours_is_told_in_one_line() {
    let dir = tempfile::tempdir().expect("a temporary directory");
    let record = record(dir.path());
    record.raw.as_file().write_all_at(b"x", 0).expect("written");
    assert!(record.write(&[]).expect_err("damaged").contains("not what the library writes"));
}

#[test]
fn a_path_that_the_library_cannot_be_told_is_refused_before_anything_is_made() {
    let dir = tempfile::tempdir().expect("a temporary directory");
    assert!(Record::prepare(&dir.path().join("a,b"), 1, false, true).is_err());
    assert_eq!(std::fs::read_dir(dir.path()).expect("readable").count(), 0);
}

#[test]
fn a_record_replaces_nothing_without_force() {
    let dir = tempfile::tempdir().expect("a temporary directory");
    let path = dir.path().join("trace");
    std::fs::write(&path, "precious").expect("written");
    assert!(Record::prepare(&path, 1, false, true).err().expect("exists").contains("--force"));
    assert!(Record::prepare(&path, 1, true, true).is_ok());
    assert_eq!(std::fs::read_dir(dir.path()).expect("readable").count(), 1, "nothing but the trace is left");
}

#[test]
fn a_disk_that_fills_leaves_what_was_recorded_and_nothing_else() {
    let dir = tempfile::tempdir().expect("a temporary directory");
    let record = record(dir.path());
    write_chunk(&record, 1, 1, &codec::tests::encode(&codec::tests::some_events()), 5);
    std::os::unix::fs::symlink("/dev/full", dir.path().join("trace.part")).expect("linked");
    let told = record.finish(&[]).expect_err("full");
    let left: Vec<_> = std::fs::read_dir(dir.path()).expect("readable").collect();
    let [Ok(raw)] = &left[..] else { panic!("{left:?}") };
    assert!(told.ends_with(&format!("what the library wrote is in {}", raw.path().display())), "{told}");
    assert!(Header::read(&File::open(raw.path()).expect("there")).expect("sound").is_some());
}
