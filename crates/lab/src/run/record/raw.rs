//! The file that the library writes, read when the program has ended. `crates/preload/src/trace/layout.rs` is
//! the other side of this table.
use super::codec::{self, Event};
use std::fs::File;
use std::os::unix::fs::FileExt;

pub(crate) const PAGE: u64 = 4096;
const MAGIC: &[u8; 8] = b"STANCREC";
const VERSION: u32 = 1;
const CHUNK_MAGIC: &[u8; 4] = b"CHNK";
/// Bytes of a chunk before its events.
const HEAD: usize = 704;
const MOST_PAGES: u64 = 16;

/// The first page of a file of so many, before the library has seen it.
pub(crate) fn first_page(pages: u64) -> [u8; 24] {
    let mut bytes = [0; 24];
    bytes[..8].copy_from_slice(MAGIC);
    bytes[8..12].copy_from_slice(&VERSION.to_le_bytes());
    bytes[16..].copy_from_slice(&pages.to_le_bytes());
    bytes
}

/// What the first page says.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Header {
    /// Whether times are nanoseconds already.
    pub is_nanos: bool,
    pages: u64,
    taken: u64,
    pub dropped: u64,
    /// The same moment in ticks and nanoseconds.
    pub ticks: u64,
    pub nanos: u64,
}

impl Header {
    /// None if no program has loaded the library.
    pub(crate) fn read(file: &File) -> Result<Option<Self>, String> {
        let mut bytes = [0; 72];
        file.read_exact_at(&mut bytes, 0).map_err(|error| error.to_string())?;
        let pages = u64_at(&bytes, 16);
        let length = file.metadata().map_err(|error| error.to_string())?.len();
        if &bytes[..8] != MAGIC || u32_at(&bytes, 8) != VERSION || Some(length) != pages.checked_mul(PAGE) {
            return Err("is not what the library writes".to_owned());
        }
        let clock = u32_at(&bytes, 12);
        Ok((clock != 0).then(|| Self {
            is_nanos: clock == 2,
            pages,
            taken: u64_at(&bytes, 24),
            dropped: u64_at(&bytes, 32),
            ticks: u64_at(&bytes, 48),
            nanos: u64_at(&bytes, 56),
        }))
    }

    /// Whether all pages were given away.
    pub(crate) fn is_full(&self) -> bool {
        self.taken >= self.pages - 1
    }
}

/// What a thread wrote in one piece.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Chunk {
    pub process: u32,
    pub pid: u32,
    pub thread: u64,
    /// The time from which the first event counts.
    pub base: u64,
    pub dropped: u64,
    pub number: u32,
    pub events: Vec<u8>,
}

impl Chunk {
    pub(crate) fn decode(&self, each: impl FnMut(&Event)) -> Option<()> {
        (codec::decode(&self.events, self.base, each)? == self.number).then_some(())
    }
}

/// Calls `each` with each chunk, in the order in which they were taken. Returns how many were none that the
/// library writes.
pub(crate) fn chunks(
    file: &File,
    header: &Header,
    mut each: impl FnMut(Chunk) -> Result<(), String>,
) -> Result<u64, String> {
    let end = header.taken.saturating_add(1).min(header.pages);
    let (mut page, mut damaged) = (1, 0);
    let mut bytes = vec![0; (PAGE * MOST_PAGES) as usize];
    while page < end {
        let read =
            |bytes: &mut [u8]| file.read_exact_at(bytes, page * PAGE).map_err(|error| error.to_string());
        read(&mut bytes[..HEAD])?;
        if &bytes[..4] != CHUNK_MAGIC {
            // Taken by a thread that did not come to write.
            page += 1;
            continue;
        }
        let pages = u64::from(u32_at(&bytes, 4));
        let used = u32_at(&bytes, 32) as usize;
        if pages == 0 || pages > MOST_PAGES || pages > end - page || used > (pages * PAGE) as usize - HEAD {
            (page, damaged) = (page + 1, damaged + 1);
            continue;
        }
        read(&mut bytes[..HEAD + used])?;
        page += pages;
        let chunk = Chunk {
            process: u32_at(&bytes, 8),
            pid: u32_at(&bytes, 12),
            thread: u64_at(&bytes, 16),
            base: u64_at(&bytes, 24),
            dropped: u64_at(&bytes, 40),
            number: u32_at(&bytes, 36),
            events: bytes[HEAD..HEAD + used].to_vec(),
        };
        if chunk.decode(|_| {}).is_some() {
            each(chunk)?;
        } else {
            damaged += 1;
        }
    }
    Ok(damaged)
}

fn u32_at(bytes: &[u8], at: usize) -> u32 {
    bytes[at..at + 4].iter().rev().fold(0, |value, &byte| value << 8 | u32::from(byte))
}

fn u64_at(bytes: &[u8], at: usize) -> u64 {
    u64::from(u32_at(bytes, at)) | u64::from(u32_at(bytes, at + 4)) << 32
}
