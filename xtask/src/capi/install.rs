//! `cargo xtask header`: writes `stanchion.h` from the C interface, and `stanchion_family.h` from what its
//! feature `family` adds. What stands around the interface is in `cbindgen.toml` and `cbindgen_family.toml`.
//!
//! The interface is largely written by macros, so it is read as the compiler expands it. The option for that
//! is unstable, and asked for by naming the crate in `RUSTC_BOOTSTRAP`; what is built is the same.
//!
//! `cargo xtask install`: what `make install` does, for the C library.
//!
//! The archive that cargo builds becomes one object in which only the functions of the header are visible: so
//! it clashes with no other Rust code in a program, and what has to run when the program is loaded is not
//! left out. The archive and the shared library are made of that object.
use crate::process::{shell, silently};
use crate::{built, files, workspace};
use anyhow::{Context as _, Result, anyhow, ensure};
use cbindgen::{Builder, Config};
use regex::{Captures, Regex};
use stanchion_family::catalogue::MUTEXES;
use std::collections::BTreeSet;
use std::fs::File;
use std::os::unix::fs::symlink;
use std::path::{Component, Path, PathBuf};
use std::{env, fs};
use xshell::{Shell, cmd};

pub(crate) const HEADER: &str = "crates/capi/include/stanchion.h";
pub(crate) const FAMILY_HEADER: &str = "crates/capi/include/stanchion_family.h";

pub(crate) const VERSION: &str = env!("CARGO_PKG_VERSION");
/// The binary interface: this changes when a function goes or changes, and all symbols carry the next.
pub(super) const SONAME: &str = "libstanchion.so.0";
pub(super) const NODE: &str = "STANCHION_0.1";

const WRAPPER: &str = "crates/capi/include/stanchion.hpp";

pub(super) type Functions = BTreeSet<String>;

/// Where things go.
#[derive(clap::Args)]
pub(crate) struct Places {
    /// Where they will be used
    #[arg(long, value_name = "DIR", default_value = "/usr/local")]
    pub(crate) prefix: PathBuf,
    /// The directory of libraries, below the prefix
    #[arg(long, value_name = "DIR", default_value = "lib")]
    pub(crate) libdir: PathBuf,
    /// Put this in front of the prefix when writing [default: the variable DESTDIR, or nothing]
    #[arg(long, value_name = "DIR")]
    pub(crate) destdir: Option<PathBuf>,
    /// With the locks of stanchion_family.h
    #[arg(long)]
    pub(crate) family: bool,
}

impl Places {
    pub(crate) fn usr(destdir: PathBuf, libdir: &str, family: bool) -> Self {
        Self { prefix: "/usr".into(), libdir: libdir.into(), destdir: Some(destdir), family }
    }

    fn library(&self, name: &str) -> PathBuf {
        self.of(self.libdir.join(name))
    }

    /// The place to write `below`, which is a path under the prefix, to.
    fn of(&self, below: impl AsRef<Path>) -> PathBuf {
        let place = self.prefix.join(below);
        match &self.destdir {
            Some(destdir) => destdir.join(place.strip_prefix("/").unwrap_or(&place)),
            None => place,
        }
    }
}

pub(crate) fn run(root: &Path, mut places: Places) -> Result<bool> {
    let destdir = places.destdir.or_else(|| env::var_os("DESTDIR").map(PathBuf::from));
    places.destdir = destdir.filter(|path| !path.as_os_str().is_empty());
    for installed in install(root, &places)? {
        println!("install: {}", installed.display());
    }
    if places.destdir.is_none() {
        let libraries = places.library("");
        println!("install: run `ldconfig` as root if {} is searched by the loader", libraries.display());
    }
    Ok(true)
}

/// Builds the library and installs it; what was installed.
pub(crate) fn install(root: &Path, places: &Places) -> Result<Vec<PathBuf>> {
    let prefix = places.prefix.display();
    ensure!(places.prefix.is_absolute(), "--prefix {prefix} is no absolute path, such as /usr/local");
    let libdir = places.libdir.display();
    let is_below = places.libdir.components().all(|part| matches!(part, Component::Normal(_)));
    ensure!(is_below, "--libdir {libdir} is no path below the prefix, such as lib");
    let sh = shell(root)?;
    let mut headers = vec![HEADER];
    headers.extend(places.family.then_some(FAMILY_HEADER));
    let functions = functions_of(&sh, &headers)?;
    let work = built::target(root).join("capi");
    fs::create_dir_all(&work)?;
    // Jobs that run side by side install with the family and without it.
    let alone = File::create(work.join("lock"))?;
    alone.lock()?;
    let (built, libraries) = build(root, &sh, "release", places.family)?;
    let object = one_object(&sh, &work, &built, &functions)?;
    let archive = work.join("libstanchion.a");
    sh.remove_path(&archive)?;
    silently(cmd!(sh, "ar rcs {archive} {object}"))?;
    let library = link(&sh, &work, &object, &libraries)?;

    let mut installed = Vec::new();
    let mut put = |place: PathBuf, contents: &[u8]| -> Result<()> {
        files::put(&place, contents).with_context(|| {
            format!("{} can not be written; give --prefix or --destdir a directory of yours", place.display())
        })?;
        installed.push(place);
        Ok(())
    };
    headers.push(WRAPPER);
    for header in headers {
        let name = Path::new(header).file_name().unwrap_or_default();
        put(places.of(Path::new("include").join(name)), &sh.read_binary_file(header)?)?;
    }
    let file = format!("libstanchion.so.{VERSION}");
    put(places.library("libstanchion.a"), &sh.read_binary_file(&archive)?)?;
    put(places.library(&file), &sh.read_binary_file(&library)?)?;
    for (name, below, between) in [
        ("stanchion.pc", "pkgconfig", " "),
        ("StanchionConfig.cmake", "cmake/Stanchion", ";"),
        ("StanchionConfigVersion.cmake", "cmake/Stanchion", ";"),
    ] {
        let template = sh.read_file(Path::new("packaging").join(name))?;
        let text = filled(&template, places, &libraries, between);
        put(places.library(&format!("{below}/{name}")), text.as_bytes())?;
    }
    for (name, leads_to) in [(SONAME, file.as_str()), ("libstanchion.so", SONAME)] {
        let place = places.library(name);
        let _ = fs::remove_file(&place);
        symlink(leads_to, &place).with_context(|| place.display().to_string())?;
        installed.push(place);
    }
    Ok(installed)
}

/// Has cargo build the archive: in the profile `release`, or in `dev`, with checks in the locks themselves.
/// The archive, and flags of the libraries of the system that it needs.
pub(super) fn build(root: &Path, sh: &Shell, profile: &str, family: bool) -> Result<(PathBuf, Vec<String>)> {
    let target = built::target(root);
    let (target, directory) = match profile {
        // Not in `target/debug`: another job of CI may build there.
        "dev" => (target.join("capi-debug"), "debug"),
        _ => (target, profile),
    };
    let features = if family { "family" } else { "" };
    let cargo = cmd!(sh, "cargo rustc --profile {profile} -p stanchion-capi --lib --target-dir {target}");
    let cargo = cargo.args(["--features", features, "--", "--print", "native-static-libs"]);
    let built = silently(cargo.env_remove("CARGO_BUILD_TARGET"))?;
    let text = String::from_utf8_lossy(&built.stderr);
    let libraries =
        native_libraries(&text).context("rustc did not say which libraries of the system are needed")?;
    Ok((target.join(directory).join("libstanchion_c.a"), libraries))
}

/// What rustc says that the archive needs, without what a C compiler links anyway: it knows which form of
/// `libgcc` and `libc` goes with `-static`.
fn native_libraries(text: &str) -> Option<Vec<String>> {
    let line = text.lines().find_map(|line| line.split("native-static-libs:").nth(1))?;
    let mut seen = BTreeSet::from(["-lgcc_s", "-lc"]);
    Some(line.split_whitespace().filter(|flag| seen.insert(flag)).map(str::to_owned).collect())
}

pub(super) fn functions_of(sh: &Shell, headers: &[&str]) -> Result<Functions> {
    let texts: String = headers.iter().map(|header| sh.read_file(header)).collect::<xshell::Result<_>>()?;
    declared(&texts)
}

/// Those whose declarations begin with a line: lines of comments and of the preprocessor begin otherwise.
fn declared(headers: &str) -> Result<Functions> {
    let declaration = Regex::new(r"(?m)^\w.*?\b(stanchion_\w+)\(")?;
    Ok(declaration.captures_iter(headers).map(|found| found[1].to_owned()).collect())
}

/// Makes one object of the archive, in which only `functions` are visible.
pub(super) fn one_object(sh: &Shell, work: &Path, archive: &Path, functions: &Functions) -> Result<PathBuf> {
    let (whole, object, list) = (work.join("whole.o"), work.join("stanchion.o"), work.join("functions"));
    sh.write_file(&list, functions.iter().flat_map(|name| [name, "\n"]).collect::<String>())?;
    let needed = functions.iter().flat_map(|name| ["-u", name]);
    silently(cmd!(sh, "ld -r --gc-sections {needed...} --whole-archive {archive} -o {whole}"))?;
    // Nothing sensible is left of the intermediate code that the standard library carries along.
    let strip = ["--strip-debug", "--remove-section=.llvmbc", "--remove-section=.llvmcmd"];
    silently(cmd!(sh, "objcopy {strip...} --keep-global-symbols={list} {whole} {object}"))?;
    Ok(object)
}

/// What keeps a library loaded once it was: a thread that has released a lock may point the kernel to a
/// restartable sequence of it until it is interrupted next, and is killed if that is gone by then.
pub(super) const STAYS: &str = "-Wl,-z,nodelete";

fn link(sh: &Shell, work: &Path, object: &Path, libraries: &[String]) -> Result<PathBuf> {
    let (script, library) = (work.join("symbols.map"), work.join(SONAME));
    // Of ours, the object shows nothing but the functions; the rest is what the linker adds.
    sh.write_file(&script, format!("{NODE} {{ global: stanchion_*; local: *; }};\n"))?;
    let names = [format!("-Wl,-soname,{SONAME}"), format!("-Wl,--version-script,{}", script.display())];
    let flags = ["-Wl,-z,defs,-z,relro,-z,now", STAYS, "-Wl,--gc-sections", "-Wl,--as-needed"];
    silently(cmd!(sh, "cc -shared {object} -o {library} {names...} {flags...} {libraries...}"))?;
    Ok(library)
}

/// A file for pkg-config or CMake, with what is known only here.
fn filled(template: &str, places: &Places, libraries: &[String], between: &str) -> String {
    let up: Vec<&str> = places.libdir.iter().map(|_| "..").collect();
    let private: Vec<&str> = libraries.iter().map(String::as_str).chain([STAYS]).collect();
    template
        .replace("@PREFIX@", &places.prefix.to_string_lossy())
        .replace("@LIBDIR@", &places.libdir.to_string_lossy())
        .replace("@UP@", &up.join("/"))
        .replace("@PRIVATE@", &private.join(between))
        .replace("@VERSION@", VERSION)
        .replace("@MAJOR@", env!("CARGO_PKG_VERSION_MAJOR"))
        .replace("@MINOR@", env!("CARGO_PKG_VERSION_MINOR"))
}

pub(crate) fn header(root: &Path, check: bool) -> Result<bool> {
    let product = header_text(root, None)?;
    let family = header_text(root, Some(&product))?;
    let is_current = |path, text: &str| workspace::generate(root, path, text, check, "header");
    Ok(is_current(HEADER, &product)? & is_current(FAMILY_HEADER, &family)?)
}

/// The header of the product; or, given that, the header of what the feature adds.
fn header_text(root: &Path, product: Option<&str>) -> Result<String> {
    let (file, features) =
        if product.is_none() { ("cbindgen.toml", "") } else { ("cbindgen_family.toml", "family") };
    let mut config =
        Config::from_file(root.join("crates/capi").join(file)).map_err(|error| anyhow!("{file}: {error}"))?;
    let words = product.unwrap_or_default().split(|c: char| !c.is_alphanumeric() && c != '_');
    let ours = words.filter(|word| word.to_lowercase().starts_with("stanchion_"));
    config.export.exclude = ours.map(str::to_owned).collect();

    let sh = shell(root)?;
    let target = built::target(root).join("capi-debug"); // what it stands on is built there anyway
    let cargo = cmd!(sh, "cargo rustc --quiet -p stanchion-capi --lib --features").arg(features);
    let cargo = cargo.arg("--target-dir").arg(&target).args(["--", "-Zunpretty=expanded"]);
    let expanded = cargo.env("RUSTC_BOOTSTRAP", "stanchion_c").read()?;
    ensure!(!expanded.is_empty(), "crates/capi expands to nothing");
    let source = target.join("expanded.rs");
    sh.write_file(&source, expanded)?;
    let mut bytes = Vec::new();
    Builder::new().with_config(config).with_src(&source).generate()?.write(&mut bytes);
    finish(&String::from_utf8(bytes)?.replace("@VERSION@", VERSION), product.is_some())
}

/// Puts the initialisers behind their types, and says things in the words of C.
fn finish(text: &str, lists_each: bool) -> Result<String> {
    let text = text.replace("\n *\n * # Safety\n *\n * ", "\n *\n * Caller: ");
    let text = text.replace("/**\n   * For the library alone.\n   */", "/* For the library alone. */");
    let text = text.replace("\nSTANCHION_NOEXCEPT;", " STANCHION_NOEXCEPT;");
    let types = Regex::new(r"(?m)^\} stanchion_(\w+)_t;$")?;
    ensure!(types.is_match(&text), "the header has no type; the interface was not understood");
    let with_initialiser = |found: &Captures<'_>| {
        format!("{}\n#define STANCHION_{}_INIT STANCHION_INIT", &found[0], found[1].to_uppercase())
    };
    let out = types.replace_all(&text, with_initialiser).into_owned();
    if !lists_each {
        return Ok(out);
    }
    // A macro that calls another with each lock that has a type of its own here, and with the size of that.
    let types = MUTEXES.iter().map(|facts| (facts.name.replace('-', "_"), facts.bytes));
    let types = types.filter(|(name, _)| text.contains(&format!("}} stanchion_{name}_t;")));
    let calls: Vec<String> = types.map(|(name, bytes)| format!(" \\\n    X({name}, {bytes})")).collect();
    let calls = calls.concat();
    let each = format!(
        "\n/** `STANCHION_EACH_FAMILY(X)` is `X(name, bytes)` for each type of the family: `stanchion_name_t` has so many bytes. */\n\
         #define STANCHION_EACH_FAMILY(X){calls}\n"
    );
    let first_function = "\n#ifdef __cplusplus\nextern \"C\" {";
    Ok(out.replacen(first_function, &(each + first_function), 1))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_are_under_destdir() {
        let places = |destdir: Option<&str>| Places {
            prefix: "/usr".into(),
            libdir: "lib/here".into(),
            destdir: destdir.map(PathBuf::from),
            family: false,
        };
        assert_eq!(places(None).of("lib/a"), Path::new("/usr/lib/a"));
        assert_eq!(places(Some("/tmp/d")).of("lib/a"), Path::new("/tmp/d/usr/lib/a"));
        assert_eq!(places(None).library("a"), Path::new("/usr/lib/here/a"));
    }

    #[test]
    fn functions_are_found_in_declarations_only() {
        let header = "/* stanchion_no(1) */\n#define STANCHION_X(c) stanchion_nor(c)\n\
                      typedef struct stanchion_x_t {\n} stanchion_x_t;\n\
                      int stanchion_x_lock(struct stanchion_x_t *lock) STANCHION_NOEXCEPT;\nsize_t stanchion_n(void);\n";
        assert_eq!(
            declared(header).expect("a pattern"),
            ["stanchion_n", "stanchion_x_lock"].map(str::to_owned).into()
        );
    }

    #[test]
    fn what_the_c_compiler_links_anyway_is_left_out() {
        let text = "note: native-static-libs: -lgcc_s -lutil -lrt -lpthread -lm -ldl -lc -lrt\n";
        assert_eq!(native_libraries(text).expect("said"), ["-lutil", "-lrt", "-lpthread", "-lm", "-ldl"]);
        assert_eq!(native_libraries("nothing"), None);
    }

    #[test]
    fn types_get_their_initialisers_and_contracts_their_name() {
        let text = "typedef struct stanchion_x_t {\n} stanchion_x_t;\n/**\n * Locks.\n *\n * # Safety\n *\n * `x` is.\n */\n";
        let wanted = "typedef struct stanchion_x_t {\n} stanchion_x_t;\n#define STANCHION_X_INIT STANCHION_INIT\n\
                      /**\n * Locks.\n *\n * Caller: `x` is.\n */\n";
        assert_eq!(finish(text, false).expect("a type"), wanted);
        assert!(finish("int f(void);\n", false).is_err());
        let twa =
            "typedef struct stanchion_twa_t {\n} stanchion_twa_t;\n\n#ifdef __cplusplus\nextern \"C\" {\n";
        assert!(
            finish(twa, true).expect("a type").contains("(X) \\\n    X(twa, 4)\n\n#ifdef"),
            "each lock is listed"
        );
    }
}
