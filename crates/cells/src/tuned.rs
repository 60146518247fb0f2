//! Locks with other tunables, by name: `stanchion:turn_us=200:hand_over=0`.
use stanchion_core::Tunable;
use stanchion_family::tuned::{BadSetting, is_of};
use stanchion_sim::nearest;

/// A lock with what is set for it.
type Tuned<'a> = (&'a str, Vec<(Tunable, u32)>);

/// Lock and settings, as a name says them; the error is one line. Whether there is such a lock is for the
/// caller to say, and first.
pub fn read(name: &str) -> Result<Tuned<'_>, String> {
    let (lock, settings) = stanchion_family::tuned::tuned(name);
    let settings: Vec<(Tunable, u32)> =
        settings.collect::<Result<_, _>>().map_err(|bad| message(lock, bad))?;
    for (at, (tunable, _)) in settings.iter().enumerate() {
        if settings[..at].iter().any(|(before, _)| before == tunable) {
            return Err(format!("{lock}:{}: set twice", tunable.name()));
        }
    }
    Ok((lock, settings))
}

fn message(lock: &str, bad: BadSetting) -> String {
    let own = || {
        stanchion_family::tunables::ALL
            .iter()
            .filter(|&&tunable| is_of(tunable, lock))
            .map(|tunable| tunable.name())
    };
    match bad {
        BadSetting::Unknown(_) | BadSetting::NotOf(_) if own().next().is_none() => {
            format!("lock '{lock}' has no tunables")
        }
        BadSetting::Unknown("") => {
            format!(
                "'{lock}' is followed by no setting: write for example {lock}:{}=1",
                own().next().unwrap_or_default()
            )
        }
        BadSetting::Unknown(name) => {
            format!("lock '{lock}' has no tunable '{name}': nearest are {}", nearest(name, own()).join(", "))
        }
        BadSetting::NotOf(tunable) => format!(
            "tunable '{}' does not belong to lock '{lock}': nearest are {}",
            tunable.name(),
            nearest(tunable.name(), own()).join(", ")
        ),
        BadSetting::NoNumber(tunable, value) => {
            format!("{lock}:{}: '{value}' is no number from 0 to {}", tunable.name(), u32::MAX)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn mistakes_are_one_line_with_the_nearest_names() {
        for (name, text) in [
            ("stanchion:tuns=0", "lock 'stanchion' has no tunable 'tuns': nearest are turns, "),
            ("stanchion:", "write for example stanchion:spin_ns=1"),
            ("cna:turns=0", "tunable 'turns' does not belong to lock 'cna': nearest are cna_"),
            ("byte:turns=0", "lock 'byte' has no tunables"),
            ("stanchion:turns=", "stanchion:turns: '' is no number from 0 to 4294967295"),
            ("stanchion:turns=0:turn_us=x", "stanchion:turn_us: 'x' is no number"),
            ("stanchion:turns=0:adapt=1:turns=0", "stanchion:turns: set twice"),
        ] {
            let error = read(name).expect_err(name);
            assert!(error.contains(text) && !error.contains('\n'), "{error}");
        }
        assert_eq!(read("stanchion:adapt=0"), Ok(("stanchion", vec![(Tunable::Adapt, 0)])));
    }
}
