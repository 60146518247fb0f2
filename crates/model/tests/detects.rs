//! The model finds what is broken: a lock that parks its second context, sound and broken in one way each.
use core::time::Duration;
use stanchion_core::order::{AcqRel, Acquire, Relaxed, Release};
use stanchion_core::transitions::{Table, Word};
use stanchion_core::{Atomic, CpuId, Machine, RawLock};
use stanchion_family::ByteLock;
use stanchion_family::catalogue::InOrder;
use stanchion_model::check::{Kind, Report, Stated, check};
use stanchion_model::{Limits, Model, shapes};

const SOUND: u8 = 0;
const RELAXED_RELEASE: u8 = 1;
const RELAXED_CLAIM: u8 = 2;
const NO_FENCE: u8 = 3;
const NO_FENCE_WHEN_PARKING: u8 = 4;
const NO_KICK: u8 = 5;
const TORN_CLAIM: u8 = 6;
const LEAVES_NAME: u8 = 7;
const COMPARES_ANEW: u8 = 8;

/// A lock for two contexts: the one that finds it held leaves its number and halts.
struct Parking<const FAULT: u8> {
    locked: <Model as Machine>::U8,
    sleeper: <Model as Machine>::U8,
}

impl<const FAULT: u8> Parking<FAULT> {
    fn claim(&self) -> bool {
        match FAULT {
            RELAXED_CLAIM => self.locked.compare_exchange(0, 1, Relaxed, Relaxed).is_ok(),
            TORN_CLAIM => {
                let free = self.locked.load(Acquire) == 0;
                if free {
                    self.locked.store(1, Relaxed);
                }
                free
            }
            _ => self.locked.compare_exchange(0, 1, Acquire, Relaxed).is_ok(),
        }
    }
}

impl<const FAULT: u8> RawLock for Parking<FAULT> {
    type Platform = Model;
    const NAME: &'static str = "parking";
    const TRANSITIONS: Table = Table(&[]);

    fn new() -> Self {
        Self { locked: Atomic::new(0), sleeper: Atomic::new(0) }
    }

    fn acquire(&self) {
        if self.claim() {
            return;
        }
        let me = Model::this_cpu().expect("contexts are numbered");
        self.sleeper.store(me.index() as u8 + 1, Relaxed);
        while !self.claim() {
            assert!(FAULT == NO_FENCE_WHEN_PARKING || Model::heavy_barrier());
            let held = if FAULT == COMPARES_ANEW { self.locked.load(Acquire) } else { 1 };
            Model::halt_while(&self.locked, held);
        }
        if FAULT != LEAVES_NAME {
            // The other one may have left its number meanwhile.
            let _ = self.sleeper.compare_exchange(me.index() as u8 + 1, 0, Relaxed, Relaxed);
        }
    }

    fn try_acquire(&self) -> bool {
        self.claim()
    }

    fn release(&self) {
        let sleeper = match FAULT {
            NO_FENCE => {
                self.locked.store(0, Release);
                self.sleeper.load(Relaxed)
            }
            RELAXED_RELEASE => {
                self.locked.store(0, Relaxed);
                Model::fence(AcqRel); // too late for the store
                self.sleeper.load(Relaxed)
            }
            _ => Model::store_then_load(&self.locked, 0, &self.sleeper),
        };
        if let Some(sleeper) = sleeper.checked_sub(1).and_then(|index| CpuId::new(index.into()))
            && FAULT != NO_KICK
        {
            Model::kick(sleeper);
        }
    }

    fn word(&self) -> Word {
        Word { tail: 0, pending: self.sleeper.peek(), locked: self.locked.peek() }
    }
}

const LIMITS: Limits = Limits { preemptions: None, time: Duration::from_mins(1) };

fn two<L: RawLock<Platform = Model>>() -> Report {
    explored::<L>("two", &LIMITS)
}

fn explored<L: RawLock<Platform = Model>>(shape: &str, limits: &Limits) -> Report {
    let shape = shapes::by_name(shape).expect("it exists");
    let is_free = |word| word == Word { tail: 0, pending: 0, locked: 0 };
    check::<L>(shape, limits, Stated { is_free, ordered: InOrder::NOTHING })
}

fn failed(report: &Report) -> Option<Kind> {
    report.failure.as_ref().map(|failure| failure.kind)
}

#[test]
fn the_sound_one_passes() {
    let report = two::<Parking<SOUND>>();
    assert!(report.failure.is_none() && report.exhausted, "{report:?}");
    assert!(report.executions > 10, "{report:?}");
}

#[test]
fn missing_release_and_acquire_are_races() {
    assert_eq!(failed(&two::<Parking<RELAXED_RELEASE>>()), Some(Kind::Race));
    assert_eq!(failed(&two::<Parking<RELAXED_CLAIM>>()), Some(Kind::Race));
    assert_eq!(failed(&two::<Parking<TORN_CLAIM>>()), Some(Kind::Race));
}

#[test]
fn a_fence_that_is_missing_on_either_side_loses_a_wake_up() {
    assert_eq!(failed(&two::<Parking<NO_FENCE>>()), Some(Kind::Stuck));
    assert_eq!(failed(&two::<Parking<NO_FENCE_WHEN_PARKING>>()), Some(Kind::Stuck));
    assert_eq!(failed(&two::<Parking<NO_KICK>>()), Some(Kind::Stuck));
}

#[test]
fn a_kick_that_comes_before_the_comparison_of_a_halt_is_kept_in_one_world_and_forgotten_in_another() {
    let limits = Limits { preemptions: Some(3), ..LIMITS };
    assert_eq!(failed(&explored::<Parking<SOUND>>("early-kick", &limits)), None);
    assert_eq!(failed(&explored::<Parking<COMPARES_ANEW>>("two-again", &limits)), None);
    assert_eq!(failed(&explored::<Parking<COMPARES_ANEW>>("early-kick", &limits)), Some(Kind::Stuck));
}

#[test]
fn a_word_that_is_not_free_at_the_end_is_seen() {
    assert_eq!(failed(&two::<Parking<LEAVES_NAME>>()), Some(Kind::Assertion));
}

/// The place of an operation is known in generic code, so that any ordering can be weakened without compiling
/// anything.
#[test]
fn an_ordering_is_weakened_where_it_stands() {
    stanchion_model::note_sites();
    assert_eq!(failed(&two::<ByteLock<Model>>()), None);
    let sites = stanchion_model::take_sites();
    let (file, line, op) = sites
        .iter()
        .find(|(file, _, op)| file.ends_with("family/src/byte.rs") && *op == "store")
        .expect("the release of `byte` is reached");
    let release = format!("{file}:{line}:{op}=Relaxed").parse().expect("well-formed");
    stanchion_model::weaken(Some(release));
    let report = two::<ByteLock<Model>>();
    stanchion_model::weaken(None);
    assert_eq!(failed(&report), Some(Kind::Race));
    assert!(report.weakened > 0);
    assert_eq!(failed(&two::<ByteLock<Model>>()), None);
}
