//! What the threads of one side achieved, and the line locktorture prints about it.
use serde::{Deserialize, Serialize};

/// The sums over the writers, or over the readers, of one lock.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Tally {
    /// Acquisitions of all threads.
    pub(crate) total: u64,
    /// Acquisitions of the most successful thread.
    pub(crate) max: u64,
    /// Acquisitions of the least successful thread.
    pub(crate) min: u64,
    /// Violations seen by all threads.
    pub(crate) fail: u64,
}

impl Tally {
    /// Sums `(acquired, failed)` of every thread.
    pub(crate) fn of(threads: impl IntoIterator<Item = (u64, u64)>) -> Self {
        let mut threads = threads.into_iter();
        let Some((first, fail)) = threads.next() else { return Self::default() };
        threads.fold(Self { total: first, max: first, min: first, fail }, |sum, (acquired, failed)| Self {
            total: sum.total + acquired,
            max: sum.max.max(acquired),
            min: sum.min.min(acquired),
            fail: sum.fail + failed,
        })
    }

    /// Whether the busiest thread had more than twice what the least busy one had: locktorture's `???`.
    pub(crate) fn is_lopsided(&self) -> bool {
        self.max / 2 > self.min
    }

    /// The line as locktorture prints it; `side` is [`WRITES`] or [`READS`].
    pub(crate) fn line(&self, side: &str) -> String {
        let Self { total, max, min, fail } = *self;
        let lopsided = if self.is_lopsided() { "???" } else { "" };
        let failed = if fail > 0 { "!!!" } else { "" };
        let line = format!("{side}:  Total: {total}  Max/Min: {max}/{min} {lopsided}  Fail: {fail} {failed}");
        line.trim_end().to_owned()
    }
}

/// The name of the writers' line.
pub(crate) const WRITES: &str = "Writes";
/// The name of the readers' line, as wide as the writers'.
pub(crate) const READS: &str = "Reads ";

/// Jain's fairness index of the threads' shares: 1 when all are equal, 1/n when one thread had everything.
pub(crate) fn jain(shares: &[u64]) -> f64 {
    let sum: f64 = shares.iter().map(|&share| share as f64).sum();
    let squares: f64 = shares.iter().map(|&share| (share as f64) * (share as f64)).sum();
    if squares == 0.0 { 1.0 } else { sum * sum / (squares * shares.len() as f64) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_quiet_line_has_no_marks() {
        let tally = Tally::of([(10, 0), (8, 0), (12, 0)]);
        assert_eq!(tally, Tally { total: 30, max: 12, min: 8, fail: 0 });
        assert_eq!(tally.line(WRITES), "Writes:  Total: 30  Max/Min: 12/8   Fail: 0");
        assert_eq!(tally.line(READS), "Reads :  Total: 30  Max/Min: 12/8   Fail: 0");
    }

    #[test]
    fn a_lopsided_line_is_questioned_at_more_than_twice() {
        assert_eq!(
            Tally::of([(21, 0), (10, 0)]).line(WRITES),
            "Writes:  Total: 31  Max/Min: 21/10   Fail: 0",
            "21/2 is 10 in integers, which is not above 10"
        );
        assert_eq!(
            Tally::of([(22, 0), (10, 0)]).line(WRITES),
            "Writes:  Total: 32  Max/Min: 22/10 ???  Fail: 0"
        );
    }

    #[test]
    fn a_failed_line_is_shouted() {
        assert_eq!(
            Tally::of([(5, 2), (5, 1)]).line(WRITES),
            "Writes:  Total: 10  Max/Min: 5/5   Fail: 3 !!!"
        );
    }

    #[test]
    fn nobody_at_all_is_all_zero() {
        assert_eq!(Tally::of([]), Tally::default());
        assert!(!Tally::default().is_lopsided());
    }

    #[test]
    fn jain_s_index_knows_its_two_ends() {
        assert!((jain(&[7, 7, 7, 7]) - 1.0).abs() < 1e-12);
        assert!((jain(&[9, 0, 0, 0]) - 0.25).abs() < 1e-12);
        assert!((jain(&[]) - 1.0).abs() < 1e-12);
        assert!((jain(&[0, 0]) - 1.0).abs() < 1e-12);
    }
}
