//! Files that are replaced as a whole, by their neighbours; and what is no regular file, or open already.
#![expect(unsafe_code, reason = "no dependency of ours duplicates a descriptor that is only a number")]
use crate::output::{no_stream, tell};
use core::mem;
use core::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::fs::{self, File, OpenOptions};
use std::io::{self, Write as _};
use std::os::fd::{FromRawFd as _, RawFd};
use std::os::unix::fs::FileTypeExt as _;
use std::path::{Path, PathBuf};

/// What a file is called until it replaces another one.
const PART: &str = "part";

static STREAM_FAILED: AtomicBool = AtomicBool::new(false);

/// Whether results are missing from a device or a pipe. It was said; the exit code has to say so, too.
pub fn stream_failed() -> bool {
    STREAM_FAILED.load(Relaxed)
}

/// A file that results go to, whatever they are.
pub(super) struct Target {
    path: PathBuf,
    /// Where symbolic links lead to.
    file: PathBuf,
    /// No regular file, and the text that it gets at the end.
    stream: Option<(File, String)>,
    /// Made by us and not written yet: taken away again if nothing comes of the run.
    fresh: bool,
    /// Whether it has the last state.
    current: bool,
}

/// The same for all kinds of reports, so that it is compiled once.
pub(super) struct Targets(pub(super) Vec<Target>);

impl Targets {
    pub(super) fn open(paths: Vec<PathBuf>, force: bool) -> Result<Self, String> {
        // All are looked at before any is created, so that a refusal leaves nothing behind.
        distinct(&paths)?;
        for path in &paths {
            no_stream(path)?;
            if path.is_dir() {
                return Err(format!("{} is a directory, not a file to write", path.display()));
            }
            if !force && !is_stream(path) && path.symlink_metadata().is_ok() {
                return Err(format!("{} exists already; use --force to replace it", path.display()));
            }
        }
        let mut targets = Self(Vec::new());
        for path in paths {
            let (is_stream, fresh) = (is_stream(&path), !path.exists());
            let open = || OpenOptions::new().create(!is_stream).append(true).open(&path);
            let opened = descriptor(&path).map_or_else(open, duplicate).and_then(|opened| {
                if is_stream {
                    return Ok((path.clone(), Some((opened, String::new()))));
                }
                // It is replaced by a neighbour, so it is the directory that must be writable.
                let file = path.canonicalize()?;
                let neighbour = file.with_added_extension(PART);
                fs::write(&neighbour, "")?;
                fs::remove_file(neighbour)?;
                Ok((file, None))
            });
            match opened {
                Ok((file, stream)) => targets.0.push(Target { path, file, stream, fresh, current: false }),
                Err(error) => {
                    if fresh && !is_stream {
                        let _ = fs::remove_file(&path);
                    }
                    return Err(message(&path, "cannot write", &error));
                }
            }
        }
        Ok(targets)
    }

    pub(super) fn written(&mut self) -> String {
        self.flush();
        let line = |target: &Target| format!("written: {}\n", target.path.display());
        self.0.iter().filter(|target| target.current).map(line).collect()
    }

    /// What has been written to a stream cannot be replaced, so it gets only the last state.
    fn flush(&mut self) {
        for target in &mut self.0 {
            if let Some((file, text)) = &mut target.stream
                && let Err(error) = file.write_all(mem::take(text).as_bytes())
            {
                tell!("stanchion: {}", message(&target.path, "cannot write", &error));
                STREAM_FAILED.store(true, Relaxed);
                target.current = false;
            }
        }
    }
}

impl Target {
    pub(super) fn write(&mut self, text: String) -> Result<(), String> {
        self.current = false;
        if text.is_empty() {
            return Ok(());
        }
        if let Some((_, last)) = &mut self.stream {
            *last = text;
        } else {
            self.put(|file| file.write_all(text.as_bytes()))
                .map_err(|error| message(&self.path, "cannot write", &error))?;
        }
        self.current = true;
        Ok(())
    }

    /// Lets the file be written anew. If that fails, it stays as it was, and nothing else is left.
    fn put<R>(&mut self, write: impl FnOnce(&mut File) -> io::Result<R>) -> io::Result<R> {
        if let Some((stream, _)) = &mut self.stream {
            return write(stream);
        }
        let neighbour = self.file.with_added_extension(PART);
        let mut part = File::create(&neighbour)?;
        let put = write(&mut part).and_then(|of_it| fs::rename(&neighbour, &self.file).map(|()| of_it));
        if put.is_err() {
            let _ = fs::remove_file(&neighbour);
        }
        self.fresh &= put.is_err();
        put
    }
}

/// A file that gets all that it will have at once, in the end, and is no text.
pub struct Later(Targets);

impl Later {
    /// Makes sure that it can be written. The error names it.
    pub fn open(path: PathBuf, force: bool) -> Result<Self, String> {
        Targets::open(vec![path], force).map(Self)
    }

    /// If it cannot be written, it stays as it was.
    pub fn write<R>(mut self, write: impl FnOnce(&mut File) -> io::Result<R>) -> io::Result<R> {
        self.0.0[0].put(write)
    }
}

impl Drop for Targets {
    /// Files that were never written are taken away again.
    fn drop(&mut self) {
        self.flush();
        for target in self.0.iter().filter(|target| target.fresh) {
            let _ = fs::remove_file(&target.file);
        }
    }
}

/// Refuses a file that is named twice, as far as paths tell.
pub(super) fn distinct(paths: &[PathBuf]) -> Result<(), String> {
    let file = |path: &PathBuf| path.canonicalize().or_else(|_| std::path::absolute(path)).ok();
    let mut named = paths.iter().enumerate();
    let again = named.find(|(index, path)| paths[..*index].iter().any(|other| file(other) == file(path)));
    again.map_or(Ok(()), |(_, path)| Err(format!("{} is named twice", path.display())))
}

/// Whether a path is written to as it is: a device, a pipe, or a file that is open already.
fn is_stream(path: &Path) -> bool {
    descriptor(path).is_some()
        || fs::metadata(path)
            .is_ok_and(|metadata| metadata.file_type().is_char_device() || metadata.file_type().is_fifo())
}

/// The number of the descriptor that a path means.
fn descriptor(path: &Path) -> Option<RawFd> {
    let named = [("/dev/stdout", 1), ("/dev/stderr", 2)].iter().find(|(name, _)| path == Path::new(name));
    let number = |dir| path.strip_prefix(dir).ok()?.to_str()?.parse().ok();
    named.map(|(_, number)| *number).or_else(|| ["/dev/fd", "/proc/self/fd"].into_iter().find_map(number))
}

/// The same open file, and so the same place in it: by its path it would be opened anew, and what others
/// write would go over what we write.
fn duplicate(descriptor: RawFd) -> io::Result<File> {
    // SAFETY: the call touches no memory of ours, and fails if there is no such descriptor.
    let copy = unsafe { libc::fcntl(descriptor, libc::F_DUPFD_CLOEXEC, 0) };
    if copy < 0 {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: it is open, and nobody else has the number of it.
    let mut file = unsafe { File::from_raw_fd(copy) };
    // Of nothing, which those that can only be read refuse.
    file.write(&[]).map(|_| file)
}

pub(super) fn message(path: &Path, what: &str, error: &io::Error) -> String {
    format!("{what} {}: {error}", path.display())
}
