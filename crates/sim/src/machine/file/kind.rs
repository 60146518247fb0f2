//! What a field of a machine may be, and the way between a file's value and its place in the machine.
use crate::datafile::{Value, nanoseconds, scaled, time, time_text};
use crate::machine::{Fair, FairShare, Protocol, RoundRobin, SchedulerKind, Topology};
use crate::time::{NS, Time};
use std::path::Path;

/// Names of the protocols.
pub(super) const PROTOCOLS: [&str; 4] = ["mesi", "mesif", "moesi", "ll-sc"];
const PROTOCOL_VALUES: [Protocol; 4] = [Protocol::Mesi, Protocol::Mesif, Protocol::Moesi, Protocol::LlSc];
/// Names of the schedulers.
pub(super) const SCHEDULERS: [&str; 4] = ["pinned", "cfs", "eevdf", "round-robin"];
/// What stands for a time that is not there.
const NONE: &str = "none";
/// Most hops between two sockets.
const MOST_HOPS: u64 = 16;
/// Longest name of a machine.
const LONGEST_NAME: usize = 64;
/// Longest text.
pub(super) const LONGEST_TEXT: usize = 400;

/// The values that a field may have.
#[derive(Clone, Copy, Debug)]
pub(super) enum Kind {
    /// From the first time to the second.
    Time(Time, Time),
    /// The same, or none.
    MaybeTime(Time, Time),
    /// A whole number.
    Count(u32, u32),
    /// A whole number of per cent.
    Percent(u32, u32),
    /// True or false.
    Flag,
    /// What it is if the file does not say.
    FlagOr(bool),
    /// A name as on a command line.
    Name,
    /// A line of text.
    Text,
    /// One of these words.
    Choice(&'static [&'static str]),
    /// The matrix of hops.
    Hops,
    /// Rows of busy cores and per cent.
    Turbo,
}

/// A value that a field may have.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Setting {
    Time(Option<Time>),
    Number(u32),
    Flag(bool),
    Text(String),
    Choice(usize),
    /// `None`: one hop between any two sockets.
    Hops(Option<Vec<Vec<u8>>>),
    Turbo(Vec<(u16, u32)>),
}

/// Where a field is in a machine.
pub(super) enum Place<'m> {
    Time(&'m mut Time),
    /// Zero is none.
    TimeOrZero(&'m mut Time),
    MaybeTime(&'m mut Option<Time>),
    Count(&'m mut u16),
    Percent(&'m mut u32),
    Flag(&'m mut bool),
    Text(&'m mut String),
    Protocol(&'m mut Protocol),
    Scheduler(&'m mut SchedulerKind),
    Hops(&'m mut Topology),
    Turbo(&'m mut Vec<(u16, u32)>),
}

impl Kind {
    /// What the field may be, as the end of "must be".
    pub(super) fn allowed(self) -> String {
        match self {
            Self::Time(least, most) => format!("a time from {} to {}", time_text(least), time_text(most)),
            Self::MaybeTime(least, most) => {
                format!("a time from {} to {}, or \"{NONE}\"", time_text(least), time_text(most))
            }
            Self::Count(least, most) => format!("a whole number from {least} to {most}"),
            Self::Percent(least, most) => format!("whole per cent from {least} to {most}"),
            Self::Flag | Self::FlagOr(_) => "true or false".to_owned(),
            Self::Name => format!("1 to {LONGEST_NAME} of a-z, 0-9, - and ., beginning with a letter"),
            Self::Text => format!("one line of 1 to {LONGEST_TEXT} ASCII characters"),
            Self::Choice(words) => format!("\"{}\"", words.join("\", \"")),
            Self::Hops => format!(
                "a square matrix with a row for each socket, 0 on the diagonal, the same both ways, else 1 to \
                 {MOST_HOPS}; or \"{NONE}\": one hop between any two sockets"
            ),
            Self::Turbo => {
                "[busy cores, per cent] rows: cores from 1 to 512 and ascending, per cent from 50 to 1000"
                    .to_owned()
            }
        }
    }

    /// What the field is if the file does not say; `None`: the file has to.
    pub(super) fn absent(self) -> Option<Setting> {
        match self {
            Self::MaybeTime(..) => Some(Setting::Time(None)),
            Self::FlagOr(flag) => Some(Setting::Flag(flag)),
            Self::Hops => Some(Setting::Hops(None)),
            Self::Turbo => Some(Setting::Turbo(Vec::new())),
            _ => None,
        }
    }

    /// The setting that `value` stands for, or what it must be.
    pub(super) fn read(self, value: &Value) -> Result<Setting, String> {
        let setting = match (self, value) {
            (Self::MaybeTime(..), Value::Text(word)) if word == NONE => Some(Setting::Time(None)),
            (Self::Time(least, most) | Self::MaybeTime(least, most), _) => duration(value)
                .filter(|time| (least..=most).contains(time))
                .map(|time| Setting::Time(Some(time))),
            (Self::Count(least, most) | Self::Percent(least, most), _) => value
                .whole()
                .and_then(|number| u32::try_from(number).ok())
                .filter(|number| (least..=most).contains(number))
                .map(Setting::Number),
            (Self::Flag | Self::FlagOr(_), Value::Flag(flag)) => Some(Setting::Flag(*flag)),
            (Self::Name, Value::Text(text)) if is_name(text) => Some(Setting::Text(text.clone())),
            (Self::Text, Value::Text(text)) if is_line(text) => Some(Setting::Text(text.clone())),
            (Self::Choice(words), Value::Text(text)) => {
                words.iter().position(|word| word == text).map(Setting::Choice)
            }
            (Self::Hops, Value::Text(word)) if word == NONE => Some(Setting::Hops(None)),
            (Self::Hops, Value::List(rows)) => matrix(rows).map(|matrix| Setting::Hops(Some(matrix))),
            (Self::Turbo, Value::List(rows)) => turbo(rows).map(Setting::Turbo),
            _ => None,
        };
        setting.ok_or_else(|| format!("must be {}{}", self.allowed(), self.hint(value)))
    }

    /// What may have been meant by a value that is not allowed.
    fn hint(self, value: &Value) -> &'static str {
        match (self, value) {
            (Self::Time(..) | Self::MaybeTime(..), Value::Float(digits)) if scaled(digits, NS).is_none() => {
                " (plain decimals, in nanoseconds, no finer than 0.001)"
            }
            (Self::Time(..) | Self::MaybeTime(..), Value::Text(text)) if time(text).is_none() => {
                " (nanoseconds, or with a unit as in \"2.5us\")"
            }
            _ => "",
        }
    }
}

/// The time that `value` says: nanoseconds, or a text with its unit.
fn duration(value: &Value) -> Option<Time> {
    match value {
        Value::Integer(digits) | Value::Float(digits) => scaled(digits, NS),
        Value::Text(text) => time(text),
        _ => None,
    }
}

/// Whether `text` may be the name of a machine.
pub(super) fn is_name(text: &str) -> bool {
    let rest = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-' || byte == b'.';
    text.len() <= LONGEST_NAME
        && text.starts_with(|c: char| c.is_ascii_lowercase())
        && text.bytes().all(rest)
        // Such a name could not be told from a path.
        && Path::new(text).extension().is_none_or(|ending| ending != "toml")
}

/// Whether `text` is a line that any terminal and any document can show.
pub(super) fn is_line(text: &str) -> bool {
    (1..=LONGEST_TEXT).contains(&text.len()) && text.bytes().all(|byte| (b' '..=b'~').contains(&byte))
}

fn list(value: &Value) -> Option<&[Value]> {
    match value {
        Value::List(items) => Some(items),
        _ => None,
    }
}

fn matrix(rows: &[Value]) -> Option<Vec<Vec<u8>>> {
    let cell = |value: &Value| value.whole().filter(|&hops| hops <= MOST_HOPS).map(|hops| hops as u8);
    let row = |row: &Value| list(row)?.iter().map(cell).collect::<Option<Vec<u8>>>();
    let matrix = rows.iter().map(row).collect::<Option<Vec<_>>>()?;
    let is_square = matrix.iter().all(|row| row.len() == matrix.len());
    let is_distance = |a: usize, b: usize| matrix[a][b] == matrix[b][a] && (matrix[a][b] == 0) == (a == b);
    let all = || (0..matrix.len()).flat_map(|a| (0..=a).map(move |b| (a, b)));
    (is_square && all().all(|(a, b)| is_distance(a, b))).then_some(matrix)
}

fn turbo(rows: &[Value]) -> Option<Vec<(u16, u32)>> {
    let row = |row: &Value| match list(row)? {
        [cores, percent] => {
            let cores = cores.whole().filter(|cores| (1..=512).contains(cores))?;
            let percent = percent.whole().filter(|percent| (50..=1000).contains(percent))?;
            Some((cores as u16, percent as u32))
        }
        _ => None,
    };
    let rows = rows.iter().map(row).collect::<Option<Vec<_>>>()?;
    rows.is_sorted_by(|(a, _), (b, _)| a < b).then_some(rows)
}

impl Setting {
    /// The setting as it is written in a file. Times of plain nanoseconds if `plain`, else with units.
    pub(super) fn text(&self, kind: Kind, plain: bool) -> String {
        match self {
            Self::Time(Some(time)) if plain => nanoseconds(*time),
            Self::Time(Some(time)) => format!("\"{}\"", time_text(*time)),
            Self::Time(None) | Self::Hops(None) => format!("\"{NONE}\""),
            Self::Number(number) => number.to_string(),
            Self::Flag(flag) => flag.to_string(),
            Self::Text(text) => quoted(text),
            Self::Choice(index) => match kind {
                Kind::Choice(words) => quoted(words[*index]),
                _ => unreachable!("only a choice has words"),
            },
            Self::Hops(Some(matrix)) => {
                let rows: Vec<String> = matrix.iter().map(|row| format!("    {row:?},\n")).collect();
                format!("[\n{}]", rows.concat())
            }
            Self::Turbo(rows) => {
                let rows: Vec<String> =
                    rows.iter().map(|(cores, percent)| format!("[{cores}, {percent}]")).collect();
                format!("[{}]", rows.join(", "))
            }
        }
    }
}

/// `text`, which is a line, as a TOML string.
pub(super) fn quoted(text: &str) -> String {
    format!("\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\""))
}

impl Place<'_> {
    /// Puts what [`Kind::read`] accepted for this field into the machine.
    pub(super) fn put(self, setting: Setting) {
        match (self, setting) {
            (Self::Time(place), Setting::Time(Some(time))) => *place = time,
            (Self::TimeOrZero(place), Setting::Time(time)) => *place = time.unwrap_or(0),
            (Self::MaybeTime(place), Setting::Time(time)) => *place = time,
            (Self::Count(place), Setting::Number(number)) => *place = number as u16,
            (Self::Percent(place), Setting::Number(number)) => *place = number,
            (Self::Flag(place), Setting::Flag(flag)) => *place = flag,
            (Self::Text(place), Setting::Text(text)) => *place = text,
            (Self::Protocol(place), Setting::Choice(index)) => *place = PROTOCOL_VALUES[index],
            (Self::Scheduler(place), Setting::Choice(index)) => *place = blank_scheduler(index),
            (Self::Hops(topology), Setting::Hops(matrix)) => {
                topology.hops = matrix.unwrap_or_else(|| Topology::one_hop(topology.sockets));
            }
            (Self::Turbo(place), Setting::Turbo(rows)) => *place = rows,
            (_, setting) => unreachable!("{setting:?} does not go where its kind says"),
        }
    }

    /// What the machine has there.
    pub(super) fn get(self) -> Setting {
        match self {
            Self::Time(place) => Setting::Time(Some(*place)),
            Self::TimeOrZero(place) => Setting::Time(Some(*place).filter(|&time| time != 0)),
            Self::MaybeTime(place) => Setting::Time(*place),
            Self::Count(place) => Setting::Number(u32::from(*place)),
            Self::Percent(place) => Setting::Number(*place),
            Self::Flag(place) => Setting::Flag(*place),
            Self::Text(place) => Setting::Text(place.clone()),
            Self::Protocol(place) => Setting::Choice(
                PROTOCOL_VALUES.iter().position(|value| value == place).expect("all are listed"),
            ),
            Self::Scheduler(place) => Setting::Choice(match place {
                SchedulerKind::Pinned => 0,
                SchedulerKind::FairShare(FairShare { kind: Fair::Cfs, .. }) => 1,
                SchedulerKind::FairShare(FairShare { kind: Fair::Eevdf, .. }) => 2,
                SchedulerKind::RoundRobin(_) => 3,
            }),
            Self::Hops(topology) => {
                let plain = topology.hops == Topology::one_hop(topology.sockets);
                Setting::Hops((!plain).then(|| topology.hops.clone()))
            }
            Self::Turbo(place) => Setting::Turbo(place.clone()),
        }
    }
}

/// The scheduler with that number in [`SCHEDULERS`], its parameters still to be filled in.
fn blank_scheduler(index: usize) -> SchedulerKind {
    match index {
        0 => SchedulerKind::Pinned,
        1 | 2 => SchedulerKind::FairShare(FairShare {
            kind: if index == 1 { Fair::Cfs } else { Fair::Eevdf },
            slice: 0,
            granularity: 0,
            wake_preemption: None,
            turn_noise: 0,
            balance: 0,
            idle_pull: false,
            pull_cost: 0,
            wake_to_idle: false,
            quota: None,
        }),
        _ => SchedulerKind::RoundRobin(RoundRobin { slice: 0, boost: false, steal: false }),
    }
}
