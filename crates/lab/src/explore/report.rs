//! What is printed and written.
use super::outcome::Outcome;
use lab_kit::export::grid::{align_right, plain_table, trimmed};
use lab_kit::output::replace;
use serde::Serialize;
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

#[derive(Serialize)]
struct Settings {
    contexts: usize,
    rounds: u32,
    strategy: &'static str,
    depth: u32,
    faults: Option<String>,
}

/// Everything, for programs.
#[derive(Serialize)]
struct File<'a, P: Serialize> {
    command: &'static str,
    provenance: &'a P,
    options: Settings,
    results: &'a [Outcome],
}

/// Replaces what is in `file` by the results so far.
pub(super) fn write_json(
    file: &mut std::fs::File,
    provenance: &impl Serialize,
    options: &Options,
    results: &[Outcome],
) -> std::io::Result<()> {
    let options = Settings {
        contexts: options.contexts,
        rounds: options.rounds,
        strategy: options.strategy.name(),
        depth: options.depth,
        faults: options.faults.map(|faults| faults.to_string()),
    };
    let mut text = serde_json::to_vec_pretty(&File { command: "explore", provenance, options, results })?;
    text.push(b'\n');
    replace(file, &text)
}
