//! `cargo xtask deb`: Debian packages, by dpkg-deb. What goes where stands in `packaging/packages.toml`.
use crate::built;
use crate::capi::{self, Places, VERSION};
use crate::files::entries;
use crate::process::{shell, silently};
use anyhow::{Result, bail, ensure};
use regex::Regex;
use serde::Deserialize;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::{env, fs};
use xshell::{Shell, cmd};

const PACKAGES: &str = "packaging/packages.toml";

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Package {
    name: String,
    files: Vec<String>,
    control: String,
    #[serde(default)]
    texts: BTreeMap<String, String>,
}

/// Where packages are made, and what they have in common.
struct Workshop {
    sh: Shell,
    /// Below this is a tree for each package, and one with everything.
    trees: PathBuf,
    /// Everything that no package has taken yet, as it is to be below `/usr`.
    staged: PathBuf,
    packages: PathBuf,
    /// Where libraries go, below `/usr`.
    libdir: String,
    /// What stands for what in texts.
    words: Vec<(&'static str, String)>,
}

pub(crate) fn run(root: &Path, check: bool) -> Result<bool> {
    let shop = Workshop::new(root)?;
    let (sh, packages, staged) = (&shop.sh, &shop.packages, &shop.staged);
    shop.stage(root)?;
    for package in entries::<Package>(root, PACKAGES, "package")? {
        let made = shop.make(&package)?;
        println!("deb: {} {} KiB", made.display(), fs::metadata(&made)?.len() / 1024);
    }
    let left = cmd!(sh, "find {staged} ! -type d").read()?;
    ensure!(left.is_empty(), "no package of {PACKAGES} takes {left}");
    let fresh = packages.with_file_name("root");
    Ok(!check || cmd!(sh, "packaging/check.sh {packages} {fresh}").run().is_ok())
}

impl Workshop {
    fn new(root: &Path) -> Result<Self> {
        let architecture = match env::consts::ARCH {
            "x86_64" => "amd64",
            "aarch64" => "arm64",
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
        let mit = sh.read_file("LICENSE-MIT")?.trim_end().replace("\n\n", "\n.\n").replace('\n', "\n ");
        let libdir = format!("lib/{}-linux-gnu", env::consts::ARCH);
        let words = vec![
            ("@ARCHITECTURE@", architecture.to_owned()),
            ("@DATE@", cmd!(sh, "git log -1 --format=%aD").ignore_status().read()?),
            ("@LIB@", libdir.clone()),
            ("@MAINTAINER@", maintainer),
            ("@MIT@", mit),
            ("@VERSION@", VERSION.to_owned()),
        ];
        Ok(Self { sh, staged: trees.join("all/usr"), trees, packages, libdir, words })
    }

    fn stage(&self, root: &Path) -> Result<()> {
        let (sh, usr, libdir) = (&self.sh, &self.staged, &self.libdir);
        capi::install_to(root, &Places::usr(self.trees.join("all"), libdir, false))?;
        let command = built::laboratory(root)?;
        let (program, libraries) = (usr.join("bin/stanchion"), usr.join(libdir));
        let interposer = libraries.join("libstanchion_preload.so");
        sh.create_dir(usr.join("bin"))?;
        sh.copy_file(&command, &program)?;
        sh.copy_file(built::interposer(root, false)?, &interposer)?;
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

    fn make(&self, package: &Package) -> Result<PathBuf> {
        let Package { name, files, control, texts } = package;
        let (sh, tree) = (&self.sh, self.trees.join(name));
        take(sh, &self.filled(&files.join(" ")), &self.staged, &tree.join("usr"))?;
        let doc = tree.join("usr/share/doc").join(name);
        for file in ["copyright", "changelog"] {
            let text = sh.read_file(Path::new("packaging").join(file))?;
            sh.write_file(doc.join(file), self.filled(&text))?;
        }
        silently(cmd!(sh, "gzip -9n {doc}/changelog"))?;
        for (file, text) in texts {
            sh.write_file(tree.join(file), self.filled(text))?;
        }
        let control = self.filled(&(sh.read_file("packaging/control")? + control));

        let below = sh.push_dir(&tree);
        let sizes = cmd!(sh, "find usr ! -type d -printf '%s\n'").read()?;
        let bytes: u64 = sizes.lines().filter_map(|size| size.parse::<u64>().ok()).sum();
        let sums = cmd!(sh, "sh -c 'find usr -type f | LC_ALL=C sort | xargs md5sum'").read()?;
        // It complains of what is no program and no library.
        let elf = cmd!(sh, "find usr -type f -exec readelf -dVW '{}' +").ignore_status().ignore_stderr();
        let control = control
            .replace("@NAME@", name)
            .replace("@KIB@", &(bytes / 1024).to_string())
            .replace("@LIBRARIES@", &libraries(&elf.read()?)?);
        drop(below);
        sh.write_file(tree.join("DEBIAN/md5sums"), sums + "\n")?;
        sh.write_file(tree.join("DEBIAN/control"), control)?;
        silently(cmd!(sh, "chmod -R u=rwX,go=rX {tree}"))?;
        let made = self.packages.join(self.filled(&format!("{name}_@VERSION@_@ARCHITECTURE@.deb")));
        silently(cmd!(sh, "dpkg-deb --root-owner-group --build {tree} {made}"))?;
        Ok(made)
    }

    fn filled(&self, text: &str) -> String {
        self.words.iter().fold(text.to_owned(), |text, (word, meaning)| text.replace(word, meaning))
    }
}

/// Moves the files that patterns of the shell name from one directory to another, with their paths.
fn take(sh: &Shell, patterns: &str, from: &Path, to: &Path) -> Result<()> {
    sh.create_dir(to)?;
    let _from = sh.push_dir(from);
    let script = format!("cp -P --parents --preserve=mode,links {patterns} \"$0\" && rm {patterns}");
    silently(cmd!(sh, "sh -c {script} {to}")).map(drop)
}

/// The packages of the system that are needed by what readelf says, in the lowest version that does.
fn libraries(said: &str) -> Result<String> {
    let version = Regex::new(r"GLIBC_(\d+)\.(\d+)")?;
    let versions = version.captures_iter(said).map(|found| found.extract().1.map(str::parse::<u32>));
    let newest = versions.filter_map(|[major, minor]| Some((major.ok()?, minor.ok()?))).max();
    let libc = newest.map(|(major, minor)| format!("libc6 (>= {major}.{minor})"));
    let gcc = said.contains("[libgcc_s.so.1]").then(|| "libgcc-s1 (>= 4.2)".to_owned());
    Ok(libc.into_iter().chain(gcc).collect::<Vec<_>>().join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_stay_in_a_directory_and_what_is_taken_is_gone() {
        let sh = Shell::new().expect("a directory to be in");
        let dir = sh.create_temp_dir().expect("a directory for files");
        let (from, to) = (dir.path().join("from"), dir.path().join("to"));
        let all = ["lib/a.so.0.1", "lib/a.so", "lib/b/c.so.0"];
        for file in all {
            sh.write_file(from.join(file), "").expect("written");
        }
        take(&sh, "lib/*.so.*", &from, &to).expect("there is one");
        assert_eq!(all.map(|file| to.join(file).exists()), [true, false, false]);
        assert_eq!(all.map(|file| from.join(file).exists()), [false, true, true]);
        assert!(take(&sh, "lib/*.so.*", &from, &to).is_err(), "there is no other");
    }

    #[test]
    fn the_oldest_library_that_is_enough_is_asked_for() {
        let said = "(NEEDED) [libgcc_s.so.1]\n Name: GLIBC_2.9 \n Name: GLIBC_2.34\n Name: GLIBC_2.2.5\n";
        assert_eq!(libraries(said).expect("a pattern"), "libc6 (>= 2.34), libgcc-s1 (>= 4.2)");
        assert_eq!(libraries("a script").expect("a pattern"), "");
    }
}
