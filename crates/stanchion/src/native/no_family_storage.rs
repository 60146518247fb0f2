//! What stands in the place of `family_storage.rs` without the feature `family`: nothing is stored.
use stanchion_core::CpuId;

/// What a thread would have in its slot.
pub(super) struct InSlot(());

#[expect(clippy::unused_self, reason = "as in `family_storage.rs`")]
impl InSlot {
    pub(super) fn forget(&self) {
        let Self(()) = self;
    }

    pub(super) fn is_in_use(&self) -> bool {
        false
    }
}

pub(super) fn forget_sleepers(_mine: Option<CpuId>, _is_waiting: bool) {}
