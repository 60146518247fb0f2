//! The file that the library writes, read when the program has ended.
use super::codec::{self, Event, Item};
use core::mem::offset_of;
use stanchion_wire::Bytes;
use stanchion_wire::trace::{self, CHUNK_MAGIC, MAGIC, VERSION};
use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;

pub(crate) const PAGE: u64 = trace::PAGE as u64;
/// Bytes of a chunk before its events.
const HEAD: usize = size_of::<trace::Chunk>();

/// The first page of a file of so many, before the library has seen it: magic, version, clock, pages.
pub(crate) fn first_page(pages: u64) -> Vec<u8> {
    const { assert!(offset_of!(trace::Header, version) == 8 && offset_of!(trace::Header, pages) == 16) };
    [&MAGIC.to_le_bytes()[..], &VERSION.to_le_bytes(), &[0; 4], &pages.to_le_bytes()].concat()
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct Header {
    pub is_nanos: bool,
    /// Pages that were taken, with the first one.
    used: u64,
    pub is_full: bool,
    pub dropped: u64,
    /// The same moment in ticks and nanoseconds.
    pub ticks: u64,
    pub nanos: u64,
}

impl Header {
    /// None if no program has loaded the library.
    pub(crate) fn read(file: &File) -> Result<Option<Self>, String> {
        use trace::Header as H;
        let mut bytes = [0; size_of::<H>()];
        file.read_exact_at(&mut bytes, 0).map_err(|error| error.to_string())?;
        let bytes = Bytes(&bytes);
        let pages = bytes.u64(offset_of!(H, pages));
        let length = file.metadata().map_err(|error| error.to_string())?.len();
        let is = (bytes.u64(offset_of!(H, magic)), bytes.u32(offset_of!(H, version)));
        if is != (MAGIC, VERSION) || Some(length) != pages.checked_mul(PAGE) {
            return Err("is not what the library writes".to_owned());
        }
        let clock = bytes.u32(offset_of!(H, clock));
        let used = bytes.u64(offset_of!(H, taken)).saturating_add(1);
        Ok((clock != 0).then(|| Self {
            is_nanos: clock == 2,
            used: used.min(pages),
            is_full: used >= pages,
            dropped: bytes.u64(offset_of!(H, dropped)),
            ticks: bytes.u64(offset_of!(H, ticks)),
            nanos: bytes.u64(offset_of!(H, nanos)),
        }))
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
    /// Calls `each` with what it says. None if that is damaged; some items were given out then.
    pub(crate) fn items(&self, each: impl FnMut(Item)) -> Option<()> {
        (codec::items(&self.events, self.base, each)? == self.number).then_some(())
    }

    /// The same without marks.
    pub(crate) fn events(&self, mut each: impl FnMut(&Event)) -> Option<()> {
        self.items(|item| {
            if let Item::Event(event) = item {
                each(&event);
            }
        })
    }
}

/// Calls `each` with each chunk, in the order in which they were taken. Returns how many were damaged.
pub(crate) fn chunks(
    file: &File,
    header: &Header,
    mut each: impl FnMut(Chunk) -> io::Result<()>,
) -> io::Result<u64> {
    use trace::Chunk as C;
    let read = |bytes: &mut [u8], page: u64| file.read_exact_at(bytes, page * PAGE);
    let (mut page, mut damaged) = (1, 0);
    let mut bytes = vec![0; trace::PAGE * trace::MOST_PAGES as usize];
    while page < header.used {
        read(&mut bytes[..HEAD], page)?;
        let head = Bytes(&bytes);
        let (pages, filled) = (u64::from(head.u32(offset_of!(C, pages))), head.u64(offset_of!(C, filled)));
        let used = filled as u32 as usize;
        // If not, they were taken by a thread that did not come to write.
        let is_there = head.u32(offset_of!(C, magic)) == CHUNK_MAGIC;
        let most = (header.used - page).min(trace::MOST_PAGES.into());
        if !is_there || !(1..=most).contains(&pages) || used > (pages * PAGE) as usize - HEAD {
            (page, damaged) = (page + 1, damaged + u64::from(is_there));
            continue;
        }
        read(&mut bytes[..HEAD + used], page)?;
        page += pages;
        let head = Bytes(&bytes);
        let chunk = Chunk {
            process: head.u32(offset_of!(C, process)),
            pid: head.u32(offset_of!(C, pid)),
            thread: head.u64(offset_of!(C, thread)),
            base: head.u64(offset_of!(C, base)),
            dropped: head.u64(offset_of!(C, dropped)),
            number: (filled >> 32) as u32,
            events: bytes[HEAD..HEAD + used].to_vec(),
        };
        match chunk.items(|_| {}) {
            Some(()) => each(chunk)?,
            None => damaged += 1,
        }
    }
    Ok(damaged)
}
