//! The fast paths as functions of their own, so that `cargo xtask fastpath` can count their instructions.
fn main() {}
