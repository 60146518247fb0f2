//! Locks with other tunables, by name: `stanchion:turn_us=200:hand_over=0`.
use crate::tunables;
use stanchion_core::Tunable;

/// Whether the lock called `lock` asks for `tunable`: its meaning begins with the name of the lock, or of the
/// one that `lock` is a variant of.
pub fn is_of(tunable: Tunable, lock: &str) -> bool {
    let owner = tunable.meaning().split([':', ' ']).next().unwrap_or_default();
    lock.strip_prefix(owner).is_some_and(|rest| rest.is_empty() || rest.starts_with('-'))
}

/// Why a setting in a lock's name is none.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BadSetting<'a> {
    /// No tunable is called so.
    Unknown(&'a str),
    /// It belongs to another lock.
    NotOf(Tunable),
    /// This is no value of it.
    NoNumber(Tunable, &'a str),
}

/// The lock that a name like `stanchion:turn_us=200:hand_over=0` begins with, and what the name sets for it.
pub fn tuned(name: &str) -> (&str, impl Iterator<Item = Result<(Tunable, u32), BadSetting<'_>>>) {
    let mut parts = name.split(':');
    let lock = parts.next().unwrap_or_default();
    let setting = move |part| {
        let (key, value) = str::split_once(part, '=').unwrap_or((part, ""));
        let tunable = tunables::by_name(key).ok_or(BadSetting::Unknown(key))?;
        if !is_of(tunable, lock) {
            return Err(BadSetting::NotOf(tunable));
        }
        value.parse().map(|value| (tunable, value)).map_err(|_| BadSetting::NoNumber(tunable, value))
    };
    (lock, parts.map(setting))
}

#[cfg(test)]
mod tests {
    use super::{BadSetting, Tunable, is_of, tunables, tuned};
    use crate::tunables::FamilyTunables as _;
    extern crate std;
    use std::vec::Vec;

    type Settings<'a> = Result<Vec<(Tunable, u32)>, BadSetting<'a>>;

    fn read(name: &str) -> (&str, Settings<'_>) {
        let (lock, settings) = tuned(name);
        (lock, settings.collect())
    }

    #[test]
    fn a_name_says_the_lock_and_what_is_set_for_it() {
        assert_eq!(read("stanchion"), ("stanchion", Ok(Vec::new())));
        let both = [(Tunable::TurnMicros, 200), (Tunable::HandOver, 0)];
        assert_eq!(read("stanchion:turn_us=200:hand_over=0"), ("stanchion", Ok(both.to_vec())));
        assert_eq!(read("cna-10ms:cna_shuffle_one_in=1").1, Ok([(Tunable::CnaShuffle, 1)].to_vec()));
    }

    #[test]
    fn settings_that_are_none_are_told_apart() {
        assert_eq!(read("stanchion:turn=1").1, Err(BadSetting::Unknown("turn")));
        assert_eq!(read("stanchion:").1, Err(BadSetting::Unknown("")));
        assert_eq!(read("cna:turns=1").1, Err(BadSetting::NotOf(Tunable::Turns)));
        assert_eq!(read("qspin:cna_shuffle_one_in=1").1, Err(BadSetting::NotOf(Tunable::CnaShuffle)));
        for value in ["", "x", "-1", "4294967296", "1=2"] {
            let name = ["stanchion:turns=", value].concat();
            assert_eq!(read(&name).1, Err(BadSetting::NoNumber(Tunable::Turns, value)), "{name}");
        }
        assert_eq!(read("stanchion:turns").1, Err(BadSetting::NoNumber(Tunable::Turns, "")));
    }

    #[test]
    fn tunables_belong_to_a_lock_and_its_variants() {
        let of = |lock| tunables::ALL.iter().filter(|&&tunable| is_of(tunable, lock)).count();
        assert_eq!((of("stanchion"), of("cna"), of("cna-10ms"), of("cnax"), of("byte")), (10, 2, 2, 0, 0));
        assert!(is_of(Tunable::KickAhead, "pv-qspin-kick-ahead") && !is_of(Tunable::KickAhead, "qspin"));
        assert!(
            is_of(Tunable::OticketNear, "pv-ticket-opportunistic")
                && !is_of(Tunable::OticketNear, "pv-ticket")
        );
    }
}
