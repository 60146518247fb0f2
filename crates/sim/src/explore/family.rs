//! The mutual exclusion locks that can be explored: the catalogue's, and some of them made without
//! paravirtual waiting.
use super::platform::Stepped;
use super::subjects::{Explored, Subject};
use crate::locks::{self, LockKind};
use stanchion_core::{Paravirtual, StanchionLock};
use stanchion_family::catalogue::{self, Overtaking, SecondByte, Stated};
use stanchion_family::pv_qspin::{KickAtUnlock, Merged};
use stanchion_family::pv_ticket::{Opportunistic, Plain};
use stanchion_family::{PvQSpinLock, PvTicketLock, XenPvLock};

/// What no lock does that was made without paravirtual waiting.
const HEADS: &[&str] = &[
    "the head stops thieves: n,0,* -> n,126,*",
    "a waiter becomes pending: t,0,* -> t,125,*",
    "the head sleeps at a parking slot: n,*,* -> n,s,*",
    "the head woke up or acquired, or nobody is pending: t,*,* -> t,0,*",
];
/// Its word does not show marks, which mean nothing there.
const MARKS: &[&str] = &["a waiter or the owner leaves a mark: *,f,* -> *,g,*"];
const BLOCKS: &[&str] =
    &["a waiter is about to block: s,0,* -> s+1,0,*", "nobody blocks any more: 1,0,* -> 0,0,*"];
const FLAGS: &[&str] = &["somebody may sleep: set the flag", "the owner is alone: drop the flag"];

/// What the catalogue says of a lock.
fn described(kind: LockKind) -> Subject {
    let tuned = catalogue::TUNED.iter().find(|tuned| tuned.name == kind.name);
    let facts = catalogue::mutex(tuned.map_or(kind.name, |tuned| tuned.of));
    let (about, bound) = tuned.map_or((facts.about, facts.bound), |tuned| (tuned.about, tuned.overtaking));
    Subject::of(Explored::Mutex(kind), about, bound, facts.stated)
}

/// A lock made without paravirtual waiting: nobody halts, and waiters that queue do so in FIFO order.
fn without_paravirt<L: Paravirtual<Platform = Stepped>>(
    name: &'static str,
    overtaking: Overtaking,
    unreachable: &'static [&'static str],
) -> Subject {
    let subject = described(locks::kind::<L>());
    let kind =
        LockKind { name, make: |arena| Box::new(arena.place(L::without_paravirt())), ..locks::kind::<L>() };
    let about = "The same, made without paravirtual waiting.";
    let stated = Stated { unreachable, second_byte: SecondByte::Other, ..subject.stated };
    Subject { halts: false, ..Subject::of(Explored::Mutex(kind), about, overtaking, stated) }
}

/// Every mutex of the catalogue, then those made without paravirtual waiting.
pub(super) fn all() -> Vec<Subject> {
    let fifo = Overtaking::AtMost(1);
    let tickets = Overtaking::AtMost(0);
    let spinning = [
        without_paravirt::<StanchionLock<Stepped>>("stanchion-nopv", fifo, MARKS),
        without_paravirt::<XenPvLock<Stepped>>("xen-pv-nopv", Overtaking::NO_QUEUE, BLOCKS),
        without_paravirt::<PvTicketLock<Stepped, Plain>>("pv-ticket-nopv", tickets, FLAGS),
        without_paravirt::<PvTicketLock<Stepped, Opportunistic>>(
            "pv-ticket-opportunistic-nopv",
            tickets,
            FLAGS,
        ),
        without_paravirt::<PvQSpinLock<Stepped, KickAtUnlock>>("pv-qspin-kick-at-unlock-nopv", fifo, HEADS),
        without_paravirt::<PvQSpinLock<Stepped, Merged>>("pv-qspin-nopv", fifo, HEADS),
    ];
    locks::all::<Stepped>().into_iter().map(described).chain(spinning).collect()
}
