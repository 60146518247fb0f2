//! Costs of single accesses, on a machine whose costs are easy to tell apart.
use super::line::WORDS;
use super::*;
use crate::machine::{Memory, Protocol};
use crate::testing::machine;

/// Two sockets of two groups of two cores, no jitter. Cores 0–3 are the first socket's.
fn directory(change: impl FnOnce(&mut Machine)) -> Directory {
    let mut machine = machine(2, 2, 2);
    machine.memory.jitter_percent = 0;
    change(&mut machine);
    Directory::new(&machine, 4, Random::new(1, 0))
}

/// Far apart, so that no access disturbs the next.
const LATER: Time = 1_000_000;

#[test]
fn a_line_costs_more_the_farther_it_comes() {
    let mut lines = directory(|_| ());
    let memory = lines.memory.clone();
    assert_eq!(lines.own(0, 0, LATER, 0).at, LATER + memory.memory, "nobody has it");
    assert_eq!(
        lines.own(0, 0, 2 * LATER, 0),
        Served { at: 2 * LATER, missed: false, taken_from: None },
        "we have it"
    );
    assert_eq!(lines.own(0, 1, 3 * LATER, 0).at, 3 * LATER + memory.group_dirty);
    assert_eq!(lines.own(0, 2, 4 * LATER, 0).at, 4 * LATER + memory.socket_dirty);
    assert_eq!(lines.own(0, 4, 5 * LATER, 0).at, 5 * LATER + memory.remote_dirty);
}

#[test]
fn each_hop_adds_to_a_remote_transfer() {
    let mut lines = directory(|machine| machine.topology.hops = vec![vec![0, 3], vec![3, 0]]);
    let memory = lines.memory.clone();
    lines.own(0, 0, 0, 0);
    assert_eq!(lines.own(0, 4, LATER, 0).at, LATER + memory.remote_dirty + 2 * memory.hop);
}

#[test]
fn a_reader_leaves_a_copy_and_an_upgrade_takes_it_away() {
    let mut lines = directory(|_| ());
    let memory = lines.memory.clone();
    lines.own(0, 0, 0, 0);
    assert_eq!(lines.read(0, 1, LATER).at, LATER + memory.group_dirty);
    assert!(!lines.read(0, 0, 2 * LATER).missed, "the old owner keeps a copy");
    assert_eq!(lines.own(0, 0, 3 * LATER, 0).at, 3 * LATER + memory.upgrade, "within the group");
    assert!(lines.read(0, 1, 4 * LATER).missed, "its copy is gone");
    lines.read(0, 4, 5 * LATER);
    let upgrade = memory.upgrade_remote + memory.upgrade_per_core;
    assert_eq!(lines.own(0, 0, 6 * LATER, 0).at, 6 * LATER + upgrade, "core 1 and the other socket");
}

#[test]
fn an_upgrade_costs_what_the_farthest_copy_costs_however_many_there_are() {
    let machine = machine(2, 2, 8);
    let memory = Memory { jitter_percent: 0, ..machine.memory.clone() };
    let mut lines = Directory::new(&Machine { memory: memory.clone(), ..machine }, 4, Random::new(1, 0));
    let mut now = LATER;
    for (sharers, near, far) in [(4, 7, 8), (6, 7, 8)] {
        for (last, upgrade) in [(near, memory.upgrade), (far, memory.upgrade_socket)] {
            lines.own(0, 0, now, 0);
            for core in (1..sharers - 1).chain([last]) {
                now += LATER;
                lines.read(0, core, now);
            }
            now += LATER;
            let others = memory.upgrade_per_core * (sharers as Time - 2);
            assert_eq!(lines.own(0, 0, now, 0).at, now + upgrade + others, "{sharers} sharers to {last}");
            now += LATER;
        }
    }
}

#[test]
fn requests_for_one_line_queue() {
    let mut lines = directory(|_| ());
    let memory = lines.memory.clone();
    lines.own(0, 0, 0, 0);
    let first = lines.own(0, 4, LATER, 0).at;
    let second = lines.own(0, 5, LATER, 0).at;
    let busy = percent(memory.remote_dirty, memory.occupancy_percent);
    assert!(second >= LATER + busy + memory.group_dirty && second > first, "{first} {second}");
    let other = lines.own(1, 5, LATER, 0).at;
    assert_eq!(other, LATER + memory.memory, "another line is not held up");
}

#[test]
fn the_old_owner_still_hits_in_the_snoop_window() {
    let mut lines = directory(|_| ());
    let memory = lines.memory.clone();
    lines.own(0, 0, 0, 0);
    lines.own(0, 4, LATER, 0);
    let window = percent(memory.remote_dirty, memory.snoop_percent);
    assert!(!lines.own(0, 0, LATER + window - 1, 0).missed);
    assert!(lines.own(0, 0, LATER + window, 0).missed);
}

#[test]
fn a_reader_leaves_the_old_owner_a_window_of_its_own() {
    for share in [0, 10, 90] {
        let mut lines = directory(|machine| machine.memory.snoop_read_percent = share);
        let memory = lines.memory.clone();
        lines.own(0, 0, 0, 0);
        lines.read(0, 4, LATER);
        let window = percent(memory.remote_dirty, share);
        assert!(window == 0 || !lines.own(0, 0, LATER + window - 1, 0).missed, "{share} %");
        assert!(lines.own(0, 0, LATER + window, 0).missed, "{share} %");
    }
}

/// A reader takes a line that was written, and leaves its owner nothing. From then on it is shared as usual.
#[test]
fn a_written_line_moves_to_its_reader() {
    let mut lines = directory(|machine| machine.memory.migratory = true);
    let memory = lines.memory.clone();
    lines.own(0, 0, 0, 0);
    let window = percent(memory.group_dirty, memory.snoop_read_percent);
    let served = lines.read(0, 1, LATER);
    assert_eq!((served.at, served.taken_from), (LATER + memory.group_dirty, Some((0, LATER + window))));
    assert_eq!(lines.own(0, 1, 2 * LATER, 0), Served { at: 2 * LATER, missed: false, taken_from: None });
    let served = lines.read(0, 0, 3 * LATER);
    assert_eq!(served.taken_from, Some((1, 3 * LATER + window)), "written there");
    let served = lines.read(0, 1, 4 * LATER);
    assert_eq!((served.missed, served.taken_from), (true, None), "its copy was gone, and nobody has written");
    assert!(!lines.read(0, 0, 5 * LATER).missed, "both have a copy");
    assert_eq!(lines.own(0, 1, 6 * LATER, 0).at, 6 * LATER + memory.upgrade);
}

#[test]
fn readers_that_come_with_a_storm_share_what_the_first_one_took() {
    let mut lines = directory(|machine| machine.memory.migratory = true);
    let memory = lines.memory.clone();
    lines.own(0, 4, 0, 0);
    assert!(lines.read(0, 0, LATER).taken_from.is_some_and(|(core, _)| core == 4));
    lines.joins(0, 1);
    assert_eq!(lines.own(0, 0, 2 * LATER, 0).at, 2 * LATER + memory.upgrade);
}

#[test]
fn who_looks_ahead_asked_before_but_not_before_the_line_was_free() {
    let mut lines = directory(|_| ());
    let memory = lines.memory.clone();
    lines.own(0, 0, 0, 0);
    let ahead = |now, ahead| Asked { now, ahead };
    assert_eq!(lines.own(0, 1, ahead(LATER, 20_000), 0).at, LATER + memory.group_dirty - 20_000);
    let there = 2 * LATER + memory.hit;
    assert_eq!(lines.read(0, 0, ahead(2 * LATER, LATER / 2)).at, there, "it is there when it is needed");
    assert!(lines.own(1, 0, LATER, 0).missed && !lines.own(1, 0, 2 * LATER, 0).missed, "written again there");
    let asked = ahead(2 * LATER + 5_000, LATER);
    assert_eq!(lines.own(1, 1, asked, 0).at, 2 * LATER + memory.group_dirty, "behind the write");
    lines.own(2, 0, 0, 0);
    let (first, second) =
        (lines.own(2, 1, ahead(LATER, LATER / 2), 0), lines.own(2, 0, ahead(LATER, LATER / 2), 0));
    assert_eq!((first.at, second.at), (LATER, LATER + memory.group_dirty), "the second comes behind it");
    lines.own(3, 0, 0, 0);
    let there = lines.read(3, 4, LATER).at;
    let busy = LATER + percent(there - LATER, memory.occupancy_percent);
    assert_eq!(lines.read(3, 2, ahead(there, LATER / 2)).at, busy + memory.socket_dirty, "it was not free");
}

#[test]
fn readers_of_one_group_are_served_one_after_the_other() {
    let mut lines = directory(|_| ());
    let memory = lines.memory.clone();
    lines.own(0, 4, 0, 0);
    let first = lines.read(0, 0, LATER).at;
    let second = lines.read(0, 1, first).at;
    assert_eq!(second, first + memory.group_clean, "the group's cache has it by now");
    let end = lines.storm(0, 0, second, 10) * 10 + second;
    assert!(lines.own(0, 4, second, 0).at > end, "a writer waits for the storm");
}

#[test]
fn protocols_differ_in_where_clean_lines_come_from() {
    let cost = |protocol| {
        let mut lines = directory(|machine| machine.memory.protocol = protocol);
        lines.own(0, 0, 0, 0);
        lines.read(0, 1, LATER); // clean from here on
        lines.read(0, 4, 2 * LATER).at - 2 * LATER
    };
    let memory = machine(2, 2, 2).memory;
    assert!(memory.memory != memory.remote_dirty, "or the test shows nothing");
    assert_eq!(cost(Protocol::Mesif), memory.remote_dirty);
    assert_eq!(cost(Protocol::Mesi), memory.remote_dirty.max(memory.memory));
    assert_eq!(cost(Protocol::Moesi), memory.remote_dirty.min(memory.memory));
    assert!(directory(|machine| machine.memory.protocol = Protocol::LlSc).reserves());
}

#[test]
fn bits_are_found_across_words() {
    let mut words = [0; WORDS];
    words[1] = 1 << 6; // bit 70
    assert!(any_bit(&words, 70, 71) && any_bit(&words, 0, 512) && any_bit(&words, 64, 128));
    assert!(!any_bit(&words, 0, 70) && !any_bit(&words, 71, 512));
}
