//! Execution contexts as stackful coroutines: the one place that knows the coroutine crate.
//!
//! A context runs until it calls [`suspend`] and goes on when somebody calls [`Coroutine::resume`], on the
//! same host thread. Stacks are pooled by thread: a simulation of a thousand contexts makes them once.
use core::cell::{Cell, RefCell};
use corosensei::stack::DefaultStack;
use corosensei::{CoroutineResult, Yielder};

/// What a resumed context is told; what it means is between the engine and the context.
pub(crate) type Message = u32;

/// Enough for a panic with a backtrace; only the pages that are touched cost memory.
const STACK_BYTES: usize = 64 * 1024;

thread_local! {
    static STACKS: RefCell<Vec<DefaultStack>> = const { RefCell::new(Vec::new()) };
    /// The way out of the context that runs now; null while none does.
    static RUNNING: Cell<*const Yielder<Message, ()>> = const { Cell::new(core::ptr::null()) };
}

/// One execution context.
pub(crate) struct Coroutine {
    inner: Option<corosensei::Coroutine<Message, (), (), DefaultStack>>,
    yielder: *const Yielder<Message, ()>,
}

impl Coroutine {
    /// A context that will run `body` when it is first resumed. Fails if the host has no memory for its
    /// stack.
    pub(crate) fn new(body: impl FnOnce() + 'static) -> std::io::Result<Self> {
        let pooled = STACKS.with_borrow_mut(Vec::pop);
        let stack = match pooled {
            Some(stack) => stack,
            None => DefaultStack::new(STACK_BYTES)?,
        };
        let inner =
            corosensei::Coroutine::with_stack(stack, move |yielder: &Yielder<Message, ()>, _first| {
                RUNNING.set(core::ptr::from_ref(yielder));
                body();
            });
        Ok(Self { inner: Some(inner), yielder: core::ptr::null() })
    }

    /// Runs the context until it suspends (`true`) or ends (`false`). A panic in it comes out here.
    pub(crate) fn resume(&mut self, message: Message) -> bool {
        let inner = self.inner.as_mut().expect("a context that ended is not resumed");
        RUNNING.set(self.yielder);
        let leaves = Leaves(&mut self.yielder);
        let result = inner.resume(message);
        drop(leaves);
        match result {
            CoroutineResult::Yield(()) => true,
            CoroutineResult::Return(()) => {
                self.recycle();
                false
            }
        }
    }

    /// Ends a suspended context where it is: its stack is unwound, destructors run. Whatever they do must not
    /// suspend.
    pub(crate) fn abandon(&mut self) {
        if let Some(inner) = &mut self.inner {
            inner.force_unwind();
            self.recycle();
        }
    }

    fn recycle(&mut self) {
        if let Some(inner) = self.inner.take() {
            STACKS.with_borrow_mut(|stacks| stacks.push(inner.into_stack()));
        }
    }
}

impl Drop for Coroutine {
    fn drop(&mut self) {
        // After a panic the coroutine is done, and its stack is not worth saving.
        if self.inner.as_ref().is_some_and(|inner| inner.started() && !inner.done()) {
            self.abandon();
        }
    }
}

/// Takes note of the way out of the context that ran, and that none runs any more; also if it panicked.
struct Leaves<'a>(&'a mut *const Yielder<Message, ()>);

impl Drop for Leaves<'_> {
    fn drop(&mut self) {
        *self.0 = RUNNING.replace(core::ptr::null());
    }
}

/// Whether a context runs on this host thread at this moment.
pub(crate) fn in_context() -> bool {
    !RUNNING.get().is_null()
}

/// Leaves the running context until it is resumed; returns what the resumer says.
pub(crate) fn suspend() -> Message {
    let yielder = RUNNING.get();
    assert!(!yielder.is_null(), "only a running context can suspend");
    // SAFETY: `RUNNING` is set by the context's own body and restored by `resume` before the context goes on;
    // the yielder lives on the context's stack frame for as long as its body runs, which is now.
    unsafe { (*yielder).suspend(()) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::rc::Rc;

    #[test]
    fn contexts_take_turns_and_hear_what_they_are_told() {
        let heard = Rc::new(RefCell::new(Vec::new()));
        let body = |name: u32| {
            let heard = Rc::clone(&heard);
            move || {
                for _ in 0..2 {
                    let told = suspend();
                    heard.borrow_mut().push((name, told));
                }
            }
        };
        let mut one = Coroutine::new(body(1)).expect("a stack");
        let mut two = Coroutine::new(body(2)).expect("a stack");
        assert!(one.resume(0) && two.resume(0));
        assert!(one.resume(10) && two.resume(20));
        assert!(!in_context());
        assert!(!one.resume(11) && !two.resume(21));
        assert_eq!(*heard.borrow(), [(1, 10), (2, 20), (1, 11), (2, 21)]);
    }

    #[test]
    fn an_abandoned_context_runs_its_destructors() {
        struct Tells(Rc<Cell<bool>>);
        impl Drop for Tells {
            fn drop(&mut self) {
                self.0.set(true);
            }
        }
        let dropped = Rc::new(Cell::new(false));
        let tells = Tells(Rc::clone(&dropped));
        let mut context = Coroutine::new(move || {
            let _tells = tells;
            suspend();
            unreachable!("it is never resumed");
        })
        .expect("a stack");
        assert!(context.resume(0));
        context.abandon();
        assert!(dropped.get());
    }

    #[test]
    fn a_panic_comes_out_of_resume() {
        let mut context = Coroutine::new(|| panic!("inside")).expect("a stack");
        let caught = std::panic::catch_unwind(core::panic::AssertUnwindSafe(|| context.resume(0)));
        assert!(caught.is_err() && !in_context());
        // The next one is not disturbed.
        let mut next = Coroutine::new(|| ()).expect("a stack");
        assert!(!next.resume(0));
    }
}
