//! Events as the library writes them ([`stanchion_wire::trace`] says how).
use addr2line::gimli::{EndianSlice, LittleEndian, Reader, leb128};
use serde::{Deserialize, Serialize};
use stanchion_wire::trace::{SLOTS, mark};

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Kind {
    Mutex,
    Read,
    Write,
}

/// A lock's address, and what it was taken as, in one number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct Key(u64);

impl Kind {
    pub(crate) const ALL: [Self; 3] = [Self::Mutex, Self::Read, Self::Write];

    /// By its number, in the files of both statistics and traces.
    pub(crate) fn of(number: u32) -> Option<Self> {
        Self::ALL.get(number.checked_sub(1)? as usize).copied()
    }

    pub(crate) fn name(self) -> &'static str {
        ["mutex", "read", "write"][self as usize]
    }
}

impl Key {
    pub(crate) fn new(key: u64) -> Option<Self> {
        (key & 3 != 0 && key >> 2 != 0).then_some(Self(key))
    }

    pub(crate) fn bits(self) -> u64 {
        self.0
    }

    pub(crate) fn address(self) -> u64 {
        self.0 >> 2
    }

    pub(crate) fn kind(self) -> Kind {
        Kind::of(self.0 as u32 & 3).unwrap_or(Kind::Mutex)
    }
}

/// One hold of a lock, in ticks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Event {
    pub key: Key,
    /// When the thread came for it.
    pub came: u64,
    /// From its last release to that; negative if it came before that, because it held two.
    pub think: i64,
    pub wait: u64,
    pub hold: u64,
}

impl Event {
    pub(crate) fn released(&self) -> u64 {
        self.came + self.wait + self.hold
    }
}

/// What happened between two events.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum What {
    /// Of the `asked` ticks up to the mark the thread waited for locks for `waited`, and ran for `ran`
    /// nanoseconds. If nobody took its CPU, it slept by its own wish.
    Off { asked: u64, waited: u64, ran: u64, slept: bool },
    /// It waited for the condition at an address for so many ticks.
    Waited { condition: u64, span: u64, was_notified: bool },
    /// It notified one who waited for it, or all.
    Notified { condition: u64, all: bool },
    /// The recorder kept the thread for so many ticks.
    Kept { span: u64 },
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Item {
    Event(Event),
    /// When, and what.
    Mark(u64, What),
}

/// Bytes from which numbers are taken, as DWARF's unsigned LEB128; more than 64 bits are none.
pub(crate) type Bytes<'a> = EndianSlice<'a, LittleEndian>;

pub(crate) fn unsigned(bytes: &mut Bytes) -> Option<u64> {
    bytes.read_uleb128().ok()
}

/// Zigzag: 0, -1, 1, -2, ...
fn signed(bytes: &mut Bytes) -> Option<i64> {
    let number = unsigned(bytes)?;
    Some((number >> 1).cast_signed() ^ -(number & 1).cast_signed())
}

pub(crate) fn write_number(to: &mut Vec<u8>, value: u64) {
    leb128::write::unsigned(to, value).expect("memory does not fail");
}

/// Calls `each` with what a chunk says, whose first event counts from `base`, and returns how many events
/// there are. None if that is no chunk; some items were given out then.
pub(crate) fn items(bytes: &[u8], base: u64, mut each: impl FnMut(Item)) -> Option<u32> {
    let mut slots = [None; SLOTS];
    let mut bytes = Bytes::new(bytes, LittleEndian);
    let (mut last, mut number) = (base, 0_u32);
    while let Ok(first) = bytes.read_u8() {
        if first & mark::BIT != 0 {
            let at = last.checked_add_signed(signed(&mut bytes)?)?;
            each(Item::Mark(at, what(first & !mark::BIT, &mut bytes)?));
            continue;
        }
        let slot = &mut slots[usize::from(first >> 1) % SLOTS];
        if first & 1 != 0 {
            *slot = Some(Key::new(unsigned(&mut bytes)?)?);
        }
        let key = (*slot)?;
        let think = signed(&mut bytes)?;
        let wait = if first & 0x40 == 0 { unsigned(&mut bytes)? } else { 0 };
        let hold = unsigned(&mut bytes)?;
        let came = last.checked_add_signed(think)?;
        last = came.checked_add(wait)?.checked_add(hold)?;
        number = number.checked_add(1)?;
        each(Item::Event(Event { key, came, think, wait, hold }));
    }
    Some(number)
}

fn what(code: u8, bytes: &mut Bytes) -> Option<What> {
    Some(match code {
        mark::SLEPT | mark::PREEMPTED => What::Off {
            asked: unsigned(bytes)?,
            waited: unsigned(bytes)?,
            ran: unsigned(bytes)?,
            slept: code == mark::SLEPT,
        },
        mark::WAITED | mark::TIMED_OUT => What::Waited {
            span: unsigned(bytes)?,
            condition: unsigned(bytes)?,
            was_notified: code == mark::WAITED,
        },
        mark::NOTIFIED | mark::NOTIFIED_ALL => {
            unsigned(bytes)?;
            What::Notified { condition: unsigned(bytes)?, all: code == mark::NOTIFIED_ALL }
        }
        mark::KEPT => What::Kept { span: unsigned(bytes)? },
        _ => return None,
    })
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    /// As the library does it: each event's lock goes to the slot that is given with it.
    pub(crate) fn encode(events: &[(usize, Event)]) -> Vec<u8> {
        let mut slots = [None; SLOTS];
        let mut bytes = Vec::new();
        for (slot, event) in events {
            let is_new = slots[*slot] != Some(event.key);
            bytes.push(u8::from(is_new) | (*slot as u8) << 1 | u8::from(event.wait == 0) << 6);
            if is_new {
                slots[*slot] = Some(event.key);
                write_number(&mut bytes, event.key.bits());
            }
            write_number(&mut bytes, (event.think << 1 ^ event.think >> 63).cast_unsigned());
            if event.wait != 0 {
                write_number(&mut bytes, event.wait);
            }
            write_number(&mut bytes, event.hold);
        }
        bytes
    }

    fn decode(bytes: &[u8], base: u64, mut each: impl FnMut(&Event)) -> Option<u32> {
        items(bytes, base, |item| {
            if let Item::Event(event) = item {
                each(&event);
            }
        })
    }

    fn key(address: u64, kind: u64) -> Key {
        Key::new(address << 2 | kind).expect("a lock")
    }

    /// Events with the extremes of each number, from a thread that released something at 1000.
    pub(crate) fn some_events() -> Vec<(usize, Event)> {
        let (a, b) = (key(0x7fff_1234_5670, 1), key(0x10, 3));
        let all = [
            (5, a, 10, 0, 7),
            (5, a, 0, 3, 0),
            (9, b, -15, 1 << 40, 127),
            (5, b, 128, 0, 128),
            (9, b, i64::from(i32::MAX), 1, 1 << 33),
        ];
        let mut last = 1000_u64;
        all.into_iter()
            .map(|(slot, key, think, wait, hold)| {
                let came = last.checked_add_signed(think).expect("small");
                last = came + wait + hold;
                (slot, Event { key, came, think, wait, hold })
            })
            .collect()
    }

    #[test]
    fn events_come_back_as_they_were() {
        let events = some_events();
        let mut back = Vec::new();
        assert_eq!(decode(&encode(&events), 1000, |event| back.push(*event)), Some(5));
        assert_eq!(back, events.iter().map(|(_, event)| *event).collect::<Vec<_>>());
    }

    #[test]
    fn marks_stand_between_events_and_do_not_count() {
        let bytes = [
            0x80, 20, 100, 3, 50, 0x85, 22, 0, 9, 0x41, 5, 2, 4, 0x82, 0, 7, 9, 0x83, 2, 7, 9, 0x84, 3, 0, 9,
            0x86, 4, 8,
        ];
        let mut found = Vec::new();
        assert_eq!(items(&bytes, 1000, |item| found.push(item)), Some(1));
        let waited = |was_notified| What::Waited { condition: 9, span: 7, was_notified };
        let event = Event { key: key(1, 1), came: 1001, think: 1, wait: 0, hold: 4 };
        assert_eq!(
            found,
            [
                Item::Mark(1010, What::Off { asked: 100, waited: 3, ran: 50, slept: true }),
                Item::Mark(1011, What::Notified { condition: 9, all: true }),
                Item::Event(event),
                Item::Mark(1005, waited(true)),
                Item::Mark(1006, waited(false)),
                Item::Mark(1003, What::Notified { condition: 9, all: false }),
                Item::Mark(1007, What::Kept { span: 8 }),
            ]
        );
    }

    #[test]
    fn numbers_are_whole_or_none() {
        let number = |bytes: &[u8]| unsigned(&mut Bytes::new(bytes, LittleEndian));
        for value in [0, 1, 127, 128, 1 << 35, u64::MAX] {
            let mut bytes = Vec::new();
            write_number(&mut bytes, value);
            assert_eq!(number(&bytes), Some(value));
            bytes.pop();
            assert_eq!(number(&bytes), None);
        }
        assert_eq!(number(&[0xff; 12]), None, "too long");
        assert_eq!(number(&[0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 2]), None, "65 bits");
    }

    #[test]
    fn what_is_no_event_is_refused() {
        let nothing = |_: &Event| {};
        assert_eq!(decode(&[0], 0, nothing), None, "a slot in which nothing is");
        assert_eq!(decode(&[0x80], 0, nothing), None, "a mark that is cut short");
        assert_eq!(decode(&[0x87, 0, 0, 0], 0, nothing), None, "a mark that means nothing");
        assert_eq!(decode(&[0x41, 5, 1, 0], 0, nothing), None, "before the beginning of time");
        assert_eq!(decode(&[0x41, 4, 0, 0], 0, nothing), None, "a lock of no kind");
        let whole = encode(&some_events());
        let cut = (0..whole.len()).filter(|&end| decode(&whole[..end], 1000, nothing).is_some()).count();
        assert_eq!(cut, 5, "only between two events, and before the first");
    }
}
