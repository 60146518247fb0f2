//! Holders that change what they hold: a writer becomes a reader, an upgradable reader a writer and back.
use super::Protected;
use crate::world::repeat;
use crate::{Flag, Load, World};
use alloc::boxed::Box;
use alloc::sync::Arc;
use stanchion_core::{Downgrade, RawRwLock, Upgradable};

/// A writer becomes a reader: nobody writes in between.
pub fn downgrades<W: World, L: Downgrade>(load: Load) {
    let shared = Protected::<W, L>::new();
    let contexts = repeat(load.contexts, |_| {
        let shared = Arc::clone(&shared);
        Box::new(move || {
            for _ in 0..load.rounds {
                shared.lock.acquire_write();
                shared.write();
                let written = shared.total();
                shared.lock.downgrade();
                assert_eq!(shared.read(), written, "{}: a writer came in between", L::NAME);
                shared.lock.release_read();
            }
        })
    });
    W::run(&shared.report(), contexts);
    assert_eq!(shared.read(), load.rounds * load.contexts as u64);
    shared.assert_free();
}

/// Upgradable holders exclude each other and writers, not readers; nobody writes between one's look and its
/// upgrade.
pub fn upgrades<W: World, L: Upgradable>(load: Load) {
    let shared = Protected::<W, L>::new();
    let contexts = repeat(load.contexts, |index| {
        let shared = Arc::clone(&shared);
        Box::new(move || {
            for round in 0..load.rounds {
                if (round + index as u64).is_multiple_of(3) {
                    shared.read_locked();
                    continue;
                }
                if !shared.lock.try_acquire_upgradable() {
                    shared.lock.acquire_upgradable();
                }
                let seen = shared.read();
                if round % 2 == 0 || !shared.lock.try_upgrade() {
                    shared.lock.upgrade();
                }
                assert_eq!(shared.read(), seen, "{}: somebody wrote before the upgrade", L::NAME);
                shared.write();
                match round % 3 {
                    0 => shared.lock.release_write(),
                    1 => {
                        shared.lock.downgrade_to_upgradable();
                        assert_eq!(shared.read(), seen + 1, "{}: somebody wrote after it", L::NAME);
                        shared.lock.release_upgradable();
                    }
                    _ => {
                        shared.lock.downgrade_to_upgradable();
                        shared.lock.downgrade_upgradable().expect("few readers");
                        assert_eq!(shared.read(), seen + 1, "{}: somebody wrote after it", L::NAME);
                        shared.lock.release_read();
                    }
                }
            }
        })
    });
    W::run(&shared.report(), contexts);
    let upgrades = (0..load.contexts as u64)
        .flat_map(|index| (0..load.rounds).filter(move |round| (round + index) % 3 != 0))
        .count();
    assert_eq!(shared.read(), upgrades as u64);
    shared.assert_free();
}

/// Readers come in beside a writer that became a reader, also those that waited before.
pub fn downgraded_beside_readers<W: World, L: Downgrade>(load: Load) {
    let open = |shared: &Protected<W, L>| {
        shared.write();
        shared.lock.downgrade();
    };
    beside_readers(load, L::acquire_write, open, L::release_read);
}

/// Readers come in beside an upgradable holder.
pub fn upgradable_beside_readers<W: World, L: Upgradable>(load: Load) {
    beside_readers::<W, L>(load, L::acquire_upgradable, |_| (), L::release_upgradable);
}

/// The first context enters and lets the others in, which read. Each stays until all are inside.
fn beside_readers<W: World, L: RawRwLock>(
    load: Load,
    enter: fn(&L),
    open: fn(&Protected<W, L>),
    leave: fn(&L),
) {
    let shared = Protected::<W, L>::new();
    let inside = Arc::new(W::Flag::default());
    let contexts = repeat(load.contexts, |index| {
        let (shared, inside, all) = (Arc::clone(&shared), Arc::clone(&inside), load.contexts as u32);
        Box::new(move || {
            if index == 0 {
                enter(&shared.lock);
                inside.add_one();
                open(&shared);
            } else {
                W::until("the holder", &mut || inside.get() > 0);
                shared.lock.acquire_read().expect("few readers");
                inside.add_one();
            }
            W::until("all inside", &mut || inside.get() == all);
            shared.read();
            let leave = if index == 0 { leave } else { L::release_read };
            leave(&shared.lock);
        })
    });
    W::run(&shared.report(), contexts);
    shared.assert_free();
}
