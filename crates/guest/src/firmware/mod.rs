//! What firmware and hypervisor leave in memory, as bytes: reading it touches no hardware, so it is tested on
//! any machine.
pub mod acpi;
pub mod pvh;
pub mod rate;

/// Memory by physical address.
pub trait Physical {
    /// `length` bytes from `address` on; `None` if they are not all there.
    fn bytes(&self, address: u64, length: usize) -> Option<&[u8]>;
}

/// A number of `N` bytes, the lowest first, at `offset`.
pub(crate) fn number<const N: usize>(bytes: &[u8], offset: usize) -> Option<u64> {
    let found: &[u8; N] = bytes.get(offset..)?.first_chunk()?;
    Some(found.iter().rev().fold(0, |number, &byte| number << 8 | u64::from(byte)))
}

/// Memory for tests: pieces at addresses.
#[cfg(test)]
pub(crate) mod testing {
    use super::Physical;
    use alloc::vec::Vec;

    #[derive(Default)]
    pub(crate) struct Pieces(pub(crate) Vec<(u64, Vec<u8>)>);

    impl Physical for Pieces {
        fn bytes(&self, address: u64, length: usize) -> Option<&[u8]> {
            self.0.iter().find_map(|(base, bytes)| {
                let from = usize::try_from(address.checked_sub(*base)?).ok()?;
                bytes.get(from..from.checked_add(length)?)
            })
        }
    }
}
