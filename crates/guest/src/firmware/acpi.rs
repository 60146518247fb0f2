//! ACPI's tables: which vCPUs there are (MADT), on which NUMA nodes (SRAT), and where the timer is (FADT).
use super::{Physical, number};
use alloc::vec::Vec;

/// Bytes of the header of every table.
const HEADER: usize = 36;
/// No table is longer than this.
const LONGEST: usize = 1 << 20;

/// One vCPU.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Vcpu {
    /// The number of its interrupt controller.
    pub apic: u32,
    /// Its NUMA node; nodes are numbered in the order in which vCPUs name them.
    pub node: u16,
}

/// What the tables say.
#[derive(Debug, PartialEq, Eq)]
pub struct Board {
    /// All vCPUs that can be started, in the tables' order.
    pub vcpus: Vec<Vcpu>,
    /// How many NUMA nodes they are on, 1 if nothing is said.
    pub nodes: u16,
    /// The port of the power management timer.
    pub timer: Option<u16>,
}

/// Looks for the root of the tables where BIOSes leave it.
pub fn search(memory: &impl Physical) -> Option<u64> {
    (0xe_0000..0x10_0000).step_by(16).find(|&address| {
        memory.bytes(address, 20).is_some_and(|root| root.starts_with(b"RSD PTR ") && sums_to_zero(root))
    })
}

/// Reads the tables below the root at `rsdp`; the error is one line for humans.
pub fn read(memory: &impl Physical, rsdp: u64) -> Result<Board, &'static str> {
    let root = memory.bytes(rsdp, 36).filter(|root| root.starts_with(b"RSD PTR "));
    let root = root.ok_or("there is no root of ACPI's tables where it should be")?;
    let extended = number::<8>(root, 24).filter(|&address| root[15] >= 2 && address != 0);
    let (list, width) = match extended {
        Some(address) => (address, 8),
        None => (number::<4>(root, 16).unwrap_or(0), 4),
    };
    let list = table(memory, list).ok_or("ACPI's list of tables is damaged")?;
    let tables = || {
        list[HEADER..].chunks_exact(width).filter_map(|entry| {
            let address = if width == 8 { number::<8>(entry, 0) } else { number::<4>(entry, 0) };
            table(memory, address?)
        })
    };
    let named = |name: &[u8]| tables().find(|table| table.starts_with(name));
    let madt = named(b"APIC").ok_or("ACPI has no table of processors (MADT), or it is damaged")?;
    let controllers = records(madt.get(HEADER + 8..).unwrap_or_default()).filter_map(controller);
    let mut vcpus: Vec<Vcpu> = controllers.map(|apic| Vcpu { apic, node: 0 }).collect();
    if vcpus.is_empty() {
        return Err("ACPI's table of processors (MADT) has none that works");
    }
    let srat = named(b"SRAT").and_then(|srat| srat.get(HEADER + 12..)).unwrap_or_default();
    let domains: Vec<(u32, u32)> = records(srat).filter_map(affinity).collect();
    let mut seen = Vec::new();
    for vcpu in &mut vcpus {
        let domain = domains.iter().find(|(apic, _)| *apic == vcpu.apic).map_or(0, |(_, domain)| *domain);
        let node = seen.iter().position(|known| *known == domain).unwrap_or_else(|| {
            seen.push(domain);
            seen.len() - 1
        });
        vcpu.node = node as u16;
    }
    let port = named(b"FACP").and_then(|fadt| number::<4>(fadt, 76));
    let timer = port.and_then(|port| u16::try_from(port).ok()).filter(|&port| port != 0);
    Ok(Board { vcpus, nodes: seen.len() as u16, timer })
}

/// The table at `address`, if its sum is right.
fn table(memory: &impl Physical, address: u64) -> Option<&[u8]> {
    let length = usize::try_from(number::<4>(memory.bytes(address, HEADER)?, 4)?).ok()?;
    let whole = (HEADER..=LONGEST).contains(&length).then(|| memory.bytes(address, length))??;
    sums_to_zero(whole).then_some(whole)
}

fn sums_to_zero(bytes: &[u8]) -> bool {
    bytes.iter().fold(0_u8, |sum, byte| sum.wrapping_add(*byte)) == 0
}

/// Records of a kind, a length and contents, up to the first that is damaged.
fn records(mut bytes: &[u8]) -> impl Iterator<Item = &[u8]> {
    core::iter::from_fn(move || {
        let length = usize::from(*bytes.get(1)?);
        let (record, rest) = bytes.split_at_checked(length).filter(|_| length >= 2)?;
        bytes = rest;
        Some(record)
    })
}

/// The number of the interrupt controller in a record of MADT, if there is one and it works.
fn controller(record: &[u8]) -> Option<u32> {
    const LOCAL: u8 = 0;
    const LOCAL_X2: u8 = 9;
    let (apic, flags) = match record[0] {
        LOCAL => (number::<1>(record, 3)?, number::<4>(record, 4)?),
        LOCAL_X2 => (number::<4>(record, 4)?, number::<4>(record, 8)?),
        _ => return None,
    };
    (flags & 1 != 0).then_some(apic as u32)
}

/// The interrupt controller and the domain in a record of SRAT.
fn affinity(record: &[u8]) -> Option<(u32, u32)> {
    const LOCAL: u8 = 0;
    const LOCAL_X2: u8 = 2;
    let (apic, domain, flags) = match record[0] {
        LOCAL => {
            let domain = number::<1>(record, 2)? | number::<3>(record, 9)? << 8;
            (number::<1>(record, 3)?, domain, number::<4>(record, 4)?)
        }
        LOCAL_X2 => (number::<4>(record, 8)?, number::<4>(record, 4)?, number::<4>(record, 12)?),
        _ => return None,
    };
    (flags & 1 != 0).then_some((apic as u32, domain as u32))
}

#[cfg(test)]
mod tests;
