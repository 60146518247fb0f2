//! What lock code calls: each function is a step of the current context, or a part of one.
use super::super::cells::{Plain, address_of};
use super::super::chooser::bit;
use super::super::domain::SteppedDomain;
use super::super::plan::Coin;
use super::super::trace::What;
use super::super::{CONTEXTS, Ctx};
use super::{Engine, Status, Update};
use crate::coroutine::{in_context, suspend};
use core::cell::RefCell;
use stanchion_core::{CpuId, NodeId};
use std::rc::Rc;

thread_local! {
    static ENGINE: RefCell<Engine> = RefCell::new(Engine::idle());
}

/// Looks at the engine of this host thread.
#[inline]
pub(in super::super) fn with<R>(f: impl FnOnce(&mut Engine) -> R) -> R {
    ENGINE.with_borrow_mut(f)
}

/// The context whose coroutine is to be resumed first; `None` if there is nothing to do.
pub(in super::super) fn start() -> Option<Ctx> {
    with(|engine| engine.choose(false).then_some(engine.current))
}

/// The current context has come to its end; who goes on. `None`: the run is over.
pub(in super::super) fn finish() -> Option<Ctx> {
    with(|engine| {
        let me = engine.current;
        engine.set_aside(me, Status::Done);
        engine.choose(false).then_some(engine.current)
    })
}

/// Whether accesses are steps at this moment: within a context that is not on its way out.
#[inline]
fn steps_count() -> bool {
    in_context() && !std::thread::panicking()
}

/// Before each access: anybody may have a turn, and handlers may run.
#[inline]
pub(in super::super) fn arrive() {
    if steps_count() {
        turn(false);
    }
}

/// A pause: somebody else has a turn, if anybody can run.
pub(in super::super) fn pause() {
    if steps_count() {
        with(|engine| engine.tell(What::Pause, 0, 0, 0));
        turn(true);
    }
}

#[inline]
fn turn(relaxed: bool) {
    let (me, stays) = with(|engine| {
        let me = engine.current;
        engine.notes_lateness();
        engine.notes_silence();
        (me, engine.choose(relaxed) && engine.current == me)
    });
    if !stays {
        suspend();
    }
    handle_interrupts(me);
}

/// Runs the handlers that are due.
#[inline]
fn handle_interrupts(me: Ctx) {
    while with(|engine| engine.interrupted & bit(me) != 0) {
        let (handler, level) = with(|engine| {
            engine.interrupted &= !bit(me);
            engine.level[me] += 1;
            engine.tell(What::Interrupt, 0, 0, 0);
            (engine.handler.clone(), engine.level[me])
        });
        if let Some(handler) = handler {
            handler(level);
        }
        with(|engine| {
            engine.tell(What::InterruptEnds, 0, 0, 0);
            engine.level[me] -= 1;
        });
    }
}

/// Sleeps; returns when woken, after the handlers that are due.
fn sleep(me: Ctx) {
    let stays = with(|engine| engine.choose(false) && engine.current == me);
    if !stays {
        suspend();
    }
    handle_interrupts(me);
}

/// Ends the context's turn for good if the run has failed.
#[inline]
fn stop_if_failed(failed: bool) {
    if failed && steps_count() {
        suspend();
    }
}

/// Whether the cell belongs to the storage of numbers that nobody has.
pub(in super::super) fn is_nobodys(cell: &dyn Plain) -> bool {
    with(|engine| engine.domain.nobodys().contains(&address_of(cell)))
}

/// The storage of the contexts.
pub(in super::super) fn domain() -> Rc<SteppedDomain> {
    with(|engine| Rc::clone(&engine.domain))
}

/// A read, after [`arrive`].
pub(in super::super) fn load(cell: &dyn Plain) -> u64 {
    with(|engine| engine.load(cell))
}

/// A plain store, after [`arrive`].
pub(in super::super) fn store(cell: &dyn Plain, value: u64, visible_at_once: bool) {
    let failed = with(|engine| {
        engine.store(cell, value, visible_at_once);
        engine.failure.is_some()
    });
    stop_if_failed(failed);
}

/// A read-modify-write, after [`arrive`]; returns what was there.
pub(in super::super) fn update(cell: &dyn Plain, update: Update<'_>) -> u64 {
    let (before, failed) = with(|engine| (engine.update(cell, &update), engine.failure.is_some()));
    stop_if_failed(failed);
    before
}

/// What the context stored becomes visible.
pub(in super::super) fn flush_own() {
    let failed = with(|engine| {
        engine.flush();
        engine.failure.is_some()
    });
    stop_if_failed(failed);
}

/// What everybody stored becomes visible, unless the barrier fails.
pub(in super::super) fn flush_all() -> bool {
    let (done, failed) = with(|engine| (engine.flush_all(), engine.failure.is_some()));
    stop_if_failed(failed);
    done
}

/// Waits until somebody changes the cell.
pub(in super::super) fn sleep_until_written(cell: &dyn Plain) {
    if !steps_count() {
        assert!(std::thread::panicking(), "waiting outside of a context would last for ever");
        return;
    }
    let me = with(|engine| {
        let me = engine.current;
        engine.set_aside(me, Status::Polling(address_of(cell)));
        me
    });
    sleep(me);
}

/// Waits until `reader` has read, or was refused; see [`has_read`].
pub(in super::super) fn await_reader(reader: Ctx) {
    if !steps_count() {
        return;
    }
    let me = with(|engine| {
        engine.tell(What::Awaits, reader, 0, 0);
        let me = engine.current;
        engine.set_aside(me, Status::Awaits(reader));
        me
    });
    sleep(me);
}

/// The current context tells those that wait for it to read.
pub(in super::super) fn has_read() {
    with(|engine| {
        let awaited = Status::Awaits(engine.current);
        for ctx in (0..CONTEXTS).filter(|&ctx| engine.status[ctx] == awaited).collect::<Vec<_>>() {
            engine.set_ready(ctx);
        }
    });
}

/// Halts until kicked or woken for no reason, or until step `until` at the latest, if a look, which is a
/// step, `matches`.
pub(in super::super) fn halt_while(until: Option<u64>, matches: impl FnOnce() -> bool) {
    if !steps_count() {
        return; // a spurious return, which the contract allows
    }
    flush_own(); // entering the wait orders memory on every machine
    with(|engine| engine.at_halt = true);
    let matches = matches();
    let halts = with(Engine::compares);
    if matches {
        with(|engine| engine.at_halt = true);
        turn(false); // between the comparison and the halt
        while let Some(me) = with(|engine| engine.falls_asleep(halts)) {
            with(|engine| {
                engine.timers[me] = until.unwrap_or(u64::MAX);
                engine.check_sleepers();
            });
            sleep(me);
            if with(|engine| engine.coin(Coin::SleepsOn, 2)) == 0 {
                break; // an interrupt may end a halt
            }
        }
    }
    with(|engine| {
        engine.timers[engine.current] = u64::MAX;
        engine.ends_halt(matches);
    });
}

/// Kicks whoever has a number.
pub(in super::super) fn kick(target: CpuId) {
    let failed = with(|engine| {
        engine.send_kick(engine.owner_of(target));
        engine.failure.is_some()
    });
    stop_if_failed(failed);
}

/// Kicks who has slept with a node last; if nobody has, whoever has the number that goes with it.
pub(in super::super) fn wake(node: NodeId) {
    let failed = with(|engine| {
        let owner = || node.context().and_then(|cpu| engine.owner_of(cpu));
        let target = engine.domain.sleeper_with(node).or_else(owner);
        engine.send_kick(target);
        engine.failure.is_some()
    });
    stop_if_failed(failed);
}
