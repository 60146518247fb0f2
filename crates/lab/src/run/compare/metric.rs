//! What is compared: what the kernel measures, or a number in what the program prints.
use lab_kit::compare::Metric;
use regex_lite::Regex;
use std::io::{self, BufRead, BufReader, Read};

/// The longest line in which a number is looked for; the rest of a longer one is taken for the next.
const LINE_MOST: u64 = 1 << 20;

/// By its name, or a regular expression; the error is one line.
pub(crate) fn parse(text: &str, higher_is_better: bool) -> Result<Metric, String> {
    let metric = match text {
        "wall" => Metric::Wall,
        "cpu" => Metric::Cpu,
        "rss" => Metric::Rss,
        pattern => {
            let groups = compiled(pattern)?.captures_len() - 1;
            if groups != 1 {
                return Err(format!(
                    "--metric '{pattern}': is neither wall, cpu nor rss, and as a regular expression it has {groups} groups in \
                     parentheses; one must pick the number"
                ));
            }
            Metric::Output { pattern: pattern.to_owned(), higher_is_better }
        }
    };
    if higher_is_better && !metric.higher_is_better() {
        return Err(format!("--higher-is-better: not for {text}, which is better if it is lower"));
    }
    Ok(metric)
}

pub(crate) fn compiled(pattern: &str) -> Result<Regex, String> {
    Regex::new(pattern).map_err(|error| format!("--metric '{pattern}': not a regular expression: {error}"))
}

/// The number in the last line that matches; none if none does. A group that is no number is told.
pub(crate) fn pick(regex: &Regex, text: impl Read) -> io::Result<Option<Result<f64, String>>> {
    let mut reader = BufReader::new(text);
    let (mut line, mut found) = (Vec::new(), None);
    loop {
        line.clear();
        if reader.by_ref().take(LINE_MOST).read_until(b'\n', &mut line)? == 0 {
            return Ok(found);
        }
        let line = String::from_utf8_lossy(line.trim_ascii_end());
        if let Some(group) = regex.captures_iter(&line).last().and_then(|captures| captures.get(1)) {
            found = Some(number(group.as_str()));
        }
    }
}

/// Commas and underscores may only stand between groups of three digits: others may be decimal commas.
fn number(text: &str) -> Result<f64, String> {
    const SEPARATORS: [char; 2] = [',', '_'];
    let (whole, fraction) = text.split_once('.').unwrap_or((text, ""));
    let mut groups = whole.trim_start_matches(['+', '-']).split(SEPARATORS).map(|group| {
        let digits = group.bytes().all(|byte| byte.is_ascii_digit());
        if digits { group.len() } else { 0 }
    });
    let is_grouped = matches!(groups.next(), Some(1..=3)) && groups.all(|digits| digits == 3);
    if fraction.contains(SEPARATORS) || whole.contains(SEPARATORS) && !is_grouped {
        return Err(format!("'{text}' is no number: only groups of three digits have commas between them"));
    }
    let number = text.replace(SEPARATORS, "").parse().ok().filter(|number: &f64| number.is_finite());
    number.ok_or_else(|| format!("'{text}' is no number"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn picked(pattern: &str, text: &str) -> Option<Result<f64, String>> {
        pick(&compiled(pattern).expect("a pattern"), text.as_bytes()).expect("readable")
    }

    #[test]
    fn the_last_number_that_matches_counts() {
        let pattern = r"ops/sec: ([0-9.,]+)";
        assert_eq!(picked(pattern, "ops/sec: 1\nops/sec: 2.5\nend"), Some(Ok(2.5)));
        assert_eq!(picked(pattern, "ops/sec: 1 ops/sec: 1,234,567.5\r\n"), Some(Ok(1_234_567.5)));
        assert_eq!(picked(pattern, "nothing\n"), None);
        assert_eq!(picked(r"x=(\S+)", "x=fast"), Some(Err("'fast' is no number".into())));
        assert_eq!(picked(r"x=(\S+)", "x=inf"), Some(Err("'inf' is no number".into())));
        assert_eq!(picked(r"x=(\S+)", "x=-1_234,567"), Some(Ok(-1_234_567.0)));
        for number in ["12,5", "1234,567", ",123", "1,2e5", "1.234,567", "1,234e3", "1__234", "1,23"] {
            let refused = picked(r"x=(\S+)", &format!("x={number}")).expect("it matches");
            let reason = refused.expect_err(number);
            assert!(reason.contains(number) && reason.contains("groups of three digits"), "{reason}");
        }
        assert_eq!(picked("^n ([0-9]+)$", "n 1\nn 2\n"), Some(Ok(2.0)), "a line at a time");
    }

    #[test]
    fn names_and_expressions_are_told_apart() {
        assert_eq!(parse("cpu", false), Ok(Metric::Cpu));
        assert!(parse("x([0-9]+)", true).is_ok_and(|metric| metric.higher_is_better()));
        assert!(parse("wal", false).expect_err("a slip").contains("0 groups"));
        assert!(parse("(a)(b)", false).expect_err("two").contains("2 groups"));
        let error = parse("(a", false).expect_err("no expression");
        assert!(error.contains("open group without closing") && !error.contains('\n'), "{error}");
        assert!(parse("rss", true).expect_err("lower is better").contains("lower"));
    }
}
