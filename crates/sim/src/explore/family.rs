//! The mutual exclusion locks that can be explored, each with its bound on overtaking.
use super::bounds::{OVERTAKING_BY_NUMA, Overtaking, SecondByte};
use super::platform::Stepped;
use super::subjects::{AfterRelease, AtRest, Explored, QUEUED, Subject, Tails};
use crate::locks::{self, LockKind};
use stanchion_core::pv_qspin::{self as pv, Small, WaitPolicy};
use stanchion_core::pv_ticket::{Opportunistic, Plain};
use stanchion_core::{Paravirtual, PvQSpinLock, PvTicketLock, StanchionLock, XenPvLock};

/// The flag of the default lock by which an heir whose turn has come asks newcomers to stay away.
const NO_BARGING: u8 = 2;
const PARAVIRTUAL: &[(usize, &str)] = &[(0, "locked"), (1, "head"), (2, "tail")];
const DEFAULT: &[(usize, &str)] = &[(0, "count"), (1, "flags"), (2, "newest")];
const TICKETS: &[(usize, &str)] = &[(0, "serving"), (2, "next")];
const BLOCKING: &[(usize, &str)] = &[(0, "locked"), (1, "switch"), (2, "spinners")];
/// What the head of a paravirtual queue leaves in the second byte when it objects.
const OBJECTION: SecondByte = SecondByte::Asks(pv::NO_STEALING);
/// What nobody reaches who does not steal, and who does not pend.
const THIEVES: &str = "the head stops thieves: n,0,* -> n,126,*";
const SLEEPS: &str = "the head sleeps at a spot: n,*,* -> n,s,*";
const WAKES: &str = "the head woke up or acquired, or nobody is pending: t,*,* -> t,0,*";
const PENDS: &str = "a waiter becomes pending: t,0,* -> t,125,*";
/// What no lock does that was made without paravirtual waiting.
const HEADS: &[&str] = &[THIEVES, PENDS, SLEEPS, WAKES];
const BLOCKS: &[&str] =
    &["a waiter is about to block: s,0,* -> s+1,0,*", "nobody blocks any more: 1,0,* -> 0,0,*"];
const FLAGS: &[&str] = &["somebody may sleep: set the flag", "the owner is alone: drop the flag"];

type KickAtUnlock = Small<pv::KickAtUnlock>;
type Merged = Small<pv::Merged>;

fn paravirtual<W: WaitPolicy>(about: &'static str, overtaking: Overtaking) -> Subject {
    let unreachable: &[&str] = if W::PENDING { &[] } else { &[PENDS] };
    let subject = Subject::of(locks::kind::<PvQSpinLock<Stepped, W>>(), about, overtaking);
    let after_release = AfterRelease::Reads;
    Subject { second_byte: OBJECTION, fields: PARAVIRTUAL, unreachable, after_release, ..subject }
}

/// A policy of the paravirtual lock that was announced: nobody steals, so the bound is that of `qspin`. The pending waiter is no exception: it
/// has the lock's second byte to itself, and whoever finds it there queues.
fn announced<W: WaitPolicy>(about: &'static str) -> Subject {
    Subject {
        second_byte: SecondByte::Other,
        unreachable: if W::PENDING { &[THIEVES] } else { &[THIEVES, PENDS] },
        ..paravirtual::<Small<W>>(about, Overtaking::AtMost(1))
    }
}

/// A FIFO lock that draws tickets: nobody is overtaken who has drawn one.
fn ticketed(kind: LockKind, about: &'static str) -> Subject {
    Subject {
        fields: TICKETS,
        tails: Tails::Numbers,
        at_rest: AtRest::Unlocked,
        tickets: &[0, 2],
        ..Subject::of(kind, about, Overtaking::AtMost(0))
    }
}

/// `subject`, made without paravirtual waiting: nobody halts, and waiters that queue do so in FIFO order.
fn without_paravirt<L: Paravirtual<Platform = Stepped>>(
    name: &'static str,
    overtaking: Overtaking,
    unreachable: &'static [&'static str],
    subject: Subject,
) -> Subject {
    let kind =
        LockKind { name, make: |arena| Box::new(arena.place(L::without_paravirt())), ..locks::kind::<L>() };
    let about = "the same, made without paravirtual waiting";
    let kind = Explored::Mutex(kind);
    let second_byte = SecondByte::Other;
    Subject { kind, about, overtaking, unreachable, second_byte, halts: false, ..subject }
}

/// What is known of the locks of the family by name.
fn described(kind: LockKind) -> Subject {
    const NO_QUEUE: Overtaking = Overtaking::Unbounded("there is no queue: whoever finds it free takes it");
    let name = kind.name;
    match name {
        "stanchion" => {
            let why = "whoever runs takes it when it is free, until the heir's turn has come; then it is left to the heir for some looks";
            let subject = Subject::of(kind, "the default lock", Overtaking::Unbounded(why));
            let after_release = AfterRelease::ByWorld;
            let second_byte = SecondByte::AsksNewcomers(NO_BARGING);
            Subject { fields: DEFAULT, tails: Tails::Waits, second_byte, after_release, ..subject }
        }
        "byte" => Subject { fields: &[(0, "locked")], ..Subject::of(kind, "unfair byte", NO_QUEUE) },
        "ticket" => ticketed(kind, "FIFO ticket"),
        "qspin" => Subject {
            second_byte: SecondByte::Pends,
            fields: QUEUED,
            ..Subject::of(kind, "queued spin lock", Overtaking::AtMost(1))
        },
        "cna" => Subject {
            second_byte: SecondByte::Pends,
            fields: QUEUED,
            ..Subject::of(kind, "NUMA-aware queued spin lock", Overtaking::AtMost(OVERTAKING_BY_NUMA))
        },
        "cna-10ms" => {
            let why = "the threshold is longer than any schedule here; a schedule ends without a flush";
            let about = "cna with a threshold of 10 ms";
            Subject {
                second_byte: SecondByte::Pends,
                fields: QUEUED,
                ..Subject::of(kind, about, Overtaking::Unbounded(why))
            }
        }
        "unfair-q" => {
            let why = "newcomers and waiters behind take a free lock, however often";
            let subject = Subject::of(kind, "queued unfair lock: waiters steal", Overtaking::Unbounded(why));
            Subject { fields: &[(0, "locked"), (2, "tail")], ..subject }
        }
        "ppc-simple" => Subject {
            fields: &[(0, "word")],
            ..Subject::of(kind, "unfair word with its owner's number", NO_QUEUE)
        },
        "owner-qspin" => {
            let why = "each head in turn lets newcomers pass until it has polled for long enough, and a poll that finds a preempted owner \
                       need not count; it is heeded once it objects";
            let about = "queued spin lock with owner, stealing until the head objects";
            Subject {
                second_byte: SecondByte::Asks(1),
                fields: &[(0, "held"), (2, "queue")],
                tails: Tails::Numbers,
                ..Subject::of(kind, about, Overtaking::Unbounded(why))
            }
        }
        "xen-pv" | "xen-pv-wake-all" => {
            let about = match name {
                "xen-pv" => "unfair byte whose waiters block",
                _ => "xen-pv whose releases wake everybody",
            };
            let subject = Subject::of(kind, about, NO_QUEUE);
            let after_release = AfterRelease::Reads;
            Subject { fields: BLOCKING, tails: Tails::Numbers, looks_at_all: true, after_release, ..subject }
        }
        "pv-ticket" | "pv-ticket-opportunistic" => {
            let about = match name {
                "pv-ticket" => "FIFO ticket whose waiters halt",
                _ => "pv-ticket whose near waiters poll for long",
            };
            Subject { looks_at_all: true, ..ticketed(kind, about) }
        }
        "pv-qspin" => paravirtual::<Merged>(
            "steals without a limit on time",
            Overtaking::Unbounded(
                "whoever runs takes a free lock while the head sleeps; one that is awake is heeded",
            ),
        ),
        "pv-qspin-eager" => announced::<pv::EagerKick>("kicks sleepers that become head"),
        "pv-qspin-kick-at-unlock" => announced::<pv::KickAtUnlock>("never steals"),
        "pv-qspin-kick-ahead" => announced::<pv::KickAhead>("wakes the next few sleepers as well"),
        "pv-qspin-wait-early" => announced::<pv::WaitEarlyAtOnce>("the same, and sleeps behind sleepers"),
        "pv-qspin-wait-early-sampled" => announced::<pv::WaitEarlySampled>("the same, looking now and then"),
        "pv-qspin-pending" => announced::<pv::FirstPends>("the first waiter polls the lock"),
        "pv-qspin-only-wait-early" => announced::<pv::OnlyWaitEarly>("sleeps behind sleepers"),
        "pv-qspin-patched" => announced::<pv::Patched>("the whole series"),
        "pv-qspin-hash" => announced::<pv::Hashed>("finds the head in a hash table"),
        "pv-qspin-pointer" => announced::<pv::Pointed>("finds the head by a pointer in the lock"),
        "ppc-qspin" => announced::<pv::Conferring>("confers instead of halting"),
        _ => panic!("{name}: state a bound on its overtaking, or why it has none"),
    }
}

/// Every lock of the family, then those made without paravirtual waiting.
pub(super) fn all() -> Vec<Subject> {
    let mut all: Vec<Subject> = locks::all::<Stepped>().into_iter().map(described).collect();
    let find = |name: &str| all.iter().find(|subject| subject.name() == name).expect("a lock of the family");
    let copy = |name: &str| {
        let Explored::Mutex(kind) = find(name).kind() else { unreachable!("a mutual exclusion lock") };
        described(kind)
    };
    let fifo = Overtaking::AtMost(1);
    let spinning = [
        without_paravirt::<StanchionLock<Stepped>>("stanchion-nopv", fifo, &[], copy("stanchion")),
        without_paravirt::<XenPvLock<Stepped>>(
            "xen-pv-nopv",
            find("xen-pv").overtaking,
            BLOCKS,
            copy("xen-pv"),
        ),
        without_paravirt::<PvTicketLock<Stepped, Plain>>(
            "pv-ticket-nopv",
            Overtaking::AtMost(0),
            FLAGS,
            copy("pv-ticket"),
        ),
        without_paravirt::<PvTicketLock<Stepped, Opportunistic>>(
            "pv-ticket-opportunistic-nopv",
            Overtaking::AtMost(0),
            FLAGS,
            copy("pv-ticket-opportunistic"),
        ),
        without_paravirt::<PvQSpinLock<Stepped, KickAtUnlock>>(
            "pv-qspin-kick-at-unlock-nopv",
            fifo,
            HEADS,
            copy("pv-qspin-kick-at-unlock"),
        ),
        without_paravirt::<PvQSpinLock<Stepped, Merged>>("pv-qspin-nopv", fifo, HEADS, copy("pv-qspin")),
    ];
    all.extend(spinning);
    all
}
