//! `cargo xtask install`: what `make install` does, for the C library.
//!
//! The archive that cargo builds becomes one object in which only the functions of the header are visible: so
//! it clashes with no other Rust code in a program, and what has to run when the program is loaded is not
//! left out. The archive and the shared library are made of that object.
use crate::built;
use crate::capi::header::{FAMILY_HEADER, HEADER};
use crate::capi::shared::{self, failed, must_succeed};
use core::fmt::Write as _;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};
use std::{env, fs, io};

/// The version of the binary interface: the first when a function goes or changes, all symbols carry the
/// second.
pub(crate) const SONAME: &str = "libstanchion.so.0";
pub(crate) const NODE: &str = "STANCHION_0.1";

/// The wrapper for C++, from the root of the workspace.
const WRAPPER: &str = "crates/capi/include/stanchion.hpp";

/// Where things go.
pub(crate) struct Places {
    /// Where they will be used.
    pub(crate) prefix: PathBuf,
    /// The directory of libraries, below the prefix.
    pub(crate) libdir: PathBuf,
    /// What to put in front of the prefix when writing.
    pub(crate) destdir: Option<PathBuf>,
    /// Whether the locks of `stanchion_family.h` are installed, too.
    pub(crate) family: bool,
}

impl Places {
    /// The place to write `name` in the directory of libraries to.
    fn library(&self, name: &str) -> PathBuf {
        self.of(&self.libdir.join(name).to_string_lossy())
    }

    /// The place to write `below`, which is a path under the prefix, to.
    fn of(&self, below: &str) -> PathBuf {
        let place = self.prefix.join(below);
        match &self.destdir {
            Some(destdir) => destdir.join(place.strip_prefix("/").unwrap_or(&place)),
            None => place,
        }
    }
}

/// Builds the library and installs it.
pub(crate) fn run(root: &Path, places: &Places) -> io::Result<ExitCode> {
    for installed in install(root, places)? {
        println!("install: {}", installed.display());
    }
    if places.destdir.is_none() {
        println!(
            "install: run `ldconfig` as root if {} is searched by the loader",
            places.library("").display()
        );
    }
    Ok(ExitCode::SUCCESS)
}

/// The same for another command; what was installed.
pub(crate) fn install(root: &Path, places: &Places) -> io::Result<Vec<PathBuf>> {
    if !places.prefix.is_absolute() {
        let prefix = places.prefix.display();
        return Err(failed(format!("--prefix {prefix} is no absolute path; give one such as /usr/local")));
    }
    let header = read(&root.join(HEADER))?;
    let family = if places.family { read(&root.join(FAMILY_HEADER))? } else { String::new() };
    let version = shared::version(root)?;
    let built = build(root, Profile::Release, places.family)?;
    let work = built::target(root).join("capi");
    fs::create_dir_all(&work)?;
    let functions = functions_of(&format!("{header}{family}"));
    let object = one_object(&work, &built.archive, &functions)?;
    let archive = work.join("libstanchion.a");
    let _ = fs::remove_file(&archive);
    must_succeed(Command::new("ar").args(["rcs"]).arg(&archive).arg(&object))?;
    let library = work.join(format!("libstanchion.so.{version}"));
    link(&work, &object, &library, &functions, &built.libraries)?;

    let mut installed = Vec::new();
    let mut put = |place: PathBuf, contents: Vec<u8>| -> io::Result<()> {
        write(&place, &contents)?;
        installed.push(place);
        Ok(())
    };
    put(places.of("include/stanchion.h"), header.into_bytes())?;
    if places.family {
        put(places.of("include/stanchion_family.h"), family.into_bytes())?;
    }
    put(places.of("include/stanchion.hpp"), fs::read(root.join(WRAPPER))?)?;
    put(places.library("libstanchion.a"), fs::read(&archive)?)?;
    put(places.library(&format!("libstanchion.so.{version}")), fs::read(&library)?)?;
    let described = pkg_config(places, &version, &built.libraries);
    put(places.library("pkgconfig/stanchion.pc"), described.into_bytes())?;
    for name in ["StanchionConfig.cmake", "StanchionConfigVersion.cmake"] {
        let template = read(&root.join("packaging").join(name))?;
        let filled = cmake(&template, places, &version, &built.libraries);
        put(places.library(&format!("cmake/Stanchion/{name}")), filled.into_bytes())?;
    }
    for (name, leads_to) in
        [(SONAME, format!("libstanchion.so.{version}")), ("libstanchion.so", SONAME.to_owned())]
    {
        let place = places.library(name);
        let _ = fs::remove_file(&place);
        symlink(&leads_to, &place).map_err(|error| not_written(&place, &error))?;
        installed.push(place);
    }
    Ok(installed)
}

/// What cargo built.
pub(crate) struct Built {
    /// The archive.
    pub(crate) archive: PathBuf,
    /// Flags of the libraries of the system that it needs.
    pub(crate) libraries: Vec<String>,
}

/// How to build it.
#[derive(Clone, Copy)]
pub(crate) enum Profile {
    /// To be installed.
    Release,
    /// With checks in the locks themselves.
    Debug,
}

/// Has cargo build the archive.
pub(crate) fn build(root: &Path, profile: Profile, family: bool) -> io::Result<Built> {
    let target = built::target(root);
    let (name, directory, target) = match profile {
        Profile::Release => ("release", "release", target),
        // Not in `target/debug`: another job of CI may build there.
        Profile::Debug => ("dev", "debug", target.join("capi-debug")),
    };
    let mut cargo = Command::new("cargo");
    cargo.args(["rustc", "--profile", name, "-p", "stanchion-capi", "--lib", "--target-dir"]).arg(&target);
    cargo.args(if family { &["--features", "family"][..] } else { &[] });
    cargo.args(["--", "--print", "native-static-libs"]).current_dir(root).env_remove("CARGO_BUILD_TARGET");
    let output = must_succeed(&mut cargo)?;
    let text = String::from_utf8_lossy(&output.stderr).into_owned();
    let libraries = native_libraries(&text)
        .ok_or_else(|| failed("rustc did not say which libraries of the system are needed"))?;
    Ok(Built { archive: target.join(directory).join("libstanchion_c.a"), libraries })
}

/// What rustc says that the archive needs, without what a C compiler links anyway: it knows which form of
/// `libgcc` and `libc` goes with `-static`.
fn native_libraries(text: &str) -> Option<Vec<String>> {
    let line = text.lines().find_map(|line| line.split("native-static-libs:").nth(1))?;
    let mut flags: Vec<String> = Vec::new();
    for flag in line.split_whitespace().filter(|flag| !["-lgcc_s", "-lc"].contains(flag)) {
        if !flags.iter().any(|known| known == flag) {
            flags.push(flag.to_owned());
        }
    }
    Some(flags)
}

/// The functions that a header declares.
pub(crate) fn functions_of(header: &str) -> Vec<String> {
    let code = header.split("*/").map(|part| part.split("/*").next().unwrap_or_default()).collect::<String>();
    let code: Vec<&str> = code.lines().filter(|line| !line.starts_with('#')).collect();
    let mut names: Vec<String> = code
        .join("\n")
        .split('(')
        .filter_map(|before| {
            before.rsplit(|c: char| !c.is_alphanumeric() && c != '_').next().map(str::to_owned)
        })
        .filter(|name| name.starts_with("stanchion_"))
        .collect();
    names.sort_unstable();
    names.dedup();
    names
}

/// Makes one object of the archive, in which only `functions` are visible.
pub(crate) fn one_object(work: &Path, archive: &Path, functions: &[String]) -> io::Result<PathBuf> {
    let (whole, object, list) = (work.join("whole.o"), work.join("stanchion.o"), work.join("functions"));
    let mut link = Command::new("ld");
    link.args(["-r", "--gc-sections"]);
    link.args(functions.iter().flat_map(|name| ["-u", name]));
    link.arg("--whole-archive").arg(archive).arg("-o").arg(&whole);
    must_succeed(&mut link)?;
    fs::write(&list, functions.join("\n") + "\n")?;
    let mut hide = Command::new("objcopy");
    // Of the compiler's intermediate code, which the standard library carries along, nothing sensible is left
    // after that.
    hide.args(["--strip-debug", "--remove-section=.llvmbc", "--remove-section=.llvmcmd"]);
    hide.arg(format!("--keep-global-symbols={}", list.display())).arg(&whole).arg(&object);
    must_succeed(&mut hide)?;
    Ok(object)
}

/// What keeps a library loaded once it was: a thread that has released a lock may point the kernel to a
/// restartable sequence of it until it is interrupted next, and is killed if that is gone by then.
pub(crate) const STAYS: &str = "-Wl,-z,nodelete";

/// Links the shared library. It is not unloaded ([`STAYS`]).
fn link(
    work: &Path,
    object: &Path,
    library: &Path,
    functions: &[String],
    libraries: &[String],
) -> io::Result<()> {
    let script = work.join("symbols.map");
    fs::write(&script, version_script(functions))?;
    let mut cc = Command::new("cc");
    cc.arg("-shared").arg(object).arg("-o").arg(library);
    cc.args([format!("-Wl,-soname,{SONAME}"), format!("-Wl,--version-script,{}", script.display())]);
    cc.args(["-Wl,-z,defs,-z,relro,-z,now", STAYS, "-Wl,--gc-sections", "-Wl,--as-needed"]).args(libraries);
    must_succeed(&mut cc).map(drop)
}

fn version_script(functions: &[String]) -> String {
    let mut script = format!("{NODE} {{\n    global:\n");
    for name in functions {
        let _ = writeln!(script, "        {name};");
    }
    script + "    local:\n        *;\n};\n"
}

fn pkg_config(places: &Places, version: &str, libraries: &[String]) -> String {
    format!(
        "prefix={}\nincludedir=${{prefix}}/include\nlibdir=${{prefix}}/{}\n\nName: stanchion\n\
         Description: Locks that hold up when threads outnumber cores\nVersion: {version}\n\
         Cflags: -I${{includedir}}\nLibs: -L${{libdir}} -lstanchion\nLibs.private: {} {STAYS}\n",
        places.prefix.display(),
        places.libdir.display(),
        libraries.join(" ")
    )
}

/// A file for CMake, with what is known only here.
fn cmake(template: &str, places: &Places, version: &str, libraries: &[String]) -> String {
    let mut parts = version.split('.');
    let mut part = || parts.next().unwrap_or("0");
    let (major, minor) = (part(), part());
    let private: Vec<&str> = libraries.iter().map(String::as_str).chain([STAYS]).collect();
    template
        .replace("@INCLUDEDIR@", &places.prefix.join("include").to_string_lossy())
        .replace("@PRIVATE@", &private.join(";"))
        .replace("@VERSION@", version)
        .replace("@MAJOR@", major)
        .replace("@MINOR@", minor)
}

fn read(path: &Path) -> io::Result<String> {
    fs::read_to_string(path).map_err(|error| failed(format!("{}: {error}", path.display())))
}

/// Writes a file that nobody sees half written, whatever was there before.
fn write(place: &Path, contents: &[u8]) -> io::Result<()> {
    let put = || {
        fs::create_dir_all(place.parent().unwrap_or(place))?;
        let fresh = place.with_extension(format!("new{}", std::process::id()));
        fs::write(&fresh, contents)?;
        fs::rename(&fresh, place)
    };
    put().map_err(|error| not_written(place, &error))
}

fn not_written(place: &Path, error: &io::Error) -> io::Error {
    let place = place.display();
    failed(format!("{place} can not be written ({error}); give --prefix or --destdir a directory of yours"))
}

/// `--destdir`, or else the environment's `DESTDIR`.
pub(crate) fn destdir(given: Option<PathBuf>) -> Option<PathBuf> {
    given.or_else(|| env::var_os("DESTDIR").map(PathBuf::from)).filter(|path| !path.as_os_str().is_empty())
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
        assert_eq!(functions_of(header), ["stanchion_n", "stanchion_x_lock"]);
    }

    #[test]
    fn what_the_c_compiler_links_anyway_is_left_out() {
        let text = "note: native-static-libs: -lgcc_s -lutil -lrt -lpthread -lm -ldl -lc -lrt\n";
        assert_eq!(native_libraries(text).expect("said"), ["-lutil", "-lrt", "-lpthread", "-lm", "-ldl"]);
        assert_eq!(native_libraries("nothing"), None);
    }

    #[test]
    fn the_script_hides_all_but_the_functions() {
        let script = version_script(&["stanchion_a".to_owned()]);
        assert_eq!(
            script,
            "STANCHION_0.1 {\n    global:\n        stanchion_a;\n    local:\n        *;\n};\n"
        );
    }
}
