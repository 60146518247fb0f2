//! The file of `--record`: sections, each with its length and a checksum, which `docs/record.md` describes.
use super::codec::{Bytes, Key, unsigned, write_number};
use super::cost::Costs;
use super::raw::{self, Chunk, Header};
use addr2line::gimli::{LittleEndian, Reader};
use lab_kit::provenance::Provenance;
use serde::{Deserialize, Serialize};
use stanchion_wire as wire;
use std::collections::BTreeSet;
use std::fs::File;
use std::io::{self, BufReader, BufWriter, ErrorKind, Read, Write};
use std::path::Path;

const MAGIC: &[u8; 8] = b"STANCTRC";
/// Version 1 had no marks, version 2 no mark for the recorder's own time. Both are read, too. One flipped bit
/// does not turn one version into another, so there is no 3.
const VERSION: u32 = 4;
const READ: [u32; 3] = [1, 2, VERSION];

const META: u32 = 1;
const CHUNK: u32 = 2;
const LOCKS: u32 = 3;
const END: u32 = 4;

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Meta {
    pub ticks_per_ns: f64,
    /// The most bytes that the program might write.
    pub limit: u64,
    pub program: Vec<String>,
    pub provenance: Provenance,
    /// What recording cost, if it was found out.
    #[serde(default)]
    pub cost: Option<Costs>,
    /// What the CPUs did meanwhile, if the system told.
    #[serde(default)]
    pub cpu: Option<CpuTime>,
}

/// How long a program ran, and the CPU time meanwhile, in nanoseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct CpuTime {
    pub wall: f64,
    /// Of the program, and of children that it waited for.
    pub own: f64,
    /// Of all others, on CPUs that the command might use.
    pub others: f64,
    /// How many those are, if the recording says it.
    #[serde(default)]
    pub cpus: Option<u32>,
}

impl CpuTime {
    /// A year of a thousand CPUs.
    const MOST: f64 = 3.2e19;

    fn is_sound(&self) -> bool {
        [self.wall, self.own, self.others].iter().all(|time| (0.0..Self::MOST).contains(time))
    }
}

impl Meta {
    pub(crate) fn ns(&self, ticks: u64) -> f64 {
        ticks as f64 / self.ticks_per_ns
    }
}

/// What is known when all is written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Totals {
    pub chunks: u64,
    pub events: u64,
    /// Releases without an event.
    pub dropped: u64,
    /// Pieces of the program's file that were destroyed, and are not here.
    pub damaged: u64,
    pub is_full: bool,
}

impl Totals {
    /// What is not in a trace, if anything.
    pub(crate) fn missing(&self) -> Option<String> {
        let Self { dropped, damaged, is_full, .. } = *self;
        let full = if is_full { "; the room was full, --record-limit gives more" } else { "" };
        let destroyed = format!("; the program destroyed {damaged} pieces of what was recorded");
        let destroyed = if damaged == 0 { "" } else { &destroyed };
        (is_full || dropped != 0 || damaged != 0)
            .then(|| format!("{dropped} events were dropped{full}{destroyed}"))
    }
}

/// A lock: the process's number, and its address and kind. Its own number is its place in the table.
pub(crate) type Lock = (u32, Key);

pub(crate) struct Writer<W>(W);

impl<W: Write> Writer<W> {
    pub(crate) fn begin(mut to: W, meta: &Meta) -> io::Result<Self> {
        to.write_all(MAGIC)?;
        to.write_all(&VERSION.to_le_bytes())?;
        let mut writer = Self(to);
        writer.section(META, &serde_json::to_vec(meta)?)?;
        Ok(writer)
    }

    fn section(&mut self, kind: u32, payload: &[u8]) -> io::Result<()> {
        let length = (payload.len() as u64).to_le_bytes();
        let section = [&kind.to_le_bytes()[..], &length, payload].concat();
        self.0.write_all(&section)?;
        self.0.write_all(&crc32fast::hash(&section).to_le_bytes())
    }

    pub(crate) fn chunk(&mut self, chunk: &Chunk) -> io::Result<()> {
        let small = [chunk.process, chunk.pid, chunk.number].map(u32::to_le_bytes).concat();
        let large = [chunk.thread, chunk.base, chunk.dropped].map(u64::to_le_bytes).concat();
        self.section(CHUNK, &[small, large, chunk.events.clone()].concat())
    }

    pub(crate) fn end(mut self, locks: &[Lock], totals: &Totals) -> io::Result<W> {
        let mut payload = Vec::new();
        write_number(&mut payload, locks.len() as u64);
        for (process, key) in locks {
            write_number(&mut payload, (*process).into());
            write_number(&mut payload, key.bits());
        }
        self.section(LOCKS, &payload)?;
        let Totals { chunks, events, dropped, damaged, is_full } = *totals;
        let totals = [chunks, events, dropped, damaged, is_full.into()];
        self.section(END, &totals.map(u64::to_le_bytes).concat())?;
        self.0.flush()?;
        Ok(self.0)
    }
}

/// Makes such a file of the one that the library wrote.
pub(crate) fn convert(raw: &File, header: &Header, meta: &Meta, to: impl Write) -> io::Result<Totals> {
    let mut totals = Totals { dropped: header.dropped, is_full: header.is_full, ..Totals::default() };
    let mut locks = BTreeSet::new();
    let mut writer = Writer::begin(BufWriter::new(to), meta)?;
    totals.damaged = raw::chunks(raw, header, |chunk| {
        chunk.events(|event| _ = locks.insert((chunk.process, event.key)));
        totals.chunks += 1;
        totals.events += u64::from(chunk.number);
        totals.dropped = totals.dropped.saturating_add(chunk.dropped);
        writer.chunk(&chunk)
    })?;
    writer.end(&Vec::from_iter(locks), &totals).map(|_| totals)
}

/// All but the chunks.
#[derive(Debug)]
pub(crate) struct Whole {
    pub meta: Meta,
    pub locks: Vec<Lock>,
    pub totals: Totals,
}

const CUT: &str = "is cut short";
const DAMAGED: &str = "is damaged";

/// Calls `each` with each chunk before the end is known to be good. The error says what the file is.
pub(crate) fn read_path(path: &Path, each: impl FnMut(&Chunk) -> Option<()>) -> Result<Whole, String> {
    read(BufReader::new(File::open(path).map_err(|error| error.to_string())?), each)
}

/// Whether it begins as a trace does; the error says what it is.
pub(crate) fn check(path: &Path) -> Result<(), String> {
    head(&mut File::open(path).map_err(|error| error.to_string())?)
}

fn head(from: &mut impl Read) -> Result<(), String> {
    let mut first = [0; 12];
    fill(from, &mut first)?;
    if &first[..8] != MAGIC {
        return Err("is no trace of `stanchion run --record`".to_owned());
    }
    let version = wire::Bytes(&first).u32(8);
    if !READ.contains(&version) {
        return Err(format!(
            "is of version {version}, and this command reads {VERSION}; use the command that wrote it"
        ));
    }
    Ok(())
}

pub(crate) fn read(mut from: impl Read, mut each: impl FnMut(&Chunk) -> Option<()>) -> Result<Whole, String> {
    head(&mut from)?;
    let (META, payload) = section(&mut from)? else { return Err(DAMAGED.to_owned()) };
    let meta = str::from_utf8(&payload).map_err(|_| DAMAGED)?;
    let meta: Meta = serde_json::from_str(meta).map_err(|_| DAMAGED)?;
    let mut found = (0, 0);
    let locks = loop {
        match section(&mut from)? {
            (CHUNK, payload) => {
                let chunk = chunk(&payload).ok_or(DAMAGED)?;
                found = (found.0 + 1, found.1 + u64::from(chunk.number));
                each(&chunk).ok_or(DAMAGED)?;
            }
            (LOCKS, payload) => break table(&payload).ok_or(DAMAGED)?,
            _ => return Err(DAMAGED.to_owned()),
        }
    };
    let (END, payload) = section(&mut from)? else { return Err(DAMAGED.to_owned()) };
    let totals = totals(&payload).ok_or(DAMAGED)?;
    let is_over = from.read(&mut [0]).is_ok_and(|more| more == 0);
    let fits = (totals.chunks, totals.events) == found && is_over;
    let is_sound = meta.cpu.is_none_or(|cpu| cpu.is_sound());
    if !fits || !is_sound || !meta.ticks_per_ns.is_finite() || meta.ticks_per_ns <= 0.0 {
        return Err(DAMAGED.to_owned());
    }
    Ok(Whole { meta, locks, totals })
}

/// Kind and payload of the next one.
fn section(from: &mut impl Read) -> Result<(u32, Vec<u8>), String> {
    let mut section = vec![0; 12];
    fill(from, &mut section)?;
    let (kind, length) = (wire::Bytes(&section).u32(0), wire::Bytes(&section).u64(4));
    // No more memory than there are bytes, whatever the length says; if they end early, the sum is missing.
    let read = from.by_ref().take(length).read_to_end(&mut section);
    read.map_err(|error| format!("cannot be read: {error}"))?;
    let mut sum = [0; 4];
    fill(from, &mut sum)?;
    if u32::from_le_bytes(sum) != crc32fast::hash(&section) {
        return Err(DAMAGED.to_owned());
    }
    Ok((kind, section.split_off(12)))
}

fn fill(from: &mut impl Read, bytes: &mut [u8]) -> Result<(), String> {
    from.read_exact(bytes).map_err(|error| match error.kind() {
        ErrorKind::UnexpectedEof => CUT.to_owned(),
        _ => format!("cannot be read: {error}"),
    })
}

fn chunk(payload: &[u8]) -> Option<Chunk> {
    let mut bytes = Bytes::new(payload, LittleEndian);
    Some(Chunk {
        process: bytes.read_u32().ok()?,
        pid: bytes.read_u32().ok()?,
        number: bytes.read_u32().ok()?,
        thread: bytes.read_u64().ok()?,
        base: bytes.read_u64().ok()?,
        dropped: bytes.read_u64().ok()?,
        events: bytes.slice().to_vec(),
    })
}

fn table(payload: &[u8]) -> Option<Vec<Lock>> {
    let mut bytes = Bytes::new(payload, LittleEndian);
    let mut locks = Vec::new();
    for _ in 0..unsigned(&mut bytes)? {
        locks.push((unsigned(&mut bytes)?.try_into().ok()?, Key::new(unsigned(&mut bytes)?)?));
    }
    bytes.is_empty().then_some(locks)
}

fn totals(payload: &[u8]) -> Option<Totals> {
    let totals: [[u8; 8]; 5] = payload.as_chunks().0.try_into().ok().filter(|_| payload.len() == 40)?;
    let [chunks, events, dropped, damaged, is_full] = totals.map(u64::from_le_bytes);
    Some(Totals { chunks, events, dropped, damaged, is_full: is_full != 0 })
}

#[cfg(test)]
#[path = "file_tests.rs"]
mod tests;
