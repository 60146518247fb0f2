//! `cargo xtask deb`: Debian packages, by dpkg-deb. What goes where stands in `packaging/packages.toml`.
use crate::built;
use crate::capi::{self, Places, must_succeed};
use core::fmt::Write as _;
use serde::Deserialize;
use std::collections::{BTreeMap, BTreeSet};
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};
use std::{env, fs, io};

#[derive(Deserialize)]
struct Packages {
    package: Vec<Package>,
}

#[derive(Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
struct Package {
    name: String,
    section: String,
    multi_arch: Option<String>,
    #[serde(default)]
    depends: Vec<String>,
    #[serde(default)]
    recommends: Vec<String>,
    files: Vec<String>,
    /// What lintian says of it, and why that is as it should be.
    #[serde(default)]
    overrides: BTreeMap<String, String>,
    summary: String,
    description: String,
}

/// What all packages have in common.
struct Common {
    version: String,
    /// As Debian calls it.
    architecture: String,
    maintainer: String,
    date: String,
    copyright: String,
}

/// Builds the packages; with `check`, has `packaging/check.sh` try them.
pub(crate) fn run(root: &Path, check: bool) -> io::Result<ExitCode> {
    let work = built::target(root).join("deb");
    let _ = fs::remove_dir_all(work.join("tree"));
    let _ = fs::remove_dir_all(work.join("packages"));
    fs::create_dir_all(work.join("packages"))?;
    let (architecture, triplet) = match env::consts::ARCH {
        "x86_64" => ("amd64", "x86_64-linux-gnu"),
        "aarch64" => ("arm64", "aarch64-linux-gnu"),
        other => {
            return Err(io::Error::other(format!("packages are for x86-64 and aarch64, not for {other}")));
        }
    };
    let libdir = format!("lib/{triplet}");
    let staged = stage(root, &work, &libdir)?;
    let common = common(root, architecture)?;
    let list: Packages = toml::from_str(&fs::read_to_string(root.join("packaging/packages.toml"))?)
        .map_err(|error| io::Error::other(format!("packaging/packages.toml: {error}")))?;
    let mut left: BTreeSet<PathBuf> = files(&staged)?.into_iter().collect();
    for package in &list.package {
        let patterns: Vec<String> = package.files.iter().map(|file| file.replace("@LIB@", &libdir)).collect();
        let (ours, others) = left.into_iter().partition(|file| {
            let file = file.to_string_lossy();
            patterns.iter().any(|pattern| matches(pattern, &file))
        });
        left = others;
        let made = make(&work, &staged, package, &common, &libdir, &ours)?;
        println!("deb: {} {} KiB", made.display(), fs::metadata(&made)?.len() / 1024);
    }
    if let Some(file) = left.first() {
        return Err(io::Error::other(format!(
            "no package of packaging/packages.toml takes {}",
            file.display()
        )));
    }
    if check {
        let script = root.join("packaging/check.sh");
        let status = Command::new(script).arg(work.join("packages")).arg(work.join("root")).status()?;
        return Ok(if status.success() { ExitCode::SUCCESS } else { ExitCode::FAILURE });
    }
    Ok(ExitCode::SUCCESS)
}

/// Installs everything below a directory, as it is to be below /usr, and says which.
fn stage(root: &Path, work: &Path, libdir: &str) -> io::Result<PathBuf> {
    let destdir = work.join("tree/all");
    let usr = destdir.join("usr");
    let prefix = PathBuf::from("/usr");
    capi::install_to(root, &Places { prefix, libdir: libdir.into(), destdir: Some(destdir), family: false })?;
    let interposer = built::interposer(root, None)?;
    let command = built::laboratory(root)?;
    let put = |from: &Path, below: &str| -> io::Result<PathBuf> {
        let place = usr.join(below);
        fs::create_dir_all(place.parent().unwrap_or(&usr))?;
        fs::copy(from, &place)?;
        Ok(place)
    };
    let stripped = [
        put(&command, "bin/stanchion")?,
        put(&interposer, &format!("{libdir}/libstanchion_preload.so"))?,
        usr.join(libdir).join(capi_library(&usr.join(libdir))?),
    ];
    for file in &stripped {
        must_succeed(
            Command::new("strip").args(["--strip-unneeded", "-R", ".comment", "-R", ".note"]).arg(file),
        )?;
    }
    mode(&stripped[1], 0o644)?;
    put(&root.join("packaging/stanchion-preload"), "bin/stanchion-preload")?;
    let man = usr.join("share/man/man1");
    must_succeed(Command::new(&command).arg("man").arg(&man))?;
    put(&root.join("packaging/stanchion-preload.1"), "share/man/man1/stanchion-preload.1")?;
    for page in fs::read_dir(&man)? {
        must_succeed(Command::new("gzip").args(["-9n"]).arg(page?.path()))?;
    }
    for (shell, below) in [
        ("bash", "share/bash-completion/completions/stanchion"),
        ("zsh", "share/zsh/vendor-completions/_stanchion"),
        ("fish", "share/fish/vendor_completions.d/stanchion.fish"),
    ] {
        let script = must_succeed(Command::new(&command).args(["completions", shell]))?.stdout;
        let place = usr.join(below);
        fs::create_dir_all(place.parent().unwrap_or(&usr))?;
        fs::write(place, script)?;
    }
    Ok(usr)
}

/// The file of the shared library, to which links lead.
fn capi_library(directory: &Path) -> io::Result<PathBuf> {
    fs::canonicalize(directory.join("libstanchion.so"))
}

fn common(root: &Path, architecture: &str) -> io::Result<Common> {
    let git = |words: &[&str]| -> io::Result<String> {
        let output = Command::new("git").args(words).current_dir(root).output()?;
        Ok(String::from_utf8_lossy(&output.stdout).trim().to_owned())
    };
    let or_git = |variable: &str, key: &str| match env::var(variable) {
        Ok(value) => Ok(value),
        Err(_) => git(&["config", key]),
    };
    let mit = fs::read_to_string(root.join("LICENSE-MIT"))?;
    let mit: Vec<String> =
        mit.lines().map(|line| if line.is_empty() { " .".to_owned() } else { format!(" {line}") }).collect();
    Ok(Common {
        version: capi::version(root)?,
        architecture: architecture.to_owned(),
        maintainer: format!(
            "{} <{}>",
            or_git("DEBFULLNAME", "user.name")?,
            or_git("DEBEMAIL", "user.email")?
        ),
        date: git(&["log", "-1", "--format=%aD"])?,
        copyright: fs::read_to_string(root.join("packaging/copyright"))?.replace("@MIT@", &mit.join("\n")),
    })
}

/// Makes one package of these files.
fn make(
    work: &Path,
    staged: &Path,
    package: &Package,
    common: &Common,
    libdir: &str,
    ours: &BTreeSet<PathBuf>,
) -> io::Result<PathBuf> {
    let tree = work.join("tree").join(&package.name);
    let (mut libraries, mut links) = (BTreeSet::new(), false);
    for file in ours {
        let (from, to) = (staged.join(file), tree.join("usr").join(file));
        fs::create_dir_all(to.parent().unwrap_or(&tree))?;
        must_succeed(Command::new("cp").args(["-P", "--preserve=mode,links"]).arg(&from).arg(&to))?;
        links |= file.to_string_lossy().contains(".so.");
        libraries.extend(needed(&from)?);
    }
    let doc = tree.join("usr/share/doc").join(&package.name);
    fs::create_dir_all(&doc)?;
    fs::write(doc.join("copyright"), &common.copyright)?;
    let changes = format!(
        "stanchion ({}) unstable; urgency=medium\n\n  * See CHANGELOG.md of the sources.\n\n -- {}  {}\n",
        common.version, common.maintainer, common.date
    );
    fs::write(doc.join("changelog"), changes)?;
    must_succeed(Command::new("gzip").arg("-9n").arg(doc.join("changelog")))?;

    if !package.overrides.is_empty() {
        let place = tree.join("usr/share/lintian/overrides");
        fs::create_dir_all(&place)?;
        let line = |(says, why): (&String, &String)| format!("# {why}\n{}: {says}\n", package.name);
        let lines: String = package.overrides.iter().map(line).collect();
        fs::write(place.join(&package.name), lines.replace("@LIB@", libdir))?;
    }

    let debian = tree.join("DEBIAN");
    fs::create_dir_all(&debian)?;
    let mut sums = String::new();
    let mut bytes = 0;
    for file in files(&tree)?.into_iter().filter(|file| !file.starts_with("DEBIAN")) {
        bytes += fs::symlink_metadata(tree.join(&file))?.len();
        if !tree.join(&file).is_symlink() {
            let output = must_succeed(Command::new("md5sum").arg(&file).current_dir(&tree))?;
            sums += &String::from_utf8_lossy(&output.stdout);
        }
    }
    fs::write(debian.join("md5sums"), sums)?;
    if links {
        fs::write(debian.join("triggers"), "activate-noawait ldconfig\n")?;
        fs::write(
            debian.join("shlibs"),
            format!("libstanchion 0 {} (>= {})\n", package.name, common.version),
        )?;
    }
    let mut depends: Vec<String> = libraries.into_iter().collect();
    depends.extend(package.depends.iter().map(|other| other.replace("@VERSION@", &common.version)));
    fs::write(debian.join("control"), control(package, common, &depends, bytes / 1024))?;
    let made = format!("{}_{}_{}.deb", package.name, common.version, common.architecture);
    let made = work.join("packages").join(made);
    for directory in directories(&tree)? {
        mode(&directory, 0o755)?;
    }
    must_succeed(Command::new("dpkg-deb").args(["--root-owner-group", "--build"]).arg(&tree).arg(&made))?;
    Ok(made)
}

fn control(package: &Package, common: &Common, depends: &[String], kib: u64) -> String {
    let mut text = format!(
        "Package: {}\nSource: stanchion\nVersion: {}\nArchitecture: {}\nMaintainer: {}\nInstalled-Size: {kib}\nSection: {}\nPriority: optional\n",
        package.name, common.version, common.architecture, common.maintainer, package.section
    );
    for (field, words) in [("Depends", depends), ("Recommends", &package.recommends)] {
        if !words.is_empty() {
            let _ = writeln!(text, "{field}: {}", words.join(", "));
        }
    }
    if let Some(how) = &package.multi_arch {
        let _ = writeln!(text, "Multi-Arch: {how}");
    }
    let _ = writeln!(text, "Description: {}", package.summary);
    for line in package.description.trim().lines() {
        let _ = writeln!(text, " {line}");
    }
    text
}

/// The packages with the libraries of the system that a program or library needs, with the lowest version
/// that has all of it.
fn needed(file: &Path) -> io::Result<Vec<String>> {
    if file.is_symlink() || file.extension().is_some_and(|extension| extension == "a") {
        return Ok(Vec::new());
    }
    let output = Command::new("readelf").args(["-dVW"]).arg(file).output()?;
    Ok(packages_of(&String::from_utf8_lossy(&output.stdout)))
}

fn packages_of(said: &str) -> Vec<String> {
    let versions = said.split("GLIBC_").skip(1).filter_map(|rest| {
        let number: String = rest.chars().take_while(|c| c.is_ascii_digit() || *c == '.').collect();
        let mut parts = number.split('.').map(|part| part.parse::<u32>().ok());
        Some((parts.next()??, parts.next()??))
    });
    let libc = versions.max().map(|(major, minor)| format!("libc6 (>= {major}.{minor})"));
    let gcc = said.contains("[libgcc_s.so.1]").then(|| "libgcc-s1 (>= 4.2)".to_owned());
    libc.into_iter().chain(gcc).collect()
}

/// All files and links below a directory, from there.
fn files(directory: &Path) -> io::Result<Vec<PathBuf>> {
    let output = must_succeed(Command::new("find").args([".", "!", "-type", "d"]).current_dir(directory))?;
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let mut found: Vec<PathBuf> =
        text.lines().map(|line| PathBuf::from(line.trim_start_matches("./"))).collect();
    found.sort();
    Ok(found)
}

fn directories(tree: &Path) -> io::Result<Vec<PathBuf>> {
    let output = must_succeed(Command::new("find").arg(tree).args(["-type", "d"]))?;
    Ok(String::from_utf8_lossy(&output.stdout).lines().map(PathBuf::from).collect())
}

fn mode(path: &Path, mode: u32) -> io::Result<()> {
    fs::set_permissions(path, fs::Permissions::from_mode(mode))
}

/// Whether a path matches; `*` is anything but a slash.
fn matches(pattern: &str, path: &str) -> bool {
    match pattern.split_once('*') {
        None => pattern == path,
        Some((first, last)) => path
            .strip_prefix(first)
            .and_then(|rest| rest.strip_suffix(last))
            .is_some_and(|middle| !middle.contains('/')),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_stay_in_a_directory() {
        assert!(matches("lib/a.so.*", "lib/a.so.0.1"));
        assert!(!matches("lib/*", "lib/b/c") && !matches("lib/a.so", "lib/a.so.0"));
    }

    #[test]
    fn the_oldest_library_that_is_enough_is_asked_for() {
        let said = "(NEEDED) [libgcc_s.so.1]\n Name: GLIBC_2.9 \n Name: GLIBC_2.34\n Name: GLIBC_2.2.5\n";
        assert_eq!(packages_of(said), ["libc6 (>= 2.34)", "libgcc-s1 (>= 4.2)"]);
        assert!(packages_of("a script").is_empty());
    }
}
