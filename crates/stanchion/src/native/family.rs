//! The native world for the locks of `stanchion-family`, and how reports name their nodes. Without the
//! feature `family`, `no_family.rs` stands in its place.
use super::kinds::{Counting, Native, NativeDomain};
use super::{family_storage, slots};
use core::fmt::Write as _;
use stanchion_core::order::Relaxed;
use stanchion_core::{Atomic, CpuId};
use stanchion_family::FamilyDomain;
use stanchion_family::heads::HeadTable;
use stanchion_family::parking::ParkingRow;
use stanchion_family::percpu::PerCpu;
use stanchion_family::tail::NodeCode;

impl<C: Counting> FamilyDomain<Native<C>> for NativeDomain {
    #[inline(always)]
    fn cpu(&self, cpu: CpuId) -> &PerCpu<Native<C>> {
        slots::slot(cpu).family.percpu::<C>()
    }

    #[inline(always)]
    fn parking(&self, address: usize) -> ParkingRow<'_, Native<C>> {
        family_storage::parking(FamilyDomain::<Native<C>>::spread(self, address))
    }

    #[inline]
    fn heads(&self) -> HeadTable<'_, Native<C>> {
        family_storage::heads()
    }

    fn contexts(&self) -> u16 {
        slots::contexts()
    }
}

/// The queue nodes in use, a line each, for reports of stalls.
pub(crate) fn describe_nodes<C: Counting>(text: &mut String) {
    for (cpu, slot) in slots::all().filter(|&(cpu, _)| slots::is_taken(cpu)) {
        let percpu = slot.family.percpu::<C>();
        for level in 0..percpu.nesting() {
            let node = percpu.node(level);
            // ord: N39 alone: only a report reads it
            let (next, state, slot) =
                (node.next.load(Relaxed), node.state.load(Relaxed), node.parking.load(Relaxed));
            let state = ["waits or came first", "halted", "head", "roused"]
                .get(usize::from(state))
                .copied()
                .unwrap_or("?");
            let (name, next) = (node_name(NodeCode::new(cpu, level)), tail_name(next));
            let _ = write!(text, "\n  node {name}: {state}, next {next}, parking slot {slot}");
        }
    }
}

/// The tail of a queue, for reports.
pub(crate) fn tail_name(raw: u16) -> String {
    NodeCode::from_raw(raw).map_or_else(|| raw.to_string(), node_name)
}

fn node_name(code: NodeCode) -> String {
    format!("t{}.{}", code.cpu().index(), code.level())
}
