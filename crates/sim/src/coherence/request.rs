//! When a core asks for a line, and when it has it.
use super::line::Line;
use crate::time::Time;

/// When a core has what it asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Served {
    /// From then on.
    pub(crate) at: Time,
    /// Whether it had to come from elsewhere.
    pub(crate) missed: bool,
    /// The core from which a read takes the line, and since when that has no copy any more.
    pub(crate) taken_from: Option<(usize, Time)>,
}

/// When a core asks.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Asked {
    /// The instruction comes.
    pub(crate) now: Time,
    /// The core has looked ahead, and asked so long before that.
    pub(crate) ahead: Time,
}

impl Asked {
    /// When the request for `line` is served, which is busy until `busy`: when the core asked, but after the
    /// last write, or the core would have had the line before that.
    pub(super) fn start(self, line: &Line, busy: Time) -> Time {
        let asked = self.now.saturating_sub(self.ahead).max(line.written_at.min(self.now));
        asked.max(busy)
    }
}

impl From<Time> for Asked {
    fn from(now: Time) -> Self {
        Self { now, ahead: 0 }
    }
}
