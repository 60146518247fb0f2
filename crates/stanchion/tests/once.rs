//! What runs once: who waits, who is refused, what can be told of it. From the documentation of
//! `std::sync::Once` and parking_lot's.
#![cfg(feature = "std")]

#[path = "support/suppressions.rs"]
mod suppressions;

use core::panic::AssertUnwindSafe;
use core::sync::atomic::{AtomicUsize, Ordering};
use stanchion::{Once, OnceState};
use std::panic::{catch_unwind, resume_unwind};
use std::thread;

fn poisoned() -> Once {
    let once = Once::new();
    let ended = catch_unwind(AssertUnwindSafe(|| once.call_once(|| resume_unwind(Box::new("in it")))));
    assert!(ended.is_err());
    assert_eq!(once.state(), OnceState::Poisoned);
    once
}

fn is_refused(f: impl FnOnce()) -> bool {
    catch_unwind(AssertUnwindSafe(f)).is_err()
}

#[test]
fn it_runs_once_and_all_see_what_it_did() {
    let (once, runs, mut data) = (Once::new(), AtomicUsize::new(0), [0_usize; 64]);
    let written = (&raw mut data).expose_provenance();
    thread::scope(|scope| {
        for _ in 0..8 {
            scope.spawn(|| {
                let data = core::ptr::with_exposed_provenance_mut::<[usize; 64]>(written);
                once.call_once(|| {
                    assert_eq!(once.state(), OnceState::InProgress);
                    runs.fetch_add(1, Ordering::Relaxed);
                    for _ in 0..100 {
                        thread::yield_now();
                    }
                    // SAFETY: this runs once, and nobody reads before it has run.
                    unsafe { (*data).fill(7) };
                });
                // SAFETY: what writes has run, once.
                assert!(unsafe { *data }.iter().all(|&word| word == 7));
            });
        }
    });
    assert_eq!((runs.load(Ordering::Relaxed), once.state()), (1, OnceState::Done));
    assert!(once.is_completed() && OnceState::Done.done() && !OnceState::Done.poisoned());
}

#[test]
fn those_that_wait_go_on_when_it_is_done() {
    let (once, value) = (Once::new(), AtomicUsize::new(0));
    thread::scope(|scope| {
        for force in [false, true, false] {
            let (once, value) = (&once, &value);
            scope.spawn(move || {
                if force {
                    once.wait_force();
                } else {
                    once.wait();
                }
                assert_eq!(value.load(Ordering::Relaxed), 1);
            });
        }
        thread::yield_now();
        once.call_once(|| value.store(1, Ordering::Relaxed));
    });
    assert!(once.is_completed());
}

#[test]
fn a_panic_is_told_to_all_but_those_who_insist() {
    let once = poisoned();
    assert!(is_refused(|| once.call_once(|| ())));
    assert!(is_refused(|| once.wait()));
    thread::scope(|scope| {
        scope.spawn(|| once.wait_force());
        once.call_once_force(|state| assert!(state.is_poisoned() && state.poisoned()));
    });
    assert_eq!(once.state(), OnceState::Done);
    once.call_once(|| unreachable!());
    once.call_once_force(|_| unreachable!());
    once.wait();
}

#[test]
fn who_waits_while_it_panics_is_told() {
    let (once, began) = (Once::new(), AtomicUsize::new(0));
    thread::scope(|scope| {
        scope.spawn(|| {
            assert!(is_refused(|| {
                once.call_once(|| {
                    began.store(1, Ordering::Relaxed);
                    thread::yield_now();
                    resume_unwind(Box::new("in it"));
                });
            }));
        });
        while began.load(Ordering::Relaxed) == 0 {
            thread::yield_now();
        }
        assert!(is_refused(|| once.call_once(|| ())));
        assert!(is_refused(|| once.wait()));
    });
}

#[test]
fn it_can_be_made_done_and_stand_in_a_static() {
    static DONE: Once = Once::new_completed();
    static NEW: Once = Once::new();
    DONE.call_once(|| unreachable!());
    DONE.wait();
    assert_eq!(
        (DONE.state(), NEW.state(), Once::default().state()),
        (OnceState::Done, OnceState::New, OnceState::New)
    );
    assert_eq!(format!("{NEW:?}"), "Once { state: New }");
    let mut told = None;
    NEW.call_once_force(|state| told = Some(state));
    assert_eq!(told, Some(OnceState::New));
}
