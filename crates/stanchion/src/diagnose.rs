//! The state of a lock and of the queues of the process, as text for a report about a stall.
use crate::native::{self, Counting, Native};
use crate::raw::Raw;
use core::fmt::Write as _;
use stanchion_core::RawLock;
use stanchion_core::nodes::State;
use stanchion_core::numbers::NodeId;
use stanchion_core::transitions::Word;

/// Describes `lock` as `(tail,pending,locked)`, followed by every queue node and every wait's node in use in
/// the process. The fields are read one by one while others go on, so they may not fit together.
pub fn describe<C: Counting, L: RawLock<Platform = Native<C>>>(lock: &Raw<L>) -> String {
    tell(L::NAME, lock.inner().word(), native::describe_nodes::<C>)
}

/// The same for all locks, so that it is compiled once.
fn tell(name: &str, word: Word, describe_nodes: fn(&mut String)) -> String {
    let tail = native::tail_name(word.tail);
    let mut text = format!("{name} ({tail},{},{})", word.pending, word.locked);
    describe_nodes(&mut text);
    for (id, wait) in native::nodes::all().filter(|(_, wait)| wait.state() != State::Free) {
        let report = wait.report();
        let [older, newer] = [report.older, report.newer].map(|node| node.map_or(0, NodeId::raw));
        let _ = write!(text, "\n  wait {}: {:?}, older {older}, newer {newer}", id.raw(), wait.state());
    }
    text
}
