//! `cargo xtask wheel`: builds the wheel for Python; `--check` uses and tests it in a fresh environment.
//!
//! Everything is below `target/python`: an environment with maturin, the wheel, and an environment with the
//! wheel and what its tests need. All versions are pinned in `crates/python/requirements-test.txt`.
use crate::built;
use crate::process::shell;
use anyhow::{Context as _, Result};
use std::fs;
use std::path::{Path, PathBuf};
use xshell::{Shell, cmd};

const PACKAGE: &str = "crates/python";
const MATURIN: &str = "maturin==1.16.0";
/// What a wheel may have, in bytes.
const LARGEST: u64 = 10 << 20;

#[derive(clap::Args)]
pub(crate) struct Request {
    /// Then install it in a fresh environment: the example of its page, types, tests
    #[arg(long)]
    check: bool,
    /// With the tests that need Ray, which takes half a minute to start
    #[arg(long, requires = "check")]
    ray: bool,
}

pub(crate) fn run(root: &Path, request: &Request) -> Result<bool> {
    let sh = shell(root)?;
    let place = built::target(root).join("python");
    let wheel = build(&sh, &place)?;
    let bytes = fs::metadata(&wheel)?.len();
    println!("{}: {:.1} MB", wheel.display(), bytes as f64 / 1e6);
    if bytes > LARGEST {
        println!("{PACKAGE}:1: [wheel] the wheel has more than {LARGEST} bytes");
        return Ok(false);
    }
    let passed = !request.check || check(root, &sh, &place, &wheel, request.ray)?;
    Ok(passed)
}

/// An environment of its own, made anew; its interpreter.
fn environment(sh: &Shell, place: &Path) -> Result<PathBuf> {
    cmd!(sh, "python3 -m venv --clear {place}").run()?;
    Ok(place.join("bin/python"))
}

fn install(sh: &Shell, python: &Path, what: &[&str]) -> Result<()> {
    Ok(cmd!(sh, "{python} -m pip install --quiet --no-compile --disable-pip-version-check {what...}")
        .run()?)
}

/// The wheel, in `place/wheels`.
fn build(sh: &Shell, place: &Path) -> Result<PathBuf> {
    let (tools, wheels) = (place.join("tools"), place.join("wheels"));
    let maturin = tools.join("bin/maturin");
    if !maturin.exists() {
        install(sh, &environment(sh, &tools)?, &[MATURIN])?;
    }
    sh.remove_path(&wheels)?;
    cmd!(sh, "{maturin} build --quiet --release --manifest-path {PACKAGE}/Cargo.toml --out {wheels}")
        .run()?;
    sh.read_dir(&wheels)?.pop().context("maturin built no wheel")
}

/// Whether all goes well with the wheel in a fresh environment.
fn check(root: &Path, sh: &Shell, place: &Path, wheel: &Path, ray: bool) -> Result<bool> {
    let python = environment(sh, &place.join("fresh"))?;
    let _package = sh.push_dir(PACKAGE);
    install(sh, &python, &[&wheel.to_string_lossy()])?;
    // The example needs nothing but the wheel.
    let example = place.join("example.py");
    sh.write_file(&example, block(&sh.read_file("README.md")?)?)?;
    cmd!(sh, "{python} {example}").run()?;
    install(sh, &python, &["-r", "requirements-test.txt"])?;
    if ray {
        install(sh, &python, &["-r", "requirements-ray.txt"])?;
    }
    // The `stanchion` command and its interposer, as other jobs of CI build them: `advise` starts it.
    built::interposer(root, None)?;
    let _command = sh.push_env("STANCHION_COMMAND", built::laboratory(root)?);
    // No cache among the sources: the command would be taken for changed, and built anew by the next job.
    let _bytecode = sh.push_env("PYTHONPYCACHEPREFIX", place.join("bytecode"));
    let config = "--cache-dir /dev/null --config-file pyproject.toml".split(' ');
    let types = cmd!(sh, "{python} -m mypy {config...} python/stanchion tests").run();
    let tests = cmd!(sh, "{python} -m pytest -q -p no:cacheprovider tests").run();
    Ok(types.and(tests).is_ok())
}

/// The first block of Python on a page.
fn block(page: &str) -> Result<&str> {
    let blocks = page.split_once("```python\n").and_then(|(_, rest)| rest.split_once("```"));
    Ok(blocks.context("the page has no example in Python")?.0)
}

#[cfg(test)]
mod tests {
    use super::block;

    #[test]
    fn the_example_is_the_first_block_of_python() {
        let page = "a\n```sh\nb\n```\n```python\nc = 1\n```\n```python\nd\n```\n";
        assert_eq!(block(page).expect("it is there"), "c = 1\n");
        assert!(block("```sh\nb\n```\n").is_err());
    }
}
