//! `cargo xtask header`: writes `stanchion.h` from the C interface, and `stanchion_family.h` from what its
//! feature `family` adds.
//!
//! The interface is largely written by macros, so it is read as the compiler expands it. The option for that
//! is unstable, and asked for by naming the crate in `RUSTC_BOOTSTRAP`; what is built is the same.
use crate::built;
use crate::capi::shared::{self, failed};
use cbindgen::{Builder, Config, DocumentationStyle, Language, Style};
use core::fmt::Write as _;
use stanchion_family::catalogue::MUTEXES;
use std::collections::BTreeSet;
use std::path::Path;
use std::process::{Command, ExitCode};
use std::{fs, io};

/// Where it is, from the root of the workspace.
pub(crate) const HEADER: &str = "crates/capi/include/stanchion.h";
/// The same of the types that come with the feature `family`.
pub(crate) const FAMILY_HEADER: &str = "crates/capi/include/stanchion_family.h";

const PREAMBLE: &str = "\
/*
 * stanchion.h - locks that hold up when threads outnumber cores
 *
 * Written by `cargo xtask header` from crates/capi/src; do not edit. MIT or Apache-2.0, at your choice.
 *
 * USE
 *     static stanchion_mutex_t mutex = STANCHION_MUTEX_INIT;
 *
 *     stanchion_mutex_lock(&mutex);
 *     ...
 *     stanchion_mutex_unlock(&mutex);
 *
 *     cc program.c $(pkg-config --cflags --libs stanchion)
 *
 * TYPES
 *     The lock is chosen by the type. stanchion_mutex_t is the default; stanchion_checked_mutex_t tells misuse; those of reader-writer
 *     locks follow. stanchion_family.h has the locks that these are compared with. Each type has a STANCHION_..._INIT, which is all zeroes: static and calloc()ed objects need none. There is nothing to
 *     destroy. Objects are shared by the threads of one process, not by processes.
 *
 * ERRORS
 *     Functions that return int return 0 or an error number, as in pthreads, and leave errno alone. A null or misaligned pointer is EINVAL.
 *     What stands under \"Caller\" is not checked: otherwise the behaviour is undefined.
 *
 * TIME
 *     Deadlines are points of time, not spans. Where no clock is named it is CLOCK_MONOTONIC.
 *
 * SIGNALS, CANCELLATION, FORK
 *     Functions of spinning and sleeping locks may be called in a signal handler, by a thread that does not hold or wait for the same lock.
 *     Those of condition variables, events and tunables must not. No function is a cancellation point; none may be cancelled asynchronously.
 *     After a fork the child can use every object that was free, and none that had waiters.
 *
 * FAULTS
 *     No Rust panic and no C++ exception leaves a function. If the library finds a fault in itself, the process ends by abort() after one
 *     line on the standard error output that begins with \"stanchion:\".
 */";

const FAMILY_PREAMBLE: &str = "\
/*
 * stanchion_family.h - the locks that stanchion.h is compared with, and came from
 *
 * Written by `cargo xtask header` from crates/capi/src; do not edit. MIT or Apache-2.0, at your choice.
 *
 * The library has them if it was built with the feature `family` (`cargo xtask install --family`). What stanchion.h says of types, errors,
 * time, signals and faults holds for them, too.
 */";

const MACROS: &str = "\
#ifdef __cplusplus
#define STANCHION_NOEXCEPT noexcept
/** What every object of this library is made of before its first use. */
#define STANCHION_INIT {}
#else
#define STANCHION_NOEXCEPT
/** What every object of this library is made of before its first use. */
#define STANCHION_INIT {0}
#endif

/** A free per-CPU lock of a class, given by its address. */
#define STANCHION_PERCPU_RWLOCK_INIT_IN(class_) {(class_), {0, 0, 0}}
";

/// Writes the headers, or with `check` says whether those that are there are what the code says.
pub(crate) fn run(root: &Path, check: bool) -> io::Result<ExitCode> {
    let product = generate(root, None)?;
    let family = generate(root, Some(&product))?;
    let mut code = ExitCode::SUCCESS;
    for (header, wanted) in [(HEADER, product), (FAMILY_HEADER, family)] {
        let path = root.join(header);
        if !check {
            fs::write(&path, wanted)?;
            println!("header: wrote {header}");
            continue;
        }
        let found = fs::read_to_string(&path).unwrap_or_default();
        if let Some(line) = first_difference(&found, &wanted) {
            println!("header: {header}:{line} is not what crates/capi/src says; run `cargo xtask header`");
            code = ExitCode::FAILURE;
        } else {
            println!("header: {header} is current");
        }
    }
    Ok(code)
}

/// The number of the first line that differs.
fn first_difference(found: &str, wanted: &str) -> Option<usize> {
    if found == wanted {
        return None;
    }
    Some(found.lines().zip(wanted.lines()).take_while(|(a, b)| a == b).count() + 1)
}

/// The header of the product; or, given that, the header of what the feature adds.
fn generate(root: &Path, product: Option<&str>) -> io::Result<String> {
    let target = built::target(root).join("header");
    fs::create_dir_all(&target)?;
    let expanded = Command::new("cargo")
        .args(["rustc", "--quiet", "-p", "stanchion-capi", "--lib"])
        .args(product.map_or(&[][..], |_| &["--features", "family"]))
        .arg("--target-dir")
        .arg(&target)
        .args(["--", "-Zunpretty=expanded"])
        .env("RUSTC_BOOTSTRAP", "stanchion_c")
        .current_dir(root)
        .output()?;
    if !expanded.status.success() || expanded.stdout.is_empty() {
        eprint!("{}", String::from_utf8_lossy(&expanded.stderr));
        return Err(io::Error::other("crates/capi does not expand; see what the compiler says above"));
    }
    let source = target.join("expanded.rs");
    fs::write(&source, &expanded.stdout)?;
    let config = match product {
        None => config(&shared::version(root)?),
        Some(product) => family_config(product),
    };
    let bindings = Builder::new()
        .with_config(config)
        .with_src(&source)
        .generate()
        .map_err(|error| io::Error::other(format!("{}: {error}", source.display())))?;
    let mut text = Vec::new();
    bindings.write(&mut text);
    finish(&String::from_utf8(text).map_err(|_| failed("the header is no text"))?, product.is_some())
}

/// The same form without what the product's header has.
fn family_config(product: &str) -> Config {
    let mut config = config("");
    config.header = Some(FAMILY_PREAMBLE.to_owned());
    config.include_guard = Some("STANCHION_FAMILY_H".to_owned());
    config.sys_includes = Vec::new();
    config.includes = vec!["stanchion.h".to_owned()];
    config.after_includes = None;
    let words = product.split(|c: char| !c.is_alphanumeric() && c != '_');
    let names: BTreeSet<_> = words.filter(|word| word.to_lowercase().starts_with("stanchion_")).collect();
    config.export.exclude = names.into_iter().map(str::to_owned).collect();
    config
}

fn config(version: &str) -> Config {
    let mut config = Config {
        language: Language::C,
        style: Style::Both,
        cpp_compat: true,
        header: Some(PREAMBLE.to_owned()),
        include_guard: Some("STANCHION_H".to_owned()),
        no_includes: true,
        sys_includes: ["stdbool.h", "stddef.h", "stdint.h", "time.h"].map(str::to_owned).to_vec(),
        after_includes: Some(format!(
            "\n/** The version of this header; `stanchion_version` is that of the library. */\n#define STANCHION_VERSION \"{version}\"\n\n{MACROS}"
        )),
        usize_is_size_t: true,
        documentation_style: DocumentationStyle::Doxy,
        line_length: 140,
        ..Config::default()
    };
    config.function.postfix = Some("STANCHION_NOEXCEPT".to_owned());
    config.export.rename.insert("timespec".to_owned(), "struct timespec".to_owned());
    config
}

/// Puts the initialisers behind their types, and says things in the words of C.
fn finish(text: &str, lists_each: bool) -> io::Result<String> {
    let text = text.replace("\n *\n * # Safety\n *\n * ", "\n *\n * Caller: ");
    let text = text.replace("/**\n   * For the library alone.\n   */", "/* For the library alone. */");
    let text = text.replace("\nSTANCHION_NOEXCEPT;", " STANCHION_NOEXCEPT;");
    let mut out = String::new();
    let mut types = 0;
    for line in text.lines() {
        let _ = writeln!(out, "{line}");
        if let Some(name) = line.strip_prefix("} stanchion_").and_then(|rest| rest.strip_suffix("_t;")) {
            let _ = writeln!(out, "#define STANCHION_{}_INIT STANCHION_INIT", name.to_uppercase());
            types += 1;
        }
    }
    if types == 0 {
        return Err(failed("the header has no type; the interface was not understood"));
    }
    if !lists_each {
        return Ok(out);
    }
    Ok(out.replacen(FIRST_FUNCTION, &format!("\n{}{FIRST_FUNCTION}", each_family(&text)), 1))
}

/// Where the functions begin.
const FIRST_FUNCTION: &str = "\n#ifdef __cplusplus\nextern \"C\" {";

/// A macro that calls another with each lock of the catalogue that has a type of its own in `text`, and with
/// the size of that.
fn each_family(text: &str) -> String {
    let mut out = String::from(
        "/** `STANCHION_EACH_FAMILY(X)` is `X(name, bytes)` for each type of the family: `stanchion_name_t` has so many bytes. */\n\
         #define STANCHION_EACH_FAMILY(X)",
    );
    for facts in MUTEXES {
        let name = facts.name.replace('-', "_");
        if text.contains(&format!("}} stanchion_{name}_t;")) {
            let _ = write!(out, " \\\n    X({name}, {})", facts.bytes);
        }
    }
    out.push('\n');
    out
}

#[cfg(test)]
mod tests {
    use super::*;

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

    #[test]
    fn the_first_different_line_is_named() {
        assert_eq!(first_difference("a\nb\n", "a\nb\n"), None);
        assert_eq!(first_difference("a\nb\n", "a\nc\n"), Some(2));
        assert_eq!(first_difference("", "a\n"), Some(1));
    }
}
