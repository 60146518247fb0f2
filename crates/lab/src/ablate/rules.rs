//! The rows: each rule of the default lock switched off, and each of its constants halved and doubled.
use stanchion_core::Tunable;

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

/// The numbers that somebody chose.
const CONSTANTS: &[Tunable] = &[
    Tunable::SpinNanos,
    Tunable::PauseNanos,
    Tunable::BackoffNanos,
    Tunable::Overtakings,
    Tunable::TurnMicros,
    Tunable::LookAhead,
    Tunable::NearMicros,
];

/// A row of the tables.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Row {
    /// What is different.
    pub label: String,
    /// The lock that is, by name.
    pub lock: String,
}

/// The rows, the base first.
pub(super) fn rows(constants: bool) -> Vec<Row> {
    let mut rows = vec![Row { label: BASE.to_owned(), lock: BASE.to_owned() }];
    let with = |label, setting| Row { label, lock: format!("{BASE}:{setting}") };
    if constants {
        for tunable in CONSTANTS {
            let (name, default) = (tunable.name(), tunable.default());
            let halved_and_doubled = [default / 2, default * 2];
            rows.extend(
                halved_and_doubled.map(|value| with(format!("{name} = {value}"), format!("{name}={value}"))),
            );
        }
    } else {
        rows.extend(RULES.map(|(rule, off)| with(format!("without {rule}"), off.to_owned())));
    }
    rows
}

#[cfg(test)]
mod tests {
    use super::*;
    use stanchion_cells::tuned;

    #[test]
    fn every_row_is_a_lock_of_its_own_that_differs_from_the_default() {
        let rows: Vec<Row> = rows(false).into_iter().chain(rows(true).into_iter().skip(1)).collect();
        assert_eq!(rows.len(), 1 + RULES.len() + 2 * CONSTANTS.len());
        for (index, row) in rows.iter().enumerate() {
            assert!(
                rows[..index].iter().all(|other| other.lock != row.lock && other.label != row.label),
                "{row:?}"
            );
            let (lock, settings) = tuned::read(&row.lock).expect("valid");
            assert_eq!(lock, BASE);
            assert_eq!(settings.is_empty(), index == 0);
            assert!(settings.iter().all(|(tunable, value)| tunable.default() != *value), "{row:?}");
        }
    }

    #[test]
    fn every_tunable_of_the_lock_is_in_a_row() {
        for tunable in stanchion_family::tunables::ALL
            .iter()
            .filter(|&&tunable| stanchion_family::tuned::is_of(tunable, BASE))
        {
            let set = |row: &Row| row.lock.contains(&format!(":{}=", tunable.name()));
            assert!(rows(false).iter().chain(&rows(true)).any(set), "{}", tunable.name());
        }
    }
}
