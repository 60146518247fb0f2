//! Locks of the catalogue that are broken on purpose and that the explorer must notice, with what it states:
//! how each fails, within how many schedules, and not without which faults. The tests hold the explorer to
//! it, from several seeds.
use super::Overtaking;
use super::failure::Kind::{self, Exclusion, Leftover, Overtaken, Stuck, Transition};
use super::fault::Fault::{Interrupts, StoreBuffers, Tries};
use super::platform::Stepped;
use super::subjects::Subject;
use stanchion_suite::broken::{ANEW, BLIND_CLEAR, CHECK_THEN_SET, DEAF, DOUBLE_RELEASE, EARLY_LOOK, GREEDY};
use stanchion_suite::broken::{
    Byte, IMPATIENT, LEVELLESS_TAIL, NARROW_TICKET, NO_FENCE, ODD_WORD, SHARED_NODE,
};
use stanchion_suite::broken::{Halting, Queued, STICKY_MARK, TORN_DRAW, TRUSTING, TRY_LIES, Ticketed};

type Bytes<const FLAW: usize> = Byte<Stepped, FLAW>;
type Tickets<const FLAW: usize> = Ticketed<Stepped, FLAW>;
type Queue<const FLAW: usize> = Queued<Stepped, FLAW>;
type Halts<const FLAW: usize> = Halting<Stepped, FLAW>;

const STUCK: &[Kind] = &[Stuck];
const EXCLUSION: &[Kind] = &[Exclusion];
const TICKETS: &[(usize, &str)] = Tickets::<TORN_DRAW>::FIELDS;
const HALTS: &[(usize, &str)] = Halts::<ANEW>::FIELDS;

/// Every broken lock, in the order of tables.
pub(super) fn all() -> Vec<Subject> {
    let torn = &[Exclusion, Stuck, Transition, Leftover];
    let narrow = &[Exclusion, Stuck, Leftover];
    let once = Overtaking::AtMost(1);
    vec![
        Subject::broken::<Bytes<CHECK_THEN_SET>>(EXCLUSION, 50, &[]),
        Subject::broken::<Bytes<TRY_LIES>>(EXCLUSION, 100, &[Tries]),
        Subject::broken::<Tickets<TORN_DRAW>>(torn, 50, &[]).worded(TICKETS),
        Subject::broken::<Tickets<NARROW_TICKET>>(narrow, 50, &[]).worded(TICKETS),
        Subject::broken::<Bytes<DOUBLE_RELEASE>>(EXCLUSION, 200, &[]),
        Subject::broken::<Bytes<IMPATIENT>>(EXCLUSION, 1_000, &[]),
        Subject::broken::<Bytes<ODD_WORD>>(&[Transition], 50, &[]),
        Subject::broken::<Bytes<STICKY_MARK>>(&[Leftover], 50, &[]),
        Subject::broken::<Queue<BLIND_CLEAR>>(STUCK, 200, &[]),
        Subject::broken::<Queue<SHARED_NODE>>(STUCK, 1_000, &[Interrupts]),
        Subject::broken::<Queue<LEVELLESS_TAIL>>(STUCK, 2_000, &[Interrupts]),
        Subject::broken::<Queue<GREEDY>>(&[Overtaken], 100, &[]).stating(once),
        Subject::broken::<Queue<DEAF>>(&[Overtaken], 100, &[]).with_no_barging(1),
        Subject::broken::<Halts<EARLY_LOOK>>(STUCK, 200, &[]).worded(HALTS),
        Subject::broken::<Halts<ANEW>>(STUCK, 2_000, &[]).worded(HALTS),
        Subject::broken::<Halts<NO_FENCE>>(STUCK, 2_000, &[StoreBuffers]).worded(HALTS),
        Subject::broken::<Halts<TRUSTING>>(EXCLUSION, 500, &[]).worded(HALTS),
    ]
}

#[cfg(test)]
mod tests {
    use super::super::{Options, explore};
    use super::*;
    use stanchion_suite::broken::{Detector, HEEDS, SOUND, noticed_by};
    use std::collections::BTreeSet;

    /// The mechanisms without their flaws.
    fn sound_twins() -> [(&'static str, Subject); 5] {
        let tickets = Subject::broken::<Tickets<SOUND>>(EXCLUSION, 0, &[]);
        let queue = Subject::broken::<Queue<SOUND>>(EXCLUSION, 0, &[]);
        [
            ("byte", Subject::broken::<Bytes<SOUND>>(EXCLUSION, 0, &[])),
            ("queued", queue.stating(Overtaking::AtMost(1))),
            ("queued, steals and heeds", Subject::broken::<Queue<HEEDS>>(&[], 0, &[]).with_no_barging(1)),
            ("halting", Subject::broken::<Halts<SOUND>>(EXCLUSION, 0, &[])),
            ("ticketed", tickets.worded(TICKETS).stating(Overtaking::AtMost(0))),
        ]
    }

    #[test]
    fn the_mechanisms_pass_without_their_flaws() {
        for (mechanism, subject) in sound_twins() {
            let tally = explore(&subject, &Options::default(), 0..10_000, |_| true);
            assert_eq!(tally.failure, None, "{mechanism}");
        }
    }

    #[test]
    fn all_that_the_explorer_must_notice_are_here() {
        let all = all();
        let here: BTreeSet<&str> = all.iter().map(Subject::name).collect();
        let listed = noticed_by(Detector::Explorer).map(|broken| broken.name);
        assert_eq!(here, listed.collect());
        assert_eq!(here.len(), all.len());
    }
}
