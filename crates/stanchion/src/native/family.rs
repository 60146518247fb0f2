//! What the native world stores for the locks of `stanchion-family`. Without the feature `family`,
//! `no_family.rs` stands in its place.
use super::{Counting, Native, NativeDomain, Silent, slots};
use core::fmt::Write as _;
use stanchion_core::order::Relaxed;
use stanchion_core::{Atomic, CpuId};
use stanchion_family::FamilyDomain;
use stanchion_family::heads::{HEADS, HeadIndex, HeadTable, Heads};
use stanchion_family::percpu::PerCpu;
use stanchion_family::spots::{SpotRow, Spots};
use stanchion_family::tail::NodeCode;

/// How many rows of spots there are: with 123 spots each, nearly as many as threads can have numbers.
const ROWS: usize = 128;

/// Where sleeping heads of locks of platform `Native<C>` are found.
pub struct Tables<C: Counting> {
    spots: [Spots<Native<C>>; ROWS],
    heads: Heads<Native<C>>,
}

impl<C: Counting> Tables<C> {
    /// Nobody sleeps.
    #[expect(
        clippy::declare_interior_mutable_const,
        clippy::large_stack_arrays,
        reason = "it stands in statics only"
    )]
    pub(super) const NEW: Self = Self { spots: [const { Spots::NEW }; ROWS], heads: Heads::NEW };

    /// Frees what all threads but `mine` have there: they do not exist.
    pub(super) fn forget_but(&self, mine: Option<CpuId>) {
        for row in &self.spots {
            row.row().forget_but(mine);
        }
        // An entry of the table does not show whose it is: if the fork came while its thread waited, in the
        // handler of a signal, all stay.
        if mine.is_none_or(|cpu| !slots::slot(cpu).family.is_in_use()) {
            for entry in (1..=HEADS as u16).filter_map(HeadIndex::from_raw) {
                self.heads.table().free(entry);
            }
        }
    }
}

/// What a thread has in its slot.
#[repr(transparent)]
pub(super) struct InSlot(PerCpu<Native<Silent>>);

impl InSlot {
    /// The thread does not exist.
    pub(super) fn forget(&self) {
        self.0.forget();
    }

    /// Whether nodes of the thread stand in a queue.
    pub(super) fn is_in_use(&self) -> bool {
        self.0.nesting() != 0
    }

    /// The storage as locks of platform `Native<C>` see it. Those that count and those that do not share it:
    /// a context's nodes are in use by nesting level, whatever the lock.
    #[inline(always)]
    fn percpu<C: Counting>(&self) -> &PerCpu<Native<C>> {
        let percpu = core::ptr::from_ref(&self.0).cast::<PerCpu<Native<C>>>();
        // SAFETY: `PerCpu` and its nodes are `repr(C)` and made of cells of the platform only, which are the
        // same types in `Native<C>` for every `C`; so both types have the same layout and the same validity.
        unsafe { &*percpu }
    }
}

impl<C: Counting> FamilyDomain<Native<C>> for NativeDomain {
    #[inline(always)]
    fn cpu(&self, cpu: CpuId) -> &PerCpu<Native<C>> {
        slots::slot(cpu).family.percpu::<C>()
    }

    #[inline(always)]
    fn spots(&self, address: usize) -> SpotRow<'_, Native<C>> {
        C::tables().spots[FamilyDomain::<Native<C>>::spread(self, address) % ROWS].row()
    }

    #[inline]
    fn heads(&self) -> HeadTable<'_, Native<C>> {
        C::tables().heads.table()
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
            let (next, state, spot) =
                (node.next.load(Relaxed), node.state.load(Relaxed), node.spot.load(Relaxed));
            let state = ["waits or came first", "halted", "head", "let out"]
                .get(usize::from(state))
                .copied()
                .unwrap_or("?");
            let (name, next) = (node_name(NodeCode::new(cpu, level)), tail_name(next));
            let _ = write!(text, "\n  node {name}: {state}, next {next}, spot {spot}");
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
