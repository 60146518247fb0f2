//! The third way to hold a reader-writer lock: upgradably, and as its writer from there.
use super::super::rw_subjects::Upgrades;
use super::super::sharing::{How, Sharing, Wants};
use super::super::trace::What;
use super::{
    RwProgram, checked, downgrade_upgradable, gives_up, in_as_writer, limited, linger, me, out_as_writer,
    out_for_good, say, watch, went_in,
};

impl RwProgram {
    /// Holds a lock upgradably, and becomes its writer now and then.
    pub(super) fn upgrades(&self, index: usize, dice: u64) {
        let Some(lock) = self.locks[index].upgradable() else { return };
        let me = self.alone_from_now(index);
        say(What::Acquire, index);
        let tried = self.tries() && lock.try_acquire_upgradable();
        if !tried {
            watch(index, |sharing| sharing.begins(me, Wants::Upgradable));
            let in_time = self.limit().is_some_and(|until| {
                let waits = || lock.acquire_upgradable_until(until);
                let acquired = limited(until, |&acquired| acquired, waits);
                if !acquired {
                    gives_up(index, Wants::Upgradable);
                }
                acquired
            });
            if !in_time {
                lock.acquire_upgradable();
            }
        }
        say(What::Enter, index);
        let how = if tried { How::Tried } else { How::Waited };
        went_in(checked(watch(index, |sharing| sharing.may_upgrade(me, how))));
        linger(index);
        if dice & 1 == 0 {
            self.upgrade(index, lock, dice);
        } else if dice & 2 == 0 || !downgrade_upgradable(index, lock) {
            watch(index, Sharing::may_not_upgrade);
            watch(index, |sharing| sharing.stops_reading(me));
            out_for_good(index);
            lock.release_upgradable();
        } else {
            linger(index);
            self.release_read(index);
        }
        self.alone_no_more(index, me);
    }

    fn upgrade(&self, index: usize, lock: &dyn Upgrades, dice: u64) {
        let me = me();
        if !(self.tries() && lock.try_upgrade()) {
            watch(index, |sharing| sharing.begins_upgrade(me));
            lock.upgrade();
        }
        watch(index, Sharing::may_not_upgrade);
        watch(index, |sharing| sharing.stops_reading(me));
        in_as_writer(index, How::Free);
        linger(index);
        if dice & 2 == 0 {
            out_as_writer(index);
            self.locks[index].release_write();
        } else {
            watch(index, |sharing| sharing.turns_to_reading(me));
            checked(watch(index, |sharing| sharing.is_upgradable(me)));
            lock.downgrade_to_upgradable();
            linger(index);
            if dice & 4 == 0 {
                return self.upgrade(index, lock, dice >> 3); // 0 is the last time
            }
            watch(index, Sharing::may_not_upgrade);
            watch(index, |sharing| sharing.stops_reading(me));
            out_for_good(index);
            lock.release_upgradable();
        }
    }
}
