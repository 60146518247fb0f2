//! Arguments and what they mean; what needs a program or a library stands in the integration tests.
use super::*;
use clap::Parser;
use lab_kit::compare::Metric;

#[derive(Parser)]
struct Cli {
    #[command(flatten)]
    args: Args,
}

fn parsed(words: &[&str]) -> Args {
    Cli::try_parse_from(["run"].iter().chain(words)).unwrap_or_else(|error| panic!("{words:?}: {error}")).args
}

fn refused(words: &[&str]) -> String {
    let line = match Cli::try_parse_from(["run"].iter().chain(words)) {
        Ok(Cli { args }) if args.compare => args.comparison().expect_err("refused"),
        Ok(Cli { args }) => args.single().err().expect("refused"),
        Err(error) => lab_kit::usage::one_line(&error),
    };
    assert!(!line.contains('\n'), "{line}");
    line
}

#[test]
fn everything_behind_the_program_is_the_programs() {
    for words in [
        &["--quiet", "--", "prog", "--compare", "-x", "--", "y"][..],
        &["--quiet", "prog", "--compare", "-x", "--", "y"],
    ] {
        let args = parsed(words);
        assert!(!args.compare && args.files.results.quiet);
        assert_eq!(args.program, ["prog", "--compare", "-x", "--", "y"]);
    }
    assert!(Cli::try_parse_from(["run", "--comprae", "prog"]).is_err(), "a slip is no program");
    assert_eq!(parsed(&["--", "--odd"]).program, ["--odd"]);
}

#[test]
fn flags_of_a_comparison_need_one() {
    for words in [
        &["--rounds", "3", "x"][..],
        &["--json", "f", "x"],
        &["--html", "f", "x"],
        &["--stats", "--out", "d", "x"],
        &["--check-output", "x"],
        &["--metric", "cpu", "x"],
    ] {
        assert!(Cli::try_parse_from(["run"].iter().chain(words)).is_err(), "{words:?}");
    }
    for words in [&["--compare", "--stats", "x"][..], &["--compare", "--record", "f", "x"]] {
        assert!(Cli::try_parse_from(["run"].iter().chain(words)).is_err(), "{words:?}");
    }
}

#[test]
fn locks_are_checked_before_anything_else() {
    assert!(refused(&["--lock", "pvqspin", "/no/such"]).contains("nearest are pv-qspin"));
    assert!(refused(&["--lock", "qspin,byte", "/no/such"]).contains("names 2 locks"));
    assert!(refused(&["--lock", "qspin+stats", "/no/such"]).contains("a run that counts has --stats"));
    assert!(refused(&["--compare", "--lock", "qspin", "/no/such"]).contains("nothing to compare qspin with"));
    assert!(refused(&["--compare", "--lock", "qspin,libc,qspin", "/no/such"]).contains("qspin twice"));
    assert!(refused(&["--lock", "all", "/no/such"]).contains("and a run has one; use --compare"));
    let all = parsed(&["--compare", "--lock", "libc,cna,all", "x"]).locks(&Outer::default()).expect("known");
    assert_eq!(all[..2], ["libc", "cna"]);
    assert_eq!(all.len(), locks::taken_names().len() + 1, "each once");
    assert_eq!(parsed(&["x"]).locks(&Outer::default()), Ok(vec!["stanchion".to_owned()]));
    assert_eq!(
        parsed(&["--compare", "x"]).locks(&Outer::default()),
        Ok(vec!["libc".to_owned(), "stanchion".to_owned()])
    );
    let outside = |words: &str| Outer { preload: None, words: Some(words.into()) };
    let chosen =
        |typed: &[&str], words: &str| parsed(typed).locks(&outside(words)).map(|locks| locks.join(" "));
    assert_eq!(chosen(&["x"], "lock=cna,nopv, lock=byte").as_deref(), Ok("byte"));
    assert_eq!(chosen(&["x"], "lock=libc").as_deref(), Ok("libc-through"));
    assert!(chosen(&["x"], "lock= byte").is_err_and(|why| why.starts_with("STANCHION: `lock= byte`")));
    let refusal = chosen(&["--stats", "x"], "lock=libc").expect_err("not counted at");
    assert!(refusal.contains("libc-through (named in STANCHION) are libc's own"), "{refusal}");
    assert_eq!(chosen(&["--lock", "qspin", "x"], "lock=cna").as_deref(), Ok("qspin"));
    assert_eq!(chosen(&["--compare", "x"], "lock=cna").as_deref(), Ok("libc stanchion"));
}

#[test]
fn absurd_numbers_and_words_are_refused() {
    for timeout in ["0", "-1", "NaN", "inf", "1e9"] {
        assert!(refused(&[&format!("--timeout={timeout}"), "/no/such"]).contains("--timeout"), "{timeout}");
    }
    for mib in ["0", "1048577"] {
        assert!(refused(&["--record", "t", "--record-limit", mib, "/no/such"]).contains("--record-limit"));
    }
    for runs in ["0", "100000"] {
        assert!(refused(&["--compare", "--rounds", runs, "/no/such"]).contains("--rounds"));
    }
    assert!(refused(&["--compare", "--metric", "wal", "/no/such"]).contains("--metric"));
    assert!(refused(&["--set", "lock=byte", "/no/such"]).contains("use --lock"));
    assert!(refused(&["--set", "nopv,,spin=1", "/no/such"]).contains("--set"));
    assert!(refused(&[]).contains("no program"));
}

#[test]
fn a_setting_is_what_was_typed_or_the_default() {
    let setting = |words: &[&str]| {
        let args = parsed(words);
        args.setting(&args.locks(&Outer::default()).expect("sound")).expect("sound")
    };
    let usual = setting(&["--compare", "x"]);
    assert_eq!((usual.runs, usual.warmup, usual.order, usual.metric), (5, 0, Order::Rotated, Metric::Wall));
    let typed = setting(&[
        "--compare",
        "--rounds",
        "9",
        "--warm-up-rounds",
        "2",
        "--seed",
        "7",
        "--metric",
        "cpu",
        "x",
    ]);
    assert_eq!((typed.runs, typed.warmup, typed.order, typed.seed), (9, 2, Order::Shuffled, 7));
}

#[test]
fn a_trace_is_shown_and_a_list_printed_without_a_program() {
    assert!(parsed(&["--show", "t", "--json", "-", "--force"]).show.is_some() && parsed(&["--list"]).list);
    for words in [
        &["--show", "t", "x"][..],
        &["--show", "t", "--compare"],
        &["--show", "t", "--lock", "qspin"],
        &["--show", "t", "--set", "nopv"],
        &["--show", "t", "--timeout", "1s"],
        &["--show", "t", "--library", "l"],
        &["--list", "--lock", "qspin"],
        &["--list", "--stats"],
        &["--list", "x"],
        &["--record-limit", "3", "x"],
    ] {
        assert!(Cli::try_parse_from(["run"].iter().chain(words)).is_err(), "{words:?}");
    }
    assert!(refused(&["--lock", "libc", "--record", "t", "/no/such"]).contains("libc's own"));
}
