//! Locks that are broken on purpose, each in one way, to show that the explorer would notice.
//!
//! Each file says what is broken and what has to notice it, and states as data within how many schedules; the
//! tests hold the explorer to it, from several seeds. Locks that share a mechanism take their flaw as a type;
//! the mechanism without a flaw ([`Sound`]) passes, which shows that the flaw is what is noticed.
mod anew;
mod blind_clear;
mod deaf;
mod double_release;
mod early_look;
mod greedy;
mod halting;
mod impatient;
mod levelless_tail;
mod narrow_ticket;
mod no_fence;
mod odd_word;
mod queued;
mod shared_node;
mod sticky_mark;
mod ticketed;
mod torn_draw;
mod torn_tas;
mod trusting;
mod try_lies;

use super::subjects::Subject;

/// No flaw: the mechanism as it should be.
#[cfg(test)]
pub(super) enum Sound {}

/// Every broken lock, in the order of tables.
pub(super) fn all() -> Vec<Subject> {
    vec![
        torn_tas::subject(),
        try_lies::subject(),
        torn_draw::subject(),
        narrow_ticket::subject(),
        double_release::subject(),
        impatient::subject(),
        odd_word::subject(),
        sticky_mark::subject(),
        blind_clear::subject(),
        shared_node::subject(),
        levelless_tail::subject(),
        greedy::subject(),
        deaf::subject(),
        early_look::subject(),
        anew::subject(),
        no_fence::subject(),
        trusting::subject(),
    ]
}

/// The mechanisms without their flaws.
#[cfg(test)]
pub(super) fn sound_twins() -> Vec<Subject> {
    vec![queued::sound(), queued::heeds(), halting::sound(), ticketed::sound()]
}

#[cfg(test)]
mod tests {
    use super::super::{Options, explore};
    use super::*;

    #[test]
    fn the_mechanisms_pass_without_their_flaws() {
        for subject in sound_twins() {
            let tally = explore(&subject, &Options::default(), 0..10_000, |_| true);
            assert_eq!(tally.failure, None, "{}", subject.name());
        }
    }
}
