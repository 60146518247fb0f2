//! Names of locks are offered to completions.
use clap::builder::{PossibleValue, StringValueParser, TypedValueParser};
use clap::{Arg, Command};
use stanchion_family::catalogue::{Facts, MUTEXES, RWLOCKS};
use std::ffi::OsStr;

pub(crate) use stanchion_cells::names::nearest;

/// Takes any text for a name, or a list of names, of locks, and offers those of the catalogue to completions.
#[derive(Clone, Copy)]
pub(crate) struct LockNames(fn(&Facts) -> bool);

impl LockNames {
    /// Every lock.
    pub(crate) const ALL: Self = Self(|_| true);
    /// Those that can stand in a pthread mutex.
    pub(crate) const PRELOADED: Self = Self(|facts| facts.holder.is_some());
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
    use clap::CommandFactory;

    #[test]
    fn completions_offer_the_locks_of_the_catalogue() {
        let mut script = Vec::new();
        clap_complete::generate(
            clap_complete::Shell::Bash,
            &mut crate::Cli::command(),
            "stanchion",
            &mut script,
        );
        let script = String::from_utf8(script).expect("a script");
        for name in ["owner-qspin", "qrw-readers-first", "twa"] {
            assert!(script.contains(&format!(" {name} ")), "{name}");
        }
    }
}
