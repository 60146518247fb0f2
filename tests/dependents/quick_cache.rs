//! Threads read a cache of two shards, and put in what they miss.
mod rounds;

use quick_cache::OptionsBuilder;
use quick_cache::sync::{Cache, DefaultLifecycle};
use quick_cache::{DefaultHashBuilder, UnitWeighter};

const ROOM: usize = 4096;

fn main() {
    let mut options = OptionsBuilder::new();
    options.estimated_items_capacity(ROOM).weight_capacity(ROOM as u64).shards(2);
    let cache: Cache<u64, u64> = Cache::with_options(
        options.build().expect("all is said"),
        UnitWeighter,
        DefaultHashBuilder::default(),
        DefaultLifecycle::default(),
    );
    rounds::threads(|thread, time| {
        // Half of the keys, and those asked for most, have room.
        let random = (time * 64 + thread as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 40;
        let key = if random % 4 == 0 { random % (2 * ROOM as u64) } else { random % (ROOM as u64 / 4) };
        match cache.get(&key) {
            Some(value) => assert_eq!(value, key * 3, "the value is the key's"),
            None => cache.insert(key, key * 3),
        }
    });
}
