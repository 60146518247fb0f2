//! What becomes of programs that are right, wrong, dead, hanging, or that have a server.
use super::super::kit::free_port;
use super::*;
use std::env::temp_dir;
use std::fs;
use std::process::id;

const HEAD: &str = r#"
    name = "x"
    about = "x"
    verified = "x"
    package = "x"
    needs = []
    check = { size = 1 }
    measure = { size = 1 }
    notices = []
"#;

fn played(name: &str, rest: &str) -> Played {
    let program: Program = toml::from_str(&format!("{HEAD}\n{rest}")).expect("a program");
    let dir = temp_dir().join(format!("stanchion-play-{name}-{}", id()));
    fs::create_dir_all(&dir).expect("a directory");
    let port = free_port().expect("a port");
    let values = vec![("size", "3".to_owned()), ("dir", dir.display().to_string()), ("port", port)];
    let lock = Lock { wrapper: ["env", "UNDER=lock"].map(str::to_owned).to_vec(), ..Lock::default() };
    let limit = Duration::from_secs(30);
    let stage =
        Stage { program: &program, lock: &lock, dir: dir.clone(), values, limit, used: Cell::default() };
    let played = stage.play().expect("the harness works").expect("nobody interrupts");
    fs::remove_dir_all(&dir).expect("tidying up");
    played
}

fn step(script: &str) -> String {
    format!("[[step]]\nrun = [\"sh\", \"-c\", '''{script}''']\n")
}

#[test]
fn a_right_run_has_its_rate() {
    let text = step("echo did {size} in 0.5 s under $UNDER");
    let rest =
        "expect = ['did {size} ', 'under lock']\nrate = { find = 'in ([0-9.]+) s', seconds_for = '{size}' }";
    let played = played("right", &(text + rest));
    assert_eq!((played.verdict, played.figures.picked), (Verdict::Right, Some(6.0)));
}

#[test]
fn plain_steps_have_no_lock_and_kept_output_is_compared() {
    let rest = "keep = 'a'\n[[step]]\nplain = ['sh', '-c', 'test -z \"$UNDER\" && echo 1 > b']\n[[step]]\nplain = ['cmp', 'a', 'b']";
    assert_eq!(played("same", &(step("echo 1") + rest)).verdict, Verdict::Right);
    let differs = played("differs", &(step("echo 2") + rest)).verdict;
    assert!(matches!(&differs, Verdict::Wrong(what) if what.contains("differ")), "{differs}");
}

#[test]
fn wrong_output_is_told() {
    let wrong = |name: &str, script: &str, rest: &str| match played(name, &(step(script) + rest)).verdict {
        Verdict::Wrong(what) => what,
        other => panic!("{other}"),
    };
    assert!(wrong("missing", "echo 2 of 3", "expect = ['{size} of 3']").contains("no `3 of 3`"));
    assert!(
        wrong("forbidden", "echo all fine; echo Corruption: x >&2", "forbid = ['Corrupt']")
            .contains("Corruption: x")
    );
    assert!(wrong("unequal", "echo 2 of 3", "same = ['([0-9]) of ([0-9])']").contains("2 of 3"));
    assert!(wrong("unsame", "echo none", "same = ['([0-9]) of ([0-9])']").contains("no `"));
    assert!(wrong("rateless", "echo none", "rate = { find = 'at ([0-9]+)' }").contains("no rate"));
    assert!(wrong("said", "echo WRONG: key 7 >&2; exit 1", "").contains("key 7"));
}

#[test]
fn crashes_refusals_and_locks_that_were_not_there_are_deaths() {
    let died = |name: &str, script: &str| match played(name, &step(script)).verdict {
        Verdict::Died(what) => what,
        other => panic!("{other}"),
    };
    assert!(died("segv", "kill -SEGV $$").contains("SIGSEGV"));
    assert!(
        died("status", "echo out of luck >&2; exit 3").contains("ended with exit status: 3: out of luck")
    );
    assert!(
        died("unloaded", "echo \"ERROR: ld.so: object 'x' cannot be preloaded\" >&2")
            .contains("not in effect")
    );
    assert!(died("unknown", "echo 'stanchion: no lock of that name' >&2").contains("no lock of that name"));
}

/// A server that answers on {port}, and a client.
fn served(name: &str, server: &str, client: &str) -> Verdict {
    let server = format!("server = ['/usr/bin/env', 'python3', '-c', '''{server}''', '{{port}}']\n");
    let program = server + &step(client);
    let played = played(name, &program);
    assert!(played.verdict != Verdict::Right || played.figures.max_rss_kib > 1000, "{played:?}");
    played.verdict
}

const SERVER: &str = "
import socket, sys, signal, os
s = socket.create_server((\"127.0.0.1\", int(sys.argv[1])))
while True:
    c, _ = s.accept()
    word = c.recv(10)
    if word == b\"die\": os._exit(9)
    if word: c.sendall(b\"got \" + word)
    c.close()
";

fn client(word: &str) -> String {
    format!(
        "python3 -c 'import socket; s = socket.create_connection((\"127.0.0.1\", {{port}})); s.sendall(b\"{word}\"); print(s.recv(10))'"
    )
}

#[test]
fn servers_are_started_told_to_stop_and_watched() {
    assert_eq!(served("serves", SERVER, &client("x")), Verdict::Right);
    let died = served("dies", SERVER, &client("die"));
    assert!(
        matches!(&died, Verdict::Died(what) if what.contains("the server ended with exit status: 9")),
        "{died}"
    );
    let at_once = served("at-once", "raise SystemExit(\"no port for me\")", &client("x"));
    assert!(matches!(&at_once, Verdict::Died(what) if what.contains("no port for me")), "{at_once}");
}

#[test]
fn a_server_that_hangs_is_not_waited_for_when_a_step_has_failed_already() {
    // It would end by itself, and say so, long after it was told to.
    let file = temp_dir().join(format!("stanchion-waited-for-{}", id()));
    let late = format!("import time; time.sleep(15); open(\"{}\", \"w\"); os._exit(0)", file.display());
    let server = SERVER.replace("s = socket", "signal.signal(15, lambda *_: exec(LATE))\ns = socket");
    let server = format!("LATE = '{late}'\n{server}");
    let failed = served("hangs", &server, "echo out of luck >&2; exit 3");
    assert!(matches!(&failed, Verdict::Died(what) if what.contains("out of luck")), "{failed}");
    assert!(!file.exists(), "it was waited for");
}
