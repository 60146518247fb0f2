//! Locks that are broken on purpose, each in one way, and who has to notice it.
//!
//! A detector that notices nothing may be blind, so each has locks here that it must fail: the bodies of this
//! crate in every world, `stanchion torture`, the guest, the explorer. [`BROKEN`] says which, and the last
//! three are held to it by their tests. Locks of one mechanism take their flaw as a number, that of their
//! row. A mechanism that is [`SOUND`] shows that the flaw is what is noticed.
mod byte;
mod cells;
mod counted;
mod halting;
mod missed;
mod queued;
mod ticketed;

pub use byte::Byte;
pub use cells::Cells;
pub use counted::Counted;
pub use halting::Halting;
pub use missed::Missed;
pub use queued::Queued;
pub use ticketed::Ticketed;

/// Who has to notice that a lock is broken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Detector {
    /// The bodies of this crate, in every world.
    Suite,
    /// A short run of `stanchion torture`, on threads.
    Torture,
    /// Torture with time and CPUs enough: not in a short run on a busy machine.
    LongTorture,
    /// A build with ThreadSanitizer, under torture.
    ThreadSanitizer,
    /// Torture in the guest, on vCPUs.
    Guest,
    /// The explorer, within the number of schedules that it states.
    Explorer,
}

/// One broken lock.
#[derive(Debug)]
pub struct Broken {
    /// The name on command lines.
    pub name: &'static str,
    /// What is wrong with it.
    pub fault: &'static str,
    /// Who has to notice it; nobody, if it is sound.
    pub noticed_by: &'static [Detector],
}

macro_rules! catalogue {
    ($($(#[$doc:meta])* $row:ident $name:literal $fault:literal [$($detector:ident)*];)*) => {
        /// Every row, sound twins first.
        pub const BROKEN: &[Broken] = &[$(Broken {
            name: $name,
            fault: $fault,
            noticed_by: &[$(Detector::$detector),*],
        }),*];
        $($(#[$doc])* pub const $row: usize = row($name);)*
    };
}

catalogue! {
    /// The mechanism as it should be.
    SOUND "sound" "nothing is wrong with it" [];
    /// [`Queued`] that lets newcomers steal until its head asks for the lock, as it should be.
    HEEDS "sound-heeds" "nothing is wrong with it: newcomers steal until the head asks for the lock" [];

    /// The kernel's `lock_busted`. To torture, the flags disagree within milliseconds.
    NONE "busted-none" "excludes nobody" [Suite Torture Guest];
    /// Two contexts see the byte free before either sets it: a window of nanoseconds at every hand-over.
    CHECK_THEN_SET "busted-check-then-set" "looks and then takes, in two steps" [Torture Explorer];
    /// The same with a pause between the steps: in a guest few vCPUs run at a time.
    SLOW_SET "busted-slow-set" "looks, pauses, and then takes" [Guest];
    /// Without tries, a test shows, it is sound.
    TRY "busted-try" "a try now and then takes what somebody holds" [Torture];
    /// Two contexts that try see the byte free, and neither sets it.
    TRY_LIES "busted-try-lies" "a try that succeeds takes nothing" [Explorer];
    /// On x86 an atomic exchange orders everything around it whatever the source says, so torture alone
    /// *cannot* see the bug there (on a weakly ordered machine the torn-view check may). Built with
    /// `-Zsanitizer=thread`, the same run reports a data race on the protected words. The sound twin, which
    /// differs in nothing else, shows that this is not the harness racing with itself.
    RELAXED "busted-relaxed" "excludes, but orders nothing; invisible to torture on x86" [ThreadSanitizer];
    /// A releaser that finds the lock still held after its release takes its store for lost and releases once
    /// more, the next holder's lock.
    DOUBLE_RELEASE "busted-double-release" "releases again what the next one has taken" [Explorer];
    /// A waiter that has polled for long believes that the holder is dead; it is only not running.
    IMPATIENT "busted-impatient" "takes the lock from a holder that is away for long" [Explorer];
    /// Excludes, but its second contender makes the word say what the table does not list. Nothing else is
    /// wrong with it.
    ODD_WORD "busted-odd-word" "the word goes where the table does not" [Explorer];
    /// Excludes, but a waiter marks the lock and leaves the mark behind. Nothing else is wrong with it.
    STICKY_MARK "busted-sticky-mark" "the word of an idle lock says that somebody waits" [Explorer];

    /// The release now and then serves two tickets, each of which serves the next: two hold it ever after.
    DOUBLE_GRANT "busted-double-grant" "a ticket lock that now and then serves two at once" [Torture];
    /// The draw is a load and a store. Two are inside; or nobody can run, or the word goes backwards, if the
    /// second of the two comes late.
    TORN_DRAW "busted-torn-draw" "a ticket lock that may hand out a ticket twice" [Explorer];
    /// One bit of tickets is compared, so that the holder and the second waiter are served together, with
    /// three contexts or more; or nobody can run any more, when the holders' releases cancel out.
    NARROW_TICKET "busted-narrow-ticket" "a ticket lock whose tickets wrap too early" [Explorer];
    /// A waiter looks whether it is its turn *before* it notes which wake-up it is waiting for. One in
    /// between is missed, and since the lock was handed to that very waiter, nobody gets it ever again, which
    /// a watchdog sees. A signal ends a halt, and the waiter looks again: signals *cure* this bug. That is
    /// why torture's tormentor has calm spells, and spares workers that are getting nowhere.
    LOST_WAKEUP "busted-lost-wakeup" "may sleep through the wake-up meant for it" [Torture];

    /// A waiter that has changed the tail and not linked itself yet is forgotten.
    BLIND_CLEAR "busted-blind-clear" "a queued lock that forgets a waiter at the end of the queue" [Explorer];
    /// Nesting is not counted: a handler that queues uses the node with which its context already stands in
    /// another queue. Needs interrupts.
    SHARED_NODE "busted-shared-node" "a queued lock whose handlers use the node of whom they interrupt" [Explorer];
    /// The tail names a context, and not at which level of nesting that queued. Who queues behind a handler
    /// takes the node of whom the handler interrupted for the handler's. This is what `owner-qspin` avoids by
    /// having the level in its tail. Needs interrupts.
    LEVELLESS_TAIL "busted-levelless-tail" "a queued lock whose tail does not tell a handler from whom it interrupts" [Explorer];
    /// It states that a waiter is overtaken once by each other context.
    GREEDY "busted-greedy" "a queued lock that lets newcomers steal without the bound that it states" [Explorer];
    /// Lets newcomers steal until the head of the queue asks for the lock, and then goes on stealing. Once
    /// the head's flag is visible, each context may acquire once more at most, with a claim that was under
    /// way.
    DEAF "busted-deaf" "a queued lock whose newcomers do not heed the head that asks for the lock" [Explorer];

    /// A releaser has taken the mark and sent its kick before the waiter looks at the mark once more, so the
    /// comparison holds, and the kick came before it. Needs kicks that are forgotten if they come before the
    /// comparison, or used up by a handler there. Where they are kept, it is sound.
    ANEW "busted-anew" "a waiter that halts while its mark stays as it is, whatever that is" [Explorer];
    /// One that goes to sleep between the look and the release is never kicked.
    EARLY_LOOK "busted-early-look" "a releaser that looks for sleepers too early" [Explorer];
    /// A waiter leaves its mark and looks at the lock without a barrier in between, while the releaser stores
    /// the lock and looks at the mark. Both stores wait in their buffers, both looks see the past, and nobody
    /// is kicked. Needs store buffers, without which this lock is sound.
    NO_FENCE "busted-no-fence" "a waiter that does not order its mark before its look" [Explorer];
    /// It may have been woken for no reason, or by a kick for an earlier sleep, or the lock may have been
    /// stolen.
    TRUSTING "busted-trusting" "a waiter that takes a wake-up for the lock" [Explorer];
    /// A vCPU waits for a lock that nobody holds.
    LOST_KICK "busted-lost-kick" "has one place for sleepers; the second one takes the first one's" [Guest];

    /// As `NONE`, whoever reads or writes.
    RW_NONE "busted-rw-none" "excludes no readers and no writers" [Suite];
    /// A writer may have come since the look, and seen nobody.
    RW_CHECK_THEN_ACT "busted-rw-check-then-act" "a reader looks for writers and then counts itself, in two steps" [Torture];
    /// Readers may be in.
    RW_NO_WAIT "busted-rw-no-wait" "a writer does not wait for the readers" [Torture];
    /// Somebody writes.
    RW_TRY "busted-rw-try" "a try to read succeeds beside a writer" [Torture];
    /// Exclusion is perfect, but the writer stops, which is the watchdog's business.
    RW_LOST_WAKEUP "busted-rw-lost-wakeup" "the last reader does not wake the writer" [Torture];
    /// Another reader is still in, and a writer beside it.
    RW_COUNT "busted-rw-count" "a reader that leaves sometimes counts for two" [Torture Guest];
    /// Exclusion is perfect, but one reader is let in at a time, which the readers' own meetings tell.
    RW_SERIAL "busted-rw-serial" "readers exclude each other" [Torture];
    /// The reader's store and the writer's may both still be in their CPUs' store buffers when each looks for
    /// the other's, on x86 too.
    PERCPU_RW "busted-percpu-rw" "the writer has no barrier between its flag and the cells" [LongTorture];
}

/// The number of the row with this name.
pub const fn row(name: &str) -> usize {
    let mut at = 0;
    while !is(name, BROKEN[at].name) {
        at += 1;
    }
    at
}

const fn is(one: &str, other: &str) -> bool {
    let (one, other) = (one.as_bytes(), other.as_bytes());
    let mut at = 0;
    while at < one.len() && at < other.len() && one[at] == other[at] {
        at += 1;
    }
    at == one.len() && at == other.len()
}

/// What a detector has to notice, in the order of the rows.
pub fn noticed_by(detector: Detector) -> impl Iterator<Item = &'static Broken> {
    BROKEN.iter().filter(move |broken| broken.noticed_by.contains(&detector))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_distinct_and_faults_are_told_and_noticed() {
        for (at, broken) in BROKEN.iter().enumerate() {
            assert_eq!(row(broken.name), at, "{}: a name is taken once", broken.name);
            let is_busted = broken.name.starts_with("busted-");
            assert_eq!(is_busted, !broken.noticed_by.is_empty(), "{}", broken.name);
            assert!(broken.fault.len() > 8, "{}", broken.name);
        }
    }
}
