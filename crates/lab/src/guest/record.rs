//! What comes over a guest's serial line: lines, and among them the records of its report channel, which are
//! JSON told apart by `record`. Lines are of limited length, and texts harmless, whatever the bytes are.
use serde::{Deserialize, Deserializer, Serialize};
use std::io::{self, BufRead, Read};

/// Of the records that this command reads.
pub(crate) const VERSION: u32 = 1;

/// Longer lines are cut: no record is as long, and a guest gone wild may not fill our memory.
const LONGEST: usize = 1 << 16;
/// The most characters that a terminal is shown of a line, of a failure, or of a text within a record, before
/// a `…` for the others. A guest that is stuck tells what each vCPU does.
pub(crate) const WIDTH: usize = 400;

/// One line without its end.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Line {
    pub text: String,
    /// More of it was dropped.
    pub cut: bool,
    /// The bytes ended before the line did.
    pub torn: bool,
}

impl Line {
    pub(crate) fn next(from: &mut impl BufRead) -> io::Result<Option<Self>> {
        let mut bytes = Vec::new();
        if from.take(LONGEST as u64 + 1).read_until(b'\n', &mut bytes)? == 0 {
            return Ok(None);
        }
        let ended = bytes.pop_if(|last| *last == b'\n').is_some();
        let cut = bytes.len() > LONGEST;
        if cut {
            bytes.truncate(LONGEST);
            from.skip_until(b'\n')?;
        }
        let text = String::from_utf8_lossy(&bytes).trim_end_matches('\r').to_owned();
        Ok(Some(Self { text, cut, torn: !ended }))
    }
}

/// A line fit for a terminal: no control characters, and not longer than `most`.
pub(crate) fn shown(text: &str, most: usize) -> String {
    let harmless = |c: char| match c {
        '\n' | '\t' => ' ',
        c if c.is_control() => '\u{fffd}',
        c => c,
    };
    let mut clean: String = text.chars().take(most).map(harmless).collect();
    if text.chars().nth(most).is_some() {
        clean.push('…');
    }
    clean
}

#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(tag = "record", rename_all = "lowercase")]
pub(crate) enum Record {
    /// The first: the machine as the guest found it.
    Boot(Hardware),
    Test(Test),
    Progress {
        done: u64,
        of: u64,
        #[serde(deserialize_with = "harmless")]
        what: String,
    },
    /// A line as the kernel's locktorture prints it.
    Stat {
        #[serde(deserialize_with = "harmless")]
        line: String,
    },
    Vcpu(Vcpu),
    Wake(Wake),
    Result(Work),
    Failure {
        what: String,
        detail: String,
    },
    /// The guest's kernel gave up.
    Panic {
        message: String,
    },
    /// The last: whether all went well.
    End {
        ok: bool,
    },
    /// A kind that a later guest may have.
    #[serde(other)]
    Unknown,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[expect(clippy::struct_excessive_bools, reason = "each is one thing that a hypervisor may offer")]
pub(crate) struct Hardware {
    pub version: u32,
    pub vcpus: u16,
    pub nodes: u16,
    #[serde(deserialize_with = "harmless")]
    pub hypervisor: String,
    pub tsc_hz: u64,
    pub x2apic: bool,
    pub steal_time: bool,
    pub kick_hypercall: bool,
    pub yield_hypercall: bool,
    /// From the guest's first instruction to this record.
    pub boot_ns: u64,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Test {
    #[serde(deserialize_with = "harmless")]
    pub name: String,
    pub outcome: TestOutcome,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub detail: Option<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum TestOutcome {
    Ok,
    Failed,
    Ignored,
}

impl TestOutcome {
    /// As `cargo test` tells it; but who searches a log for failures is not to find one that is `expected`.
    pub(crate) fn told(self, expected: bool) -> &'static str {
        match self {
            Self::Ok => "ok",
            Self::Failed if expected => "failed, as expected",
            Self::Failed => "FAILED",
            Self::Ignored => "ignored",
        }
    }
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Vcpu {
    #[serde(rename = "vcpu")]
    pub number: u16,
    pub acquisitions: u64,
    /// In the workload itself.
    pub work_ns: u64,
    /// In slow paths of the lock.
    pub slow_ns: u64,
    pub idle_ns: Option<u64>,
    pub halts: u64,
    pub halted_ns: u64,
    pub kicks_sent: u64,
    /// Kicks that found the vCPU halted.
    pub kicks_woke: u64,
    pub ticks: u64,
}

/// From a kick to the kicked vCPU running again.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Wake {
    pub p50_ns: u64,
    pub p99_ns: u64,
    pub max_ns: u64,
    pub count: u64,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct Work {
    pub workload: String,
    #[serde(deserialize_with = "harmless")]
    pub lock: String,
    pub elapsed_ns: u64,
    pub operations: u64,
    /// False if the time was over first.
    pub finished: bool,
    /// False if a lock let somebody in who had to wait.
    pub correct: bool,
    pub wait_p50_ns: Option<u64>,
    pub wait_p99_ns: Option<u64>,
    pub wait_max_ns: Option<u64>,
    pub fairness: Option<Fairness>,
    pub reads: Option<u64>,
    pub writes: Option<u64>,
    /// What a millisecond of work is, in turns of the guest's compute loop.
    pub rate: Option<u64>,
}

/// The vCPUs with the fewest and the most acquisitions.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Fairness {
    pub min: f64,
    pub max: f64,
}

fn harmless<'de, D: Deserializer<'de>>(from: D) -> Result<String, D::Error> {
    String::deserialize(from).map(|text| shown(&text, WIDTH))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(line: &str) -> Result<Record, String> {
        serde_json::from_str(line).map_err(|error| error.to_string())
    }

    /// With a buffer that holds less than a line.
    fn lines(bytes: &[u8]) -> Vec<Line> {
        let mut from = io::BufReader::with_capacity(2, bytes);
        core::iter::from_fn(|| Line::next(&mut from).expect("memory does not fail")).collect()
    }

    #[test]
    fn pieces_become_lines_and_the_torn_end_is_told() {
        let found = lines(b"abc\r\nde\n\nf");
        let texts: Vec<&str> = found.iter().map(|line| line.text.as_str()).collect();
        assert_eq!(texts, ["abc", "de", "", "f"]);
        assert_eq!(found.iter().map(|line| line.torn).collect::<Vec<_>>(), [false, false, false, true]);
        assert_eq!(lines(b"a\n").len(), 1);
    }

    #[test]
    fn endless_lines_and_odd_bytes_are_borne() {
        let flood = [vec![b'x'; 3 * LONGEST], b"y\nnext\n".to_vec()].concat();
        let found = lines(&flood);
        assert!(found[0].cut && found[0].text.len() == LONGEST);
        assert!(!found[1].cut && found[1].text == "next");
        let just = [vec![b'x'; LONGEST], b"\n".to_vec()].concat();
        assert!(lines(&just).iter().all(|line| !line.cut && !line.torn && line.text.len() == LONGEST));
        assert_eq!(lines(b"\xff\xfe!\n")[0].text, "\u{fffd}\u{fffd}!");
    }

    #[test]
    fn what_is_shown_leaves_the_terminal_alone() {
        assert_eq!(shown("a\u{1b}[2Jb", 9), "a\u{fffd}[2Jb");
        assert_eq!(shown("a\nb", 9), "a b");
        assert_eq!(shown("abcdef", 3), "abc…");
        assert_eq!(shown("abc", 3), "abc");
        let stat = parse(r#"{"record":"stat","line":"a\u001b[2J"}"#);
        assert_eq!(stat, Ok(Record::Stat { line: "a\u{fffd}[2J".into() }));
        let what = parse(r#"{"record":"progress","done":1,"of":2,"what":"a\nb"}"#);
        assert_eq!(what, Ok(Record::Progress { done: 1, of: 2, what: "a b".into() }));
    }

    #[test]
    fn records_are_told_apart_by_their_kind() {
        assert_eq!(parse(r#"{"record":"end","ok":true}"#), Ok(Record::End { ok: true }));
        let failed = Test { name: "a::b".into(), outcome: TestOutcome::Failed, detail: Some("why".into()) };
        let line = r#"{"record":"test","name":"a::b","outcome":"failed","detail":"why"}"#;
        assert_eq!(parse(line), Ok(Record::Test(failed)));
        let line = r#"{"record":"result","workload":"build","lock":"byte","elapsed_ns":5,"operations":2,
            "finished":true,"correct":true,"fairness":{"min":1,"max":2},"later":[1]}"#;
        let Ok(Record::Result(work)) = parse(line) else { panic!("no result") };
        assert_eq!((work.wait_p99_ns, work.fairness), (None, Some(Fairness { min: 1.0, max: 2.0 })));
    }

    #[test]
    fn what_a_later_guest_may_say_is_passed_over_and_what_is_missing_is_named() {
        assert_eq!(parse(r#"{"record":"weather","sun":true}"#), Ok(Record::Unknown));
        let error = parse(r#"{"record":"end"}"#).expect_err("incomplete");
        assert!(error.contains("ok"), "{error}");
        assert!(parse(r#"{"record":"end","ok":tr"#).is_err());
        assert!(parse("{}").is_err());
    }
}
