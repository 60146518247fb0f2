//! `cargo xtask capi`: installs the C library below the target directory, looks at its symbols, and builds
//! and runs programs with it.
use crate::built;
use crate::capi::faults;
use crate::capi::header::{FAMILY_HEADER, HEADER};
use crate::capi::install::{self, Places, functions_of};
use crate::capi::panics;
use crate::capi::plugins;
use crate::capi::programs::{Linking, PROGRAMS, Program, Toolchain, toolchains};
use crate::capi::shared::{failed, line_of, must_succeed};
use crate::capi::symbols;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};
use std::{fs, io};

/// How the headers must be accepted: language, standard, and the file.
const ACCEPTED: &[(&str, &str, &str)] = &[
    ("c", "c11", "stanchion.h"),
    ("c", "c17", "stanchion.h"),
    ("c++", "c++17", "stanchion.h"),
    ("c", "c11", "stanchion_family.h"),
    ("c++", "c++17", "stanchion_family.h"),
    ("c++", "c++17", "stanchion.hpp"),
    ("c++", "c++20", "stanchion.hpp"),
];

/// What the compilers must be silent about.
pub(crate) const STRICT: &[&str] = &["-Wall", "-Wextra", "-pedantic", "-Werror"];
/// For headers, which other people's warnings reach.
const STRICTER: &[&str] = &["-Wshadow", "-Wconversion", "-Wundef"];

/// What was checked, and what was wrong.
#[derive(Default)]
pub(crate) struct Tally {
    passed: usize,
    wrong: Vec<String>,
}

impl Tally {
    /// Notes how something went, and says it.
    pub(crate) fn note(&mut self, what: &str, result: Result<(), String>) {
        match result {
            Ok(()) => {
                self.passed += 1;
                println!("capi: ok      {what}");
            }
            Err(why) => {
                println!("capi: FAILED  {what}: {why}");
                self.wrong.push(what.to_owned());
            }
        }
    }
}

/// The installed tree that programs are built with.
pub(crate) struct Installed {
    /// What to put in front of every path.
    destdir: PathBuf,
    /// Where programs go.
    pub(crate) programs: PathBuf,
}

impl Installed {
    /// A path under `/usr`, as it was installed.
    pub(crate) fn place(&self, below: &str) -> PathBuf {
        self.destdir.join("usr").join(below)
    }

    /// What pkg-config says for this tree, and only for it.
    pub(crate) fn pkg_config(&self, arguments: &[&str]) -> io::Result<Vec<String>> {
        let mut command = Command::new("pkg-config");
        command
            .args(arguments)
            .arg("stanchion")
            .env("PKG_CONFIG_SYSROOT_DIR", &self.destdir)
            .env("PKG_CONFIG_LIBDIR", self.place("lib/pkgconfig"))
            .env("PKG_CONFIG_ALLOW_SYSTEM_CFLAGS", "1")
            .env("PKG_CONFIG_ALLOW_SYSTEM_LIBS", "1");
        let output = must_succeed(&mut command)?;
        Ok(String::from_utf8_lossy(&output.stdout).split_whitespace().map(str::to_owned).collect())
    }
}

/// Checks all there is to check.
pub(crate) fn run(root: &Path) -> io::Result<ExitCode> {
    let work = built::target(root).join("capi-check");
    let _ = fs::remove_dir_all(&work);
    let installed = Installed { destdir: work.join("dest"), programs: work.join("programs") };
    fs::create_dir_all(&installed.programs)?;
    let places = Places {
        prefix: "/usr".into(),
        libdir: "lib".into(),
        destdir: Some(installed.destdir.clone()),
        family: true,
    };
    install::install(root, &places)?;
    let headers = [HEADER, FAMILY_HEADER].map(|header| fs::read_to_string(root.join(header)));
    let functions = functions_of(&headers.into_iter().collect::<io::Result<String>>()?);

    let mut tally = Tally::default();
    tally.note(
        "the shared library has the headers' functions, versioned",
        symbols::check(&installed, &functions)?,
    );
    let toolchains = toolchains()?;
    for toolchain in &toolchains {
        for (language, standard, file) in ACCEPTED {
            accept(&mut tally, &installed, toolchain, (language, standard, file));
        }
        for program in PROGRAMS {
            for linking in Linking::ALL {
                build_and_run(root, &mut tally, &installed, toolchain, program, linking)?;
            }
        }
    }
    tally.note("the test programs call every function of the headers", {
        let called = symbols::called(&installed, &toolchains[0])?;
        symbols::missing(&functions, &called, "called by no test program")
    });
    let ended = panics::check(root, &installed, &toolchains[0], &functions)?;
    tally.note("a fault that the library finds in itself ends the process with one line", ended);
    plugins::check(root, &mut tally, &installed, &toolchains[0])?;
    faults::check(&mut tally, &installed, &toolchains[0])?;
    println!("capi: {} passed, {} failed", tally.passed, tally.wrong.len());
    Ok(if tally.wrong.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

fn accept(
    tally: &mut Tally,
    installed: &Installed,
    toolchain: &Toolchain,
    (language, standard, file): (&str, &str, &str),
) {
    let compiler = if language == "c" { toolchain.c } else { toolchain.cxx };
    let mut command = Command::new(compiler);
    command.args(["-fsyntax-only", "-x", language, &format!("-std={standard}")]).args(STRICT).args(STRICTER);
    // Included, not compiled: a header is not the main file, and its static functions may be unused.
    command.arg("-include").arg(installed.place("include").join(file)).arg("/dev/null");
    let what = format!("{compiler} -std={standard} accepts {file}");
    tally.note(&what, must_succeed(&mut command).map(drop).map_err(|error| error.to_string()));
}

fn build_and_run(
    root: &Path,
    tally: &mut Tally,
    installed: &Installed,
    toolchain: &Toolchain,
    program: &Program,
    linking: &Linking,
) -> io::Result<()> {
    let compiler = toolchain.compiler(program);
    let what = format!("{compiler} {} {}", program.source, linking.name());
    let path = installed.programs.join(toolchain.program(program, linking));
    let mut build = Command::new(compiler);
    build
        .args(["-O2", "-pthread", program.standard()])
        .args(STRICT)
        .args(installed.pkg_config(&["--cflags"])?);
    build.arg("-c").arg(root.join("crates/capi").join(program.source));
    build.arg("-o").arg(path.with_extension("o"));
    if let Err(error) = must_succeed(&mut build) {
        tally.note(&what, Err(error.to_string()));
        return Ok(());
    }
    let mut link = Command::new(compiler);
    link.arg("-pthread")
        .arg(path.with_extension("o"))
        .arg("-o")
        .arg(&path)
        .args(linking.libraries(installed)?);
    if let Err(error) = must_succeed(&mut link) {
        tally.note(&what, Err(error.to_string()));
        return Ok(());
    }
    for environment in program.environments {
        let expected = program.expected(root)?;
        let mut command = command_for(installed, &path);
        command.env_remove("STANCHION").envs(environment.iter().copied());
        let with: Vec<String> = environment.iter().map(|(name, value)| format!(" {name}={value}")).collect();
        tally.note(&format!("{what}{}", with.concat()), judge(&mut command, expected.as_deref())?);
    }
    Ok(())
}

/// The program with the installed library.
pub(crate) fn command_for(installed: &Installed, program: &Path) -> Command {
    let mut command = Command::new(program);
    command.env("LD_LIBRARY_PATH", installed.place("lib"));
    command
}

/// Whether a program succeeds and prints what it is expected to.
pub(crate) fn judge(command: &mut Command, expected: Option<&str>) -> io::Result<Result<(), String>> {
    let output = command
        .output()
        .map_err(|error| failed(format!("`{}` does not start: {error}", line_of(command))))?;
    let printed = String::from_utf8_lossy(&output.stdout);
    if !output.status.success() {
        let last = printed.lines().find(|line| line.starts_with("FAILED")).unwrap_or("it said nothing");
        return Ok(Err(format!("{} ({last})", output.status)));
    }
    Ok(match expected {
        Some(expected) if printed != expected => {
            Err(format!("it printed {printed:?}, expected {expected:?}"))
        }
        None if printed.trim().is_empty() => Err("it printed nothing".to_owned()),
        _ => Ok(()),
    })
}
