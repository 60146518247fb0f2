//! parking_lot's own tests as a program of their own, in which `crate::Mutex` is what another crate offers.
//! Made below the target directory; none of it is kept.
use crate::files::{ending_in, stem};
use crate::workspace::Source;
use anyhow::{Context as _, Result, anyhow};
use core::fmt::Write as _;
use std::fs;
use std::path::Path;
use syn::spanned::Spanned as _;

/// Writes the tests of the modules in `src` into one program, with the helpers. Those named `inside` are left
/// out.
pub(super) fn write(src: &Path, program: &Path, helpers: &str, inside: &[String]) -> Result<()> {
    let mut text = format!("#![allow(warnings)]\npub use parking_lot::*;\n{helpers}");
    for path in ending_in(&["rs"], src)? {
        let tests =
            tests_of(&fs::read_to_string(&path)?, inside).with_context(|| path.display().to_string())?;
        if !tests.is_empty() {
            let _ = write!(text, "mod {} {{\n{tests}}}\n", stem(&path));
        }
    }
    Ok(fs::write(program, text)?)
}

/// The test modules of a file.
fn tests_of(text: &str, inside: &[String]) -> Result<String> {
    let source = Source::parse("", text).map_err(|finding| anyhow!("{finding}"))?;
    let lines: Vec<&str> = text.lines().collect();
    let mut kept = String::new();
    for item in &source.file.items {
        let syn::Item::Mod(module) = item else { continue };
        let name = module.ident.span().start().line;
        let Some((_, items)) = module.content.as_ref().filter(|_| source.in_tests(name)) else { continue };
        let gone: Vec<_> = items.iter().filter(|item| is_private(item, inside)).map(extent).collect();
        let (first, last) = extent(item);
        for line in first..=last {
            if !gone.iter().any(|&(from, to)| (from..=to).contains(&line)) {
                let _ = writeln!(kept, "{}", lines[line - 1]);
            }
            if line == name {
                kept.push_str("use crate::Helper as _;\n");
            }
        }
    }
    Ok(kept)
}

/// A test that is left out, or something of the module's own.
fn is_private(item: &syn::Item, inside: &[String]) -> bool {
    match item {
        syn::Item::Fn(function) => inside.iter().any(|name| function.sig.ident == name),
        syn::Item::Use(path) => matches!(&path.tree, syn::UseTree::Path(path) if path.ident == "super"),
        _ => false,
    }
}

/// First and last line, attributes included.
fn extent(item: &syn::Item) -> (usize, usize) {
    (item.span().start().line, item.span().end().line)
}

#[cfg(test)]
mod tests {
    use super::*;

    const SOURCE: &str = "\
use core::fmt;
pub struct Once(AtomicU8);
#[cfg(test)]
#[cfg(feature = \"serde\")]
mod tests {
    use super::PARKED_BIT;
    use crate::Once;
    #[test]
    fn looks_inside() {
        assert_eq!(Once::new().0, 0);
    }
    #[test]
    fn smoke() {}
}
#[cfg(not(test))]
mod other {}
";

    #[test]
    fn tests_are_taken_without_what_is_private() {
        let tests = tests_of(SOURCE, &["looks_inside".to_owned()]).expect("it parses");
        let wanted = "#[cfg(test)]\n#[cfg(feature = \"serde\")]\nmod tests {\nuse crate::Helper as _;\n    use crate::Once;\n    #[test]\n    fn smoke() {}\n}\n";
        assert_eq!(tests, wanted);
    }
}
