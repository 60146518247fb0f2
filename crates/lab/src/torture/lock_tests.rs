//! What locks tell of themselves, and what they refuse.
use super::*;
use crate::torture::busted::Byte;
use stanchion_suite::broken::SOUND;

#[test]
fn stanchion_s_locks_describe_their_word() {
    let lock = Mutex::<stanchion::lock::QSpinLock>::new(0);
    let free = lock.describe();
    lock.acquire(Side::Writes);
    let held = lock.describe();
    assert!(free.contains("(0,0,0)"), "{free}");
    assert!(held.contains("(0,0,1)"), "{held}");
}

#[test]
fn a_lock_that_cannot_describe_itself_says_whether_it_is_held() {
    let locks: [&dyn Tortured; 2] = [&Mutex::<parking_lot::RawMutex>::new(0), &Byte::<SOUND>::new(0)];
    for lock in locks {
        assert!(lock.describe().starts_with("free"));
        lock.acquire(Side::Writes);
        assert!(lock.describe().starts_with("held"));
    }
    let lock = UpgradableRw::<parking_lot::RawRwLock>::new(0);
    lock.acquire(Side::Reads);
    assert!(lock.describe().starts_with("read"));
}

#[test]
fn a_lock_says_who_is_inside() {
    let lock = UpgradableRw::<stanchion::lock::QueuedRwLock>::new(0);
    assert!(lock.describe().contains("(0 readers,0,0)"), "{}", lock.describe());
    lock.acquire(Side::Reads);
    assert!(lock.describe().contains("(1 readers,0,0)"), "{}", lock.describe());
    // SAFETY: it was acquired to read.
    unsafe { lock.release(Side::Reads) };
    lock.acquire(Side::Upgrades);
    assert!(!lock.try_acquire(Side::Writes));
    // SAFETY: it was acquired upgradably.
    unsafe { lock.change(Side::Upgrades) };
    assert!(lock.describe().contains("(0 readers,0,1)"), "{}", lock.describe());
    // SAFETY: the upgrade made us its writer.
    unsafe { lock.change(Side::Writes) };
    assert!(lock.try_acquire(Side::Reads));
}

#[test]
fn neighbouring_test_locks_are_of_different_classes() {
    let [first, second, third]: [Classed; 3] = core::array::from_fn(Classed::new);
    assert!(core::ptr::eq(first.class, third.class) && !core::ptr::eq(first.class, second.class));
}

#[test]
#[should_panic(expected = "this lock cannot be changed by who has it as Upgrades")]
fn a_skill_that_a_lock_does_not_have_is_noticed() {
    let lock = Mutex::<stanchion::lock::QSpinLock>::new(0);
    lock.acquire(Side::Upgrades);
    // SAFETY: it was just acquired.
    unsafe { lock.change(Side::Upgrades) };
}
