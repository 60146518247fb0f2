//! Names of locks are offered to completions.
use clap::builder::{PossibleValue, StringValueParser, TypedValueParser};
use clap::{Arg, Command};
pub use stanchion_cells::unknown;
use stanchion_family::catalogue::{Facts, MUTEXES, RWLOCKS};
use std::ffi::OsStr;

/// Those of `all` that `only` names, or all if it names none. The first word that is no name is refused.
pub fn chosen<T>(
    what: &str,
    all: Vec<T>,
    only: &[String],
    name: impl Fn(&T) -> &str,
) -> Result<Vec<T>, String> {
    let names = || all.iter().map(&name);
    if let Some(wrong) = only.iter().find(|word| !names().any(|known| known == word.as_str())) {
        return Err(unknown(what, wrong, names()));
    }
    let is_wanted = |one: &T| only.is_empty() || only.iter().any(|word| word == name(one));
    Ok(all.into_iter().filter(is_wanted).collect())
}

/// The word of every `--lock` for all locks that the command can take.
pub const ALL: &str = "all";

/// The locks that `named` names, each of them in its place; [`ALL`] stands for `all`.
pub fn with_all<'a>(named: impl IntoIterator<Item = &'a str>, all: &[&'a str]) -> Vec<&'a str> {
    let named = named.into_iter();
    named.flat_map(|name| if name == ALL { all.to_vec() } else { vec![name] }).collect()
}

/// Takes any text for a name, or a list of names, of locks, and offers those of the catalogue to completions.
#[derive(Clone, Copy)]
pub struct LockNames(fn(&Facts) -> bool);

impl LockNames {
    pub const ALL: Self = Self(|_| true);
    /// Those that can stand in a pthread mutex.
    pub const PRELOADED: Self = Self(|facts| facts.holder.is_some());
}

impl TypedValueParser for LockNames {
    type Value = String;

    fn parse_ref(&self, command: &Command, arg: Option<&Arg>, value: &OsStr) -> Result<String, clap::Error> {
        StringValueParser::new().parse_ref(command, arg, value)
    }

    fn possible_values(&self) -> Option<Box<dyn Iterator<Item = PossibleValue> + '_>> {
        let offered = MUTEXES.iter().chain(RWLOCKS).filter(|facts| (self.0)(facts));
        Some(Box::new(offered.map(|facts| PossibleValue::new(facts.name).help(facts.about))))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_refusal_names_the_three_nearest() {
        assert_eq!(
            unknown("job", "tydi", ["fmt", "tidy", "test", "doc"]),
            "unknown job 'tydi': nearest are tidy, test, doc"
        );
        assert_eq!(unknown("job", "x", ["only"]), "unknown job 'x': nearest are only");
    }

    #[test]
    fn all_stands_for_all_in_its_place() {
        assert_eq!(with_all(["libc", "all"], &["a", "b"]), ["libc", "a", "b"]);
        assert_eq!(with_all(["a"], &["a", "b"]), ["a"]);
    }

    #[test]
    fn those_that_are_named_are_chosen_in_their_own_order() {
        let of = |only: &[&str]| {
            let only: Vec<String> = only.iter().map(|&word| word.to_owned()).collect();
            chosen("job", vec!["fmt", "tidy", "test"], &only, |name| name)
        };
        assert_eq!(of(&[]), Ok(vec!["fmt", "tidy", "test"]));
        assert_eq!(of(&["test", "fmt"]), Ok(vec!["fmt", "test"]));
        assert_eq!(of(&["fmt", "tydi"]), Err("unknown job 'tydi': nearest are tidy, test, fmt".to_owned()));
    }
}
