//! What stands in the place of `family.rs` without the feature `family`.
use super::kinds::Counting;

/// There are no nodes to describe.
pub(crate) fn describe_nodes<C: Counting>(_text: &mut String) {}

/// The last field of a word, for reports.
pub(crate) fn tail_name(raw: u16) -> String {
    raw.to_string()
}
