//! How a paravirtual queued lock waits: the choices, and the constants that go with each.
//!
//! Worlds that explore schedules run the very same code with small limits.

use super::lookup::{Halt, HashTable, ParkingSlots, Pointer, SleeperLookup};
use crate::platform::FamilyPlatform;
use core::marker::PhantomData;
use stanchion_core::machine::Atomic;

/// When a queued waiter stops polling ahead of its time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WaitEarly {
    /// Never.
    Never,
    /// As soon as the waiter in front is seen asleep or not running: it looks before each poll.
    AtOnce,
    /// The same, but it looks once in so many polls.
    Sampled(u32),
}

/// Polls before a waiter halts, as the kernel has it.
const SPIN_THRESHOLD: u32 = 1 << 15;
/// How often the merged form looks at the waiter in front.
const SAMPLE: WaitEarly = WaitEarly::Sampled(256);

/// The choices of a paravirtual queued lock.
pub trait WaitPolicy: Halt + Send + Sync + 'static {
    /// The name of the lock with this policy, on command lines and in files.
    const NAME: &'static str;
    /// How often a newcomer tries for the lock, ahead of a queue too, before it queues; 0: nobody steals.
    const NEWCOMER_POLLS: u32 = 0;
    /// How often a waiter polls, behind another one and as head, before it halts.
    const POLLS: u32 = SPIN_THRESHOLD;
    /// When a queued waiter stops polling ahead of its time.
    const WAIT_EARLY: WaitEarly = WaitEarly::Never;
    /// Whether a sleeping waiter is kicked when it becomes head, and not only when the lock is released.
    const EAGER_KICK: bool = false;
    /// Whether a release that kicks the head also kicks sleepers behind it:
    /// [`Tunable::KickAhead`](crate::tunables::FamilyTunables::KickAhead) of them at most.
    const KICKS_AHEAD: bool = false;
    /// Whether the first waiter polls the lock for a while,
    /// [`Tunable::PendingPolls`](crate::tunables::FamilyTunables::PendingPolls), before it queues.
    const PENDING: bool = false;
    /// How a release finds the head that sleeps.
    type SleeperLookup: SleeperLookup;
}

/// Declares policies.
macro_rules! policies {
    ($($(#[$doc:meta])* $policy:ident = $name:literal { $($item:item)* } [$lookup:ty] $(halts { $($halt:item)* })?;)*) => {$(
        $(#[$doc])*
        #[derive(Debug)]
        pub enum $policy {}

        impl WaitPolicy for $policy {
            const NAME: &'static str = $name;
            type SleeperLookup = $lookup;
            $($item)*
        }

        impl Halt for $policy {
            $($($halt)*)?
        }
    )*};
}

policies! {
    /// The form merged in 4.15, the default: newcomers steal while the head of the queue sleeps or has just
    /// woken up. A poll takes about 25 ns; our waiters halt after 50 us.
    Merged = "pv-qspin" {
        const NEWCOMER_POLLS: u32 = 800;
        const POLLS: u32 = 2_000;
        const WAIT_EARLY: WaitEarly = SAMPLE;
    } [ParkingSlots];
    /// Before the series (4.2-rc1): a sleeping waiter is kicked when it becomes head, and again when the lock
    /// is released, if it fell asleep meanwhile.
    EagerKick = "pv-qspin-eager" {
        const EAGER_KICK: bool = true;
    } [ParkingSlots];
    /// Patch 1, in 4.2: a sleeping waiter that becomes head is woken only when the lock is released.
    KickAtUnlock = "pv-qspin-kick-at-unlock" {} [ParkingSlots];
    /// Patches 1 and 2: a release also wakes the next few sleepers, so that they are awake when their turn
    /// comes.
    KickAhead = "pv-qspin-kick-ahead" {
        const KICKS_AHEAD: bool = true;
    } [ParkingSlots];
    /// Patches 1 to 3: a waiter also halts as soon as the one in front of it sleeps.
    WaitEarlyAtOnce = "pv-qspin-wait-early" {
        const WAIT_EARLY: WaitEarly = WaitEarly::AtOnce;
        const KICKS_AHEAD: bool = true;
    } [ParkingSlots];
    /// The same with the form that was merged in 4.5 and 4.10: it looks at every 256th poll, and also heeds
    /// the hint that the waiter in front is preempted.
    WaitEarlySampled = "pv-qspin-wait-early-sampled" {
        const KICKS_AHEAD: bool = true;
        const WAIT_EARLY: WaitEarly = SAMPLE;
    } [ParkingSlots];
    /// Patches 1 and 5: the first waiter polls the lock for a while and needs no node.
    FirstPends = "pv-qspin-pending" {
        const PENDING: bool = true;
    } [ParkingSlots];
    /// Patches 1 and 3, without kick-ahead.
    OnlyWaitEarly = "pv-qspin-only-wait-early" {
        const WAIT_EARLY: WaitEarly = WaitEarly::AtOnce;
    } [ParkingSlots];
    /// The whole series: kick at unlock, kick-ahead, wait-early, pending.
    Patched = "pv-qspin-patched" {
        const WAIT_EARLY: WaitEarly = WaitEarly::AtOnce;
        const KICKS_AHEAD: bool = true;
        const PENDING: bool = true;
    } [ParkingSlots];
    /// [`KickAtUnlock`] with the kernel's hash table.
    Hashed = "pv-qspin-hash" {} [HashTable];
    /// [`KickAtUnlock`] with the number of the head's node in the lock, which takes 8 bytes.
    Pointed = "pv-qspin-pointer" {} [Pointer];
    /// What POWER had from 2020 to 2022: the same lock on its hypervisor calls. A waiter does not sleep: it
    /// confers its slice to anybody, so no wake-up can be lost, and the kick (prod) only makes a conferred
    /// context runnable.
    Conferring = "ppc-qspin" {} [ParkingSlots] halts {
        fn halt_while<P: FamilyPlatform, T: Copy + Eq, A: Atomic<T>>(cell: &A, value: T) {
            // ord: G7 alone: decides whether to give the slice away; the caller looks again
            if cell.load(stanchion_core::order::Relaxed) == value {
                P::yield_slice();
            }
        }
    };
}

/// A policy's limits as the world `P` has them: where it explores schedules, a few steps reach them. The
/// policy's choices, which are what is explored, stay.
pub(super) struct Limits<P, W>(PhantomData<(P, W)>);

impl<P: FamilyPlatform, W: WaitPolicy> Limits<P, W> {
    /// Whether a newcomer may take a free lock ahead of a queue.
    pub(super) const STEALS: bool = W::NEWCOMER_POLLS > 0;
    pub(super) const NEWCOMER_POLLS: u32 = if P::EXPLORES && Self::STEALS { 2 } else { W::NEWCOMER_POLLS };
    pub(super) const POLLS: u32 = if P::EXPLORES { 2 } else { W::POLLS };
    pub(super) const WAIT_EARLY: WaitEarly = match W::WAIT_EARLY {
        WaitEarly::Sampled(_) if P::EXPLORES => WaitEarly::Sampled(1),
        other => other,
    };
}
