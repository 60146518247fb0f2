//! Finds a program as a shell does, refuses one that takes no library, warns of one with nothing to replace.
use super::elf;
use rustix::fs::{Access, access};
use rustix::io::Errno;
use std::ffi::{OsStr, OsString};
use std::fs::{self, File};
use std::io::Read;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::Command;

/// How many scripts may interpret each other; the kernel's own limit.
const SCRIPTS: usize = 5;
/// What the kernel reads of a script's first line.
const FIRST_LINE: u64 = 256;
/// Where programs are looked for if `PATH` is not set, as the C library does.
const USUAL_PATH: &str = "/bin:/usr/bin";

/// Libraries whose locks do not count: the C library in its parts, and the unwinder, which locks only while
/// it unwinds and is part of nearly every program that is not C.
const ASIDE: [&str; 7] =
    ["libc.so.", "libpthread.so.", "libm.so.", "libdl.so.", "librt.so.", "ld-linux", "libgcc_s.so."];

/// A program that can be run with a library in front.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Program {
    pub path: PathBuf,
    /// The ELF file that this comes down to: the interpreter of a script.
    pub binary: PathBuf,
    pub loader: PathBuf,
    /// As typed: its name, and its arguments.
    pub words: Vec<OsString>,
}

impl Program {
    /// The program that a shell would run by these words; the error is one line that says why it will not do.
    pub(crate) fn find(words: &[OsString], path: Option<&OsStr>) -> Result<Self, String> {
        let name = words.first().ok_or("no program to run; give it after '--'")?;
        let file = look_up(name, path)?;
        let (binary, loader) = binary_of(&file, path, SCRIPTS)?;
        Ok(Self { path: file, binary, loader, words: words.to_vec() })
    }

    pub(crate) fn command(&self) -> Command {
        let mut command = Command::new(&self.path);
        command.arg0(&self.words[0]).args(&self.words[1..]);
        command
    }

    /// A line to warn with if neither it nor a library that it needs calls a pthread lock.
    pub(crate) fn warning(&self) -> Option<String> {
        let calls = elf::takes_locks(&self.binary) || self.needed()?.iter().any(|it| elf::takes_locks(it));
        (!calls).then(|| {
            format!(
                "{}: neither it nor a library that it needs calls a pthread lock: unless it loads one later or starts other \
                 programs, there is nothing to replace",
                self.binary.display()
            )
        })
    }

    /// The libraries that its own loader would load, which only that loader knows. None if it does not say.
    fn needed(&self) -> Option<Vec<PathBuf>> {
        let mut command = Command::new(&self.loader);
        let output = command.arg("--list").arg(&self.binary).env_remove("LD_PRELOAD").output().ok()?;
        output.status.success().then(|| listed(&String::from_utf8_lossy(&output.stdout)))
    }
}

/// The files that count in what a loader lists: `name => /file (0xaddress)`, or `/file (0xaddress)`.
fn listed(text: &str) -> Vec<PathBuf> {
    let file = |line: &str| {
        let file = line.split_once("=>").map_or(line, |(_, file)| file).trim();
        PathBuf::from(file.rsplit_once(" (").map_or(file, |(file, _)| file))
    };
    let counts = |file: &PathBuf| {
        let name = file.file_name().unwrap_or_default().to_string_lossy();
        file.is_absolute() && !ASIDE.iter().any(|aside| name.starts_with(aside))
    };
    text.lines().map(file).filter(counts).collect()
}

/// The file that a name means: itself with a slash in it, else the first executable one along `path`.
fn look_up(name: &OsStr, path: Option<&OsStr>) -> Result<PathBuf, String> {
    let shown = name.display();
    if name.is_empty() {
        return Err("the program has no name; give it after '--'".to_owned());
    }
    if name.as_bytes().contains(&b'/') {
        let file = PathBuf::from(name);
        executable(&file).map_err(|error| match error {
            Errno::NOENT | Errno::NOTDIR => format!("{shown}: there is no such program"),
            Errno::ISDIR => format!("{shown}: is a directory, not a program"),
            Errno::ACCESS => format!("{shown}: is not executable; chmod +x may be missing"),
            error => format!("{shown}: {error}"),
        })?;
        return Ok(file);
    }
    let mut not_executable = None;
    for dir in std::env::split_paths(path.unwrap_or(USUAL_PATH.as_ref())) {
        // An empty entry is the present directory.
        let file = if dir.as_os_str().is_empty() { Path::new(".").join(name) } else { dir.join(name) };
        match executable(&file) {
            Ok(()) => return Ok(file),
            Err(Errno::ACCESS) => not_executable = not_executable.or(Some(file)),
            Err(_) => {}
        }
    }
    Err(match not_executable {
        Some(file) => format!("{}: is not executable; chmod +x may be missing", file.display()),
        None => format!("{shown}: not found along PATH; give its path, such as ./{shown}"),
    })
}

fn executable(file: &Path) -> Result<(), Errno> {
    match fs::metadata(file) {
        Err(error) => Err(Errno::from_io_error(&error).unwrap_or(Errno::IO)),
        Ok(metadata) if metadata.is_dir() => Err(Errno::ISDIR),
        Ok(metadata) if !metadata.is_file() => Err(Errno::ACCESS),
        Ok(_) => access(file, Access::EXEC_OK),
    }
}

/// The ELF file that executing `file` comes down to, and its loader.
fn binary_of(file: &Path, path: Option<&OsStr>, scripts: usize) -> Result<(PathBuf, PathBuf), String> {
    let shown = file.display();
    let Some((interpreter, argument)) = first_line(file).map_err(|error| format!("{shown}: {error}"))? else {
        let loader = loader_of(file).map_err(|reason| format!("{shown}: {reason}"))?;
        return Ok((file.to_owned(), loader));
    };
    if scripts == 0 {
        return Err(format!("{shown}: too many scripts that interpret each other"));
    }
    let through = |error: &str| format!("{shown}: its interpreter {error}");
    executable(&interpreter).map_err(|error| through(&format!("{}: {error}", interpreter.display())))?;
    let found = binary_of(&interpreter, path, scripts - 1).map_err(|error| through(&error))?;
    // `#!/usr/bin/env NAME` looks the interpreter up. What else env can do is left to env.
    if interpreter.file_name() == Some(OsStr::new("env"))
        && let Some(name) = meant_by_env(&argument)
        && let Ok(file) = look_up(name, path)
    {
        return binary_of(&file, path, scripts - 1).map_err(|error| through(&error));
    }
    Ok(found)
}

/// The interpreter and its argument in the first line of a script; none if the file is no script.
fn first_line(file: &Path) -> Result<Option<(PathBuf, Vec<u8>)>, String> {
    let mut bytes = Vec::new();
    File::open(file)
        .and_then(|file| file.take(FIRST_LINE).read_to_end(&mut bytes))
        .map_err(|error| format!("cannot be read: {error}"))?;
    let Some(line) = bytes.strip_prefix(b"#!") else { return Ok(None) };
    let line = line.split(|&byte| byte == b'\n').next().unwrap_or_default().trim_ascii();
    let end = line.iter().position(|byte| b" \t".contains(byte)).unwrap_or(line.len());
    if end == 0 {
        return Err("is a script without an interpreter behind its '#!'".to_owned());
    }
    let (interpreter, argument) = line.split_at(end);
    Ok(Some((OsStr::from_bytes(interpreter).into(), argument.trim_ascii().to_vec())))
}

/// The program that env is told to run by its one argument, which is several words behind `-S`.
fn meant_by_env(argument: &[u8]) -> Option<&OsStr> {
    let words = argument.strip_prefix(b"-S").unwrap_or(argument);
    let is_name = |word: &&[u8]| !word.is_empty() && !word.starts_with(b"-") && !word.contains(&b'=');
    words.split(u8::is_ascii_whitespace).find(is_name).map(OsStr::from_bytes)
}

/// The loader of an ELF program, if it is one into which a library can be loaded.
fn loader_of(file: &Path) -> Result<PathBuf, String> {
    let Some(loader) = elf::loader(file)? else {
        return Err("is statically linked, so that no library can be put in front of its locks".to_owned());
    };
    if loader.file_name().is_some_and(|name| name.as_bytes().starts_with(b"ld-musl")) {
        return Err("is linked with musl; the library is for the GNU C library".to_owned());
    }
    let mode = fs::metadata(file).map_err(|error| error.to_string())?.permissions().mode();
    for (bit, what) in [(0o4000, "setuid"), (0o2000, "setgid")] {
        if mode & bit != 0 {
            return Err(format!("is {what}; the loader lets no library of ours into such programs"));
        }
    }
    // One byte is enough to see that there are any: a longer value is an error of its own.
    match rustix::fs::getxattr(file, "security.capability", &mut [0_u8; 1][..]) {
        Ok(_) | Err(Errno::RANGE) => {
            Err("has file capabilities; the loader lets no library of ours into such programs".to_owned())
        }
        Err(_) => Ok(loader),
    }
}

#[cfg(test)]
#[path = "program_tests.rs"]
mod tests;
