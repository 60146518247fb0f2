//! What the threads achieved on each side, with the line that locktorture prints.
use super::slot::Slot;
use serde::{Deserialize, Serialize};

/// The sums over the writers, or over the readers, of one lock.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Tally {
    /// Acquisitions of all threads, of the most successful one, and of the least successful one.
    pub(crate) total: u64,
    pub(crate) max: u64,
    pub(crate) min: u64,
    pub(crate) fail: u64,
}

impl Tally {
    /// Of the threads in these slots, and in the total also what `others` did on their side.
    pub(crate) fn of(slots: &[Slot], others: &[Slot], acquired: fn(&Slot) -> u64) -> Self {
        let shares = || slots.iter().map(acquired);
        Self {
            total: shares().chain(others.iter().map(acquired)).sum(),
            max: shares().max().unwrap_or(0),
            min: shares().min().unwrap_or(0),
            fail: slots.iter().map(Slot::breaches).sum(),
        }
    }

    pub(crate) fn line(&self, side: &str) -> String {
        let Self { total, max, min, fail } = *self;
        // As locktorture has it: the busiest thread had more than twice what the least busy one had.
        let lopsided = if max / 2 > min { "???" } else { "" };
        let failed = if fail > 0 { "!!!" } else { "" };
        let line = format!("{side}:  Total: {total}  Max/Min: {max}/{min} {lopsided}  Fail: {fail} {failed}");
        line.trim_end().to_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::torture::slot::Breaches;

    /// Of writers that acquired so often, and saw so many violations.
    fn tally(threads: &[(u64, u64)]) -> Tally {
        let slot = |&(acquired, torn): &(u64, u64)| {
            let slot = Slot::default();
            (0..acquired).for_each(|_| slot.count(0, 0, true));
            slot.charge(Breaches { exclusion: 0, torn });
            slot
        };
        Tally::of(&threads.iter().map(slot).collect::<Vec<_>>(), &[], Slot::written)
    }

    #[test]
    fn a_quiet_line_has_no_marks() {
        let quiet = tally(&[(10, 0), (8, 0), (12, 0)]);
        assert_eq!(quiet, Tally { total: 30, max: 12, min: 8, fail: 0 });
        assert_eq!(quiet.line("Writes"), "Writes:  Total: 30  Max/Min: 12/8   Fail: 0");
        assert_eq!(quiet.line("Reads "), "Reads :  Total: 30  Max/Min: 12/8   Fail: 0");
    }

    #[test]
    fn a_lopsided_line_is_questioned_at_more_than_twice() {
        assert_eq!(
            tally(&[(21, 0), (10, 0)]).line("Writes"),
            "Writes:  Total: 31  Max/Min: 21/10   Fail: 0",
            "21/2 is 10 in integers, which is not above 10"
        );
        assert_eq!(
            tally(&[(22, 0), (10, 0)]).line("Writes"),
            "Writes:  Total: 32  Max/Min: 22/10 ???  Fail: 0"
        );
    }

    #[test]
    fn a_failed_line_is_shouted() {
        assert_eq!(tally(&[(5, 2), (5, 1)]).line("Writes"), "Writes:  Total: 10  Max/Min: 5/5   Fail: 3 !!!");
    }

    #[test]
    fn what_others_did_is_in_the_total_only() {
        let [slot, other] = [Slot::default(), Slot::default()];
        (0..3).for_each(|_| other.count(0, 0, true));
        slot.count(0, 0, true);
        other.charge(Breaches { exclusion: 1, torn: 0 });
        let tally = Tally::of(&[slot], &[other], Slot::written);
        assert_eq!(tally, Tally { total: 4, max: 1, min: 1, fail: 0 });
    }

    #[test]
    fn nobody_at_all_is_all_zero() {
        assert_eq!(tally(&[]), Tally::default());
        assert!(!Tally::default().line("Writes").contains("???"));
    }
}
