//! What stands in the place of `family.rs` without the feature `family`: nothing is stored, and nothing is
//! done.
use super::Counting;
use core::marker::PhantomData;
use stanchion_core::CpuId;

/// Where sleeping heads of locks would be found.
pub struct Tables<C: Counting>(PhantomData<fn() -> C>);

impl<C: Counting> Tables<C> {
    pub(super) const NEW: Self = Self(PhantomData);

    #[expect(clippy::unused_self, reason = "as in `family.rs`")]
    pub(super) fn forget_but(&self, _mine: Option<CpuId>) {}
}

/// What a thread would have in its slot.
pub(super) struct InSlot(());

#[expect(clippy::unused_self, reason = "as in `family.rs`")]
impl InSlot {
    pub(super) fn forget(&self) {
        let Self(()) = self;
    }

    pub(super) fn is_in_use(&self) -> bool {
        false
    }
}

/// There are no nodes to describe.
pub(crate) fn describe_nodes<C: Counting>(_text: &mut String) {}

/// The last field of a word, for reports.
pub(crate) fn tail_name(raw: u16) -> String {
    raw.to_string()
}
