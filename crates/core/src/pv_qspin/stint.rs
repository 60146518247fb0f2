//! Stints: for how long a running context may go on acquiring ahead of a queue.
//!
//! A stint begins when the context comes out of a queue. When it is over and there is a queue, the context queues too;
//! with that, its CPU goes to a waiter that a release has woken. So the number of running contexts stays what it is, who
//! they are rotates, and no lock is ever handed to a context that is asleep.
//!
//! Two things make this work on a real scheduler:
//!
//! - **The length adapts.** What waiters feel is the length of a whole rotation, what it costs is the number of changes.
//!   The product of a stint and the wait before it aims at
//!   [`STINT_TIMES_WAIT_MICROS`](WaitPolicy::STINT_TIMES_WAIT_MICROS), so both grow with the square root of what they
//!   would have to carry alone: few waiters rotate seldom, many rotate fast.
//! - **A CPU is left only to a waiter that will take it**: to the head of the queue if that is at home on this CPU, which is
//!   what [`is_preempted`](Platform::is_preempted) says, else to a waiter that is [let out](super::rotation). If there is
//!   none, the stint goes on, for up to [`LONGEST_EXTENSION`](WaitPolicy::LONGEST_EXTENSION) times its length.
//!
//! The acquisitions of a stint are counted between two looks at the clock, so it is known how fast they follow each other. Where that is
//! about as fast as a line moves from one CPU to another, two CPUs get less done than one, and a newcomer that finds the lock held
//! had better stay away for a while ([`HURRIED_PAUSE`](WaitPolicy::HURRIED_PAUSE)): the other acquires often meanwhile, and then it is
//! the other's turn to stay away.
use super::word::said;
use super::{PvQSpinLock, Signpost, WaitPolicy};
use crate::order::Relaxed;
use crate::percpu::PerCpu;
use crate::platform::{Atomic, Platform, micros};

/// Spends one acquisition ahead of a queue from the credit until the next look at the clock. `false`: look.
#[inline(always)]
pub(super) fn spend_credit<P: Platform>() -> bool {
    P::private_counter(|credit| match credit.get().checked_sub(1) {
        Some(left) => {
            credit.set(left);
            true
        }
        None => false,
    })
}

/// What the clock says.
pub(super) enum Stint {
    /// The context may go on acquiring ahead of the queue.
    Lasts,
    /// It should queue now.
    Over,
    /// It is over, but the head of the queue would not take this CPU: acquire the lock to let out a waiter that will.
    OverElsewhere,
}

/// Looks at the clock, and gives new credit while the stint lasts.
#[cold]
pub(super) fn look<P: Platform, W: WaitPolicy>(lock: &PvQSpinLock<P, W>, percpu: &PerCpu<P>) -> Stint {
    let stint = length::<P, W>(percpu);
    // ord: W4 alone: private to this context
    let extension = percpu.stint_extension.load(Relaxed);
    let running = so_far(percpu);
    count_pace::<P, W>(percpu, running);
    if running < stint.saturating_add(extension) {
        give_credit::<P, W>(percpu);
        Stint::Lasts
    } else if extension >= stint.saturating_mul(W::LONGEST_EXTENSION) || head_takes_this_cpu(lock) {
        Stint::Over
    } else {
        Stint::OverElsewhere
    }
}

/// Whether the calling context acquires ahead of queues as fast as a line moves between CPUs, by its last look at the clock.
pub(super) fn is_hurried<P: Platform, W: WaitPolicy>(percpu: &PerCpu<P>) -> bool {
    if W::HURRIED_PACE == 0 {
        return false;
    }
    // ord: W23 alone: private to this context
    let in_an_interval = u64::from(percpu.credit.load(Relaxed));
    in_an_interval * u64::from(W::HURRIED_PACE) >= u64::from(W::CLOCK_INTERVAL_MICROS) * 1_000
}

/// How long a stint is, in microseconds, within the bounds of this policy: the last one may have begun under another.
fn length<P: Platform, W: WaitPolicy>(percpu: &PerCpu<P>) -> u32 {
    // ord: W3 alone: private to this context
    percpu.stint.load(Relaxed).clamp(W::SHORTEST_STINT_MICROS, W::LONGEST_STINT_MICROS)
}

/// For how long this stint has lasted, in microseconds.
fn so_far<P: Platform>(percpu: &PerCpu<P>) -> u32 {
    // ord: W5 alone: private to this context
    micros::<P>().wrapping_sub(percpu.stint_began.load(Relaxed))
}

/// Nobody took this CPU: the stint goes on for a quarter of its length.
pub(super) fn extend<P: Platform, W: WaitPolicy>(percpu: &PerCpu<P>) {
    let running = so_far(percpu);
    let stint = length::<P, W>(percpu);
    // ord: W12 alone: private to this context
    percpu.stint_extension.store(running.saturating_sub(stint).saturating_add(stint / 4), Relaxed);
    give_credit::<P, W>(percpu);
}

/// Counts how many acquisitions the next credit is for: as many as there would have been in
/// [`CLOCK_INTERVAL_MICROS`](WaitPolicy::CLOCK_INTERVAL_MICROS) at the rate since the last look. The clock costs as much as several
/// acquisitions of a lock that is hardly held. It counts whether the stint lasts or not: else who came from a fast lock to a slow one would
/// go by the old rate for ever.
fn count_pace<P: Platform, W: WaitPolicy>(percpu: &PerCpu<P>, running: u32) {
    if W::LEAST_CREDIT == W::MOST_CREDIT {
        return; // A context uses locks of other policies, too, for which this would be no count.
    }
    // ord: W13 alone: private to this context
    let looked_at = percpu.looked_at.load(Relaxed);
    // 0: the first look of the stint. What was spent before it may have been left from the stint before, nobody knows how much.
    if looked_at > 0 {
        let took = running.wrapping_sub(looked_at).max(1);
        let last = counted::<P, W>(percpu);
        let next = u64::from(last) * u64::from(W::CLOCK_INTERVAL_MICROS) / u64::from(took);
        // ord: W16 alone: private to this context
        percpu.credit.store(next.min(u64::from(last) * 2) as u32, Relaxed);
    }
    // ord: W15 alone: private to this context
    percpu.looked_at.store(running.max(1), Relaxed);
}

fn give_credit<P: Platform, W: WaitPolicy>(percpu: &PerCpu<P>) {
    let credit = counted::<P, W>(percpu);
    P::private_counter(|left| left.set(credit));
}

/// How many acquisitions a credit is for.
fn counted<P: Platform, W: WaitPolicy>(percpu: &PerCpu<P>) -> u32 {
    // ord: W14 alone: private to this context
    percpu.credit.load(Relaxed).clamp(W::LEAST_CREDIT, W::MOST_CREDIT)
}

/// Whether the head of the queue gets to run at once if the calling context goes to sleep; also if it runs already.
fn head_takes_this_cpu<P: Platform, W: WaitPolicy>(lock: &PvQSpinLock<P, W>) -> bool {
    // ord: W7 alone: a hint about the head
    let mark = said(lock.head.load(Relaxed));
    let head = P::with_domain(|domain| W::Signpost::occupant(lock.at(domain), mark));
    head.is_none_or(|head| P::is_preempted(head.cpu()))
}

/// The calling context comes out of a queue in which it stood since `queued` (of [`micros`]).
pub(super) fn begin<P: Platform, W: WaitPolicy>(percpu: &PerCpu<P>, queued: u32) {
    let now = micros::<P>();
    let waited = now.wrapping_sub(queued).max(1);
    // What the wait asks for, and what it was, in geometric mean: so contexts that differ come together.
    let asked = W::STINT_TIMES_WAIT_MICROS / waited;
    let next = (u64::from(length::<P, W>(percpu)) * u64::from(asked)).isqrt() as u32;
    // ord: W10 alone: private to this context
    percpu.stint.store(next.clamp(W::SHORTEST_STINT_MICROS, W::LONGEST_STINT_MICROS), Relaxed);
    // ord: W11 alone: private to this context
    percpu.stint_began.store(now, Relaxed);
    // ord: W17 alone: private to this context
    percpu.stint_extension.store(0, Relaxed);
    // ord: W18 alone: private to this context
    percpu.looked_at.store(0, Relaxed);
}
