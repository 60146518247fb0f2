//! `cargo xtask header`: writes `stanchion.h` from the C interface, and `stanchion_family.h` from what its
//! feature `family` adds. What stands around the interface is in `cbindgen.toml` and `cbindgen_family.toml`.
//!
//! The interface is largely written by macros, so it is read as the compiler expands it. The option for that
//! is unstable, and asked for by naming the crate in `RUSTC_BOOTSTRAP`; what is built is the same.
use crate::built;
use crate::capi::install::VERSION;
use crate::process::shell;
use crate::workspace;
use anyhow::{Result, anyhow, ensure};
use cbindgen::{Builder, Config};
use regex::{Captures, Regex};
use stanchion_family::catalogue::MUTEXES;
use std::path::Path;
use xshell::cmd;

/// Where they are, from the root of the workspace.
pub(crate) const HEADER: &str = "crates/capi/include/stanchion.h";
pub(crate) const FAMILY_HEADER: &str = "crates/capi/include/stanchion_family.h";

pub(crate) fn run(root: &Path, check: bool) -> Result<bool> {
    let product = text(root, None)?;
    let family = text(root, Some(&product))?;
    let of_product = workspace::generate(root, HEADER, &product, check, "header")?;
    let of_family = workspace::generate(root, FAMILY_HEADER, &family, check, "header")?;
    Ok(of_product && of_family)
}

/// The header of the product; or, given that, the header of what the feature adds.
fn text(root: &Path, product: Option<&str>) -> Result<String> {
    let (file, features) =
        if product.is_none() { ("cbindgen.toml", "") } else { ("cbindgen_family.toml", "family") };
    let mut config =
        Config::from_file(root.join("crates/capi").join(file)).map_err(|error| anyhow!("{file}: {error}"))?;
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
    let mut bytes = Vec::new();
    Builder::new().with_config(config).with_src(&source).generate()?.write(&mut bytes);
    finish(&String::from_utf8(bytes)?.replace("@VERSION@", VERSION), product.is_some())
}

/// Puts the initialisers behind their types, and says things in the words of C.
fn finish(text: &str, lists_each: bool) -> Result<String> {
    let text = text.replace("\n *\n * # Safety\n *\n * ", "\n *\n * Caller: ");
    let text = text.replace("/**\n   * For the library alone.\n   */", "/* For the library alone. */");
    let text = text.replace("\nSTANCHION_NOEXCEPT;", " STANCHION_NOEXCEPT;");
    let types = Regex::new(r"(?m)^\} stanchion_(\w+)_t;$")?;
    ensure!(types.is_match(&text), "the header has no type; the interface was not understood");
    let with_initialiser = |found: &Captures<'_>| {
        format!("{}\n#define STANCHION_{}_INIT STANCHION_INIT", &found[0], found[1].to_uppercase())
    };
    let out = types.replace_all(&text, with_initialiser).into_owned();
    if !lists_each {
        return Ok(out);
    }
    Ok(out.replacen(FIRST_FUNCTION, &format!("\n{}{FIRST_FUNCTION}", each_family(&text)), 1))
}

const FIRST_FUNCTION: &str = "\n#ifdef __cplusplus\nextern \"C\" {";

/// A macro that calls another with each lock of the catalogue that has a type of its own in `text`, and with
/// the size of that.
fn each_family(text: &str) -> String {
    let types = MUTEXES.iter().map(|facts| (facts.name.replace('-', "_"), facts.bytes));
    let types = types.filter(|(name, _)| text.contains(&format!("}} stanchion_{name}_t;")));
    let calls: Vec<String> = types.map(|(name, bytes)| format!(" \\\n    X({name}, {bytes})")).collect();
    let calls = calls.concat();
    format!(
        "/** `STANCHION_EACH_FAMILY(X)` is `X(name, bytes)` for each type of the family: `stanchion_name_t` has so many bytes. */\n\
         #define STANCHION_EACH_FAMILY(X){calls}\n"
    )
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
}
