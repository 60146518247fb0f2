//! Finds the program that is to be run as a shell does, and refuses one that no library can be loaded into.
use super::elf;
use rustix::fs::{Access, access};
use rustix::io::Errno;
use std::ffi::{OsStr, OsString};
use std::fs::{self, File};
use std::io::Read;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

/// How many scripts may interpret each other; the kernel's own limit.
const SCRIPTS: usize = 5;
/// What the kernel reads of a script's first line.
const FIRST_LINE: u64 = 256;
/// Where programs are looked for if `PATH` is not set, as the C library does.
const USUAL_PATH: &str = "/bin:/usr/bin";

/// A program that can be run with a library in front.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Program {
    /// The file to execute.
    pub path: PathBuf,
    /// The ELF file that this comes down to: the interpreter of a script.
    pub binary: PathBuf,
    pub loader: PathBuf,
}

impl Program {
    /// The program that a shell would run by this name; the error is one line that says why it will not do.
    pub(crate) fn find(name: &OsStr, path: Option<&OsStr>) -> Result<Self, String> {
        let file = look_up(name, path)?;
        let (binary, loader) = binary_of(&file, path, SCRIPTS)?;
        Ok(Self { path: file, binary, loader })
    }
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
    let usual = OsStr::new(USUAL_PATH);
    for dir in std::env::split_paths(path.unwrap_or(usual)) {
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
    let metadata = fs::metadata(file).map_err(|error| Errno::from_io_error(&error).unwrap_or(Errno::IO))?;
    if metadata.is_dir() {
        return Err(Errno::ISDIR);
    }
    if !metadata.is_file() {
        return Err(Errno::ACCESS);
    }
    access(file, Access::EXEC_OK)
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
    let interpreter = PathBuf::from(interpreter);
    let through = |error: &str| format!("{shown}: its interpreter {error}");
    executable(&interpreter).map_err(|error| through(&format!("{}: {error}", interpreter.display())))?;
    let found = binary_of(&interpreter, path, scripts - 1).map_err(|error| through(&error))?;
    // `#!/usr/bin/env NAME` looks the interpreter up. What else env can do is left to env.
    if interpreter.file_name() == Some(OsStr::new("env"))
        && let Some(name) = argument.as_deref().and_then(meant_by_env)
        && let Ok(file) = look_up(&name, path)
    {
        return binary_of(&file, path, scripts - 1).map_err(|error| through(&error));
    }
    Ok(found)
}

/// The interpreter and its argument in the first line of a script; none if the file is no script.
fn first_line(file: &Path) -> Result<Option<(OsString, Option<OsString>)>, String> {
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
    let owned = |bytes: &[u8]| OsString::from_vec(bytes.to_vec());
    let argument = line[end..].trim_ascii();
    Ok(Some((owned(&line[..end]), (!argument.is_empty()).then(|| owned(argument)))))
}

/// The program that env is told to run by its one argument, which is several words behind `-S`.
fn meant_by_env(argument: &OsStr) -> Option<OsString> {
    let bytes = argument.as_bytes();
    let words = bytes.strip_prefix(b"-S").unwrap_or(bytes);
    let name = words
        .split(u8::is_ascii_whitespace)
        .find(|word| !word.is_empty() && !word.starts_with(b"-") && !word.contains(&b'='))?;
    Some(OsString::from_vec(name.to_vec()))
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
