//! Every lock by its name on the command line: the catalogue's, and those that are broken on purpose.
use crate::machine::Machine;
use crate::subject::{Alone, Subject, Together};
use stanchion_family::catalogue::{self, Facts, InHandlers, MUTEXES, RWLOCKS};
use stanchion_suite::broken::{self, Byte, Counted, Detector, Halting, LOST_KICK, NONE, RW_COUNT, SLOW_SET};

/// Something to be done with a lock whose type is known by its name only.
pub(crate) trait Visit {
    /// What comes of it.
    type Output;

    /// Does it with locks of type `S`.
    fn visit<S: Subject>(&mut self) -> Self::Output;
}

macro_rules! visit_mutex {
    ([$name:ident, $visitor:ident] $($row:ident $alias:ident [$lock:ty] $lock_name:literal;)*) => {
        $(if $name == $lock_name {
            return Some($visitor.visit::<Alone<$lock>>());
        })*
    };
}

macro_rules! visit_rw {
    ([$name:ident, $visitor:ident] $($row:ident $alias:ident [$lock:ty] $lock_name:literal $readers:ident $ways:ident $again:ident;)*) => {
        $(if $name == $lock_name {
            const FACTS: &Facts = catalogue::rwlock($lock_name);
            const HANDLERS_WRITE: bool = matches!(FACTS.in_handlers, InHandlers::All);
            const READS_AGAIN: bool = matches!(FACTS.shares, Some(shares) if shares.reads_again);
            return Some($visitor.visit::<Together<$lock, HANDLERS_WRITE, READS_AGAIN>>());
        })*
    };
}

fn sound<M: Machine, V: Visit>(name: &str, visitor: &mut V) -> Option<V::Output> {
    stanchion_family::for_each_mutex! { M; visit_mutex; name, visitor }
    stanchion_family::for_each_rwlock! { M; visit_rw; name, visitor }
    None
}

/// The names of the catalogue's locks, in the order of its tables.
pub fn lock_names() -> impl Iterator<Item = &'static str> {
    MUTEXES.iter().chain(RWLOCKS).map(|facts| facts.name)
}

/// The names of the locks that are broken on purpose, for torture in the guest to notice.
pub fn busted_lock_names() -> impl Iterator<Item = &'static str> {
    broken::noticed_by(Detector::Guest).map(|broken| broken.name)
}

fn busted<M: Machine, V: Visit>(name: &str, visitor: &mut V) -> Option<V::Output> {
    busted_lock_names().find(|busted| *busted == name)?;
    match broken::row(name) {
        NONE => Some(visitor.visit::<Alone<Byte<M, NONE>>>()),
        SLOW_SET => Some(visitor.visit::<Alone<Byte<M, SLOW_SET>>>()),
        LOST_KICK => Some(visitor.visit::<Alone<Halting<M, LOST_KICK>>>()),
        RW_COUNT => Some(visitor.visit::<Together<Counted<M, RW_COUNT>>>()),
        _ => None,
    }
}

/// Does something with the lock called `name`; `None` if there is none.
pub(crate) fn visit<M: Machine, V: Visit>(name: &str, visitor: &mut V) -> Option<V::Output> {
    sound::<M, V>(name, visitor).or_else(|| busted::<M, V>(name, visitor))
}
