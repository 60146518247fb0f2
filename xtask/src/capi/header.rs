//! `cargo xtask header`: writes `stanchion.h` from the C interface, and `stanchion_family.h` from what its
//! feature `family` adds. What stands around the interface is in `cbindgen.toml` and `cbindgen_family.toml`.
//!
//! The interface is largely written by macros, so it is read as the compiler expands it. The option for that
//! is unstable, and asked for by naming the crate in `RUSTC_BOOTSTRAP`; what is built is the same.
use crate::built;
use crate::capi::install::VERSION;
use crate::process::shell;
use anyhow::{Result, anyhow, ensure};
use cbindgen::{Builder, Config};
use core::fmt::Write as _;
use stanchion_family::catalogue::MUTEXES;
use std::path::Path;
use std::process::ExitCode;
use std::{fs, str};
use xshell::cmd;

/// Where it is, from the root of the workspace.
pub(crate) const HEADER: &str = "crates/capi/include/stanchion.h";
/// The same of the types that come with the feature `family`.
pub(crate) const FAMILY_HEADER: &str = "crates/capi/include/stanchion_family.h";

/// Writes the headers, or with `check` says whether those that are there are what the code says.
pub(crate) fn run(root: &Path, check: bool) -> Result<ExitCode> {
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
fn generate(root: &Path, product: Option<&str>) -> Result<String> {
    let (file, features) = match product {
        None => ("cbindgen.toml", ""),
        Some(_) => ("cbindgen_family.toml", "family"),
    };
    let mut config =
        Config::from_file(root.join("crates/capi").join(file)).map_err(|error| anyhow!("{file}: {error}"))?;
    if let Some(text) = &mut config.after_includes {
        *text = text.replace("@VERSION@", VERSION);
    }
    let words = product.unwrap_or_default().split(|c: char| !c.is_alphanumeric() && c != '_');
    let ours = words.filter(|word| word.to_lowercase().starts_with("stanchion_"));
    config.export.exclude = ours.map(str::to_owned).collect();

    let sh = shell(root)?;
    let target = built::target(root).join("header");
    let cargo = cmd!(sh, "cargo rustc --quiet -p stanchion-capi --lib --features").arg(features);
    let cargo = cargo.arg("--target-dir").arg(&target).args(["--", "-Zunpretty=expanded"]);
    let expanded = cargo.env("RUSTC_BOOTSTRAP", "stanchion_c").read()?;
    ensure!(!expanded.is_empty(), "crates/capi expands to nothing");
    let source = target.join("expanded.rs");
    sh.write_file(&source, expanded)?;
    let mut text = Vec::new();
    Builder::new().with_config(config).with_src(&source).generate()?.write(&mut text);
    finish(str::from_utf8(&text)?, product.is_some())
}

/// Puts the initialisers behind their types, and says things in the words of C.
fn finish(text: &str, lists_each: bool) -> Result<String> {
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
    ensure!(types > 0, "the header has no type; the interface was not understood");
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
