//! Which toolchain the promised minimum can be checked with.

/// How to check the minimum supported Rust version here.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Plan {
    /// The running toolchain is the minimum; the other jobs have checked it.
    RunningIsMinimum,
    /// Check with this installed toolchain.
    Check(String),
    /// The minimum is not installed.
    Skip(String),
    /// The running toolchain is older than the minimum.
    TooOld(String),
}

/// Decides from `rustc --version`, `rust-version` and the lines of `rustup toolchain list`.
pub(crate) fn plan(rustc: &str, minimum: &str, installed: &str) -> Plan {
    let running = rustc.split_whitespace().nth(1).unwrap_or_default();
    let (Some(have), Some(want)) = (version(running), version(minimum)) else {
        return Plan::Skip(format!("can not compare `{running}` with `{minimum}`"));
    };
    let exact = format!("{}.{}.{}", want.0, want.1, want.2);
    if (have.0, have.1) == (want.0, want.1) && have.2 >= want.2 {
        Plan::RunningIsMinimum
    } else if have < want {
        Plan::TooOld(format!("rustc {running} is older than the promised {minimum}"))
    } else if installed.lines().any(|line| is_toolchain(line, &exact)) {
        Plan::Check(exact)
    } else {
        Plan::Skip(format!("rustc {running} is newer and toolchain {exact} is not installed"))
    }
}

/// Major, minor and patch; `1.95` counts as `1.95.0` and `1.97.0-nightly` as `1.97.0`.
fn version(text: &str) -> Option<(u32, u32, u32)> {
    let mut parts = text.split('-').next()?.split('.').map(|part| part.parse().ok());
    Some((parts.next()??, parts.next()??, parts.next().unwrap_or(Some(0))?))
}

fn is_toolchain(line: &str, version: &str) -> bool {
    line.strip_prefix(version).is_some_and(|rest| rest.is_empty() || rest.starts_with(['-', ' ']))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_running_minimum_is_enough() {
        assert_eq!(plan("rustc 1.95.0 (59807616e 2026-04-14)", "1.95", ""), Plan::RunningIsMinimum);
        assert_eq!(plan("rustc 1.95.1 (59807616e 2026-04-14)", "1.95", ""), Plan::RunningIsMinimum);
    }

    #[test]
    fn a_newer_toolchain_asks_for_the_minimum() {
        let list = "stable-x86_64-unknown-linux-gnu (active, default)\n1.95.0-x86_64-unknown-linux-gnu\n";
        assert_eq!(plan("rustc 1.97.0-nightly (x)", "1.95", list), Plan::Check("1.95.0".to_owned()));
        assert_eq!(
            plan("rustc 1.96.0 (x)", "1.95", "1.95.01-x\n"),
            Plan::Skip("rustc 1.96.0 is newer and toolchain 1.95.0 is not installed".to_owned())
        );
    }

    #[test]
    fn an_older_toolchain_fails() {
        assert!(matches!(plan("rustc 1.94.2 (x)", "1.95", ""), Plan::TooOld(_)));
    }
}
