//! What comes over a guest's serial line: lines, and among them the records of its report channel. Lines are
//! of limited length, and texts harmless, whatever the bytes are.
use stanchion_wire::guest;
pub(crate) use stanchion_wire::guest::{TestOutcome, VERSION, Vcpu, Wake};
use std::io::{self, BufRead, Read};

/// Longer lines are cut: no record is as long, and a guest gone wild may not fill our memory.
pub(super) const LONGEST: usize = 1 << 16;
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

pub(crate) type Hardware = guest::Hardware<String>;
pub(crate) type Record = guest::Record<String>;
pub(crate) type Test = guest::Test<String>;
pub(crate) type Work = guest::Work<String>;

/// Reads a record, and makes its texts harmless, but for those that are so where they are shown.
pub(crate) fn parse(line: &str) -> serde_json::Result<Record> {
    let mut record = serde_json::from_str(line)?;
    if let Record::Boot(Hardware { hypervisor: text, .. })
    | Record::Test(Test { name: text, .. })
    | Record::Progress { what: text, .. }
    | Record::Stat { line: text, .. }
    | Record::Result(Work { lock: text, .. }) = &mut record
    {
        *text = shown(text, WIDTH);
    }
    Ok(record)
}

#[cfg(test)]
mod tests {
    use super::*;
    use stanchion_wire::guest::Fairness;

    fn parse(line: &str) -> Result<Record, String> {
        super::parse(line).map_err(|error| error.to_string())
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
        assert_eq!(stat, Ok(Record::Stat { lock: None, line: "a\u{fffd}[2J".into() }));
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
        assert_eq!((work.wait_p99_ns, work.fairness), (None, Some(Fairness { min: 1, max: 2 })));
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
