//! The state of a lock and of the queues of the process, as text for a report about a stall.
use crate::native::{self, Counting, Native};
use crate::raw::Raw;
use core::fmt::Write as _;
use stanchion_core::nodes::State;
use stanchion_core::tail::NodeCode;
use stanchion_core::{CpuId, RawLock};

/// Describes `lock` as `(tail,pending,locked)`, followed by every queue node and every wait's node in use in the process. The
/// fields are read one by one while others go on, so they may not fit together.
pub fn describe<C: Counting, L: RawLock<Platform = Native<C>>>(lock: &Raw<L>) -> String {
    let word = lock.inner().word();
    let tail = node_name(word.tail);
    let mut text = format!("{} ({tail},{},{})", L::NAME, word.pending, word.locked);
    for (cpu, level, [next, state, spot]) in native::nodes_in_use::<C>() {
        let state = ["waits or came first", "halted", "head", "let out"]
            .get(usize::from(state))
            .copied()
            .unwrap_or("?");
        let name = code_name(cpu, level);
        let _ = write!(text, "\n  node {name}: {state}, next {}, spot {spot}", node_name(next));
    }
    for (id, wait) in native::nodes::all().filter(|(_, wait)| wait.state() != State::Free) {
        let (older, newer) = wait.neighbours();
        let _ = write!(text, "\n  wait {}: {:?}, older {older}, newer {newer}", id.raw(), wait.state());
    }
    text
}

fn node_name(raw: u16) -> String {
    NodeCode::from_raw(raw).map_or_else(|| raw.to_string(), |code| code_name(code.cpu(), code.level()))
}

fn code_name(cpu: CpuId, level: usize) -> String {
    format!("t{}.{level}", cpu.index())
}
