//! Tells `provenance.rs` what the binary is built from: compiler, commit, and whether the tree is dirty.
//!
//! What is missing (a source archive, no `git`; in a debug build the commit) is `unknown`, never an error.
use std::path::Path;
use std::process::Command;

/// What the command is built from. It is clean when these are as the commit has them.
const BUILT_FROM: &[&str] = &["Cargo.lock", "Cargo.toml", "crates", "machines", "published", "workloads"];

fn main() {
    let compiler = std::env::var_os("RUSTC").and_then(|rustc| output(Command::new(rustc).arg("--version")));
    let profile = std::env::var("PROFILE").ok();
    // A debug build is for tests, and every commit would build all of it again.
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let built_from = if profile.as_deref() == Some("release") { git(&root) } else { None };
    let (commit, tree) = built_from.unzip();
    println!("cargo::rerun-if-changed=build.rs");
    let told = [("RUSTC", compiler), ("BUILD", profile), ("COMMIT", commit), ("DIRTY", tree.flatten())];
    for (name, value) in told {
        println!("cargo::rustc-env=STANCHION_{name}={}", value.as_deref().unwrap_or("unknown"));
    }
}

/// The commit, and `clean` or `dirty`, of the checkout whose root is this workspace.
///
/// It changes with `HEAD`, with each line of its log, with the branch, and with what the command is built
/// from. Cargo takes a path that does not exist for a reason to run this every time.
fn git(root: &Path) -> Option<(String, Option<String>)> {
    let run = |args: &[&str]| output(Command::new("git").arg("-C").arg(root).args(args));
    // An unpacked archive inside somebody else's repository must not borrow that repository's commit.
    let top = Path::new(&run(&["rev-parse", "--show-toplevel"])?).canonicalize().ok()?;
    if top != root.canonicalize().ok()? {
        return None;
    }
    let place = |name: &str| run(&["rev-parse", "--git-path", name]);
    let branch = run(&["symbolic-ref", "--quiet", "HEAD"]).and_then(|branch| place(&branch));
    let in_git = [place("HEAD"), place("logs/HEAD"), branch].into_iter().flatten();
    let built_from = BUILT_FROM.iter().map(|&name| name.to_owned());
    for path in in_git.chain(built_from).map(|path| root.join(path)).filter(|path| path.exists()) {
        println!("cargo::rerun-if-changed={}", path.display());
    }
    let commit = run(&["rev-parse", "--verify", "HEAD"])?;
    let changes = run(&[&["status", "--porcelain", "--"], BUILT_FROM].concat());
    let tree = changes.map(|changes| if changes.is_empty() { "clean" } else { "dirty" }.to_owned());
    Some((commit, tree))
}

fn output(command: &mut Command) -> Option<String> {
    let output = command.output().ok().filter(|output| output.status.success())?;
    Some(String::from_utf8(output.stdout).ok()?.trim().to_owned())
}
