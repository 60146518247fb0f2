//! Children of children of `fork`, each with threads that wait: none keeps what the threads of another one
//! had. Alone in its process, as it counts what the whole process has handed out.
#![cfg(feature = "std")]

#[path = "support/child.rs"]
mod child;
#[path = "support/counts.rs"]
mod counts;
#[path = "support/suppressions.rs"]
mod suppressions;

use child::{Step, assert_child_succeeds, ensure, eventually, skipped, start};
use counts::{count, turn};
use stanchion::Raw;
use stanchion::lock_api::{Mutex, RawMutex};
use stanchion::native::{Counted, Native, NativeDomain};
use stanchion::stanchion_core::Domain;
use stanchion::stanchion_core::{Event, Machine, RawLock, StanchionLock};
use stanchion::stanchion_family::FamilyDomain;
use stanchion::stanchion_family::pv_qspin::{Hashed, PvQSpinLock};

/// Each process has so many waiters, for so many locks.
const WAITERS: u64 = 50;
const LOCKS: u64 = 5;
const GENERATIONS: u64 = 8;
/// A thread costs one and a half numbers at most, and 16 are to spare.
const FEW: u64 = WAITERS * 2;

type Lock<L> = Mutex<Raw<L>, u64>;

fn has_waiters<L: RawLock>(lock: &Lock<L>) -> bool
where
    Raw<L>: RawMutex,
{
    // SAFETY: the raw lock is looked at only, never locked or unlocked.
    unsafe { lock.raw() }.inner().has_waiters()
}

/// How often threads went to sleep for a lock.
fn sleeps() -> u64 {
    count(Event::PvWaitHead) + count(Event::PvWaitNode)
}

/// Has threads wait for locks that nobody releases, forks, and so on; the last child does the `last` step.
/// Steps from 1 on.
fn descend<L: RawLock>(generations: u64, last: &dyn Fn() -> Step) -> Step
where
    Raw<L>: RawMutex,
{
    if generations == 0 {
        return last();
    }
    let locks: &'static [Lock<L>] = (0..LOCKS).map(|_| Mutex::new(0)).collect::<Vec<_>>().leak();
    let guards: Vec<_> = locks.iter().map(Mutex::lock).collect();
    let before = sleeps();
    for nth in 0..WAITERS {
        start(1, move || drop(locks[(nth % LOCKS) as usize].lock()))?;
    }
    eventually(2, || locks.iter().all(has_waiters) && sleeps() >= before + WAITERS)?;
    assert_child_succeeds(|| descend(generations - 1, last));
    drop(guards);
    Ok(())
}

/// Many contend for a new lock.
fn contend<L: RawLock>() -> Step
where
    Raw<L>: RawMutex,
{
    const ROUNDS: u64 = 20;
    let lock: &'static Lock<L> = Box::leak(Box::new(Mutex::new(0)));
    let guard = lock.lock();
    let mut crew = Vec::new();
    for _ in 0..WAITERS {
        crew.push(start(10, || (0..ROUNDS).for_each(|_| *lock.lock() += 1))?);
    }
    eventually(11, || has_waiters(lock))?;
    drop(guard);
    for thread in crew {
        eventually(12, || thread.is_finished())?;
        thread.join().map_err(|_| 13)?;
    }
    ensure(14, *lock.lock() == WAITERS * ROUNDS)
}

/// The last child of such a chain finds nothing of what its ancestors' threads had, neither where heads sleep
/// nor among numbers and nodes.
fn assert_nothing_is_kept<L: RawLock>(sleepers: fn(&NativeDomain) -> usize)
where
    Raw<L>: RawMutex,
{
    if skipped() {
        return;
    }
    let _turn = turn();
    assert_child_succeeds(|| {
        descend::<L>(GENERATIONS, &|| {
            Native::<Counted>::with_domain(|domain| {
                ensure(20, sleepers(domain) == 0)?;
                let without = count(Event::LockNoNode);
                contend::<L>()?;
                ensure(21, count(Event::LockNoNode) == without)?;
                ensure(22, u64::from(FamilyDomain::<Native<Counted>>::contexts(domain)) <= FEW)?;
                let node = Domain::<Native<Counted>>::lease(domain).ok_or(23)?;
                ensure(24, u64::from(node.raw()) <= FEW)
            })
        })
    });
}

/// Heads that sleep for a lock in one of the rows of parking slots, which these addresses select among them.
fn in_slots(domain: &NativeDomain) -> usize {
    (0..4096).map(|nth| FamilyDomain::<Native<Counted>>::parking(domain, nth * 64).taken()).sum()
}

#[test]
fn numbers_and_parking_slots_come_back() {
    assert_nothing_is_kept::<PvQSpinLock<Native<Counted>>>(in_slots);
}

#[test]
fn entries_of_the_hash_table_come_back() {
    assert_nothing_is_kept::<PvQSpinLock<Native<Counted>, Hashed>>(|domain| {
        FamilyDomain::<Native<Counted>>::heads(domain).taken()
    });
}

#[test]
fn nodes_come_back() {
    assert_nothing_is_kept::<StanchionLock<Native<Counted>>>(|_| 0);
}
