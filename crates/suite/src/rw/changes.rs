//! Holders that change what they hold: a writer becomes a reader, an upgradable reader a writer and back.
use super::Protected;
use crate::world::repeat;
use crate::{Context, Flag, Load, World};
use alloc::boxed::Box;
use alloc::sync::Arc;
use alloc::vec;
use stanchion_core::{Downgrade, RawRwLock, Upgradable};

/// A writer becomes a reader: nobody writes in between, and other readers come in.
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
    let downgraded = |lock: &L| {
        lock.acquire_write();
        lock.downgrade();
    };
    a_reader_comes_in_beside::<W, L>(downgraded, L::release_read);
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
    a_reader_comes_in_beside::<W, L>(L::acquire_upgradable, L::release_upgradable);
}

/// While one context has what `enter` gave it, another one reads.
fn a_reader_comes_in_beside<W: World, L: RawRwLock>(enter: fn(&L), leave: fn(&L)) {
    let shared = Protected::<W, L>::new();
    let stage = Arc::new(W::Flag::default());
    let holder: Context = {
        let (shared, stage) = (Arc::clone(&shared), Arc::clone(&stage));
        Box::new(move || {
            enter(&shared.lock);
            stage.set(1);
            W::until("a reader beside the holder", &mut || stage.get() == 2);
            leave(&shared.lock);
        })
    };
    let reader: Context = {
        let shared = Arc::clone(&shared);
        Box::new(move || {
            W::until("a holder that readers may join", &mut || stage.get() == 1);
            shared.read_locked();
            stage.set(2);
        })
    };
    W::run(&shared.report(), vec![holder, reader]);
    shared.assert_free();
}
