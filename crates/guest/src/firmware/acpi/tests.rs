//! Tables made by hand, and damaged ones.
use super::super::testing::Pieces;
use super::*;
use alloc::vec;

/// A table with its header, summing to zero.
fn table_of(name: &[u8], contents: &[u8]) -> Vec<u8> {
    let mut table = vec![0; HEADER];
    table[..4].copy_from_slice(name);
    table[4..8].copy_from_slice(&((HEADER + contents.len()) as u32).to_le_bytes());
    table.extend_from_slice(contents);
    balance(&mut table, 9);
    table
}

/// Changes the byte at `at` so that all of them sum to zero.
fn balance(bytes: &mut [u8], at: usize) {
    bytes[at] = 0;
    bytes[at] = bytes.iter().fold(0_u8, |sum, byte| sum.wrapping_sub(*byte));
}

fn local(apic: u8, works: bool) -> Vec<u8> {
    vec![0, 8, 0, apic, works.into(), 0, 0, 0]
}

fn local_x2(apic: u32) -> Vec<u8> {
    [&[9, 16, 0, 0][..], &apic.to_le_bytes(), &[1, 0, 0, 0], &[0; 4]].concat()
}

fn near(apic: u8, domain: u8) -> Vec<u8> {
    vec![0, 16, domain, apic, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]
}

fn near_x2(apic: u32, domain: u32) -> Vec<u8> {
    [&[2, 24, 0, 0][..], &domain.to_le_bytes(), &apic.to_le_bytes(), &[1, 0, 0, 0], &[0; 8]].concat()
}

/// Memory with the tables that have these records, listed with addresses of `width` bytes.
fn memory(width: usize, madt: &[Vec<u8>], srat: Option<&[Vec<u8>]>) -> Pieces {
    let mut tables = vec![table_of(b"APIC", &[&[0; 8][..], &madt.concat()].concat())];
    tables.extend(srat.map(|srat| table_of(b"SRAT", &[&[0; 12][..], &srat.concat()].concat())));
    let mut fadt = vec![0; 100];
    fadt[76 - HEADER..78 - HEADER].copy_from_slice(&0x608_u16.to_le_bytes());
    tables.push(table_of(b"FACP", &fadt));
    let mut pieces = Pieces::default();
    let mut list = Vec::new();
    for (index, table) in tables.into_iter().enumerate() {
        let address = 0x10_0000 + 0x1000 * index as u64;
        list.extend_from_slice(&address.to_le_bytes()[..width]);
        pieces.0.push((address, table));
    }
    pieces.0.push((0x8_0000, table_of(if width == 8 { b"XSDT" } else { b"RSDT" }, &list)));
    let mut root = vec![0; 36];
    root[..8].copy_from_slice(b"RSD PTR ");
    if width == 8 {
        root[15] = 2;
        root[24..28].copy_from_slice(&0x8_0000_u32.to_le_bytes());
    } else {
        root[16..20].copy_from_slice(&0x8_0000_u32.to_le_bytes());
    }
    balance(&mut root[..20], 8);
    let mut bios = vec![0; 0x2_0000];
    bios[0x52d0..0x52d0 + 36].copy_from_slice(&root);
    pieces.0.push((0xe_0000, bios));
    pieces
}

const ROOT: u64 = 0xe_52d0;

#[test]
fn both_kinds_of_lists_and_of_records_are_read() {
    for width in [4, 8] {
        let memory = memory(width, &[local(0, true), local(1, false), local(2, true), local_x2(300)], None);
        assert_eq!(search(&memory), Some(ROOT));
        let board = read(&memory, ROOT).expect("good tables");
        let apics: Vec<u32> = board.vcpus.iter().map(|vcpu| vcpu.apic).collect();
        assert_eq!(apics, [0, 2, 300], "what does not work is left out");
        assert_eq!((board.nodes, board.timer), (1, Some(0x608)));
    }
}

#[test]
fn nodes_are_numbered_as_they_are_named() {
    let madt = [local(0, true), local(1, true), local(2, true), local_x2(300)];
    let srat = [near(0, 7), near(1, 3), near(2, 7), near_x2(300, 0x1_0003)];
    let board = read(&memory(8, &madt, Some(&srat)), ROOT).expect("good tables");
    let nodes: Vec<u16> = board.vcpus.iter().map(|vcpu| vcpu.node).collect();
    assert_eq!((nodes.as_slice(), board.nodes), (&[0, 1, 0, 2][..], 3));
}

#[test]
fn a_table_with_a_wrong_sum_is_as_good_as_missing() {
    let good = || memory(4, &[local(0, true), local(1, true)], Some(&[near(0, 1), near(1, 2)]));
    let nodes_with_damage_to = |name: &[u8; 4]| {
        let mut memory = good();
        let table = memory.0.iter_mut().find(|(_, bytes)| bytes.starts_with(name)).expect("is there");
        table.1[20] ^= 1;
        read(&memory, ROOT).map(|board| (board.nodes, board.timer))
    };
    assert_eq!(read(&good(), ROOT).map(|board| board.nodes), Ok(2));
    assert_eq!(nodes_with_damage_to(b"SRAT"), Ok((1, Some(0x608))));
    assert_eq!(nodes_with_damage_to(b"FACP"), Ok((2, None)));
    assert!(nodes_with_damage_to(b"APIC").is_err_and(|error| error.contains("MADT")));
    assert!(nodes_with_damage_to(b"RSDT").is_err_and(|error| error.contains("list of tables")));
}

#[test]
fn no_damage_makes_it_panic() {
    let good = || memory(4, &[local(0, true)], Some(&[near(0, 1)]));
    let mut refused = 0;
    for piece in 0..good().0.len() {
        for byte in 0..good().0[piece].1.len().min(200) {
            for change in [1, 0x80, 0xff] {
                let mut damaged = good();
                let bytes = &mut damaged.0[piece].1;
                bytes[byte] ^= change;
                if bytes.len() < 1000 {
                    // The sum is right again, so that the damage is looked at.
                    balance(bytes, 9);
                }
                refused += u32::from(read(&damaged, ROOT).is_err());
            }
        }
    }
    assert!(refused > 20, "most damage to the processors' table and the list is noticed: {refused}");
    assert!(
        read(&memory(4, &[vec![0, 0, 0, 0], local(0, true)], None), ROOT).is_err(),
        "a record without a length ends the table"
    );
    assert!(read(&Pieces::default(), ROOT).is_err());
}
