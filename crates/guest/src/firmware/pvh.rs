//! The start information of PVH: the command line, where ACPI's tables are, and which memory there is.
use super::{Physical, number};
use alloc::string::String;
use alloc::vec::Vec;

const MAGIC: u64 = 0x336e_c578;
/// Bytes of the structure from version 1 on.
const SIZE: usize = 56;
/// Bytes of one entry of the memory map.
const ENTRY: usize = 24;
const USABLE: u64 = 1;
/// A longer command line is cut.
const LONGEST_LINE: usize = 4096;

/// The usable memory that is largest from `from` to `to`, as `(address, bytes)`. Allocates nothing: there is
/// no heap before it.
pub fn largest(memory: &impl Physical, info: u64, from: u64, to: u64) -> Option<(u64, u64)> {
    let header = header(memory, info)?;
    let count = usize::try_from(number::<4>(header, 48)?).ok()?;
    let map = memory.bytes(number::<8>(header, 40)?, count.checked_mul(ENTRY)?)?;
    let usable = map.chunks_exact(ENTRY).filter_map(|entry| {
        let (base, size) = (number::<8>(entry, 0)?, number::<8>(entry, 8)?);
        (number::<4>(entry, 16)? == USABLE).then_some((base, base.saturating_add(size)))
    });
    let clipped = usable.filter_map(|(start, end)| {
        let (start, end) = (start.max(from), end.min(to));
        (start < end).then(|| (start, end - start))
    });
    clipped.max_by_key(|(_, size)| *size)
}

/// The command line; `None` if there is no start information at `info`.
pub fn line(memory: &impl Physical, info: u64) -> Option<String> {
    match number::<8>(header(memory, info)?, 24)? {
        0 => Some(String::new()),
        address => text(memory, address),
    }
}

/// Where the root of ACPI's tables is, if it is said.
pub fn rsdp(memory: &impl Physical, info: u64) -> Option<u64> {
    number::<8>(header(memory, info)?, 32).filter(|&address| address != 0)
}

fn header(memory: &impl Physical, info: u64) -> Option<&[u8]> {
    let header = memory.bytes(info, SIZE)?;
    // Version 0 has no memory map.
    (number::<4>(header, 0)? == MAGIC && number::<4>(header, 4)? >= 1).then_some(header)
}

/// Bytes up to a zero.
fn text(memory: &impl Physical, address: u64) -> Option<String> {
    let mut found = Vec::new();
    while found.len() < LONGEST_LINE {
        match memory.bytes(address.checked_add(found.len() as u64)?, 1)? {
            [0] => break,
            byte => found.extend_from_slice(byte),
        }
    }
    Some(String::from_utf8_lossy(&found).into_owned())
}

#[cfg(test)]
mod tests {
    use super::super::testing::Pieces;
    use super::*;
    use alloc::vec;

    fn start(version: u32, rsdp: u64) -> Pieces {
        let mut header = vec![0; SIZE];
        header[0..4].copy_from_slice(&(MAGIC as u32).to_le_bytes());
        header[4..8].copy_from_slice(&version.to_le_bytes());
        header[24..32].copy_from_slice(&0x2000_u64.to_le_bytes());
        header[32..40].copy_from_slice(&rsdp.to_le_bytes());
        header[40..48].copy_from_slice(&0x3000_u64.to_le_bytes());
        header[48..52].copy_from_slice(&3_u32.to_le_bytes());
        let mut map = Vec::new();
        for (base, size, kind) in
            [(0_u64, 0x9_f000_u64, 1_u32), (0xf_0000, 0xffff_0000, 2), (0x10_0000, 0xff0_0000, 1)]
        {
            map.extend_from_slice(&base.to_le_bytes());
            map.extend_from_slice(&size.to_le_bytes());
            map.extend_from_slice(&kind.to_le_bytes());
            map.extend_from_slice(&[0; 4]);
        }
        Pieces(vec![(0x1000, header), (0x2000, b"workload=boot seed=1\0junk".to_vec()), (0x3000, map)])
    }

    #[test]
    fn the_line_and_the_tables_are_found() {
        let memory = start(1, 0xf_52d0);
        assert_eq!(line(&memory, 0x1000).as_deref(), Some("workload=boot seed=1"));
        assert_eq!(rsdp(&memory, 0x1000), Some(0xf_52d0));
        assert_eq!(rsdp(&start(1, 0), 0x1000), None);
    }

    #[test]
    fn what_is_no_start_information_is_refused() {
        assert_eq!(line(&start(0, 0), 0x1000), None, "version 0 has no memory map");
        assert_eq!(line(&start(1, 0), 0x2000), None);
        assert_eq!(largest(&start(1, 0), 0x9000, 0, u64::MAX), None);
    }

    #[test]
    fn the_largest_usable_piece_is_clipped() {
        let memory = start(1, 0);
        assert_eq!(largest(&memory, 0x1000, 0x30_0000, 1 << 32), Some((0x30_0000, 0xfd0_0000)));
        assert_eq!(largest(&memory, 0x1000, 0, 0x8_0000), Some((0, 0x8_0000)));
        assert_eq!(largest(&memory, 0x1000, 1 << 32, 1 << 40), None, "what is reserved does not count");
    }
}
