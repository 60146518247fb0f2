//! What is printed, and written of the options.
use super::outcome::Outcome;
use lab_kit::export::grid::{align_right, plain_table, trimmed};
use serde_json::{Value, json};
use stanchion_sim::explore::{Finding, Options};

const HEADER: [&str; 8] =
    ["lock", "schedules", "steps", "rows", "worst bypass", "bound", "schedules/s", "verdict"];

/// The table over all locks, then rows that were not reached.
pub(super) fn summary(outcomes: &[Outcome], expect_failure: bool) -> String {
    let mut table = plain_table();
    table.set_header(HEADER);
    for outcome in outcomes {
        table.add_row([
            outcome.lock.to_owned(),
            outcome.schedules.to_string(),
            outcome.steps.to_string(),
            format!("{}/{}", outcome.rows_reached.len(), outcome.rows()),
            outcome.worst_overtaking.to_string(),
            outcome.bound.clone(),
            format!("{:.0}", outcome.schedules as f64 / outcome.seconds.max(1e-9)),
            outcome.verdict(),
        ]);
    }
    align_right(&mut table);
    let mut lines = vec![trimmed(&table)];
    for outcome in outcomes {
        let lock = outcome.lock;
        let weight = if outcome.rows_count { "FAILED" } else { "note" };
        let missed = |row: &&str| format!("{lock}: {weight}: row never reached: {row}");
        if outcome.failed.is_none() {
            lines.extend(outcome.rows_missed.iter().map(missed));
        }
        let surprise =
            |row: &&str| format!("{lock}: FAILED: row reached that was said to be out of reach: {row}");
        lines.extend(outcome.rows_surprising.iter().map(surprise));
        if expect_failure && !outcome.caught() {
            lines.push(format!("{lock}: expected to be caught as stated (see --list), and was not"));
        }
    }
    lines.join("\n")
}

/// A failure: what went wrong, how it came about, and how to see it again.
pub(super) fn finding(flags: &str, outcome: &Outcome, finding: &Finding) -> String {
    let lock = outcome.lock;
    let seed = outcome.failed.as_ref().map_or(0, |failed| failed.seed);
    let (before, after) = finding.switches;
    format!(
        "{lock}: FAILED with seed {seed}: {}\n{}\
         smallest schedule: {after} changes of turn (found with {before})\n\
         again, in full:    stanchion explore --lock {lock}{flags} --replay {seed}\n\
         again, smallest:   stanchion explore --lock {lock}{flags} --replay {}\n",
        finding.failure.what, finding.interleaving, finding.replay,
    )
}

/// The options, for programs.
pub(super) fn options(options: &Options) -> Value {
    let Options { contexts, rounds, strategy, depth, faults } = options;
    let (strategy, faults) = (strategy.name(), faults.map(|faults| faults.to_string()));
    json!({"contexts": contexts, "rounds": rounds, "strategy": strategy, "depth": depth, "faults": faults})
}
