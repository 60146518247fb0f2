//! When nobody can have the lock: it lies free for a vCPU that does not come, or its holder has no CPU.
use stanchion_sim::{Cause, Recording, Spell, Time};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Stall {
    /// Who everybody waits for.
    pub vcpu: usize,
    pub from: Time,
    pub to: Time,
    /// Who released the lock, which lies free; `None`: the vCPU holds it, and another runs in its place.
    pub giver: Option<usize>,
}

impl Stall {
    pub(super) fn length(&self) -> Time {
        self.to - self.from
    }
}

/// The stalls that are longer than `least`, the longest first, no more than `most`.
pub(super) fn find(recording: &Recording, least: Time, most: usize) -> Vec<Stall> {
    let free = recording.handovers.iter().map(|handover| Stall {
        vcpu: handover.taker,
        from: handover.released,
        to: handover.acquired,
        giver: Some(handover.giver),
    });
    let mut stalls: Vec<Stall> = free.chain(preempted_holders(recording)).collect();
    stalls.retain(|stall| stall.length() > least);
    stalls.sort_by_key(|stall| core::cmp::Reverse(stall.length()));
    stalls.truncate(most);
    stalls
}

/// When vCPUs lost their CPUs while they held a lock.
fn preempted_holders(recording: &Recording) -> Vec<Stall> {
    let mut holding = vec![false; recording.contexts];
    let mut stalls = Vec::new();
    for &Spell { context: vcpu, cause, from, to } in &recording.spells {
        match cause {
            Cause::Holding => holding[vcpu] = true,
            Cause::Computing | Cause::Locking | Cause::Spinning | Cause::Halted => holding[vcpu] = false,
            Cause::Preempted if holding[vcpu] => stalls.push(Stall { vcpu, from, to, giver: None }),
            // Neither begins nor ends a section.
            Cause::Preempted | Cause::Transfer | Cause::Overhead | Cause::Sleeping => {}
        }
    }
    stalls
}

#[cfg(test)]
mod tests {
    use super::*;
    use stanchion_sim::Handover;

    fn recording(spells: &[(usize, Cause, Time, Time)], handovers: Vec<Handover>) -> Recording {
        let spell =
            |&(context, cause, from, to): &(usize, Cause, Time, Time)| Spell { context, cause, from, to };
        let spells = spells.iter().map(spell).collect();
        Recording { from: 0, to: 1000, contexts: 2, ran: Vec::new(), spells, handovers, kicks: Vec::new() }
    }

    #[test]
    fn a_holder_without_a_cpu_is_found_and_a_spinner_without_one_is_not() {
        let recording = recording(
            &[
                (0, Cause::Holding, 0, 10),
                (1, Cause::Spinning, 0, 20),
                (0, Cause::Overhead, 10, 12),
                (1, Cause::Preempted, 20, 90),
                (0, Cause::Preempted, 12, 80),
                (0, Cause::Holding, 80, 85),
                (0, Cause::Computing, 85, 90),
                (0, Cause::Preempted, 90, 200),
            ],
            Vec::new(),
        );
        assert_eq!(find(&recording, 5, 9), [Stall { vcpu: 0, from: 12, to: 80, giver: None }]);
    }

    #[test]
    fn the_longest_come_first_and_short_ones_are_left_out() {
        let handover = |released, acquired| Handover { lock: 0, giver: 0, released, taker: 1, acquired };
        let recording = recording(&[], vec![handover(0, 3), handover(10, 30), handover(40, 90)]);
        let found = find(&recording, 5, 9);
        assert_eq!(found.iter().map(Stall::length).collect::<Vec<_>>(), [50, 20]);
        assert_eq!(found[0].giver, Some(0));
        assert_eq!(find(&recording, 5, 1).len(), 1);
    }
}
