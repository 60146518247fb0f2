//! From a list of locks and a list of bodies to tests.

/// A module for each mutual exclusion lock with a test for each body, in the world `$world`.
#[macro_export]
macro_rules! mutex_tests {
    ($world:ty) => {
        $crate::mutexes! { $crate::mutex_modules; $world }
    };
}

/// The same for reader-writer locks.
#[macro_export]
macro_rules! rw_tests {
    ($world:ty) => {
        $crate::rwlocks! { $crate::rw_modules; $world }
    };
}

/// The bodies for every mutual exclusion lock, handed to another macro as a lock's line of [`mutexes!`](crate::mutexes) is.
#[doc(hidden)]
#[macro_export]
macro_rules! mutex_bodies {
    ($callback:path; $($argument:tt)*) => {
        $callback! { [$($argument)*] Mutex, mutex:
            excludes = Excludes;
            excludes_with_tries = ExcludesWithTries;
            tries_fail_while_held = TriesFailWhileHeld;
            free_after_release = FreeAfterRelease;
            passes_to_and_fro = PassesToAndFro;
            many_at_once = ManyAtOnce;
            released_by_another_context = ReleasedByAnotherContext;
        }
    };
}

/// The bodies for every reader-writer lock.
#[doc(hidden)]
#[macro_export]
macro_rules! rw_bodies {
    ($callback:path; $($argument:tt)*) => {
        $callback! { [$($argument)*] ReaderWriter, rw:
            excludes = Excludes;
            excludes_with_tries = ExcludesWithTries;
            readers_are_in_together = ReadersAreInTogether;
            tries_fail_while_held = TriesFailWhileHeld;
            released_in_any_order = ReleasedInAnyOrder;
            downgrades = Downgrades;
        }
    };
}

/// A body for some reader-writer locks, by its name in the catalogue.
#[doc(hidden)]
#[macro_export]
macro_rules! rw_extra {
    (reads_again_while_a_writer_waits; $callback:path; $($argument:tt)*) => {
        $callback! { [$($argument)*] ReaderWriter, rw: reads_again_while_a_writer_waits = ReadsAgainWhileAWriterWaits; }
    };
    (upgrades; $callback:path; $($argument:tt)*) => {
        $callback! { [$($argument)*] ReaderWriter, rw: upgrades = Upgrades; }
    };
}

#[doc(hidden)]
#[macro_export]
macro_rules! mutex_modules {
    ([$world:ty] $($name:ident: $waiting:ident, $lock:ty;)*) => {$(
        mod $name {
            use super::*;
            use $crate::catalogue::*;

            type W = $world;
            $crate::mutex_bodies! { $crate::test_functions; $name, $waiting, $lock }
        }
    )*};
}

#[doc(hidden)]
#[macro_export]
macro_rules! rw_modules {
    ([$world:ty] $($name:ident: $waiting:ident, $lock:ty $(, $extra:ident)*;)*) => {$(
        mod $name {
            use super::*;
            use $crate::catalogue::*;

            type W = $world;
            $crate::rw_bodies! { $crate::test_functions; $name, $waiting, $lock }
            $($crate::rw_extra! { $extra; $crate::test_functions; $name, $waiting, $lock })*
        }
    )*};
}

#[doc(hidden)]
#[macro_export]
macro_rules! test_functions {
    ([$name:ident, $waiting:ident, $lock:ty] $sort:ident, $bodies:ident: $($body:ident = $variant:ident;)*) => {$(
        #[test]
        fn $body() {
            const CASE: $crate::Case = $crate::Case {
                lock: stringify!($name),
                sort: $crate::Sort::$sort,
                waiting: $crate::Waiting::$waiting,
                body: $crate::Body::$variant,
            };
            $crate::Test::check::<W>(&CASE, $crate::$bodies::$body::<W, $lock>);
        }
    )*};
}

/// A statement that adds tests to the list `$tests`.
#[doc(hidden)]
#[macro_export]
macro_rules! test_rows {
    ([$tests:ident, $name:ident, $waiting:ident, $lock:ty] $sort:ident, $bodies:ident: $($body:ident = $variant:ident;)*) => {
        $tests.extend([$($crate::Test {
            case: $crate::Case {
                lock: stringify!($name),
                sort: $crate::Sort::$sort,
                waiting: $crate::Waiting::$waiting,
                body: $crate::Body::$variant,
            },
            name: concat!(stringify!($name), "::", stringify!($body)),
            conduct: W::conduct,
            body: $crate::$bodies::$body::<W, $lock>,
        }),*]);
    };
}

#[doc(hidden)]
#[macro_export]
macro_rules! mutex_rows {
    ([$tests:ident] $($name:ident: $waiting:ident, $lock:ty;)*) => {$(
        $crate::mutex_bodies! { $crate::test_rows; $tests, $name, $waiting, $lock }
    )*};
}

#[doc(hidden)]
#[macro_export]
macro_rules! rw_rows {
    ([$tests:ident] $($name:ident: $waiting:ident, $lock:ty $(, $extra:ident)*;)*) => {$(
        $crate::rw_bodies! { $crate::test_rows; $tests, $name, $waiting, $lock }
        $($crate::rw_extra! { $extra; $crate::test_rows; $tests, $name, $waiting, $lock })*
    )*};
}
