//! What a thread writes: the locks that it holds, and an event when it releases one.
//!
//! All of it is in the thread's own chunk, so that thread-local storage is one pointer, without a destructor.
use super::file::populate;
use super::off_cpu;
use super::{IS_LAZY, PROCESS, header, now};
use crate::thread::Place;
use core::cell::Cell;
use core::ptr;
use core::sync::atomic::Ordering;
use stanchion_wire::trace::{CHUNK_MAGIC, Chunk, DEPTH, Held, LONGEST, MOST_PAGES, PAGE, key, mark, slot};

thread_local! {
    static CHUNK: Cell<*mut Chunk> = const { Cell::new(ptr::null_mut()) };
}

static PLACE: Place<Cell<*mut Chunk>> = Place::new();

pub(super) fn find_place() {
    CHUNK.with(|mine| PLACE.find(mine)); // published by AA12
}

/// The calling thread's place for its chunk. Faster than `CHUNK.with`, which calls the loader.
#[inline(always)]
fn mine() -> &'static Cell<*mut Chunk> {
    // SAFETY: the thread's own storage, which lies there as long as it runs; the reference does not leave the
    // calls below. The place is found: who records has found the clock set, by AA16.
    unsafe { &*PLACE.mine() }
}

/// The thread is that of a forked child.
pub(super) fn forget() {
    CHUNK.set(ptr::null_mut());
}

/// Room for a mark and an event, or for two marks: what one change writes at most.
const ROOM: usize = 2 * LONGEST;

/// Calls the system for what an acquisition and its release need of it, before the thread has the lock: pages
/// take milliseconds, and others would wait. Returns when the thread comes for the lock.
#[inline(always)]
pub(super) fn ready(came: u64) -> u64 {
    let chunk = mine().get();
    let is_ready = |chunk: &Chunk| room(chunk) >= 2 * ROOM && !off_cpu::is_due(chunk, came);
    // SAFETY: not null, so a chunk of this thread's alone, mapped for good; it is only looked at.
    if !chunk.is_null() && is_ready(unsafe { &*chunk }) { came } else { make_ready() }
}

#[cold]
#[inline(never)]
fn make_ready() -> u64 {
    with_room(3 * ROOM, |chunk| {
        let came = now();
        if !step(chunk, came) {
            off_cpu::ask(chunk, came);
        }
        off_cpu::kept(chunk, came);
    });
    now()
}

/// Calls `change` with the thread's chunk, which has room for what that writes, unless there is none or a
/// handler came in the middle of such a call; says whether it did.
#[inline(always)]
fn with(change: impl FnOnce(&mut Chunk)) -> bool {
    with_room(ROOM, change)
}

/// The same with more room.
#[inline(always)]
fn with_room(least: usize, change: impl FnOnce(&mut Chunk)) -> bool {
    let mut chunk = mine().get();
    if chunk.is_null() {
        chunk = take(None);
    }
    // SAFETY: null, or a chunk of this thread's alone, mapped for good; `is_inside` keeps handlers from
    // having it at the same time.
    unsafe {
        if chunk.is_null() || (&raw const (*chunk).is_inside).read_volatile() != 0 {
            return false;
        }
        (&raw mut (*chunk).is_inside).write_volatile(1);
        let mut has_room = room(&*chunk) >= least;
        if !has_room {
            let next = take(Some(&mut *chunk)); // marked as in use, too
            has_room = !next.is_null();
            chunk = if has_room { next } else { chunk };
        }
        if has_room {
            change(&mut *chunk);
        }
        (&raw mut (*chunk).is_inside).write_volatile(0);
        has_room
    }
}

/// The thread does something at `at`. If that is long after what it did before, a mark says what it did
/// meanwhile. Whether it was.
#[inline(always)]
fn step(chunk: &mut Chunk, at: u64) -> bool {
    let looked = off_cpu::look(chunk, at);
    if let Some((what, numbers)) = looked {
        write_mark(chunk, what, at, &numbers);
    }
    acted(chunk, at);
    looked.is_some()
}

/// The thread did something at `at`. The recorder may have kept it since.
#[inline(always)]
fn acted(chunk: &mut Chunk, at: u64) {
    chunk.last_step = chunk.last_step.max(at);
}

/// The thread comes for a lock that it may have to wait for.
pub(super) fn comes(came: u64) {
    with(|chunk| _ = step(chunk, came));
}

#[inline(always)]
pub(super) fn enter(address: usize, kind: u64, came: u64, got: u64) {
    let key = key(address, kind);
    with(|chunk| {
        let got = got.max(came);
        step(chunk, came);
        acted(chunk, got);
        off_cpu::waited(chunk, came, got);
        let held = Held { key, came, got };
        let mut depth = chunk.depth as usize % (DEPTH + 1);
        // What another thread released for us is no longer held; readers may hold one lock several times.
        if depth != 0 && kind != super::READ {
            forget_key(chunk, key);
            depth = chunk.depth as usize;
        }
        if depth == DEPTH {
            chunk.held.copy_within(1.., 0);
            depth -= 1;
        }
        chunk.held[depth] = held;
        chunk.depth = depth as u32 + 1;
    });
}

fn forget_key(chunk: &mut Chunk, key: u64) -> Option<Held> {
    let depth = (chunk.depth as usize).min(DEPTH);
    let at = chunk.held[..depth].iter().rposition(|held| held.key == key)?;
    let found = chunk.held[at];
    chunk.held.copy_within(at + 1..depth, at);
    chunk.depth = depth as u32 - 1;
    Some(found)
}

#[inline(always)]
pub(super) fn left(address: usize, kind: u64, at: u64) {
    let key = key(address, kind);
    let is_counted = with(|chunk| {
        step(chunk, at);
        match forget_key(chunk, key) {
            Some(held) => write_here(chunk, &held, at),
            None => chunk.dropped += 1,
        }
    });
    if !is_counted && let Some(header) = header() {
        // ord: AA19 alone: a statistic orders nothing
        header.dropped.fetch_add(1, Ordering::Relaxed);
    }
}

/// Something happened at the condition at `address` that took `span` and was over at `at`.
pub(super) fn at_condition(what: u8, address: usize, span: u64, at: u64) {
    with(|chunk| {
        if span == 0 {
            step(chunk, at);
        }
        acted(chunk, at);
        write_mark(chunk, what, at, &[span, address as u64]);
        off_cpu::waited(chunk, at.saturating_sub(span), at);
    });
}

/// Writes a mark, for which there is room.
pub(super) fn write_mark(chunk: &mut Chunk, what: u8, at: u64, numbers: &[u64]) {
    let start = end_of(chunk);
    let since = at.wrapping_sub(chunk.last).cast_signed();
    // SAFETY: a byte and four numbers at most are no longer than the longest mark, for which there is room.
    let end = unsafe {
        start.write(mark::BIT | what);
        let mut end = number(start.add(1), (since << 1 ^ since >> 63).cast_unsigned());
        for &value in numbers {
            end = number(end, value);
        }
        end
    };
    // ord: AA17 alone: the thread's own
    let filled = chunk.filled.load(Ordering::Relaxed);
    // ord: AA18 alone: as AA22; marks are not counted
    chunk.filled.store(filled + (end.addr() - start.addr()) as u64, Ordering::Release);
}

/// Bytes that the chunk still has.
#[inline(always)]
fn room(chunk: &Chunk) -> usize {
    // ord: AA20 alone: the thread's own
    let used = chunk.filled.load(Ordering::Relaxed) as u32 as usize;
    (chunk.pages as usize * PAGE).saturating_sub(size_of::<Chunk>() + used)
}

/// Where the next event goes.
#[inline(always)]
fn end_of(chunk: &mut Chunk) -> *mut u8 {
    // ord: AA21 alone: the thread's own
    let used = chunk.filled.load(Ordering::Relaxed) as u32 as usize;
    // SAFETY: the events follow the chunk's first part, in its own pages.
    unsafe { ptr::from_mut(chunk).add(1).cast::<u8>().add(used) }
}

#[inline(always)]
fn write_here(chunk: &mut Chunk, held: &Held, at: u64) {
    let start = end_of(chunk);
    let slot = slot(held.key);
    let is_new = chunk.slots[slot] != held.key;
    let (got, left) = (held.got, at.max(held.got));
    let wait = got.saturating_sub(held.came);
    let think = held.came.wrapping_sub(chunk.last).cast_signed();
    let first = u8::from(is_new) | (slot as u8) << 1 | u8::from(wait == 0) << 6;
    // SAFETY: there is room for the longest event.
    let end = unsafe {
        start.write(first);
        let mut at = start.add(1);
        if is_new {
            chunk.slots[slot] = held.key;
            at = number(at, held.key);
        }
        at = number(at, (think << 1 ^ think >> 63).cast_unsigned());
        if wait != 0 {
            at = number(at, wait);
        }
        number(at, left - got)
    };
    chunk.last = left;
    let bytes = (end.addr() - start.addr()) as u64;
    // ord: AA30 alone: the thread's own
    let filled = chunk.filled.load(Ordering::Relaxed);
    // ord: AA22 alone: read by another process, usually when this one has ended; one that reads earlier finds
    // the events that are counted
    chunk.filled.store(filled + bytes + (1 << 32), Ordering::Release);
}

/// # Safety
///
/// There must be room for ten bytes.
#[inline(always)]
unsafe fn number(mut at: *mut u8, mut value: u64) -> *mut u8 {
    // SAFETY: the caller's promise: 64 bits are ten groups of seven at most.
    unsafe {
        while value >= 0x80 {
            at.write(value as u8 | 0x80);
            at = at.add(1);
            value >>= 7;
        }
        at.write(value as u8);
        at.add(1)
    }
}

/// Takes pages for the thread, for which the system may need some milliseconds: marks tell them from the
/// thread's own work. What it holds goes with it. The new one of a thread that had one before is
/// marked as in use. Null if there is no room.
#[cold]
#[inline(never)]
fn take(mut before: Option<&mut Chunk>) -> *mut Chunk {
    let Some(header) = header() else { return ptr::null_mut() };
    let wanted = before.as_ref().map_or(1, |chunk| (chunk.pages * 2).min(MOST_PAGES));
    // ord: AA23 alone: a number that does not change
    let all = header.pages.load(Ordering::Relaxed) - 1;
    // ord: AA24 alone: a hint, so that the counter does not run over
    if header.taken.load(Ordering::Relaxed) >= all {
        return ptr::null_mut();
    }
    // ord: AA25 alone: pages of one's own are all that is needed
    let first = header.taken.fetch_add(wanted.into(), Ordering::Relaxed);
    let pages = all.saturating_sub(first).min(wanted.into()) as u32;
    if pages == 0 {
        return ptr::null_mut();
    }
    let came = now();
    let looked = before.as_mut().and_then(|chunk| off_cpu::look(chunk, came));
    let place = ptr::from_ref(header).cast_mut();
    // SAFETY: the pages lie in the file, which is mapped whole.
    let chunk = unsafe { place.byte_add(PAGE * (first as usize + 1)).cast::<Chunk>() };
    // ord: AA26 alone: set before the file was found
    if IS_LAZY.load(Ordering::Relaxed) && populate(chunk.cast(), pages as usize * PAGE) != 0 {
        // The disk is full. Those who come later need not ask again.
        // ord: AA27 alone: only how many pages are taken matters
        header.taken.fetch_max(all, Ordering::Relaxed);
        return ptr::null_mut();
    }
    // SAFETY: pages that are mapped, zero, and this thread's alone; zeros are a chunk.
    let new = unsafe { &mut *chunk };
    new.pages = pages;
    // ord: AA28 alone: set before the file was found, or by this thread
    new.process = PROCESS.load(Ordering::Relaxed);
    // SAFETY: a call without arguments, which cannot fail.
    new.pid = unsafe { libc::getpid() } as u32;
    // Where its first chunk is, which is nobody else's place: the system gives thread ids again.
    new.thread = first;
    new.last = now();
    if let Some(before) = before {
        new.thread = before.thread;
        new.last = before.last;
        (new.depth, new.held, new.is_inside) = (before.depth, before.held, 1);
        (new.last_step, new.waited) = (before.last_step, before.waited);
        (new.asked, new.ran) = (before.asked, before.ran);
        (new.put_aside, new.gave_up) = (before.put_aside, before.gave_up);
    }
    new.base = new.last;
    if let Some((what, numbers)) = looked {
        write_mark(new, what, came, &numbers);
    }
    off_cpu::ask(new, came);
    off_cpu::kept(new, came);
    // Last, because from here on it is one for whoever reads the file.
    // ord: AA29 alone: read by another process; one that finds it finds all that was written above
    new.magic.store(CHUNK_MAGIC, Ordering::Release);
    mine().set(chunk);
    chunk
}
