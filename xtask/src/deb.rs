//! `cargo xtask deb`: Debian packages, by dpkg-deb. What goes where stands in `packaging/packages.toml`.
use crate::built;
use crate::capi::{self, Places, VERSION};
use crate::files::entries;
use crate::process::{shell, silently};
use anyhow::{Result, bail, ensure};
use serde::Deserialize;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::{env, fs};
use xshell::{Shell, cmd};

const PACKAGES: &str = "packaging/packages.toml";

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

/// What is made where, and what all packages have in common.
struct Workshop {
    sh: Shell,
    /// Below this is a tree for each package, and one with everything.
    trees: PathBuf,
    packages: PathBuf,
    /// As Debian calls it.
    architecture: &'static str,
    /// Where libraries go, below `/usr`.
    libdir: String,
    maintainer: String,
    date: String,
    copyright: String,
}

/// Builds the packages; with `check`, has `packaging/check.sh` try them.
pub(crate) fn run(root: &Path, check: bool) -> Result<ExitCode> {
    let shop = Workshop::new(root)?;
    let sh = &shop.sh;
    shop.stage(root)?;
    let mut left = shop.files(&shop.staged())?;
    for package in &entries::<Package>(root, PACKAGES, "package")? {
        let patterns: Vec<String> =
            package.files.iter().map(|file| file.replace("@LIB@", &shop.libdir)).collect();
        let (ours, others): (Vec<_>, Vec<_>) =
            left.into_iter().partition(|file| patterns.iter().any(|pattern| matches(pattern, file)));
        left = others;
        let made = shop.make(package, &ours)?;
        println!("deb: {} {} KiB", made.display(), fs::metadata(&made)?.len() / 1024);
    }
    ensure!(left.is_empty(), "no package of {PACKAGES} takes {}", left[0]);
    let (packages, fresh) = (&shop.packages, shop.packages.with_file_name("root"));
    let passed = !check || cmd!(sh, "packaging/check.sh {packages} {fresh}").run().is_ok();
    Ok(if passed { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

impl Workshop {
    fn new(root: &Path) -> Result<Self> {
        let (architecture, triplet) = match env::consts::ARCH {
            "x86_64" => ("amd64", "x86_64-linux-gnu"),
            "aarch64" => ("arm64", "aarch64-linux-gnu"),
            other => bail!("packages are for x86-64 and aarch64, not for {other}"),
        };
        let sh = shell(root)?;
        let work = built::target(root).join("deb");
        let (trees, packages) = (work.join("tree"), work.join("packages"));
        sh.remove_path(&trees)?;
        sh.remove_path(&packages)?;
        sh.create_dir(&packages)?;
        let or_git = |variable: &str, key: &str| {
            sh.var(variable).or_else(|_| cmd!(sh, "git config {key}").ignore_status().read())
        };
        let maintainer =
            format!("{} <{}>", or_git("DEBFULLNAME", "user.name")?, or_git("DEBEMAIL", "user.email")?);
        let date = cmd!(sh, "git log -1 --format=%aD").ignore_status().read()?;
        let mit = sh.read_file("LICENSE-MIT")?;
        let mit = mit.lines().map(|line| format!(" {}", if line.is_empty() { "." } else { line }));
        let mit: Vec<String> = mit.collect();
        let copyright = sh.read_file("packaging/copyright")?.replace("@MIT@", &mit.join("\n"));
        Ok(Self {
            trees,
            packages,
            architecture,
            libdir: format!("lib/{triplet}"),
            maintainer,
            date,
            copyright,
            sh,
        })
    }

    /// Everything, as it is to be below `/usr`.
    fn staged(&self) -> PathBuf {
        self.trees.join("all/usr")
    }

    fn stage(&self, root: &Path) -> Result<()> {
        let (sh, usr, libdir) = (&self.sh, self.staged(), &self.libdir);
        let places = Places {
            prefix: "/usr".into(),
            libdir: libdir.into(),
            destdir: Some(self.trees.join("all")),
            family: false,
        };
        capi::install_to(root, &places)?;
        let command = built::laboratory(root)?;
        let (program, libraries) = (usr.join("bin/stanchion"), usr.join(libdir));
        let interposer = libraries.join("libstanchion_preload.so");
        sh.create_dir(usr.join("bin"))?;
        sh.copy_file(&command, &program)?;
        sh.copy_file(built::interposer(root, None)?, &interposer)?;
        // The file of the shared library, to which links lead.
        let library = fs::canonicalize(libraries.join("libstanchion.so"))?;
        cmd!(sh, "strip --strip-unneeded -R .comment -R .note {program} {interposer} {library}").run()?;
        cmd!(sh, "chmod 644 {interposer}").run()?;
        sh.copy_file("packaging/stanchion-preload", usr.join("bin/stanchion-preload"))?;
        let man = usr.join("share/man/man1");
        cmd!(sh, "{command} man {man}").run()?;
        sh.copy_file("packaging/stanchion-preload.1", man.join("stanchion-preload.1"))?;
        let pages = sh.read_dir(&man)?;
        cmd!(sh, "gzip -9n {pages...}").run()?;
        for (shell, below) in [
            ("bash", "share/bash-completion/completions/stanchion"),
            ("zsh", "share/zsh/vendor-completions/_stanchion"),
            ("fish", "share/fish/vendor_completions.d/stanchion.fish"),
        ] {
            sh.write_file(usr.join(below), cmd!(sh, "{command} completions {shell}").read()? + "\n")?;
        }
        Ok(())
    }

    /// Makes one package of these files.
    fn make(&self, package: &Package, ours: &[String]) -> Result<PathBuf> {
        let sh = &self.sh;
        let name = &package.name;
        let tree = self.trees.join(name);
        let (mut libraries, mut links) = (BTreeSet::new(), false);
        for file in ours {
            let (from, to) = (self.staged().join(file), tree.join("usr").join(file));
            sh.create_dir(to.parent().unwrap_or(&tree))?;
            silently(cmd!(sh, "cp -P --preserve=mode,links {from} {to}"))?;
            links |= file.contains(".so.");
            libraries.extend(self.needed(&from)?);
        }
        let doc = tree.join("usr/share/doc").join(name);
        sh.write_file(doc.join("copyright"), &self.copyright)?;
        let changes = doc.join("changelog");
        let (maintainer, date) = (&self.maintainer, &self.date);
        sh.write_file(
            &changes,
            format!(
                "stanchion ({VERSION}) unstable; urgency=medium\n\n  * See CHANGELOG.md of the sources.\n\n -- {maintainer}  {date}\n"
            ),
        )?;
        silently(cmd!(sh, "gzip -9n {changes}"))?;
        if !package.overrides.is_empty() {
            let line = |(says, why): (&String, &String)| format!("# {why}\n{name}: {says}\n");
            let lines: String = package.overrides.iter().map(line).collect();
            let place = tree.join("usr/share/lintian/overrides").join(name);
            sh.write_file(place, lines.replace("@LIB@", &self.libdir))?;
        }

        let debian = tree.join("DEBIAN");
        if links {
            sh.write_file(debian.join("triggers"), "activate-noawait ldconfig\n")?;
            sh.write_file(debian.join("shlibs"), format!("libstanchion 0 {name} (>= {VERSION})\n"))?;
        }
        let (mut sums, mut bytes) = (String::new(), 0);
        for file in self.files(&tree)?.iter().filter(|file| file.starts_with("usr/")) {
            let _tree = sh.push_dir(&tree);
            bytes += fs::symlink_metadata(tree.join(file))?.len();
            if !tree.join(file).is_symlink() {
                sums += &(cmd!(sh, "md5sum {file}").read()? + "\n");
            }
        }
        sh.write_file(debian.join("md5sums"), sums)?;
        let mut depends: Vec<String> = libraries.into_iter().collect();
        depends.extend(package.depends.iter().map(|other| other.replace("@VERSION@", VERSION)));
        sh.write_file(debian.join("control"), self.control(package, &depends, bytes / 1024))?;
        let made = self.packages.join(format!("{name}_{VERSION}_{}.deb", self.architecture));
        silently(cmd!(sh, "chmod -R u=rwX,go=rX {tree}"))?;
        silently(cmd!(sh, "dpkg-deb --root-owner-group --build {tree} {made}"))?;
        Ok(made)
    }

    fn control(&self, package: &Package, depends: &[String], kib: u64) -> String {
        let Self { architecture, maintainer, .. } = self;
        let Package { name, section, summary, .. } = package;
        let mut lines = vec![
            format!("Package: {name}\nSource: stanchion\nVersion: {VERSION}\nArchitecture: {architecture}"),
            format!(
                "Maintainer: {maintainer}\nInstalled-Size: {kib}\nSection: {section}\nPriority: optional"
            ),
        ];
        for (field, words) in [("Depends", depends), ("Recommends", &package.recommends)] {
            if !words.is_empty() {
                lines.push(format!("{field}: {}", words.join(", ")));
            }
        }
        lines.extend(package.multi_arch.iter().map(|how| format!("Multi-Arch: {how}")));
        lines.push(format!("Description: {summary}"));
        lines.extend(package.description.trim().lines().map(|line| format!(" {line}")));
        lines.join("\n") + "\n"
    }

    /// The packages with the libraries of the system that a program or library needs, with the lowest version
    /// that has all of it.
    fn needed(&self, file: &Path) -> Result<Vec<String>> {
        if file.is_symlink() || file.extension().is_some_and(|extension| extension == "a") {
            return Ok(Vec::new());
        }
        let readelf = cmd!(self.sh, "readelf -dVW {file}").ignore_status().ignore_stderr();
        Ok(packages_of(&readelf.read()?))
    }

    /// All files and links below a directory, from there.
    fn files(&self, directory: &Path) -> Result<Vec<String>> {
        let found = cmd!(self.sh, "find {directory} ! -type d -printf").arg("%P\n").read()?;
        let mut found: Vec<String> = found.lines().map(str::to_owned).collect();
        found.sort();
        Ok(found)
    }
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
