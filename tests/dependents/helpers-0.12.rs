// What parking_lot's own tests ask for that users cannot, by way of what users can.
pub trait Helper {
    fn wait_while_until_internal<T: ?Sized, F: FnMut(&mut T) -> bool>(
        &self,
        guard: &mut MutexGuard<'_, T>,
        condition: F,
        timeout: Option<std::time::Instant>,
    ) -> WaitTimeoutResult;
}
impl Helper for Condvar {
    fn wait_while_until_internal<T: ?Sized, F: FnMut(&mut T) -> bool>(
        &self,
        guard: &mut MutexGuard<'_, T>,
        condition: F,
        timeout: Option<std::time::Instant>,
    ) -> WaitTimeoutResult {
        match timeout {
            Some(timeout) => self.wait_while_until(guard, condition, timeout),
            None => self.wait_while_for(guard, condition, std::time::Duration::MAX),
        }
    }
}
