//! `pv-qspin-kick-at-unlock`: the paravirtual queue that never steals, as in Linux 4.2.
use super::ours::Ours;

pub(crate) struct PvQSpinKickAtUnlock;

impl Ours for PvQSpinKickAtUnlock {
    const NAME: &'static str = "pv-qspin-kick-at-unlock";
    const ABOUT: &'static str = "paravirtual queued lock that never steals; waiters sleep";
    type Silent = stanchion::lock::PvQSpinKickAtUnlockLock;
    type Counted = stanchion::lock::counted::PvQSpinKickAtUnlockLock;
}
