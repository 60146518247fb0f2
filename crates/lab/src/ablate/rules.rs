//! The rows: each rule of the default lock switched off, and each of its constants halved and doubled.
use stanchion_core::Tunable;
use stanchion_family::tunables;
use stanchion_family::tuned::is_of;

/// What everything is compared with.
pub(super) const BASE: &str = "stanchion";

/// Each rule, and what switches it off, in the order in which the lock tells them.
const RULES: [(&str, &str); 5] = [
    // An heir whose turn is over at once forbids barging at once.
    ("barging", "turn_us=0"),
    ("adaptive spins", "adapt=0"),
    ("sleeping for a turn on a hot lock", "turns=0"),
    ("handing over the CPU", "hand_over=0"),
    ("near first", "near_us=0"),
];

/// The rows, the base first: what is different, and the name of the lock that is.
pub(super) fn rows(constants: bool) -> Vec<(String, String)> {
    let with = |label: String, setting: &str| (label, format!("{BASE}:{setting}"));
    // The numbers that somebody chose; what is 1 is a switch.
    let numbers = tunables::ALL.iter().filter(|tunable| is_of(**tunable, BASE) && tunable.default() > 1);
    let half_and_double = |tunable: &Tunable| {
        let (name, default) = (tunable.name(), tunable.default());
        [default / 2, default * 2].map(|value| with(format!("{name} = {value}"), &format!("{name}={value}")))
    };
    let mut rows = vec![(BASE.to_owned(), BASE.to_owned())];
    if constants {
        rows.extend(numbers.flat_map(half_and_double));
    } else {
        rows.extend(RULES.map(|(rule, off)| with(format!("without {rule}"), off)));
    }
    rows
}

#[cfg(test)]
mod tests {
    use super::*;
    use stanchion_cells::tuned;

    #[test]
    fn every_row_is_a_lock_of_its_own_that_differs_from_the_default() {
        let rows: Vec<_> = rows(false).into_iter().chain(rows(true).into_iter().skip(1)).collect();
        assert_eq!(rows.len(), 1 + RULES.len() + 2 * 7);
        for (index, (label, row)) in rows.iter().enumerate() {
            assert!(rows[..index].iter().all(|(other, lock)| lock != row && other != label), "{row}");
            let (lock, settings) = tuned::read(row).expect("valid");
            assert_eq!(lock, BASE);
            assert_eq!(settings.is_empty(), index == 0);
            assert!(settings.iter().all(|(tunable, value)| tunable.default() != *value), "{row}");
        }
    }

    #[test]
    fn every_tunable_of_the_lock_is_in_a_row() {
        for tunable in tunables::ALL.iter().filter(|&&tunable| is_of(tunable, BASE)) {
            let set = |(_, lock): &(String, String)| lock.contains(&format!(":{}=", tunable.name()));
            assert!(rows(false).iter().chain(&rows(true)).any(set), "{}", tunable.name());
        }
    }
}
