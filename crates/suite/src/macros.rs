//! From a list of locks and a list of bodies to tests.

/// A module for each mutual exclusion lock with a test for each body, in the world `$world`.
#[macro_export]
macro_rules! mutex_tests {
    ($world:ty) => {
        $crate::stanchion_family::for_each_mutex! { <$world as $crate::World>::Platform; $crate::mutex_modules; $world }
    };
}

/// The same for reader-writer locks.
#[macro_export]
macro_rules! rw_tests {
    ($world:ty) => {
        $crate::stanchion_family::for_each_rwlock! { <$world as $crate::World>::Platform; $crate::rw_modules; $world }
    };
}

/// The bodies for every mutual exclusion lock, handed to another macro as the catalogue hands its rows.
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
            downgraded_beside_readers = DowngradedBesideReaders;
        }
    };
}

/// Bodies for some reader-writer locks, by the word that says so in the catalogue.
#[doc(hidden)]
#[macro_export]
macro_rules! rw_extra {
    (reads_again; $callback:path; $($argument:tt)*) => {
        $callback! { [$($argument)*] ReaderWriter, rw: reads_again_while_a_writer_waits = ReadsAgainWhileAWriterWaits; }
    };
    (upgrades; $callback:path; $($argument:tt)*) => {
        $callback! { [$($argument)*] ReaderWriter, rw:
            upgrades = Upgrades;
            upgradable_beside_readers = UpgradableBesideReaders;
        }
    };
    ($other:ident; $callback:path; $($argument:tt)*) => {};
}

#[doc(hidden)]
#[macro_export]
macro_rules! mutex_modules {
    ([$world:ty] $($row:ident $alias:ident [$lock:ty] $name:literal;)*) => {$(
        mod $row {
            use super::*;

            $crate::mutex_bodies! { $crate::test_functions; $world, $name, mutex, $lock }
        }
    )*};
}

#[doc(hidden)]
#[macro_export]
macro_rules! rw_modules {
    ([$world:ty] $($row:ident $alias:ident [$lock:ty] $name:literal $readers:ident $ways:ident $again:ident;)*) => {$(
        mod $row {
            use super::*;

            $crate::rw_bodies! { $crate::test_functions; $world, $name, rwlock, $lock }
            $crate::rw_extra! { $ways; $crate::test_functions; $world, $name, rwlock, $lock }
            $crate::rw_extra! { $again; $crate::test_functions; $world, $name, rwlock, $lock }
        }
    )*};
}

#[doc(hidden)]
#[macro_export]
macro_rules! test_functions {
    ([$world:ty, $name:literal, $find:ident, $lock:ty] $sort:ident, $bodies:ident: $($body:ident = $variant:ident;)*) => {$(
        #[test]
        fn $body() {
            const CASE: $crate::Case = $crate::Case {
                lock: $name,
                sort: $crate::Sort::$sort,
                waiting: $crate::Waiting::of($crate::stanchion_family::catalogue::$find($name)),
                body: $crate::Body::$variant,
            };
            $crate::Test::check::<$world>(&CASE, $crate::$bodies::$body::<$world, $lock>);
        }
    )*};
}

/// A statement that adds tests to the list `$tests`.
#[doc(hidden)]
#[macro_export]
macro_rules! test_rows {
    ([$tests:ident, $world:ty, $row:ident, $name:literal, $find:ident, $lock:ty] $sort:ident, $bodies:ident: $($body:ident = $variant:ident;)*) => {
        $tests.extend([$($crate::Test {
            case: $crate::Case {
                lock: $name,
                sort: $crate::Sort::$sort,
                waiting: $crate::Waiting::of($crate::stanchion_family::catalogue::$find($name)),
                body: $crate::Body::$variant,
            },
            name: concat!(stringify!($row), "::", stringify!($body)),
            run_case: <$world as $crate::World>::run_case,
            body: $crate::$bodies::$body::<$world, $lock>,
        }),*]);
    };
}

#[doc(hidden)]
#[macro_export]
macro_rules! mutex_rows {
    ([$tests:ident $world:ty] $($row:ident $alias:ident [$lock:ty] $name:literal;)*) => {$(
        $crate::mutex_bodies! { $crate::test_rows; $tests, $world, $row, $name, mutex, $lock }
    )*};
}

#[doc(hidden)]
#[macro_export]
macro_rules! rw_rows {
    ([$tests:ident $world:ty] $($row:ident $alias:ident [$lock:ty] $name:literal $readers:ident $ways:ident $again:ident;)*) => {$(
        $crate::rw_bodies! { $crate::test_rows; $tests, $world, $row, $name, rwlock, $lock }
        $crate::rw_extra! { $ways; $crate::test_rows; $tests, $world, $row, $name, rwlock, $lock }
        $crate::rw_extra! { $again; $crate::test_rows; $tests, $world, $row, $name, rwlock, $lock }
    )*};
}
