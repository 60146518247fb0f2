//! All that a guest has said in one boot, and what it comes to.
use super::record::{
    self, Hardware, Line, Record, Test, TestOutcome, VERSION, Vcpu, WIDTH, Wake, Work, shown,
};
use serde::{Deserialize, Serialize};

const LAST_LINES: usize = 12;
/// A guest gone wild may not fill our memory: no sound one writes so many records, or kinds of stat lines.
const RECORDS_MOST: usize = 4096;
const STATS_MOST: usize = 8;
/// What a guest calls what only a broken lock does. Its other failures are its own, or of who started it.
const BROKEN: [&str; 3] = ["exclusion", "lost-update", "stall"];

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct Told {
    pub boot: Option<Hardware>,
    pub work: Option<Work>,
    pub vcpus: Vec<Vcpu>,
    pub wake: Option<Wake>,
    pub tests: Vec<Test>,
    /// The latest of locktorture's lines for writers and readers.
    pub stats: Vec<String>,
}

#[derive(Clone, Debug, Default)]
pub(crate) struct Transcript {
    pub told: Told,
    /// The first thing that must not be, and how many there were.
    failure: Option<String>,
    failed: usize,
    /// How many records have come, without those of which only the last one counts.
    records: usize,
    /// The guest has found a fault of the lock itself.
    has_found: bool,
    has_panicked: bool,
    /// The guest's verdict on itself, its last word.
    end: Option<bool>,
    pub log: Vec<String>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Ending {
    /// The guest, or QEMU.
    #[default]
    Own,
    /// We, because no guest had come up.
    NotUp,
    /// We, because the guest's time was over.
    Overdue,
    /// We, because it went on when nobody could hear it any more.
    Mute,
    /// We, because the user asked for it.
    Stopped,
}

/// The exit code of a guest that is content.
const CONTENT: i32 = 33;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum State {
    Finished,
    /// The time was over before the work was, and the guest said so itself.
    Unfinished,
    /// We ended it, because it did not when its time was over.
    Killed,
    Failed,
}

impl Transcript {
    /// Takes one line, and tells which record it was.
    pub(crate) fn take(&mut self, line: &Line) -> Option<Record> {
        if !line.text.starts_with('{') {
            if !line.text.trim().is_empty() {
                self.log.push(shown(&line.text, WIDTH));
                self.log.drain(..self.log.len().saturating_sub(LAST_LINES));
            }
            return None;
        }
        let record = record::parse(&line.text);
        match &record {
            Ok(record) => self.keep(record.clone()),
            Err(error) => {
                let what = match (line.cut, line.torn) {
                    (true, _) => "a record without end".to_owned(),
                    (_, true) => "only a part of a record".to_owned(),
                    _ => format!("a record that cannot be read ({error})"),
                };
                self.fail(format!("the guest wrote {what}: {}", shown(&line.text, 100)));
            }
        }
        record.ok()
    }

    fn fail(&mut self, what: String) {
        self.failed += 1;
        self.failure.get_or_insert(what);
    }

    fn keep(&mut self, record: Record) {
        self.records += usize::from(!matches!(record, Record::Progress { .. } | Record::Stat { .. }));
        if self.records > RECORDS_MOST && !matches!(record, Record::End { .. }) {
            return self.fail(format!("the guest wrote more than {RECORDS_MOST} records"));
        }
        match record {
            Record::Boot(boot) if self.told.boot.is_some() => {
                self.fail(format!("the guest booted twice, the second time with {} vCPUs", boot.vcpus));
            }
            Record::Boot(boot) => {
                if boot.version != VERSION {
                    let found = boot.version;
                    self.fail(format!(
                        "the image writes records of version {found}, this command reads {VERSION}; build it again: cargo xtask guest"
                    ));
                }
                self.told.boot = Some(boot);
            }
            Record::Test(test) => self.told.tests.push(test),
            // Lines come again and again; the last of each kind counts.
            Record::Stat { line, .. } => {
                let kind = |line: &str| line.split(':').next().unwrap_or_default().trim().to_owned();
                self.told.stats.retain(|known| kind(known) != kind(&line));
                self.told.stats.truncate(STATS_MOST - 1);
                self.told.stats.push(line);
            }
            Record::Vcpu(vcpu) => self.told.vcpus.push(vcpu),
            Record::Wake(wake) => self.told.wake = Some(wake),
            Record::Result(work) => self.told.work = Some(work),
            Record::Failure { what, detail } => {
                self.has_found |= BROKEN.contains(&what.as_str());
                self.fail(format!("{what}: {detail}"));
            }
            Record::Panic { message } => {
                self.has_panicked = true;
                self.fail(format!("the guest panicked: {message}"));
            }
            Record::End { ok } => self.end = Some(ok),
            Record::Progress { .. } | Record::Unknown => {}
        }
    }

    /// Whether the guest itself has found a fault, and said so to the end. A test that fails ends in a panic.
    pub(crate) fn has_caught(&self) -> bool {
        let work_is_wrong = self.told.work.as_ref().is_some_and(|work| !work.correct);
        let broken = self.has_found || work_is_wrong || self.broken().next().is_some();
        self.told.boot.is_some() && broken && (self.end == Some(false) || self.has_panicked)
    }

    fn broken(&self) -> impl Iterator<Item = &Test> {
        self.told.tests.iter().filter(|test| test.outcome == TestOutcome::Failed)
    }

    /// What it comes to, and what went wrong if it did. `code` is QEMU's exit code, `told` its end in words.
    pub(crate) fn state(&self, ending: Ending, code: Option<i32>, told: &str) -> (State, Option<String>) {
        let killed = |why: &str| (State::Killed, Some(format!("the guest was killed, as it {why}")));
        let reason = match (ending, self.end) {
            _ if self.failed > 0 => self.failures(),
            (Ending::Stopped, _) => "stopped".to_owned(),
            (Ending::Own, Some(true)) if code != Some(CONTENT) => {
                format!("the guest said that all is well, but {told}")
            }
            (Ending::Own, Some(false)) | (_, Some(true)) => return self.by_its_word(),
            (Ending::NotUp, _) => "the guest did not come up in time; see --boot-limit".to_owned(),
            (Ending::Overdue, _) => return killed("did not end at --limit"),
            (Ending::Mute, _) => return killed("closed its serial line and went on"),
            (Ending::Own, None) if self.told.boot.is_none() => format!("the guest did not come up: {told}"),
            (Ending::Own, None) => format!("the guest died without a word: {told}"),
        };
        (State::Failed, Some(reason))
    }

    /// The first thing that must not be, and how many more there were.
    fn failures(&self) -> String {
        let more = if self.failed > 1 { format!(" (and {} more)", self.failed - 1) } else { String::new() };
        shown(self.failure.as_deref().unwrap_or_default(), WIDTH) + &more
    }

    /// What a guest that came to its end says; that all is well is believed only if its records say so, too.
    fn by_its_word(&self) -> (State, Option<String>) {
        let reason = match (&self.told.work, self.broken().next()) {
            _ if self.told.boot.is_none() => "the guest ended without having booted".to_owned(),
            (_, Some(first)) => {
                let (broken, all) = (self.broken().count(), self.told.tests.len());
                format!("{broken} of {all} tests failed, the first: {}", first.name)
            }
            (Some(work), _) if !work.correct => {
                format!("{} is BROKEN: it let in who had to wait", work.lock)
            }
            (Some(work), _) if !work.finished => return (State::Unfinished, None),
            _ if self.end == Some(true) => return (State::Finished, None),
            _ => "the guest says that it failed, but not why".to_owned(),
        };
        (State::Failed, Some(reason))
    }
}

#[cfg(test)]
#[path = "transcript_tests.rs"]
mod tests;
