//! What can be changed at run time: tunables, and whether paravirtual locks may halt.
use crate::rows::tunables::ALL;
use core::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use stanchion_core::Tunable;

/// What each tunable is set to.
static VALUES: [AtomicU32; ALL.len()] = {
    let mut values = [const { AtomicU32::new(0) }; ALL.len()];
    let mut index = 0;
    while index < values.len() {
        values[index] = AtomicU32::new(ALL[index].default());
        index += 1;
    }
    values
};

/// Whether paravirtual waiters may halt.
static PARAVIRT: AtomicBool = AtomicBool::new(true);

/// What `tunable` is set to.
#[inline]
pub(crate) fn get(tunable: Tunable) -> u32 {
    // ord: N48 alone: a setting orders nothing; a waiter may work with the old one for one more round
    VALUES.get(tunable.index()).map_or(tunable.default(), |value| value.load(Ordering::Relaxed))
}

/// Sets `tunable`. Those of locks that this build does not have keep their defaults.
pub(crate) fn set(tunable: Tunable, value: u32) {
    if let Some(place) = VALUES.get(tunable.index()) {
        // ord: N49 alone: a setting orders nothing
        place.store(value, Ordering::Relaxed);
    }
}

/// Whether paravirtual waiters may halt.
#[inline]
pub(crate) fn paravirt() -> bool {
    // ord: N50 alone: a setting orders nothing; whoever sleeps is woken all the same
    PARAVIRT.load(Ordering::Relaxed)
}

/// Lets paravirtual waiters halt, or makes them spin from their next wait on.
pub(crate) fn set_paravirt(on: bool) {
    // ord: N51 alone: a setting orders nothing
    PARAVIRT.store(on, Ordering::Relaxed);
}

/// Reads the environment: `nopv` among the comma-separated words of `STANCHION` turns halting off.
pub(super) fn settle() {
    if crate::os::variable(c"STANCHION").is_some_and(says_nopv) {
        set_paravirt(false);
    }
}

fn says_nopv(words: &[u8]) -> bool {
    words.split(|&byte| byte == b',').any(|word| word.trim_ascii() == b"nopv")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_word_is_found_among_others_and_only_whole() {
        assert!(says_nopv(b"nopv"));
        assert!(says_nopv(b"lock=qspin, nopv"));
        assert!(!says_nopv(b"nopvx,lock=nopv-lock"));
        assert!(!says_nopv(b""));
    }

    #[test]
    fn tunables_start_at_their_defaults() {
        for &tunable in ALL {
            assert_eq!(get(tunable), tunable.default(), "{}", tunable.name());
        }
    }
}
