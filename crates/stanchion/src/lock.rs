//! The locks of the native world, each under [`lock_api::RawMutex`] or [`lock_api::RawRwLock`]; use them as
//! `lock_api::Mutex<StanchionLock, T>` and `lock_api::RwLock<QueuedRwLock, T>`.
//!
//! All that is known of each stands in [`stanchion_core::catalogue`]; its algorithm and its cost, in the
//! module that it comes from. With the feature `family`, the locks of `stanchion-family` are here, too.
use crate::native::{Counted, Native, Silent};
use crate::raw::Raw;
use crate::raw_rw::RawRw;
use crate::rows::{catalogue, mutex_rows, rwlock_rows};

macro_rules! mutexes {
    ([] $($row:ident $alias:ident [$lock:ty] $name:literal is $about:literal for $suits:literal
        c $c:tt preload $holder:tt $facts:tt)*) => {
        $(
            #[doc = concat!("`", $name, "`: ", $about, " For: ", $suits, ".")]
            pub type $alias<C = Silent> = Raw<$lock>;
            const _: () =
                assert!(size_of::<$alias>() == catalogue::mutex($name).bytes && align_of::<$alias>() == 4);
        )*

        /// The same locks, counting their events; read them with [`crate::events`].
        pub mod counted {
            $(
                #[doc = concat!("[`", stringify!($alias), "`](super::", stringify!($alias), "), counting its events.")]
                pub type $alias = super::$alias<super::Counted>;
            )*
        }
    };
}

/// The default lock in the order of arrival: nobody barges. See [`stanchion_core::stanchion`].
pub type FairLock<C = Silent> = Raw<stanchion_core::StanchionLock<Native<C>, true>>;
const _: () = assert!(size_of::<FairLock>() == 4);

/// [`QueuedRwLock`] whose readers wait for a writer that is in only. See [`RawRw`].
pub type RecursiveRwLock<C = Silent> = RawRw<stanchion_core::QueuedRwLock<Native<C>>, true>;

macro_rules! rwlocks {
    ([] $($row:ident $alias:ident [$lock:ty] $name:literal is $about:literal for $suits:literal
        has $readers:ident $ways:ident $again:ident $facts:tt)*) => {$(
        #[doc = concat!("`", $name, "`: ", $about, " For: ", $suits, ".")]
        #[doc = guards!($readers $alias)]
        pub type $alias<C = Silent> = RawRw<$lock>;
        const _: () = assert!(size_of::<$alias>() == catalogue::rwlock($name).bytes);
    )*};
}

/// What a lock's page says of its guards.
macro_rules! guards {
    (counted $alias:ident) => {
        ""
    };
    (celled $alias:ident) => {
        concat!(
            "\n\nIt is of the common class; [`crate::percpu`] has others. Guards stay with their thread:\n\n",
            "```compile_fail,E0277\n",
            "static ROUTES: lock_api::RwLock<stanchion::lock::",
            stringify!($alias),
            ", u32> = lock_api::RwLock::new(0);\n\n",
            "let guard = ROUTES.read();\n",
            "std::thread::spawn(move || drop(guard)); // the guard is not `Send`\n```",
        )
    };
}

mutex_rows! { Native<C>; mutexes; }
rwlock_rows! { Native<C>; rwlocks; }
