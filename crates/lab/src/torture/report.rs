//! What is printed when all locks are through.
use super::outcome::Outcome;
use super::tally::Counts;
use lab_kit::export::grid::{align_right, plain_table, trimmed};

const HEADER: [&str; 11] = [
    "lock", "verdict", "acquired", "max/min", "fail", "Jain", "nested", "handlers", "deepest", "fifths",
    "threads",
];

/// The table over all locks, then what went wrong with each.
pub(crate) fn summary(outcomes: &[Outcome], expect_failure: bool) -> String {
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
    let survivors = outcomes.iter().filter(|outcome| expect_failure && !outcome.caught());
    let survivors: Vec<&str> = survivors.map(|outcome| outcome.orders.lock.as_str()).collect();
    if !survivors.is_empty() {
        lines.push(format!("expected to fail, but survived: {}", survivors.join(", ")));
    }
    lines.join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::torture::orders::{Extras, Orders};
    use crate::torture::outcome::Failure;
    use crate::torture::outcome::Finished;
    use crate::torture::tally::Tally;

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
            extras: Extras::all(true),
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
        let text = summary(&outcomes(), true);
        let lines: Vec<&str> = text.lines().collect();
        assert!(
            lines
                .iter()
                .any(|line| line.contains("good") && line.contains("passed") && line.contains("20/10"))
        );
        assert!(lines.iter().any(|line| line.contains("bad") && line.contains("FAILED")));
        assert!(lines.contains(&"bad: FAILED: crashed with signal 11 (SIGSEGV)"), "{text}");
        assert!(lines.contains(&"bad: note: something else"));
        assert_eq!(lines.last(), Some(&"expected to fail, but survived: good"));
    }

    #[test]
    fn programs_read_what_failed_and_what_was_counted() {
        let told = serde_json::to_value(outcomes()).unwrap();
        assert_eq!(told[1]["failures"][0]["kind"], "crashed");
        assert_eq!(told[0]["finished"]["writes"]["total"], 30);
        assert_eq!(told[0]["finished"]["handler_runs"], 0);
    }
}
