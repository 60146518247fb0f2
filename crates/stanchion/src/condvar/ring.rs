//! Rings of waiters, named by their last: those of the highest priority first, and among equals those who
//! came first.
use super::waiter::Waiter;
use core::ptr::{self, NonNull};
use core::sync::atomic::{AtomicPtr, Ordering};

/// The last of a ring, by which it is named; null if it is empty. All-zero is an empty one.
///
/// Who has the ring to itself changes it; anybody may see whether it is empty.
#[repr(transparent)]
pub(super) struct Last(AtomicPtr<()>);

impl Last {
    pub(super) const fn new() -> Self {
        Self(AtomicPtr::new(ptr::null_mut()))
    }

    pub(super) fn get(&self) -> *const Waiter {
        // ord: L24 pairs L25: what was done before the ring was emptied, or filled, is seen
        self.0.load(Ordering::Acquire).cast_const().cast()
    }

    pub(super) fn set(&self, last: *const Waiter) {
        // ord: L25 pairs L24: the guard was acquired before
        self.0.store(last.cast_mut().cast(), Ordering::Release);
    }
}

/// Puts `waiter` behind those of its priority and of higher ones. One without a real-time priority, and any
/// that belongs at the end, takes one step; others one for each waiter that they go behind.
///
/// # Safety
///
/// The caller has the ring to itself; its waiters exist, and `waiter` is in no ring.
pub(super) unsafe fn insert(last: &Last, waiter: &Waiter) {
    let (new, end) = (ptr::from_ref(waiter), last.get());
    if end.is_null() {
        waiter.next.set(new);
        waiter.previous.set(new);
        last.set(new);
        return;
    }
    let priority = waiter.priority.get();
    // SAFETY: waiters in the ring exist, and their links lead to others in it. The search ends at the last
    // one, whose priority is lower.
    unsafe {
        let mut before = end;
        if (*end).priority.get() >= priority {
            last.set(new);
        } else {
            while (*(*before).next.get()).priority.get() >= priority {
                before = (*before).next.get();
            }
        }
        let after = (*before).next.get();
        waiter.next.set(after);
        waiter.previous.set(before);
        (*after).previous.set(new);
        (*before).next.set(new);
    }
}

/// Takes `waiter` out.
///
/// # Safety
///
/// The caller has the ring to itself; its waiters exist, and `waiter` is in it.
pub(super) unsafe fn remove(last: &Last, waiter: &Waiter) {
    let gone = ptr::from_ref(waiter);
    let (next, previous) = (waiter.next.get(), waiter.previous.get());
    if next == gone {
        last.set(ptr::null());
        return;
    }
    // SAFETY: the neighbours of a waiter in the ring are in it, and exist.
    unsafe {
        (*previous).next.set(next);
        (*next).previous.set(previous);
    }
    if last.get() == gone {
        last.set(previous);
    }
}

/// Takes the first one out.
///
/// # Safety
///
/// The caller has the ring to itself; its waiters exist.
pub(super) unsafe fn pop(last: &Last) -> Option<NonNull<Waiter>> {
    // SAFETY: waiters in the ring exist, and their links lead to others in it.
    unsafe {
        let end = NonNull::new(last.get().cast_mut())?;
        let first = NonNull::new_unchecked(end.as_ref().next.get().cast_mut());
        remove(last, first.as_ref());
        Some(first)
    }
}

/// Shows `visit` the waiters one after another until it says `false`. It may take the one that it sees out.
///
/// # Safety
///
/// The caller has the ring to itself; its waiters exist.
pub(super) unsafe fn each(last: &Last, mut visit: impl FnMut(&Waiter) -> bool) {
    let end = last.get();
    if end.is_null() {
        return;
    }
    // SAFETY: the caller has the ring to itself, and waiters in it exist; the next one is read before `visit`
    // may take this one out.
    unsafe {
        let mut at = (*end).next.get();
        loop {
            let (waiter, next) = (&*at, (*at).next.get());
            if !visit(waiter) || ptr::eq(waiter, end) {
                return;
            }
            at = next;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The numbers of those in the ring, in order and, by the links back, in reverse.
    fn numbers(last: &Last, waiters: &[Waiter]) -> Vec<usize> {
        let mut seen = Vec::new();
        let number =
            |waiter: *const Waiter| waiters.iter().position(|known| ptr::eq(known, waiter)).expect("known");
        // SAFETY: the ring is this test's own, and its waiters exist.
        unsafe {
            each(last, |waiter| {
                assert!(ptr::eq((*waiter.next.get()).previous.get(), waiter), "links both ways");
                seen.push(number(waiter));
                true
            });
        }
        seen
    }

    fn with_priorities(priorities: &[u8]) -> Vec<Waiter> {
        let made = priorities.iter().map(|&priority| {
            let waiter = Waiter::new();
            waiter.priority.set(priority);
            waiter
        });
        made.collect()
    }

    #[test]
    fn higher_priorities_come_first_and_equals_in_the_order_of_arrival() {
        let cases: [(&[u8], &[usize]); 5] = [
            (&[0, 10, 0, 30, 20, 40], &[5, 3, 4, 1, 0, 2]),
            (&[0, 0, 0], &[0, 1, 2]),
            (&[5, 5, 9, 9, 5, 0, 100], &[6, 2, 3, 0, 1, 4, 5]),
            (&[1, 2, 3, 4], &[3, 2, 1, 0]),
            (&[4, 3, 2, 1], &[0, 1, 2, 3]),
        ];
        for (priorities, expected) in cases {
            let (waiters, last) = (with_priorities(priorities), Last::new());
            for waiter in &waiters {
                // SAFETY: the ring is this test's own; the waiter is in none.
                unsafe { insert(&last, waiter) };
            }
            assert_eq!(numbers(&last, &waiters), expected, "{priorities:?}");
            let mut popped = Vec::new();
            // SAFETY: the ring is this test's own, and its waiters exist.
            while let Some(first) = unsafe { pop(&last) } {
                popped.push(waiters.iter().position(|known| ptr::eq(known, first.as_ptr())).expect("known"));
            }
            assert_eq!(popped, expected, "{priorities:?}");
            assert!(last.get().is_null());
        }
    }

    #[test]
    fn one_that_is_taken_out_leaves_the_order_of_the_others() {
        let (waiters, last) = (with_priorities(&[0, 7, 7, 0, 9]), Last::new());
        // SAFETY: the ring is this test's own; each waiter is put in while it is out, and taken out while it
        // is in.
        unsafe {
            for waiter in &waiters {
                insert(&last, waiter);
            }
            remove(&last, &waiters[4]);
            remove(&last, &waiters[3]);
            assert_eq!(numbers(&last, &waiters), [1, 2, 0]);
            insert(&last, &waiters[4]);
            insert(&last, &waiters[3]);
        }
        assert_eq!(numbers(&last, &waiters), [4, 1, 2, 0, 3]);
    }
}
