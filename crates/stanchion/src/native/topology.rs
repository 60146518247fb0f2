//! NUMA nodes: whether there are several, and which one a CPU belongs to.
//!
//! Read once, when the program is loaded, from the system's list of nodes; without it the machine counts as
//! having one.
use crate::os;
use core::sync::atomic::{AtomicBool, AtomicU8, Ordering};

/// CPUs whose node is remembered.
const CPUS: usize = 4096;
/// Nodes that are looked at.
const NODES: u8 = 128;

/// The node of each CPU, plus one; 0 is unknown.
static NODE_OF: [AtomicU8; CPUS] = [const { AtomicU8::new(0) }; CPUS];
/// Whether there is more than one.
static NUMA: AtomicBool = AtomicBool::new(false);

/// Whether the machine has more than one node.
#[inline(always)]
pub(super) fn is_numa() -> bool {
    // ord: N52 alone: settled before `main`
    NUMA.load(Ordering::Relaxed)
}

/// The node of the CPU that the calling thread runs on now; 0 if there is one node only or nobody knows.
#[inline]
pub(super) fn here() -> u16 {
    if is_numa() { node_of(os::cpu_for_sure()).unwrap_or(0) } else { 0 }
}

/// The node of an OS CPU.
pub(super) fn node_of(cpu: u32) -> Option<u16> {
    // ord: N53 alone: settled before `main`
    NODE_OF.get(cpu as usize)?.load(Ordering::Relaxed).checked_sub(1).map(u16::from)
}

/// Reads the system's lists. Uses neither the allocator nor anything that is set up later than it.
pub(super) fn settle() {
    let mut nodes = 0;
    for node in 0..NODES {
        let mut list = [0; 1024];
        let Some(list) = os::cpus_of_node(node, &mut list) else { continue };
        let mut any = false;
        for cpu in cpus(list) {
            if let Some(cell) = NODE_OF.get(cpu) {
                any = true;
                // ord: N54 alone: settled before `main`
                cell.store(node + 1, Ordering::Relaxed);
            }
        }
        nodes += u32::from(any); // nodes may have memory only
    }
    // ord: N55 alone: settled before `main`
    NUMA.store(nodes > 1, Ordering::Relaxed);
}

/// The numbers in a list such as `0-3,8,10-11`. What is no number is passed over.
fn cpus(list: &[u8]) -> impl Iterator<Item = usize> {
    list.split(|&byte| byte == b',').flat_map(|range| {
        let mut ends = range.split(|&byte| byte == b'-').map(number);
        let first = ends.next().flatten();
        let last = ends.next().map_or(first, |last| last);
        match (first, last) {
            (Some(first), Some(last)) => first..last.saturating_add(1).min(CPUS),
            _ => 0..0,
        }
    })
}

fn number(digits: &[u8]) -> Option<usize> {
    core::str::from_utf8(digits.trim_ascii()).ok()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_of_cpus_are_read() {
        assert!(cpus(b"0-3,8,10-11\n").eq([0, 1, 2, 3, 8, 10, 11]));
        assert!(cpus(b"\n").eq([]));
        assert!(cpus(b"5").eq([5]));
    }

    #[test]
    fn this_machine_s_first_cpu_has_a_node_if_the_system_tells() {
        let mut buffer = [0; 1024];
        let told = os::cpus_of_node(0, &mut buffer).is_some_and(|list| cpus(list).any(|cpu| cpu == 0));
        assert_eq!(told, std::path::Path::new("/sys/devices/system/node/node0/cpulist").exists());
        if told {
            assert_eq!(node_of(0), Some(0));
        }
    }
}
