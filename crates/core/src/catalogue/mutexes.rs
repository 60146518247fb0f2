//! The rows of the mutexes.
use super::{
    InHandlers::All, Outnumbered::Holds, Overtaking::Unbounded, Stated, Timed::InQueue, Waits::Sleep,
};

/// Hands all mutexes to another macro, behind arguments of it:
/// `for_each_mutex! { P; some::callback; its arguments }`, where `P` is the platform that the locks are for.
/// The callback gets `[its arguments]`, and then for each lock `row Alias [Type] "name"` and a semicolon.
#[macro_export]
macro_rules! for_each_mutex {
    ($platform:ty; $($callback:tt)::+; $($argument:tt)*) => {
        $crate::mutex_rows! { $platform; $crate::mutex_types; $($callback)::+; $($argument)* }
    };
}

/// The rows in short: see [`for_each_mutex!`](crate::for_each_mutex).
#[doc(hidden)]
#[macro_export]
macro_rules! mutex_types {
    ([$($callback:tt)::+; $($argument:tt)*] $($row:ident $alias:ident [$lock:ty] $name:literal is $about:literal for $suits:literal
        c $c:tt preload $holder:tt $facts:tt)*) => {
        $($callback)::+! { [$($argument)*] $($row $alias [$lock] $name;)* }
    };
}

/// The rows in full: `mutex_rows! { P; some::callback; its arguments }`.
///
/// A row begins with its name as an identifier, and as a type of `stanchion::lock`. Then come the type, the
/// name, what it *is*, and *for* whom. Behind *c* stands the type that it has in C, if it has one, with what
/// that is made of unless it is an `u32`. Behind *preload* stand the bits of its word that say who holds it,
/// if it can be preloaded. The rest is its [`Facts`](crate::catalogue::Facts).
#[macro_export]
macro_rules! mutex_rows {
    ($platform:ty; $($callback:tt)::+; $($argument:tt)*) => {
        $($callback)::+! { [$($argument)*]

        stanchion StanchionLock [$crate::stanchion::StanchionLock<$platform>] "stanchion"
            is "Running threads take it; one waiter is awake, the others sleep."
            for "any number of threads on any number of CPUs"
            c [] preload [0xff] {
            bytes: 4, bytes_a_context: 64, bytes_a_class: 0,
            waits: Sleep, waiting: "spin for 10 µs at most, then sleep; one is awake", outnumbered: Holds,
            overtaken: "any number of times for 0.2 ms from when it is woken, then only by who was past its look", starves: false,
            bound: Unbounded("whoever runs takes it when it is free, until the heir's turn has come; then it is left to the heir for some looks"),
            holder_away: "all sleep", next_away: "somebody else acquires",
            timed: InQueue, in_handlers: All, shares: None, not_preloaded: None, variant_of: None,
            source: "this project; the parts are Boehm's and WebKit's barging and parking, and Dice's competitive succession and Malthusian locks (2017)",
            stated: Stated::STANCHION,
        }

        }
    };
}

mutex_rows! { (); crate::lock_facts; }
