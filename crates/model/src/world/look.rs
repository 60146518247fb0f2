//! What contexts of [`contexts`](crate::contexts) ask of the machine beside what locks do.
use super::{ANY, World, here, wait};

impl World {
    /// How often others than context `me` have written.
    fn written_by_others(&self, me: usize) -> u64 {
        self.writes.get() - self.contexts[me].written.get()
    }
}

/// Looks whether `done`, and looks again when anybody else has written since, or if a value was found that is
/// out of date.
///
/// What the calling context itself writes while it looks, to a lock for example, is no news: with a lock that
/// is not fair, it would look again for ever before anybody else comes in.
pub(crate) fn look_until(done: &mut dyn FnMut() -> bool) {
    let (world, me) = here();
    let context = &world.contexts[me];
    loop {
        let before = world.written_by_others(me);
        context.misled.set(false);
        if done() {
            return;
        }
        let is_new = context.misled.take() || world.written_by_others(me) != before;
        wait((!is_new).then_some(ANY));
    }
}
