// What parking_lot's own tests ask for that users cannot, by way of what users can.
pub trait Helper {
    fn has_parked_threads(&self) -> bool;
}
impl<const RECURSIVE: bool> Helper for RawRwLock<RECURSIVE> {
    fn has_parked_threads(&self) -> bool {
        use stanchion::stanchion_core::RawRwLock as _;
        self.inner().queue_word().is_some_and(|queue| queue.locked != 0)
    }
}
