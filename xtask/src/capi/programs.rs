//! The programs in C and C++, the compilers for them, and the ways to link them.
use crate::capi::check::Installed;
use crate::capi::shared::failed;
use std::path::Path;
use std::process::{Command, Stdio};
use std::{fs, io};

/// A C and a C++ compiler that belong together.
pub(crate) struct Toolchain {
    /// For C.
    pub(crate) c: &'static str,
    /// For C++.
    pub(crate) cxx: &'static str,
}

const TOOLCHAINS: [Toolchain; 2] =
    [Toolchain { c: "gcc", cxx: "g++" }, Toolchain { c: "clang", cxx: "clang++" }];

/// Those that are installed, which are said; one at least.
pub(crate) fn toolchains() -> io::Result<Vec<Toolchain>> {
    let works = |name: &str| {
        let probe = Command::new(name).arg("--version").stdout(Stdio::null()).stderr(Stdio::null()).status();
        probe.is_ok_and(|status| status.success())
    };
    let mut found = Vec::new();
    for toolchain in TOOLCHAINS {
        if works(toolchain.c) && works(toolchain.cxx) {
            found.push(toolchain);
        } else {
            println!("capi: skipped {} and {}: not installed", toolchain.c, toolchain.cxx);
        }
    }
    if found.is_empty() {
        return Err(failed("no compiler for C and C++; install gcc and g++, or clang"));
    }
    Ok(found)
}

impl Toolchain {
    /// The compiler of the program's language.
    pub(crate) fn compiler(&self, program: &Program) -> &'static str {
        if program.is_c() { self.c } else { self.cxx }
    }

    /// The name of the file that the program becomes.
    pub(crate) fn program(&self, program: &Program, linking: &Linking) -> String {
        let source = program.source.replace(['/', '.'], "-");
        format!("{}-{source}-{}", self.c, linking.name().replace(' ', "-"))
    }
}

/// A program, by its path below `crates/capi`.
pub(crate) struct Program {
    /// The path.
    pub(crate) source: &'static str,
    /// It runs once in each of these.
    pub(crate) environments: &'static [&'static [(&'static str, &'static str)]],
}

const ONCE: &[&[(&str, &str)]] = &[&[]];
/// What is read from the environment when the program is loaded shows that the library's constructors ran.
const BOTH: &[&[(&str, &str)]] = &[&[], &[("STANCHION", "nopv")]];

/// All of them.
pub(crate) const PROGRAMS: &[Program] = &[
    Program { source: "tests/locks.c", environments: ONCE },
    Program { source: "tests/rwlocks.c", environments: ONCE },
    Program { source: "tests/others.c", environments: BOTH },
    Program { source: "tests/wrapper.cpp", environments: ONCE },
    Program { source: "examples/counter.c", environments: ONCE },
    Program { source: "examples/routes.c", environments: ONCE },
    Program { source: "examples/mailbox.cpp", environments: ONCE },
];

impl Program {
    fn is_c(&self) -> bool {
        Path::new(self.source).extension().is_some_and(|extension| extension == "c")
    }

    /// Whether it is a test, which counts its checks, and not an example, which prints something else.
    pub(crate) fn is_test(&self) -> bool {
        self.source.starts_with("tests/")
    }

    /// The flag for its standard.
    pub(crate) fn standard(&self) -> &'static str {
        if self.is_c() { "-std=c11" } else { "-std=c++17" }
    }

    /// All that it should print: what stands beside an example.
    pub(crate) fn expected(&self, root: &Path) -> io::Result<Option<String>> {
        if self.is_test() {
            return Ok(None);
        }
        let path = root.join("crates/capi").join(self.source).with_extension("out");
        let named =
            |error| failed(format!("{}: {error}; write down what the program prints", path.display()));
        fs::read_to_string(&path).map(Some).map_err(named)
    }
}

/// How a program gets the library.
pub(crate) enum Linking {
    /// From the shared library, as pkg-config says.
    Shared,
    /// From the archive; libc is shared.
    Archive,
    /// Everything from archives.
    Static,
}

impl Linking {
    /// All ways.
    pub(crate) const ALL: &'static [Linking] = &[Linking::Shared, Linking::Archive, Linking::Static];

    /// What it is called.
    pub(crate) fn name(&self) -> &'static str {
        match self {
            Self::Shared => "with the shared library",
            Self::Archive => "with the archive",
            Self::Static => "with -static",
        }
    }

    /// What to link with.
    pub(crate) fn libraries(&self, installed: &Installed) -> io::Result<Vec<String>> {
        let private = || installed.pkg_config(&["--static", "--libs"]);
        Ok(match self {
            Self::Shared => installed.pkg_config(&["--libs"])?,
            Self::Archive => {
                let archive =
                    |flag: String| if flag == "-lstanchion" { "-l:libstanchion.a".to_owned() } else { flag };
                private()?.into_iter().map(archive).collect()
            }
            Self::Static => core::iter::once("-static".to_owned()).chain(private()?).collect(),
        })
    }
}
