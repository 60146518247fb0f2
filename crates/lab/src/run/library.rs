//! The interposer: where it is; what the program's environment has for its sake; whether it does as told.
//!
//! A word that the library does not know costs one line on standard error, and then the program runs with
//! libc's locks. In a comparison that would be libc under another name. So this command is run with it first.
use super::elf;
use super::locks::{self, LIBC, LIBC_THROUGH, split};
use core::time::Duration;
use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};
use std::process::Command;

const FILE: &str = "libstanchion_preload.so";

/// The library: the `flag` of the command line, what STANCHION_PRELOAD of the environment says, or what lies
/// near the running executable. It is a path from the root because the program may run elsewhere.
pub(crate) fn find(flag: Option<&Path>, env: Option<&OsStr>, exe: Option<&Path>) -> Result<PathBuf, String> {
    let (whence, path) = match (flag, env.filter(|value| !value.is_empty()).map(Path::new)) {
        (Some(path), _) => ("--library ", path.to_owned()),
        (None, Some(path)) => ("STANCHION_PRELOAD ", path.to_owned()),
        (None, None) => ("", exe.and_then(usual).ok_or_else(|| {
            format!(
                "{FILE} not found beside this command; build it with 'cargo build --release -p stanchion-preload --features family', or say \
                 where it is by --library or STANCHION_PRELOAD"
            )
        })?),
    };
    let message = |reason: &str| format!("{whence}{}: {reason}", path.display());
    let whole = path.canonicalize().map_err(|error| message(&error.to_string()))?;
    if !whole.is_file() {
        return Err(message("is no file; give the library itself"));
    }
    elf::loader(&whole).map_err(|reason| message(&reason))?;
    if whole.as_os_str().as_bytes().iter().any(|byte| b": \t\n".contains(byte)) {
        return Err(message(
            "LD_PRELOAD cannot hold a path with a blank or a colon; put the library elsewhere",
        ));
    }
    Ok(whole)
}

/// Where Debian puts libraries of this architecture, below `lib`.
const MULTIARCH: &str =
    if cfg!(target_arch = "aarch64") { "lib/aarch64-linux-gnu" } else { "lib/x86_64-linux-gnu" };

/// Beside the command, in `lib` beside its directory, and in a build's directories.
fn usual(executable: &Path) -> Option<PathBuf> {
    let dir = executable.parent()?;
    let over = dir.parent().unwrap_or(dir);
    let is_target = ["debug", "release"].iter().any(|profile| over.join(profile).is_dir());
    let target = if is_target { over } else { &dir.join("target") };
    [dir.to_owned(), over.join("lib"), over.join(MULTIARCH), target.join("release"), target.join("debug")]
        .into_iter()
        .map(|dir| dir.join(FILE))
        .find(|path| path.is_file())
}

/// Both variables as they are outside.
#[derive(Clone, Debug, Default)]
pub(crate) struct Outer {
    pub preload: Option<OsString>,
    pub words: Option<OsString>,
}

impl Outer {
    pub(crate) fn of_environment() -> Self {
        Self { preload: std::env::var_os("LD_PRELOAD"), words: std::env::var_os("STANCHION") }
    }

    /// Makes sure of the lock that is named outside. The library does not see it: `--lock` counts more, or
    /// the command takes it over.
    pub(crate) fn check(&self) -> Result<(), String> {
        self.named().try_for_each(|(word, name)| {
            locks::check_word(&name).map_err(|why| format!("STANCHION: `{word}`: {why}"))
        })
    }

    /// The lock that is named outside, the last if there are several, as the library takes it.
    pub(crate) fn lock(&self) -> Result<Option<String>, String> {
        self.check()?;
        let name = self.named().last().map(|(_, name)| name);
        Ok(name.map(|name| if name == LIBC { LIBC_THROUGH.to_owned() } else { name }))
    }

    /// Words about locks, and the names in them.
    fn named(&self) -> impl Iterator<Item = (String, String)> {
        self.each().filter(|word| key(word) == b"lock").map(|word| {
            let word = String::from_utf8_lossy(word).into_owned();
            let name = word.split_once('=').map_or("", |(_, name)| name).to_owned();
            (word, name)
        })
    }

    fn each(&self) -> impl Iterator<Item = &[u8]> {
        let words = self.words.as_deref().unwrap_or_default().as_bytes();
        words.split(|&byte| byte == b',').map(<[u8]>::trim_ascii).filter(|word| !word.is_empty())
    }
}

/// What to set for a program that runs under a lock, which has no `LD_PRELOAD` else.
pub(crate) struct Environment(pub Vec<(&'static str, OsString)>);

impl Environment {
    /// `library` in front of what is preloaded already; `lock` and `words` for it, with the words outside
    /// that they do not contradict. Without a library, the program as it is without us.
    pub(crate) fn new(lock: &str, library: Option<&Path>, words: &[OsString], outer: &Outer) -> Self {
        let outside = outer.preload.as_deref().unwrap_or_default().as_bytes();
        let outside = outside.split(|byte| b": \t\n".contains(byte)).filter(|path| !path.is_empty());
        // The same library twice would be asked twice, and a comparison with libc must not have it at all.
        let others =
            outside.filter(|path| Path::new(OsStr::from_bytes(path)).file_name() != Some(FILE.as_ref()));
        let library_path = library.map(|path| path.as_os_str().as_bytes());
        let preloaded: Vec<&[u8]> = library_path.into_iter().chain(others).collect();
        let preload = OsString::from_vec(preloaded.join(&b':'));
        let preload = (!preload.is_empty()).then_some(("LD_PRELOAD", preload));
        let words = library.map(|_| ("STANCHION", all_words(lock, words, outer)));
        Self(preload.into_iter().chain(words).collect())
    }

    /// Whether a line of the loader's names our library.
    fn names(&self, line: &str) -> bool {
        let preloaded = self.0.iter().find(|(name, _)| *name == "LD_PRELOAD");
        let first = preloaded.and_then(|(_, paths)| paths.as_bytes().split(|&byte| byte == b':').next());
        first.is_some_and(|path| line.contains(&*String::from_utf8_lossy(path)))
    }

    pub(crate) fn apply(&self, command: &mut Command) {
        command.env_remove("LD_PRELOAD").envs(self.0.iter().cloned());
    }
}

fn all_words(lock: &str, words: &[OsString], outer: &Outer) -> OsString {
    let (lock, is_counted) = split(lock);
    let lock = format!("lock={}", if lock == LIBC_THROUGH { LIBC } else { lock });
    let counted = is_counted.then_some(&b"stats"[..]);
    let words = words.iter().map(|word| word.as_bytes());
    let ours: Vec<&[u8]> = [lock.as_bytes()].into_iter().chain(counted).chain(words).collect();
    let kept = outer.each().filter(|word| ours.iter().all(|own| key(own) != key(word)));
    OsString::from_vec(ours.iter().copied().chain(kept).collect::<Vec<_>>().join(&b','))
}

/// What a word is about: `spin` in `spin=200`.
fn key(word: &[u8]) -> &[u8] {
    word.split(|&byte| byte == b'=').next().unwrap_or(word).trim_ascii()
}

/// `key=path` as a word of `STANCHION`, where a comma ends a word.
pub(crate) fn word_of(key: &str, path: &Path) -> Result<OsString, String> {
    if path.as_os_str().as_bytes().contains(&b',') {
        let path = path.display();
        return Err(format!("--{key}: {path} has a comma in it, which the library cannot be told"));
    }
    let mut word = OsString::from(format!("{key}="));
    word.push(path);
    Ok(word)
}

const WORD: &str = "run-probe";
/// Behind it, if what is recorded is to tell what waiting costs.
const RECORDED: &str = "recorded";

/// How many sections of each kind the command records of itself when it tries the library.
const SECTIONS: u32 = 10_000;
/// For so long two threads want the same mutex: some ten thousand times, and more than a turn if they share a
/// CPU.
const TOGETHER: Duration = Duration::from_millis(10);

/// Takes pthread locks and ends the process, if the command started itself by [`WORD`]. The library may read
/// what it is told at the first lock only, and what it records of so many tells what that costs.
pub(crate) fn work(mut words: impl Iterator<Item = String>) {
    if words.next().as_deref() == Some(WORD) {
        crate::bench::take_pthread_locks(SECTIONS);
        if words.next().as_deref() == Some(RECORDED) {
            crate::bench::take_pthread_mutex_by_two(TOGETHER);
        }
        std::process::exit(0);
    }
}

/// Takes a lock in the environment of the program; the error is what loader or library had to say.
pub(crate) fn probe(environment: &Environment, is_recorded: bool) -> Result<(), String> {
    let mut command = Command::new("/proc/self/exe");
    command.arg(WORD).args(is_recorded.then_some(RECORDED));
    environment.apply(&mut command);
    if let Some((name, words)) = environment.0.iter().find(|(name, _)| *name == "STANCHION") {
        // What it says then is no complaint.
        let silent =
            words.as_bytes().split(|&byte| byte == b',').filter(|word| word.trim_ascii() != b"verbose");
        command.env(name, OsString::from_vec(silent.collect::<Vec<_>>().join(&b',')));
    }
    let output = command.output().map_err(|error| format!("the library cannot be tried: {error}"))?;
    let printed = String::from_utf8_lossy(&output.stderr);
    // What the loader says of libraries of the user's it says in the program, too, and runs that.
    let is_ours = |line: &str| !line.starts_with("ERROR: ld.so: object ") || environment.names(line);
    let printed = printed.lines().map(str::trim).find(|line| !line.is_empty() && is_ours(line));
    match (printed.map(complaint), output.status) {
        (Some(line), _) => Err(format!("the library does not do as asked: {line}")),
        (None, status) if status.success() => Ok(()),
        (None, status) => Err(format!("this command does not run with the library: {status}")),
    }
}

/// What the library says is wrong. What it does then it does in programs that run; none does here.
fn complaint(line: &str) -> &str {
    let line = line.trim_start_matches("stanchion: ");
    line.split_once("; the program runs with libc's own locks").map_or(line, |(wrong, _)| wrong)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::run::elf::tests::header32;
    use std::fs;

    /// A directory that looks like an installation, with a library (this test, for want of another) at `at`.
    fn installed(at: &str) -> (tempfile::TempDir, Result<PathBuf, String>) {
        let dir = tempfile::tempdir().expect("a temporary directory");
        let library = dir.path().join(at);
        fs::create_dir_all(library.parent().expect("a directory")).expect("created");
        fs::create_dir_all(dir.path().join("bin")).expect("created");
        fs::copy(std::env::current_exe().expect("this test is a file"), &library).expect("copied");
        let executable = dir.path().join("bin/stanchion");
        let found = find(None, None, Some(&executable));
        (dir, found)
    }

    #[test]
    fn a_word_of_the_library_holds_no_comma() {
        assert_eq!(word_of("record", Path::new("/a b")), Ok("record=/a b".into()));
        assert!(word_of("record", Path::new("/a,b")).expect_err("a comma").contains("comma"));
    }

    #[test]
    fn a_refusal_tells_of_no_program_that_runs() {
        let said = "stanchion: STANCHION: `foo`: not understood; the program runs with libc's own locks (lock= takes libc byte)";
        assert_eq!(complaint(said), "STANCHION: `foo`: not understood");
        assert_eq!(complaint("ld.so: no such file"), "ld.so: no such file");
    }

    #[test]
    fn it_is_found_beside_the_command_and_in_the_places_of_builds() {
        for at in ["bin", "lib", MULTIARCH, "release", "debug", "bin/target/release"] {
            let (dir, found) = installed(&format!("{at}/{FILE}"));
            let expected = dir.path().canonicalize().expect("exists").join(at).join(FILE);
            assert_eq!(found, Ok(expected), "{at}");
        }
        let (_, found) = installed("elsewhere/lib.so");
        assert!(
            found
                .expect_err("not there")
                .contains("cargo build --release -p stanchion-preload --features family")
        );
    }

    #[test]
    fn the_flag_comes_before_the_variable_and_both_before_the_usual_places() {
        let dir = tempfile::tempdir().expect("a temporary directory");
        let exe = std::env::current_exe().expect("this test is a file");
        let [flag, variable] = ["flag.so", "variable.so"].map(|name| {
            let path = dir.path().join(name);
            fs::copy(&exe, &path).expect("copied");
            path.canonicalize().expect("exists")
        });
        let find = |flag, variable| find(flag, variable, Some(&exe));
        assert_eq!(find(Some(flag.as_path()), Some(variable.as_os_str())), Ok(flag.clone()));
        assert_eq!(find(None, Some(variable.as_os_str())), Ok(variable.clone()));
        assert!(
            find(None, Some(OsStr::new("/none/x.so")))
                .expect_err("missing")
                .starts_with("STANCHION_PRELOAD /none")
        );
    }

    #[test]
    fn what_the_loader_would_not_load_is_refused() {
        let dir = tempfile::tempdir().expect("a temporary directory");
        let refused = |path: &Path| find(Some(path), None, None).expect_err("refused");
        let old = dir.path().join("old.so");
        fs::write(&old, header32(3)).expect("written");
        assert!(refused(&old).contains("32-bit"));
        assert!(refused(dir.path()).contains("is no file"));
        let blank = dir.path().join("a b.so");
        fs::copy(std::env::current_exe().expect("this test is a file"), &blank).expect("copied");
        assert!(refused(&blank).contains("blank or a colon"));
    }

    fn environment(
        lock: &str,
        library: Option<&str>,
        words: &[&str],
        preload: &str,
        outer: &str,
    ) -> Vec<String> {
        let words: Vec<OsString> = words.iter().map(OsString::from).collect();
        let outer = Outer { preload: Some(preload.into()), words: Some(outer.into()) };
        let Environment(all) = Environment::new(lock, library.map(Path::new), &words, &outer);
        all.into_iter().map(|(name, value)| format!("{name}={}", value.display())).collect()
    }

    #[test]
    fn the_library_comes_before_what_is_preloaded_already() {
        let set = environment("qspin", Some("/l/x.so"), &[], "", "");
        assert_eq!(set, ["LD_PRELOAD=/l/x.so", "STANCHION=lock=qspin"]);
        let set = environment("qspin", Some("/l/x.so"), &[], "/a.so /b.so:/c.so", "");
        assert_eq!(set[0], "LD_PRELOAD=/l/x.so:/a.so:/b.so:/c.so");
        let set = environment("qspin", Some("/l/x.so"), &[], &format!("/a.so:/old/{FILE}"), "");
        assert_eq!(set[0], "LD_PRELOAD=/l/x.so:/a.so", "not two of ours");
    }

    #[test]
    fn words_outside_are_kept_unless_they_contradict() {
        let set = environment("qspin", Some("/x.so"), &["spin=5"], "", "nopv, lock=byte,spin=9,,threshold=3");
        assert_eq!(set[1], "STANCHION=lock=qspin,spin=5,nopv,threshold=3");
        let set = environment("qspin+stats", Some("/x.so"), &[], "", "stats=/f");
        assert_eq!(set[1], "STANCHION=lock=qspin,stats");
    }

    #[test]
    fn a_lock_outside_must_be_one_that_the_library_knows() {
        let check = |words: &str| Outer { preload: None, words: Some(words.into()) }.check();
        for words in ["", "nopv,spin=5", "lock=libc", "spin=5, lock=cna ,nopv", "lock@x=nonsense"] {
            assert_eq!(check(words), Ok(()), "{words}");
        }
        for (words, word) in
            [("lock=nonsense", "lock=nonsense"), ("nopv, lock=xen-pv", "lock=xen-pv"), ("lock", "lock")]
        {
            let line = check(words).expect_err("no such lock");
            assert!(line.starts_with(&format!("STANCHION: `{word}`: ")), "{line}");
        }
        assert!(
            check("lock=libc-through").is_err() && check("lock=cna+stats").is_err(),
            "words of ours, not of the library's"
        );
    }

    #[test]
    fn libc_runs_without_the_library_or_through_it() {
        let outer = format!("/old/{FILE}");
        assert_eq!(environment("libc", None, &[], &outer, "nopv"), [""; 0], "nothing of ours");
        assert_eq!(environment("libc", None, &[], "/jemalloc.so", ""), ["LD_PRELOAD=/jemalloc.so"]);
        let mut command = Command::new("true");
        Environment(Vec::new()).apply(&mut command);
        assert_eq!(command.get_envs().collect::<Vec<_>>(), [("LD_PRELOAD".as_ref(), None)], "taken away");
        assert_eq!(environment("libc-through", Some("/x.so"), &[], "", "")[1], "STANCHION=lock=libc");
    }
}
