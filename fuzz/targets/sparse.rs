//! Files that are mostly zeros, for a fuzzer to write: a few of their lines of 64 bytes, each behind its
//! number.
use core::cell::RefCell;

const LINE: usize = 64;
const NUMBER: usize = size_of::<u32>();

thread_local! {
    /// The file without any line: clearing those that it had is less work than a new one.
    static BLANK: RefCell<Vec<u8>> = const { RefCell::new(Vec::new()) };
}

/// What `look` finds in a file of `length` bytes with those lines in it.
pub(crate) fn file<T>(length: usize, lines: &[u8], look: impl FnOnce(&[u8]) -> T) -> T {
    BLANK.with_borrow_mut(|file| {
        file.resize(length, 0);
        let pieces = lines.as_chunks::<{ NUMBER + LINE }>().0.iter().map(|piece| {
            let (number, line) = piece.split_first_chunk::<NUMBER>().expect("it is longer");
            let at = u32::from_le_bytes(*number) as usize % (length / LINE) * LINE;
            (at..at + LINE, line)
        });
        pieces.clone().for_each(|(place, line)| file[place].copy_from_slice(line));
        let found = look(file);
        pieces.for_each(|(place, _)| file[place].fill(0));
        found
    })
}
