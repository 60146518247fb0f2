//! How long the first lock of a run is there: its last user destroys it, though others may be on their way
//! out of it still.
use super::super::Ctx;
use super::super::chooser::{Set, bit};
use super::super::plan::Plan;
use stanchion_family::catalogue::AfterRelease;

/// Who uses the first lock, and whether it is destroyed.
pub(in super::super) struct Lifetime {
    /// Who has still to use it, if its last holder is to destroy it.
    users: Set,
    /// Who uses it for the last time.
    last_users: Set,
    /// Who was the last one to do so.
    last_user: Option<Ctx>,
    destroyed: bool,
    after_release: AfterRelease,
}

impl Lifetime {
    /// Of a lock in a run of `plan`, that is destroyed in the end if that `is_watched`.
    pub(super) fn new(plan: &Plan, after_release: AfterRelease, is_watched: bool) -> Self {
        let after_release = match after_release {
            AfterRelease::ByWorld if plan.machine().restarts => AfterRelease::Nothing,
            AfterRelease::ByWorld => AfterRelease::Anything,
            other => other,
        };
        let all = (0..plan.contexts()).filter(|&context| plan.rounds[context] > 0).map(bit).sum();
        let users = if is_watched && after_release != AfterRelease::Anything { all } else { Set::MAX };
        Self { users, last_users: 0, last_user: None, destroyed: false, after_release }
    }

    /// The next acquisition by `me` is its last one.
    pub(in super::super) fn begins_last_use(&mut self, me: Ctx) {
        self.last_users |= bit(me);
    }

    /// Whether `me` has still to use it.
    pub(in super::super) fn is_user(&self, me: Ctx) -> bool {
        self.users & bit(me) != 0
    }

    /// `me` is about to release the lock, or has done with it.
    pub(in super::super) fn ends_use(&mut self, me: Ctx) {
        let users = self.users & !(self.last_users & bit(me));
        if users == 0 && self.users != 0 {
            self.last_user = Some(me);
        }
        self.users = users;
    }

    /// `me`, which held the lock alone, has released it: whether it is the last one that uses it, and
    /// destroys it.
    pub(in super::super) fn is_last_user(&self, me: Ctx) -> bool {
        self.last_user == Some(me)
    }

    /// The lock is destroyed. Who released it before may be on its way out still.
    pub(in super::super) fn destroy(&mut self) {
        self.destroyed = true;
    }

    /// Whether the lock is gone for who is about to `read` or write it.
    pub(super) fn is_over(&self, read: bool) -> bool {
        self.destroyed && !(read && self.after_release == AfterRelease::Reads)
    }
}
