//! Which notification ended which wait.
use std::collections::HashMap;

/// A notification, in ticks.
pub(super) struct Notice {
    pub at: u64,
    pub thread: usize,
    /// How many notifications this thread made before.
    pub number: u64,
    pub all: bool,
    /// Whether it ended a wait.
    pub is_taken: bool,
}

/// A thread waited, and was notified.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Wait {
    pub condition: u64,
    pub from: u64,
    pub at: u64,
    pub thread: usize,
    /// How many such waits this thread had before.
    pub number: u64,
}

/// Thread and number of the notification that ended a wait, by thread and number of the wait.
pub(super) type Causes = HashMap<(usize, u64), (usize, u64)>;

/// Waiters are woken in the order in which they came, so the earliest notification of the condition within a
/// wait that no other one was ended by is its cause.
pub(super) fn find(mut notices: HashMap<u64, Vec<Notice>>, mut waits: Vec<Wait>) -> Causes {
    for notices in notices.values_mut() {
        notices.sort_by_key(|notice| notice.at);
    }
    waits.sort_unstable();
    let mut causes = Causes::new();
    for Wait { condition, from, at, thread, number } in waits {
        let Some(notices) = notices.get_mut(&condition) else { continue };
        let first = notices.partition_point(|notice| notice.at < from);
        let mut within = notices[first..].iter_mut().take_while(|notice| notice.at <= at);
        let is_free = |it: &&mut Notice| (it.all || !it.is_taken) && it.thread != thread;
        if let Some(notice) = within.find(is_free) {
            notice.is_taken = true;
            causes.insert((thread, number), (notice.thread, notice.number));
        }
    }
    causes
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_earliest_free_notification_within_a_wait_ended_it() {
        let wait = |from, at, thread, number| Wait { condition: 9, from, at, thread, number };
        let notice = |at, number, all| Notice { at, thread: 0, number, all, is_taken: false };
        let notices =
            vec![notice(5, 0, false), notice(20, 1, false), notice(21, 2, false), notice(50, 3, true)];
        let waits = vec![
            wait(10, 30, 1, 0),
            wait(11, 30, 2, 0),
            wait(40, 60, 1, 1),
            wait(41, 60, 2, 1),
            wait(70, 80, 1, 2),
        ];
        let causes = find(HashMap::from([(9, notices)]), waits);
        let of = |thread, number| causes.get(&(thread, number)).copied();
        assert_eq!((of(1, 0), of(2, 0)), (Some((0, 1)), Some((0, 2))));
        assert_eq!((of(1, 1), of(2, 1)), (Some((0, 3)), Some((0, 3))), "all are woken");
        assert_eq!((of(1, 2), of(1, 3)), (None, None));
        assert_eq!(causes.len(), 4, "of five");
    }
}
