//! What is printed and written when all locks are through.
use super::outcome::Outcome;
use super::tally::Counts;
use lab_kit::export::grid::{align_right, plain_table, trimmed};
use lab_kit::output::replace;
use serde::Serialize;

const HEADER: [&str; 11] = [
    "lock", "verdict", "acquired", "max/min", "fail", "Jain", "nested", "handlers", "deepest", "fifths",
    "threads",
];

/// The table over all locks, then what went wrong with each.
pub(crate) fn summary(outcomes: &[Outcome]) -> String {
    let mut table = plain_table();
    table.set_header(HEADER);
    for outcome in outcomes {
        let mut row = vec![outcome.orders.lock.clone(), outcome.verdict().to_owned()];
        if let Some((writes, reads)) = outcome.counts {
            row.push((writes.total + reads.total).to_string());
            row.push(format!("{}/{}", writes.max, writes.min));
            row.push((writes.fail + reads.fail).to_string());
        }
        if let Some(sums) = &outcome.finished {
            let Counts { nested, handler_runs, handler_fifth, .. } = sums.counts;
            row.push(format!("{:.2}", sums.jain));
            let counts = [nested, handler_runs, sums.handler_deepest, handler_fifth, sums.threads];
            row.extend(counts.map(|count| count.to_string()));
        }
        // Who died has not told everything.
        row.resize(HEADER.len(), "-".to_owned());
        table.add_row(row);
    }
    align_right(&mut table);
    let mut lines = vec![trimmed(&table)];
    for outcome in outcomes {
        let lock = &outcome.orders.lock;
        let shared = outcome.finished.as_ref().and_then(|sums| sums.shared);
        lines.extend(shared.map(|shared| format!("{lock}: {}", shared.line())));
        lines.extend(outcome.failures.iter().map(|failure| format!("{lock}: FAILED: {failure}")));
        lines.extend(outcome.notes.iter().map(|note| format!("{lock}: note: {note}")));
    }
    lines.join("\n")
}

/// Everything, for programs.
#[derive(Serialize)]
struct File<'a, P: Serialize> {
    command: &'static str,
    provenance: &'a P,
    results: &'a [Outcome],
}

/// Replaces what is in `file` by the results so far.
pub(crate) fn write_json(
    file: &mut std::fs::File,
    provenance: &impl Serialize,
    results: &[Outcome],
) -> std::io::Result<()> {
    let mut text = serde_json::to_vec_pretty(&File { command: "torture", provenance, results })?;
    text.push(b'\n');
    replace(file, &text)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::torture::event::Finished;
    use crate::torture::orders::{Extras, Orders};
    use crate::torture::outcome::Failure;
    use crate::torture::tally::Tally;
    use std::io::{Seek as _, Write as _};

    fn outcomes() -> Vec<Outcome> {
        let orders = |lock: &str| Orders {
            lock: lock.to_owned(),
            seconds: 1.0,
            writers: 2,
            readers: 0,
            seed: 1,
            stat_interval: 1.0,
            stall_seconds: 1.0,
            long_hold_ms: 1,
            stutter: 1.0,
            extras: Extras::ALL,
        };
        let mut good = Outcome::new(orders("good"));
        good.finish(Finished {
            writes: Tally { total: 30, max: 20, min: 10, fail: 0 },
            jain: 0.9,
            ..Finished::default()
        });
        let mut bad = Outcome::new(orders("bad"));
        bad.failures.push(Failure::Crashed { signal: libc::SIGSEGV });
        bad.notes.push("something else".to_owned());
        vec![good, bad]
    }

    #[test]
    fn the_summary_has_a_row_per_lock_and_a_line_per_failure() {
        let text = summary(&outcomes());
        let lines: Vec<&str> = text.lines().collect();
        assert!(
            lines
                .iter()
                .any(|line| line.contains("good") && line.contains("passed") && line.contains("20/10"))
        );
        assert!(lines.iter().any(|line| line.contains("bad") && line.contains("FAILED")));
        assert!(lines.contains(&"bad: FAILED: crashed with signal 11 (SIGSEGV)"), "{text}");
        assert!(lines.contains(&"bad: note: something else"));
    }

    #[test]
    fn the_file_holds_all_results_and_nothing_of_what_was_there() {
        let mut file = tempfile::tempfile().unwrap();
        file.write_all(&[b'x'; 10_000]).unwrap();
        write_json(&mut file, &"provenance", &outcomes()).unwrap();
        file.rewind().unwrap();
        let back: serde_json::Value = serde_json::from_reader(&file).unwrap();
        assert_eq!(back["command"], "torture");
        assert_eq!(back["results"][1]["failures"][0]["kind"], "crashed");
        assert_eq!(back["results"][0]["finished"]["writes"]["total"], 30);
    }
}
