//! `cargo xtask wheel`: builds the wheel for Python; `--check` uses and tests it in a fresh environment.
//!
//! Everything is below `target/python`: an environment with maturin, the wheel, and an environment with the
//! wheel and what its tests need. All versions are pinned in `crates/python/requirements-test.txt`.
use crate::finding::Finding;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};
use std::{fs, io};

/// Where the Python package is.
const PACKAGE: &str = "crates/python";
/// What builds it.
const MATURIN: &str = "maturin==1.16.0";
/// What a wheel may have, in bytes.
const LARGEST: u64 = 10 << 20;

/// What may be asked for.
#[derive(clap::Args)]
pub(crate) struct Request {
    /// Then install it in a fresh environment: the example of its page, types, tests
    #[arg(long)]
    check: bool,
    /// With the tests that need Ray, which takes half a minute to start
    #[arg(long, requires = "check")]
    ray: bool,
}

/// Runs the command.
pub(crate) fn run(root: &Path, request: &Request) -> io::Result<ExitCode> {
    let place = crate::built::target(root).join("python");
    let wheel = build(root, &place)?;
    let bytes = fs::metadata(&wheel)?.len();
    println!("{}: {:.1} MB", wheel.display(), bytes as f64 / 1e6);
    if bytes > LARGEST {
        println!("{}", Finding::new(PACKAGE, 1, "wheel", format!("the wheel has more than {LARGEST} bytes")));
        return Ok(ExitCode::FAILURE);
    }
    if request.check { check(root, &place, &wheel, request.ray) } else { Ok(ExitCode::SUCCESS) }
}

/// An environment of its own, made anew.
fn environment(place: &Path) -> io::Result<PathBuf> {
    must(Command::new("python3").args(["-m", "venv", "--clear"]).arg(place))?;
    Ok(place.join("bin/python"))
}

fn pip(python: &Path) -> Command {
    let mut pip = Command::new(python);
    pip.args(["-m", "pip", "install", "--quiet", "--disable-pip-version-check"]);
    pip
}

/// The wheel, in `place/wheels`.
fn build(root: &Path, place: &Path) -> io::Result<PathBuf> {
    let tools = place.join("tools");
    if !tools.join("bin/maturin").exists() {
        must(pip(&environment(&tools)?).arg(MATURIN))?;
    }
    let wheels = place.join("wheels");
    if wheels.exists() {
        fs::remove_dir_all(&wheels)?;
    }
    let mut maturin = Command::new(tools.join("bin/maturin"));
    maturin
        .args(["build", "--quiet", "--release", "--manifest-path"])
        .arg(root.join(PACKAGE).join("Cargo.toml"));
    must(maturin.arg("--out").arg(&wheels))?;
    let built = fs::read_dir(&wheels)?.next().ok_or_else(|| io::Error::other("maturin built no wheel"))?;
    Ok(built?.path())
}

fn check(root: &Path, place: &Path, wheel: &Path, ray: bool) -> io::Result<ExitCode> {
    let package = root.join(PACKAGE);
    let python = environment(&place.join("fresh"))?;
    must(pip(&python).arg(wheel))?;
    // The example needs nothing but the wheel.
    let example = place.join("example.py");
    fs::write(&example, block(&fs::read_to_string(package.join("README.md"))?)?)?;
    must(Command::new(&python).arg(&example))?;
    must(pip(&python).arg("-r").arg(package.join("requirements-test.txt")))?;
    if ray {
        must(pip(&python).arg("-r").arg(package.join("requirements-ray.txt")))?;
    }
    // No cache among the sources: the command would be taken for changed, and built anew by the next job.
    let steps: [&[&str]; 2] = [
        &[
            "-m",
            "mypy",
            "--cache-dir",
            "/dev/null",
            "--config-file",
            "pyproject.toml",
            "python/stanchion",
            "tests",
        ],
        &["-m", "pytest", "-q", "-p", "no:cacheprovider", "tests"],
    ];
    let command = command(root)?;
    let mut passed = true;
    for step in steps {
        let mut step_of = Command::new(&python);
        step_of
            .args(step)
            .current_dir(&package)
            .env("STANCHION_COMMAND", &command)
            .env("PYTHONDONTWRITEBYTECODE", "1");
        passed &= step_of.status()?.success();
    }
    Ok(if passed { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// The `stanchion` command and its interposer, as other jobs of CI build them: `advise` starts it.
fn command(root: &Path) -> io::Result<PathBuf> {
    crate::built::interposer(root, None)?;
    crate::built::laboratory(root)
}

/// The first block of Python on a page.
fn block(page: &str) -> io::Result<&str> {
    let rest = page.split_once("```python\n").map(|(_, rest)| rest);
    let block = rest.and_then(|rest| Some(rest.split_once("```")?.0));
    block.ok_or_else(|| io::Error::other("the page has no example in Python"))
}

fn must(command: &mut Command) -> io::Result<()> {
    let name = command.get_program().to_string_lossy().into_owned();
    let status =
        command.status().map_err(|error| io::Error::new(error.kind(), format!("{name}: {error}")))?;
    if status.success() { Ok(()) } else { Err(io::Error::other(format!("{command:?} failed ({status})"))) }
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
