//! The locks under torture of one run: those that workers take, and one for each depth of handlers.

/// How many locks of the tortured type the workers themselves take, in ascending order.
pub(crate) const TASK_LOCKS: usize = 4;
/// How deep signal handlers may nest and still take a lock: with the interrupted worker itself waiting, the
/// last one is the fifth context that queues on one thread, one more than the queued locks have nodes for.
pub(crate) const HANDLER_LEVELS: usize = 4;
pub(crate) const TEST_LOCKS: usize = TASK_LOCKS + HANDLER_LEVELS;

/// The test lock of a handler at that depth; 1 is the outermost.
pub(crate) fn handler_lock(depth: usize) -> usize {
    debug_assert!((1..=HANDLER_LEVELS).contains(&depth));
    TASK_LOCKS + depth - 1
}

pub(crate) fn lock_name(test_lock: usize) -> String {
    match test_lock {
        0 => "the lock".to_owned(),
        _ if test_lock < TASK_LOCKS => format!("nested lock {test_lock}"),
        _ => format!("handler lock {}", test_lock - TASK_LOCKS + 1),
    }
}
