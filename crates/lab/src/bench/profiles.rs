//! The profiles there are, and those a user makes up.
use super::cell::Profile;
use lab_kit::names::unknown;
use lab_kit::units::{parse_time, round_ns};

/// A profile that has a name of its own.
pub(crate) struct Named {
    pub name: &'static str,
    pub critical_ns: u64,
    pub think_ns: u64,
    /// The holder gives up its slice in the middle of the section.
    pub yields: bool,
    pub about: &'static str,
}

/// In the order of the tables.
pub(crate) const NAMED: &[Named] = &[
    Named {
        name: "empty",
        critical_ns: 0,
        think_ns: 0,
        yields: false,
        about: "nothing but the lock: the most contention there is",
    },
    Named {
        name: "short",
        critical_ns: 50,
        think_ns: 200,
        yields: false,
        about: "a counter or a list head under a lock",
    },
    Named {
        name: "medium",
        critical_ns: 200,
        think_ns: 1_000,
        yields: false,
        about: "a map lookup under a lock",
    },
    Named {
        name: "long",
        critical_ns: 2_000,
        think_ns: 2_000,
        yields: false,
        about: "work that should not be under a lock, but is",
    },
    Named {
        name: "yield",
        critical_ns: 1_000,
        think_ns: 2_000,
        yields: true,
        about: "holders yield within the section; not part of `all`",
    },
];

/// A section longer than this would outlast the window of a cell.
const LONGEST_NS: u128 = 10_000_000;

/// Profiles from what was typed: names and `cs=…,think=…` groups in one list, each at most once.
pub(crate) fn parse(lists: &[String]) -> Result<Vec<Profile>, String> {
    let mut profiles: Vec<Profile> = Vec::new();
    for list in lists {
        let mut custom = Custom::default();
        for word in list.split(',').map(str::trim).filter(|word| !word.is_empty()) {
            let Some((key, value)) = word.split_once('=') else {
                if custom != Custom::default() {
                    profiles.push(core::mem::take(&mut custom).finish()?);
                }
                profiles.extend(by_name(word)?);
                continue;
            };
            if custom.has(key) {
                profiles.push(core::mem::take(&mut custom).finish()?);
            }
            custom.set(key, value)?;
        }
        if custom != Custom::default() {
            profiles.push(custom.finish()?);
        }
    }
    if profiles.is_empty() {
        return Err(format!("no profile was named: choose from {}", names().join(", ")));
    }
    let mut unique: Vec<Profile> = Vec::new();
    for profile in profiles {
        match unique.iter().find(|other| other.name == profile.name) {
            None => unique.push(profile),
            Some(other) if *other == profile => {}
            Some(_) => return Err(format!("two different profiles are named '{}'", profile.name)),
        }
    }
    Ok(unique)
}

fn by_name(word: &str) -> Result<Vec<Profile>, String> {
    let make = |named: &Named| Profile {
        name: named.name.to_owned(),
        critical_ns: named.critical_ns,
        think_ns: named.think_ns,
        yields: named.yields,
        cpu_limit: None,
    };
    if word == "all" {
        return Ok(NAMED.iter().filter(|named| !named.yields).map(make).collect());
    }
    NAMED.iter().find(|named| named.name == word).map(|named| vec![make(named)]).ok_or_else(|| {
        format!("{}; or give times, as in cs=50ns,think=200ns", unknown("profile", word, names()))
    })
}

fn names() -> Vec<&'static str> {
    NAMED.iter().map(|named| named.name).collect()
}

/// A profile under construction.
#[derive(Default, PartialEq)]
struct Custom {
    name: Option<String>,
    critical: Option<u64>,
    think: Option<u64>,
}

impl Custom {
    fn has(&self, key: &str) -> bool {
        match key {
            "name" => self.name.is_some(),
            "cs" => self.critical.is_some(),
            "think" => self.think.is_some(),
            _ => false,
        }
    }

    fn set(&mut self, key: &str, value: &str) -> Result<(), String> {
        let time = || {
            let time = parse_time(value)?.as_nanos();
            if time > LONGEST_NS {
                return Err(format!("{key}={value} is too long: a profile's times are at most 10ms"));
            }
            Ok(Some(time as u64))
        };
        match key {
            "cs" => self.critical = time()?,
            "think" => self.think = time()?,
            "name" if value.is_empty() || value.len() > 16 || !value.chars().all(is_plain) => {
                return Err(format!(
                    "'{value}' is no name for a profile: up to 16 letters, digits and dashes"
                ));
            }
            "name" => self.name = Some(value.to_owned()),
            _ => {
                return Err(unknown("part of a profile", key, ["cs", "think", "name"]));
            }
        }
        Ok(())
    }

    fn finish(self) -> Result<Profile, String> {
        let (Some(critical_ns), Some(think_ns)) = (self.critical, self.think) else {
            return Err("a profile of your own needs both times, as in cs=50ns,think=200ns".to_owned());
        };
        let short = |ns: u64| round_ns(ns as f64).replace(' ', "").replace('µ', "u");
        let name = self.name.unwrap_or_else(|| format!("{}-{}", short(critical_ns), short(think_ns)));
        Ok(Profile { name, critical_ns, think_ns, yields: false, cpu_limit: None })
    }
}

fn is_plain(letter: char) -> bool {
    letter.is_ascii_alphanumeric() || letter == '-'
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(list: &str) -> Result<Vec<Profile>, String> {
        parse(&[list.to_owned()])
    }

    #[test]
    fn names_and_times_mix_in_one_list() {
        let profiles = parsed("short,cs=80ns,think=1us,name=web,cs=0,think=0,long").expect("valid");
        let names: Vec<_> = profiles.iter().map(|profile| profile.name.as_str()).collect();
        assert_eq!(names, ["short", "web", "0ns-0ns", "long"]);
        assert_eq!((profiles[1].critical_ns, profiles[1].think_ns), (80, 1_000));
    }

    #[test]
    fn all_means_those_whose_holders_run_and_nothing_comes_twice() {
        assert_eq!(parsed("all,short").expect("valid").len(), NAMED.len() - 1);
        assert!(
            parsed("yield").expect("valid")[0].yields
                && parsed("all").expect("valid").iter().all(|one| !one.yields)
        );
    }

    #[test]
    fn mistakes_name_the_nearest() {
        assert!(parsed("shrot").expect_err("unknown").contains("nearest are short"));
        assert!(parsed("sc=1ns,think=1ns").expect_err("unknown").contains("cs"));
        assert!(parsed("cs=50ns").expect_err("half").contains("both times"));
        assert!(parsed("cs=1s,think=1s").expect_err("long").contains("too long"));
        assert!(parsed("name=short,cs=1ns,think=1ns,short").expect_err("twice").contains("two different"));
        assert!(parsed(",").is_err());
    }
}
