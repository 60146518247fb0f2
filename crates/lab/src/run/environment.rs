//! What the program's environment has more than ours: `LD_PRELOAD` and `STANCHION`.
use super::locks::{self, LIBC, LIBC_THROUGH, split};
use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::Path;

/// The name of the library's file.
pub(crate) const FILE: &str = "libstanchion_preload.so";

/// Both variables as they are outside.
#[derive(Clone, Debug, Default)]
pub(crate) struct Outer {
    pub preload: Option<OsString>,
    pub words: Option<OsString>,
}

impl Outer {
    pub(crate) fn here() -> Self {
        Self { preload: std::env::var_os("LD_PRELOAD"), words: std::env::var_os("STANCHION") }
    }

    /// Makes sure of the lock that is named outside, which the library never sees: `--lock` counts more. The
    /// error is one line.
    pub(crate) fn check(&self) -> Result<(), String> {
        self.each().filter(|word| key(word) == b"lock").try_for_each(|word| {
            let word = String::from_utf8_lossy(word);
            let name = word.split_once('=').map_or("", |(_, name)| name);
            locks::check_word(name).map_err(|why| format!("STANCHION: `{word}`: {why}"))
        })
    }

    fn each(&self) -> impl Iterator<Item = &[u8]> {
        let words = self.words.as_deref().unwrap_or_default().as_bytes();
        words.split(|&byte| byte == b',').map(<[u8]>::trim_ascii).filter(|word| !word.is_empty())
    }
}

/// What to set, and what to take away, for a program that runs under a lock.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Environment(pub Vec<(&'static str, Option<OsString>)>);

impl Environment {
    /// `library` in front of what is preloaded already; `lock` and `words` for it, with the words outside
    /// that they do not contradict. Without a library, the program as it is without us.
    pub(crate) fn new(lock: &str, library: Option<&Path>, words: &[OsString], outer: &Outer) -> Self {
        let outside = outer.preload.as_deref().unwrap_or_default().as_bytes();
        let outside = outside.split(|byte| b": \t\n".contains(byte)).filter(|path| !path.is_empty());
        // The same library twice would be asked twice, and a comparison with libc must not have it at all.
        let others =
            outside.filter(|path| Path::new(OsStr::from_bytes(path)).file_name() != Some(FILE.as_ref()));
        let preloaded: Vec<&[u8]> =
            library.iter().map(|path| path.as_os_str().as_bytes()).chain(others).collect();
        let preload = (!preloaded.is_empty()).then(|| OsString::from_vec(preloaded.join(&b':')));
        let mut variables = vec![("LD_PRELOAD", preload)];
        if library.is_some() {
            variables.push(("STANCHION", Some(all_words(lock, words, outer))));
        }
        Self(variables)
    }

    pub(crate) fn apply(&self, command: &mut std::process::Command) {
        for (name, value) in &self.0 {
            match value {
                Some(value) => command.env(name, value),
                None => command.env_remove(name),
            };
        }
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

#[cfg(test)]
mod tests {
    use super::*;

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
        all.into_iter()
            .map(|(name, value)| {
                format!(
                    "{name}={}",
                    value.map_or_else(|| "-".into(), |value| value.to_string_lossy().into_owned())
                )
            })
            .collect()
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
        assert_eq!(environment("libc", None, &[], &outer, "nopv"), ["LD_PRELOAD=-"]);
        assert_eq!(environment("libc", None, &[], "/jemalloc.so", ""), ["LD_PRELOAD=/jemalloc.so"]);
        assert_eq!(environment("libc-through", Some("/x.so"), &[], "", "")[1], "STANCHION=lock=libc");
    }
}
