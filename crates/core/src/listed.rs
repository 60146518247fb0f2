//! Open lists: a type with a constant for each entry of its list, which another crate goes on with.

/// Declares the entries of a list of [`Event`](crate::Event)s or [`Tunable`](crate::Tunable)s.
///
/// The core's own are constants of the type. Another crate's are constants of a trait that the type has, and
/// their numbers go on behind those of the list that it names.
#[doc(hidden)]
#[macro_export]
macro_rules! listed {
    (impl $of:ident; $($rows:tt)*) => {
        #[expect(non_upper_case_globals, reason = "they are written as the variants of an open enumeration")]
        impl $of {
            $crate::listed! { @constants pub $of behind 0; $($rows)* }
        }
        $crate::listed! { @order $of; $($rows)* }
        /// Every entry, in the order of the numbers.
        pub const ALL: &[$of] = OWN;
    };
    ($(#[$doc:meta])* trait $trait:ident for $of:ident behind $before:path; $($rows:tt)*) => {
        $(#[$doc])*
        #[expect(non_upper_case_globals, reason = "they are written as the variants of an open enumeration")]
        pub trait $trait {
            $crate::listed! { @constants $of behind $before.len(); $($rows)* }
        }
        impl $trait for $of {}
        $crate::listed! { @order $of; $($rows)* }
        /// Every entry, the product's first, in the order of the numbers.
        pub const ALL: &[$of] = &$crate::listed::joined::<$of, { $before.len() + OWN.len() }>($before, OWN);
    };
    (@constants $public:vis $of:ident behind $first:expr;
        $($name:ident = $text:literal $(: $default:literal)?, $meaning:literal;)*) => {$(
        #[doc = $meaning]
        $public const $name: $of = $of::new($first + Order::$name as usize, $text, $($default,)? $meaning);
    )*};
    (@order $of:ident; $($name:ident = $text:literal $(: $default:literal)?, $meaning:literal;)*) => {
        enum Order { $($name,)* }
        const OWN: &[$of] = &[$($of::$name,)*];
    };
}

/// One list behind the other.
///
/// # Panics
///
/// If the lists do not have as many entries as are asked for, or none.
pub const fn joined<T: Copy, const ALL: usize>(first: &[T], second: &[T]) -> [T; ALL] {
    assert!(first.len() + second.len() == ALL);
    let mut all = [first[0]; ALL];
    let mut at = 0;
    while at < ALL {
        all[at] = if at < first.len() { first[at] } else { second[at - first.len()] };
        at += 1;
    }
    all
}
