//! The locks by which a program can be run.
use lab_kit::names::unknown;
use stanchion_family::catalogue::MUTEXES;

/// The program as it is, with no library of ours.
pub(crate) const LIBC: &str = "libc";
/// libc's locks, called through the library: what interposing alone costs.
pub(crate) const LIBC_THROUGH: &str = "libc-through";
pub(crate) const DEFAULT: &str = "stanchion";

/// The names of those that can stand in a pthread mutex, in the order of the catalogue.
pub(crate) fn taken_names() -> Vec<&'static str> {
    MUTEXES.iter().filter(|facts| facts.holder.is_some()).map(|facts| facts.name).collect()
}

/// A lock's name, and whether it is counted at, to see what `--stats` costs.
pub(crate) fn split(name: &str) -> (&str, bool) {
    name.strip_suffix("+stats").map_or((name, false), |lock| (lock, true))
}

pub(crate) fn check(name: &str) -> Result<(), String> {
    let (lock, is_counted) = split(name);
    if is_counted && [LIBC, LIBC_THROUGH].contains(&lock) {
        return Err(format!("{name}: only our locks are counted at"));
    }
    check_among(&[LIBC, LIBC_THROUGH], lock)
}

/// Makes sure of a name that the library is to read.
pub(crate) fn check_word(name: &str) -> Result<(), String> {
    check_among(&[LIBC], name)
}

fn check_among(libcs: &[&'static str], name: &str) -> Result<(), String> {
    let known = [&taken_names(), libcs].concat();
    if known.contains(&name) { Ok(()) } else { Err(unknown("lock", name, known)) }
}

pub(crate) fn list() -> String {
    let taken = MUTEXES.iter().filter(|facts| facts.holder.is_some()).map(|facts| (facts.name, facts.about));
    let libc = [
        (LIBC, "the program without the library, unless --stats or --record need it"),
        (LIBC_THROUGH, "libc's locks, through the library: what interposing alone costs"),
    ];
    let mut text = String::from("locks:\n");
    text.extend(taken.chain(libc).map(|(name, about)| format!("  {name:28} {about}\n")));
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_default_and_libc_are_known_and_peers_of_the_benchmark_are_not() {
        for name in ["stanchion", "unfair-q", "owner-qspin", "pv-qspin-kick-at-unlock", LIBC, LIBC_THROUGH] {
            assert_eq!(check(name), Ok(()), "{name}");
        }
        for name in ["parking_lot", "stanchion-fenced", "xen-pv"] {
            assert!(check(name).is_err(), "{name}");
        }
        assert_eq!(check("cna+stats"), Ok(()));
        assert!(check("libc+stats").is_err() && check("nobody+stats").is_err());
        assert!(check("pvqspin").expect_err("unknown").contains("nearest are pv-qspin"));
        assert!(check("libc-trough").expect_err("unknown").contains("nearest are libc-through"));
        assert!(
            !check_word("libc-through").expect_err("not a word of the library").contains("are libc-through")
        );
        assert!(list().lines().all(|line| line.len() <= 100), "{}", list());
    }
}
