//! What has to be known of all threads of a recording before the script of any can be written: its span, its
//! locks, and which notification ended which wait.
use super::order::{self, Pair};
use super::window::Window;
use crate::run::record::codec::{Event, Item, Kind, What};
use crate::run::record::file::Meta;
use crate::run::record::raw::Chunk;
use std::collections::{HashMap, HashSet};

/// A lock is its thread's own if that took it at least this part of all times, and if all waits for it
/// together are hardly any of the recording. memcached's workers each count under a mutex, and its maintainer
/// takes each of them seldom.
const OWN: f64 = 0.99;

/// What was seen of a lock, in ticks.
#[derive(Default)]
pub(super) struct Seen {
    /// How often each thread took it.
    pub threads: HashMap<usize, u64>,
    pub events: u64,
    pub waited: u64,
    pub held: u64,
    /// It is no thread's own.
    pub is_shared: bool,
}

impl Seen {
    /// Says whether it is shared, of a recording that is so long.
    pub(super) fn judge(&mut self, span: u64) {
        let most = self.threads.values().max().copied().unwrap_or(0);
        let is_waited_for = self.waited as f64 > (1.0 - OWN) * span as f64;
        self.is_shared =
            self.threads.len() > 1 && (is_waited_for || (most as f64) < OWN * self.events as f64);
    }
}

pub(super) type Identity = (u64, bool);

pub(super) fn identity(event: &Event) -> Identity {
    (event.key.address(), event.key.kind() != Kind::Mutex)
}

/// What has to be known of all threads before the script of any can be written.
pub(super) struct Program<'a> {
    pub meta: &'a Meta,
    pub window: Window,
    pub begins: u64,
    pub ends: u64,
    pub seen: HashMap<Identity, Seen>,
    /// Shared locks, those that were taken most often first, and their numbers.
    pub shared: Vec<Identity>,
    pub numbers: HashMap<Identity, u32>,
    /// Of these the second is taken as free while the first is held.
    pub rare: HashSet<Pair>,
    pub causes: Causes,
    /// That were ended by notifications.
    pub waits: usize,
}

impl<'a> Program<'a> {
    /// None if the recording is damaged.
    pub(super) fn survey(threads: &[Vec<Chunk>], meta: &'a Meta, window: Window) -> Option<Self> {
        let mut seen: HashMap<Identity, Seen> = HashMap::new();
        let (mut begins, mut ends) = (u64::MAX, 0);
        let (mut waits, mut notices) = (Vec::new(), HashMap::<u64, Vec<Notice>>::new());
        for (thread, chunks) in threads.iter().enumerate() {
            let (mut waited, mut notified) = (0, 0);
            for chunk in chunks {
                begins = begins.min(chunk.base.max(window.from));
                window.items(chunk, |item| match item {
                    Item::Event(event) => {
                        let lock = seen.entry(identity(&event)).or_default();
                        *lock.threads.entry(thread).or_default() += 1;
                        lock.events += 1;
                        lock.waited = lock.waited.saturating_add(event.wait);
                        lock.held = lock.held.saturating_add(event.hold);
                        begins = begins.min(event.came);
                        ends = ends.max(event.released());
                    }
                    Item::Mark(at, What::Notified { condition, all }) => {
                        let notice = Notice { at, thread, number: notified, all, is_taken: false };
                        notices.entry(condition).or_default().push(notice);
                        notified += 1;
                    }
                    Item::Mark(at, What::Waited { condition, span, was_notified: true }) => {
                        let from = at.saturating_sub(span);
                        waits.push(Wait { condition, from, at, thread, number: waited });
                        waited += 1;
                    }
                    Item::Mark(..) => {}
                })?;
            }
        }
        begins = begins.min(ends);
        for lock in seen.values_mut() {
            lock.judge(ends - begins);
        }
        let shared = seen.iter().filter(|(_, lock)| lock.is_shared);
        let mut shared: Vec<Identity> = shared.map(|(id, _)| *id).collect();
        shared.sort_by_key(|id| (core::cmp::Reverse(seen[id].events), *id));
        let numbers = shared.iter().copied().zip(0..).collect();
        Some(Self {
            meta,
            window,
            begins,
            ends,
            seen,
            shared,
            rare: order::rare(threads, window, &numbers)?,
            numbers,
            waits: waits.len(),
            causes: causes(notices, waits),
        })
    }
}

/// A notification, in ticks.
struct Notice {
    at: u64,
    thread: usize,
    /// How many notifications this thread made before.
    number: u64,
    all: bool,
    /// Whether it ended a wait.
    is_taken: bool,
}

/// A thread waited, and was notified.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
struct Wait {
    condition: u64,
    from: u64,
    at: u64,
    thread: usize,
    /// How many such waits this thread had before.
    number: u64,
}

/// Thread and number of the notification that ended a wait, by thread and number of the wait.
pub(super) type Causes = HashMap<(usize, u64), (usize, u64)>;

/// Waiters are woken in the order in which they came, so the earliest notification of the condition within a
/// wait that no other one was ended by is its cause.
fn causes(mut notices: HashMap<u64, Vec<Notice>>, mut waits: Vec<Wait>) -> Causes {
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
#[test]
fn a_lock_that_others_seldom_take_and_nobody_waits_for_is_its_threads_own() {
    let is_shared = |threads: &[u64], waited| {
        let events = threads.iter().sum();
        let threads = threads.iter().copied().enumerate().collect();
        let mut seen = Seen { threads, events, waited, ..Seen::default() };
        seen.judge(100_000);
        seen.is_shared
    };
    assert!(!is_shared(&[991, 9], 900) && !is_shared(&[5], 90_000));
    assert!(is_shared(&[989, 11], 900), "more than one in a hundred times");
    assert!(is_shared(&[991, 9], 1100), "who waits does so for more than one in a hundred");
}

#[cfg(test)]
#[test]
fn the_earliest_free_notification_within_a_wait_ended_it() {
    let wait = |from, at, thread, number| Wait { condition: 9, from, at, thread, number };
    let notice = |at, number, all| Notice { at, thread: 0, number, all, is_taken: false };
    let notices = vec![notice(5, 0, false), notice(20, 1, false), notice(21, 2, false), notice(50, 3, true)];
    let waits = vec![
        wait(10, 30, 1, 0),
        wait(11, 30, 2, 0),
        wait(40, 60, 1, 1),
        wait(41, 60, 2, 1),
        wait(70, 80, 1, 2),
    ];
    let causes = causes(HashMap::from([(9, notices)]), waits);
    let of = |thread, number| causes.get(&(thread, number)).copied();
    assert_eq!((of(1, 0), of(2, 0)), (Some((0, 1)), Some((0, 2))));
    assert_eq!((of(1, 1), of(2, 1)), (Some((0, 3)), Some((0, 3))), "all are woken");
    assert_eq!((of(1, 2), of(1, 3)), (None, None));
    assert_eq!(causes.len(), 4, "of five");
}
