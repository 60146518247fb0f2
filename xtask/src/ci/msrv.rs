//! Whether the oldest toolchain that a manifest promises is enough.
use super::command::Shell;
use super::job::Step;
use super::summary::Outcome;
use std::collections::BTreeMap;
use std::fs;
use std::process::Command;

/// Checks `what` with the toolchain that the manifest at `path` promises. Skipped if it is not here.
pub(super) fn check(shell: &mut Shell<'_>, path: &str, what: &[&str]) -> Outcome {
    let manifest = fs::read_to_string(shell.root.join(path)).unwrap_or_default();
    let Some(minimum) = rust_version(&manifest) else {
        return Outcome::failed(format!("{path} promises no rust-version"));
    };
    let output = |program: &str, words: &[&str]| {
        let output = Command::new(program).args(words).current_dir(shell.root).output();
        output.map(|output| String::from_utf8_lossy(&output.stdout).into_owned()).unwrap_or_default()
    };
    let rustc = output("rustc", &["--version"]);
    let running = rustc.split_whitespace().nth(1).unwrap_or_default();
    let installed = output("rustup", &["toolchain", "list"]);
    shell.say(format_args!("--- {path} promises {minimum}; this is rustc {running}"));
    let step = match toolchain(running, &minimum, &installed) {
        Ok(toolchain) => Step::try_from(format!("cargo +{toolchain} check {}", what.join(" "))),
        Err(outcome) => return outcome,
    };
    step.map_or_else(Outcome::failed, |step| shell.run(&step, &BTreeMap::new()))
}

fn rust_version(manifest: &str) -> Option<String> {
    let manifest: toml::Table = manifest.parse().ok()?;
    let holder = manifest.get("workspace").and_then(toml::Value::as_table).unwrap_or(&manifest);
    Some(holder.get("package")?.get("rust-version")?.as_str()?.to_owned())
}

/// The toolchain to check with, of the lines of `rustup toolchain list`; or what comes of the check without
/// one. Where the running version is the minimum, the other jobs have checked it.
fn toolchain(running: &str, minimum: &str, installed: &str) -> Result<String, Outcome> {
    let (Some(have), Some(want)) = (version(running), version(minimum)) else {
        return Err(Outcome::Skipped(format!("can not compare `{running}` with `{minimum}`")));
    };
    let exact = want.map(|part| part.to_string()).join(".");
    if have[..2] == want[..2] && have >= want {
        Err(Outcome::Ok)
    } else if have < want {
        Err(Outcome::failed(format!("rustc {running} is older than the promised {minimum}")))
    } else if installed.lines().any(|line| line.split(['-', ' ']).next() == Some(exact.as_str())) {
        Ok(exact)
    } else {
        Err(Outcome::Skipped(format!("rustc {running} is newer and toolchain {exact} is not installed")))
    }
}

/// Major, minor and patch; `1.95` counts as `1.95.0` and `1.97.0-nightly` as `1.97.0`.
fn version(text: &str) -> Option<[u32; 3]> {
    let mut parts = text.split('-').next()?.split('.').map(|part| part.parse().ok());
    Some([parts.next()??, parts.next()??, parts.next().unwrap_or(Some(0))?])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_promised_version_is_read() {
        let manifest = "[workspace.package]\nrust-version = \"1.95\"\n";
        assert_eq!(rust_version(manifest).as_deref(), Some("1.95"));
        assert_eq!(rust_version("[package]\nrust-version = \"1.88\"\n").as_deref(), Some("1.88"));
        assert_eq!(rust_version("[package]\nrust-version.workspace = true\n"), None);
    }

    #[test]
    fn the_running_minimum_is_enough() {
        assert_eq!(toolchain("1.95.0", "1.95", ""), Err(Outcome::Ok));
        assert_eq!(toolchain("1.95.1", "1.95", ""), Err(Outcome::Ok));
    }

    #[test]
    fn a_newer_toolchain_asks_for_the_minimum() {
        let list = "stable-x86_64-unknown-linux-gnu (active, default)\n1.95.0-x86_64-unknown-linux-gnu\n";
        assert_eq!(toolchain("1.97.0-nightly", "1.95", list), Ok("1.95.0".to_owned()));
        assert_eq!(
            toolchain("1.96.0", "1.95", "1.95.01-x\n"),
            Err(Outcome::Skipped("rustc 1.96.0 is newer and toolchain 1.95.0 is not installed".to_owned()))
        );
    }

    #[test]
    fn an_older_toolchain_fails() {
        assert!(matches!(toolchain("1.94.2", "1.95", ""), Err(Outcome::Failed { .. })));
    }
}
