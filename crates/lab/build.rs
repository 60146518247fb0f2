//! Passes what the binary was built from to `provenance.rs`: compiler, commit, and whether the tree was dirty.
//!
//! Everything here may be missing (a source archive, no `git`): the answer is then `unknown`, never an error.
use std::path::Path;
use std::process::Command;

fn main() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let rustc = std::env::var("RUSTC").unwrap_or_else(|_| "rustc".to_owned());
    let compiler = output(Command::new(rustc).arg("--version"));
    println!("cargo::rustc-env=STANCHION_RUSTC={}", compiler.as_deref().unwrap_or("unknown"));
    let profile = std::env::var("PROFILE").unwrap_or_else(|_| "unknown".to_owned());
    println!("cargo::rustc-env=STANCHION_BUILD={profile}");

    let (commit, dirty) = git(&root);
    println!("cargo::rustc-env=STANCHION_COMMIT={commit}");
    println!("cargo::rustc-env=STANCHION_DIRTY={dirty}");

    // Only paths that exist: Cargo would take a missing one for a reason to run this every time.
    println!("cargo::rerun-if-changed=build.rs");
    for path in ["crates", "Cargo.lock", ".git/HEAD", ".git/index", ".git/refs/heads"] {
        let path = root.join(path);
        if path.exists() {
            println!("cargo::rerun-if-changed={}", path.display());
        }
    }
}

/// The commit and `clean`, `dirty` or `unknown`, of the checkout whose root is this workspace.
fn git(root: &Path) -> (String, &'static str) {
    let unknown = ("unknown".to_owned(), "unknown");
    let run = |args: &[&str]| output(Command::new("git").arg("-C").arg(root).args(args));
    // An unpacked archive inside somebody else's repository must not borrow that repository's commit.
    let top = run(&["rev-parse", "--show-toplevel"]).and_then(|top| Path::new(&top).canonicalize().ok());
    if top.is_none() || top != root.canonicalize().ok() {
        return unknown;
    }
    let Some(commit) = run(&["rev-parse", "--verify", "HEAD"]) else { return unknown };
    let dirty = match run(&["status", "--porcelain"]) {
        Some(changes) if changes.is_empty() => "clean",
        Some(_) => "dirty",
        None => "unknown",
    };
    (commit, dirty)
}

fn output(command: &mut Command) -> Option<String> {
    let output = command.output().ok().filter(|output| output.status.success())?;
    Some(String::from_utf8(output.stdout).ok()?.trim().to_owned())
}
