//! Stanchion's own locks: one row each. Policies of a lock that are there to be compared with each other are *variants*: they are
//! measured when they are named, or all together as `variants`.
use super::ours::{Ours, entry};
use crate::bench::contender::Entry;

macro_rules! family {
    (locks { $($lock:ident: $name:literal, $about:literal;)* }
     variants { $($variant:ident: $variant_name:literal, $variant_about:literal;)* }) => {
        $(family!(@lock $lock $name $about false);)*
        $(family!(@lock $variant $variant_name $variant_about true);)*

        /// The rows, in the order of tables.
        pub(super) const ALL: &[Entry] = &[$(entry::<$lock>(),)* $(entry::<$variant>(),)*];
    };
    (@lock $lock:ident $name:literal $about:literal $variant:literal) => {
        struct $lock;

        impl Ours for $lock {
            const NAME: &'static str = $name;
            const ABOUT: &'static str = $about;
            const VARIANT: bool = $variant;
            type Silent = stanchion::lock::$lock;
            type Counted = stanchion::lock::counted::$lock;
        }
    };
}

family! {
    locks {
        StanchionLock: "stanchion", "barging; one waiter is awake, overtaken for a turn; the default";
        ByteLock: "byte", "unfair test-and-test-and-set byte; never sleeps";
        TicketLock: "ticket", "FIFO ticket lock; never sleeps";
        QSpinLock: "qspin", "queued spin lock: pending bit, then a FIFO queue; never sleeps";
        CnaLock: "cna", "queued spin lock that prefers its own NUMA node; never sleeps";
        UnfairQueuedLock: "unfair-q", "queue whose waiters may steal; never sleeps";
        OwnerYieldLock: "ppc-simple", "unfair word that knows its owner; yields to it";
        OwnerQueuedLock: "owner-qspin", "queue that knows its owner and steals until its head objects";
        XenPvLock: "xen-pv", "byte whose waiters sleep; unfair, a full fence at each release";
        PvTicketLock: "pv-ticket", "FIFO ticket lock whose waiters sleep";
        PvQSpinLock: "pv-qspin", "paravirtual queued lock: steals without a limit on time, queues, sleeps";
        PpcQSpinLock: "ppc-qspin", "paravirtual queued lock that yields instead of sleeping";
    }
    variants {
        PvTicketOpportunisticLock: "pv-ticket-opportunistic", "pv-ticket whose near waiters hardly ever sleep";
        PvQSpinKickAtUnlockLock: "pv-qspin-kick-at-unlock", "never steals; a release wakes the head if it sleeps";
        PvQSpinEagerLock: "pv-qspin-eager", "kicks a sleeper when it becomes head (4.2-rc1)";
        PvQSpinKickAheadLock: "pv-qspin-kick-ahead", "kick-at-unlock, and wakes the next few sleepers";
        PvQSpinWaitEarlyLock: "pv-qspin-wait-early", "kick-ahead, and sleeps at once behind sleepers";
        PvQSpinWaitEarlySampledLock: "pv-qspin-wait-early-sampled", "kick-ahead, and looks now and then whether to sleep";
        PvQSpinOnlyWaitEarlyLock: "pv-qspin-only-wait-early", "kick-at-unlock, and sleeps at once behind sleepers";
        PvQSpinPendingLock: "pv-qspin-pending", "kick-at-unlock, and the first waiter needs no node";
        PvQSpinPatchedLock: "pv-qspin-patched", "the announced series as a whole";
        PvQSpinHashLock: "pv-qspin-hash", "kick-at-unlock that finds its head in a hash table";
        PvQSpinPointerLock: "pv-qspin-pointer", "kick-at-unlock that points at its head; 8 bytes";
    }
}
