//! What is mapped where, read from `/proc/self/maps`. Asking the dynamic loader would take its lock, which a
//! thread may hold that waits for ours.
use crate::descriptor::Descriptor;

/// A line of `/proc/self/maps`.
pub(crate) struct Piece<'a> {
    pub(crate) start: u64,
    pub(crate) end: u64,
    /// Of `start` in the file.
    pub(crate) offset: u64,
    pub(crate) path: &'a [u8],
}

/// Shows `found` the piece that has the address, if there is one. Its buffer is in no other function's frame:
/// threads may have 16 KiB of stack.
#[inline(never)]
pub(crate) fn find<T>(address: u64, found: impl FnOnce(&Piece<'_>) -> T) -> Option<T> {
    let maps = Descriptor::open(b"/proc/self/maps\0", libc::O_RDONLY)?;
    let mut buffer = [0_u8; 4096];
    let mut filled = 0;
    loop {
        let read = maps.read(&mut buffer[filled..]);
        filled += read;
        let mut rest = &buffer[..filled];
        while let Some(end) = rest.iter().position(|&byte| byte == b'\n') {
            if let Some(piece) = Piece::of(&rest[..end]).filter(|piece| piece.has(address)) {
                return Some(found(&piece));
            }
            rest = &rest[end + 1..];
        }
        // A line that does not fit is one of a path that nobody could use either.
        let (kept, at) = if rest.len() == buffer.len() { (0, 0) } else { (rest.len(), filled - rest.len()) };
        buffer.copy_within(at..at + kept, 0);
        filled = kept;
        if read == 0 {
            return None;
        }
    }
}

impl<'a> Piece<'a> {
    /// `start-end rights offset device inode   path`
    fn of(line: &'a [u8]) -> Option<Self> {
        let hex = |digits: &[u8]| u64::from_str_radix(core::str::from_utf8(digits).ok()?, 16).ok();
        let mut words = line.splitn(6, |&byte| byte == b' ');
        let mut range = words.next()?.splitn(2, |&byte| byte == b'-');
        let (start, end) = (hex(range.next()?)?, hex(range.next()?)?);
        let offset = hex(words.nth(1)?)?;
        let path = words.nth(2).unwrap_or_default().trim_ascii();
        Some(Self { start, end, offset, path })
    }

    fn has(&self, address: u64) -> bool {
        (self.start..self.end).contains(&address)
    }

    /// The last part of the path.
    pub(crate) fn file(&self) -> &'a [u8] {
        self.path.rsplit(|&byte| byte == b'/').next().unwrap_or_default()
    }
}
