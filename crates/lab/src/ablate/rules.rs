//! The rows: each rule of the default lock switched off, and each of its constants halved and doubled.
use stanchion_core::Tunable;

/// What everything is compared with.
pub(super) const BASE: &str = "stanchion";

/// A rule and what switches it off.
struct Rule {
    name: &'static str,
    off: &'static [(Tunable, u32)],
}

/// In the order in which the lock tells them.
const RULES: &[Rule] = &[
    // An heir whose turn is over at once forbids barging at once.
    Rule { name: "barging", off: &[(Tunable::TurnMicros, 0)] },
    Rule { name: "adaptive spins", off: &[(Tunable::Adapt, 0)] },
    Rule { name: "sleeping for a turn on a hot lock", off: &[(Tunable::Turns, 0)] },
    Rule { name: "handing over the CPU", off: &[(Tunable::HandOver, 0)] },
    Rule { name: "near first", off: &[(Tunable::NearMicros, 0)] },
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
    if constants {
        for tunable in CONSTANTS {
            rows.extend([tunable.default() / 2, tunable.default() * 2].map(|value| Row {
                label: format!("{} = {value}", tunable.name()),
                lock: name(&[(*tunable, value)]),
            }));
        }
    } else {
        rows.extend(
            RULES.iter().map(|rule| Row { label: format!("without {}", rule.name), lock: name(rule.off) }),
        );
    }
    rows
}

/// The base with other tunables.
fn name(settings: &[(Tunable, u32)]) -> String {
    settings
        .iter()
        .fold(BASE.to_owned(), |name, (tunable, value)| format!("{name}:{}={value}", tunable.name()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tuned;

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
