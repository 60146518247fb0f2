//! The profiles there are, and those a user makes up.
use super::mix::{Profile, words};
use lab_kit::names::unknown;
use lab_kit::units::{parse_time, round_ns};
use stanchion_cells::scenes::once;
use std::collections::BTreeMap;

/// Profiles that have a name of their own, in the order of the tables: section and think time in nanoseconds,
/// whether holders yield, and what they are.
pub(crate) const NAMED: [(&str, u64, u64, bool, &str); 5] = [
    ("empty", 0, 0, false, "nothing but the lock: the most contention there is"),
    ("short", 50, 200, false, "a counter or a list head under a lock"),
    ("medium", 200, 1_000, false, "a map lookup under a lock"),
    ("long", 2_000, 2_000, false, "work that should not be under a lock, but is"),
    ("yield", 1_000, 2_000, true, "holders yield within the section; not part of `all`"),
];

/// A section longer than this would outlast the window of a cell.
const LONGEST_NS: u64 = 10_000_000;

/// Profiles from lists of names and of `cs=…,think=…` groups, each at most once. A group ends with its list.
pub(crate) fn parse<'a>(lists: impl IntoIterator<Item = &'a str>) -> Result<Vec<Profile>, String> {
    let mut profiles: Vec<Profile> = Vec::new();
    for list in lists {
        let mut parts = BTreeMap::new();
        for word in words(list) {
            let part = word.split_once('=');
            // A name ends a group, and so does a part that it has already.
            if part.is_none_or(|(key, _)| parts.contains_key(key)) {
                profiles.extend(own(&core::mem::take(&mut parts))?);
            }
            match part {
                Some((key, value)) => drop(parts.insert(key, value)),
                None => profiles.extend(by_name(word)?),
            }
        }
        profiles.extend(own(&parts)?);
    }
    if profiles.is_empty() {
        let names = NAMED.map(|(name, ..)| name);
        return Err(format!("no profile was named: choose from {}", names.join(", ")));
    }
    let profiles = once(profiles);
    for (index, profile) in profiles.iter().enumerate() {
        if profiles[..index].iter().any(|other| other.name == profile.name) {
            return Err(format!("two different profiles are named '{}'", profile.name));
        }
    }
    Ok(profiles)
}

fn by_name(word: &str) -> Result<Vec<Profile>, String> {
    let named = NAMED.map(|(name, critical_ns, think_ns, yields, _)| Profile {
        name: name.to_owned(),
        critical_ns,
        think_ns,
        yields,
        cpu_limit: None,
    });
    let meant = |of: &Profile| of.name == word || (word == "all" && !of.yields);
    let profiles: Vec<_> = named.into_iter().filter(meant).collect();
    if profiles.is_empty() {
        let unknown = unknown("profile", word, NAMED.map(|(name, ..)| name));
        return Err(format!("{unknown}; or give times, as in cs=50ns,think=200ns"));
    }
    Ok(profiles)
}

/// The profile of a group of parts, if there are any.
fn own(parts: &BTreeMap<&str, &str>) -> Result<Option<Profile>, String> {
    let known = ["cs", "think", "name"];
    if let Some(key) = parts.keys().find(|key| !known.contains(key)) {
        return Err(unknown("part of a profile", key, known));
    }
    let time = |key| parts.get(key).map(|value| time(key, value)).transpose();
    let (Some(critical_ns), Some(think_ns)) = (time("cs")?, time("think")?) else {
        let needs = "a profile of your own needs both times, as in cs=50ns,think=200ns";
        return if parts.is_empty() { Ok(None) } else { Err(needs.to_owned()) };
    };
    let short = |ns: u64| round_ns(ns as f64).replace(' ', "").replace('µ', "u");
    let is_plain = |letter: char| letter.is_ascii_alphanumeric() || letter == '-';
    let name = match parts.get("name") {
        None => format!("{}-{}", short(critical_ns), short(think_ns)),
        Some(name) if (1..=16).contains(&name.len()) && name.chars().all(is_plain) => (*name).to_owned(),
        Some(name) => {
            return Err(format!("'{name}' is no name for a profile: up to 16 letters, digits and dashes"));
        }
    };
    Ok(Some(Profile { name, critical_ns, think_ns, ..Profile::default() }))
}

fn time(key: &str, value: &str) -> Result<u64, String> {
    let ns = parse_time(value)?.as_nanos() as u64;
    let too_long = || format!("{key}={value} is too long: a profile's times are at most 10ms");
    (ns <= LONGEST_NS).then_some(ns).ok_or_else(too_long)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_and_times_mix_in_one_list() {
        let profiles = parse(["short,cs=80ns,think=1us,name=web,cs=0,think=0,long"]).expect("valid");
        let names: Vec<_> = profiles.iter().map(|profile| profile.name.as_str()).collect();
        assert_eq!(names, ["short", "web", "0ns-0ns", "long"]);
        assert_eq!((profiles[1].critical_ns, profiles[1].think_ns), (80, 1_000));
    }

    #[test]
    fn all_means_those_whose_holders_run_and_nothing_comes_twice() {
        let of = |list| parse([list]).expect("valid");
        assert_eq!(of("all,short").len(), NAMED.len() - 1);
        assert!(of("yield")[0].yields && of("all").iter().all(|one| !one.yields));
    }

    #[test]
    fn mistakes_name_the_nearest() {
        assert!(parse(["shrot"]).expect_err("unknown").contains("nearest are short"));
        assert!(parse(["sc=1ns,think=1ns"]).expect_err("unknown").contains("cs"));
        assert!(parse(["cs=50ns"]).expect_err("half").contains("both times"));
        assert!(parse(["cs=1s,think=1s"]).expect_err("long").contains("too long"));
        assert!(parse(["name=short,cs=1ns,think=1ns,short"]).expect_err("twice").contains("two different"));
        assert!(parse([","]).is_err());
    }
}
