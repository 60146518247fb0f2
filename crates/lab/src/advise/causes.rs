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

/// What happened at a condition.
pub(super) enum Happened {
    Notice(Notice),
    /// A thread waited, and was notified.
    Wait {
        from: u64,
        at: u64,
        thread: usize,
    },
}

#[derive(Default)]
pub(super) struct Causes {
    /// By thread, in the order of its waits: thread and number of the notification.
    by_thread: HashMap<usize, Vec<Option<(usize, u64)>>>,
    pub waits: usize,
    pub unexplained: usize,
}

impl Causes {
    /// What ended wait number `index` of a thread.
    pub(super) fn of(&self, thread: usize, index: usize) -> Option<(usize, u64)> {
        *self.by_thread.get(&thread)?.get(index)?
    }
}

/// Goes through conditions one by one. Waiters are woken in the order in which they came, so the earliest
/// notification within a wait that no other one was ended by is its cause. `happened` has each thread's waits
/// in their order.
pub(super) fn find(happened: Vec<(u64, Happened)>) -> Causes {
    let mut notices: HashMap<u64, Vec<Notice>> = HashMap::new();
    let mut waits = Vec::new();
    let mut causes = Causes::default();
    for (condition, what) in happened {
        match what {
            Happened::Notice(notice) => notices.entry(condition).or_default().push(notice),
            Happened::Wait { from, at, thread } => {
                let mine = causes.by_thread.entry(thread).or_default();
                waits.push((condition, from, at, thread, mine.len()));
                mine.push(None);
            }
        }
    }
    for notices in notices.values_mut() {
        notices.sort_by_key(|notice| notice.at);
    }
    waits.sort_unstable();
    causes.waits = waits.len();
    for (condition, from, at, thread, index) in waits {
        let found = notices.get_mut(&condition).and_then(|notices| {
            let first = notices.partition_point(|notice| notice.at < from);
            let within = notices[first..].iter_mut().take_while(|notice| notice.at <= at);
            let mut free =
                within.filter(|notice| (notice.all || !notice.is_taken) && notice.thread != thread);
            free.next()
        });
        match found {
            Some(notice) => {
                notice.is_taken = true;
                causes.by_thread.entry(thread).or_default()[index] = Some((notice.thread, notice.number));
            }
            None => causes.unexplained += 1,
        }
    }
    causes
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_earliest_free_notification_within_a_wait_ended_it() {
        let wait = |from, at, thread| (9, Happened::Wait { from, at, thread });
        let notice =
            |at, number, all| (9, Happened::Notice(Notice { at, thread: 0, number, all, is_taken: false }));
        let causes = find(vec![
            notice(5, 0, false),
            notice(20, 1, false),
            notice(21, 2, false),
            notice(50, 3, true),
            wait(10, 30, 1),
            wait(11, 30, 2),
            wait(40, 60, 1),
            wait(41, 60, 2),
            wait(70, 80, 1),
        ]);
        assert_eq!((causes.of(1, 0), causes.of(2, 0)), (Some((0, 1)), Some((0, 2))));
        assert_eq!((causes.of(1, 1), causes.of(2, 1)), (Some((0, 3)), Some((0, 3))), "all are woken");
        assert_eq!((causes.of(1, 2), causes.of(1, 3)), (None, None));
        assert_eq!((causes.waits, causes.unexplained), (5, 1));
    }
}
