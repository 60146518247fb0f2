//! The answer in ten lines at most: which lock to take here, how it does beside others, and how sure that is.
use super::contender::{Kind, LockInfo};
use super::figures::fairness;
use super::mix::Load;
use super::report::{Cell, Report, State, Warning};
use super::table::{Rows, costs};
use lab_kit::export::grid::WIDTH;
use lab_kit::stats::{PAIRS_ENOUGH, Ratio, Summary, median};
use lab_kit::units::{format_ns, percent, plural};
use stanchion_cells::scenes::once;

/// What people use today, the most common first.
const TODAY: [&str; 6] =
    ["std", "parking_lot", "pthread", "pthread-adaptive", "pthread-readers", "pthread-writers"];

/// A lock, and the cells by which it is judged: those in which several threads want it.
struct Candidate<'a> {
    info: &'a LockInfo,
    cells: Vec<&'a Cell>,
}

/// All lines, the first of which says what the rest rests on.
pub(crate) fn lines(report: &Report) -> Vec<String> {
    let contended = contended(report);
    // Each the first of its lock under a load.
    let collapsed = |load| Rows::of(report, load).collapsed;
    let collapsed: Vec<&Cell> = report.loads().into_iter().flat_map(collapsed).collect();
    let all = candidates(report, &contended, &collapsed);
    let mut lines = vec![("broken", wrong(report))];
    if let Some(best) = all.first() {
        let others = others(best, &all);
        lines.extend([
            ("take", take(report, best, &all, contended.len())),
            ("ahead", compared(best, &others, "throughput", Cell::rates)),
            ("weakest", weakest(report, best).into_iter().collect()),
            ("costs", compared(best, &others, "CPU time of an acquisition", |cell| &cell.cpu_rounds)),
            ("shares", shares(best, others.first().copied())),
            ("waits", waits(report, best, &others).unwrap_or_default()),
            ("alone", alone(report, best.info)),
        ]);
    } else {
        let undecided = "not decided: no lock held under all loads".to_owned();
        lines.push(("take", if contended.is_empty() { Vec::new() } else { vec![undecided] }));
        let name = costs(report).first().map_or("", |(name, _)| name);
        let cheapest = report.cheapest(name, |kind| kind != Kind::Hidden);
        lines.push(("alone", cheapest.map(|lock| alone(report, lock)).unwrap_or_default()));
    }
    lines.push(("lost", lost(report, &collapsed)));
    let told = lines.into_iter().filter(|(_, items)| !items.is_empty());
    core::iter::once(sure(report)).chain(told.map(|(label, items)| fitted(label, &items))).collect()
}

/// A line of a label and as many of the items as fit; how many do not is said.
fn fitted(label: &str, items: &[String]) -> String {
    let line = |count: usize| {
        let left = items.len() - count;
        let more = if left > 0 { format!(", and {left} more") } else { String::new() };
        format!("  {label:<8}{}{more}", items[..count].join(", "))
    };
    let fits = |line: &String| line.chars().count() <= WIDTH;
    (1..=items.len()).rev().map(line).find(fits).unwrap_or_else(|| line(1))
}

/// How much it rests on: rounds, noise, and what speaks against it.
fn sure(report: &Report) -> String {
    let setting = &report.setting;
    let sound = || report.cells.iter().filter(|cell| cell.state == State::Measured);
    let spreads: Vec<f64> = sound().filter_map(|cell| Some(cell.throughput.as_ref()?.spread())).collect();
    let noise = format!("half of the cells within ±{}", percent(median(&spreads)));
    let mut items = vec![format!("{} rounds of {} ms", setting.rounds, setting.time_ms)];
    items.extend((!spreads.is_empty()).then_some(noise));
    let of_two_kinds = sound().filter(|cell| cell.throughput.as_ref().is_some_and(Summary::is_of_two_kinds));
    let of_two_kinds = of_two_kinds.count();
    items.extend((of_two_kinds > 0).then(|| format!("{} of two kinds (~)", plural(of_two_kinds, "cell"))));
    items.extend(setting.quick.then(|| "a quick one".to_owned()));
    items.extend((!report.complete).then(|| "unfinished".to_owned()));
    let doubts = report.warnings.iter().filter_map(|warning| match warning {
        Warning::DebugBuild => Some("a debug build: worthless"),
        Warning::OneCpu => Some("one CPU"),
        Warning::BusyBefore { .. } | Warning::BusyDuring { .. } => Some("other programs ran"),
        Warning::Stolen { .. } => Some("the hypervisor took CPU time"),
        _ => None,
    });
    items.extend(doubts.map(str::to_owned));
    items.dedup();
    format!("verdict: {}", fitted("", &items).trim_start())
}

fn contended(report: &Report) -> Vec<(Load<'_>, usize)> {
    let columns = |load| report.setting.threads.iter().map(move |&column| (load, column));
    let several =
        |&(load, column): &(Load, usize)| load.threads(column) > 1 && !report.column(load, column).is_empty();
    report.loads().into_iter().flat_map(columns).filter(several).collect()
}

/// The locks that held everywhere, the fastest in the geometric mean first.
fn candidates<'a>(
    report: &'a Report,
    contended: &[(Load<'a>, usize)],
    collapsed: &[&Cell],
) -> Vec<Candidate<'a>> {
    let sound = |info: &'a LockInfo| {
        let cell = |&(load, column): &(Load<'a>, usize)| {
            report.at(&info.name, load, column).filter(|cell| cell.state == State::Measured)
        };
        let cells = contended.iter().map(cell).collect::<Option<Vec<_>>>()?;
        Some(Candidate { info, cells })
    };
    let held = |info: &&LockInfo| collapsed.iter().all(|cell| cell.lock != info.name);
    let asked = report.locks.iter().filter(|info| info.kind != Kind::Hidden).filter(held);
    let mut candidates: Vec<_> = asked.filter_map(sound).filter(|all| !all.cells.is_empty()).collect();
    let score = |of: &Candidate| of.cells.iter().map(|cell| cell.rate().ln()).sum::<f64>();
    candidates.sort_by(|a, b| score(b).total_cmp(&score(a)));
    candidates
}

impl Candidate<'_> {
    /// This lock beside another over all loads.
    fn beside(&self, other: &Self, value: fn(&Cell) -> &[f64]) -> Option<Ratio> {
        let pairs = self.cells.iter().zip(&other.cells).map(|(own, other)| (value(own), value(other)));
        Ratio::of(&pairs.collect::<Vec<_>>())
    }
}

/// Which lock to take, or why that is not decided.
fn take(report: &Report, best: &Candidate, all: &[Candidate], loads: usize) -> Vec<String> {
    let name = &best.info.name;
    let over = format!("over {}", plural(loads, "contended load"));
    if report.setting.rounds < PAIRS_ENOUGH {
        return vec![format!("not decided: an answer needs {PAIRS_ENOUGH} rounds; {name} was ahead {over}")];
    }
    let clear = |other: &&Candidate| best.beside(other, Cell::rates).is_some_and(|ratio| ratio.is_clear());
    let equal: Vec<String> =
        all[1..].iter().filter(|other| !clear(other)).map(|other| other.info.name.clone()).collect();
    let first = match all.len() {
        _ if !equal.is_empty() => format!("no difference beyond the noise {over}: {name}"),
        1 => format!("{name}: the only one that holds {over}"),
        count => format!("{name}: the fastest of {count} locks that hold {over}"),
    };
    core::iter::once(first).chain(equal).collect()
}

/// The locks to compare with: the fastest of ours if a peer is best, what people use today, other peers.
fn others<'a>(best: &Candidate, all: &'a [Candidate<'a>]) -> Vec<&'a Candidate<'a>> {
    let ours = all.iter().find(|other| other.info.kind == Kind::Stanchion);
    let peer = |other: &&Candidate| other.info.kind == Kind::Peer && other.info.name != best.info.name;
    let mut peers: Vec<&Candidate> = all.iter().filter(peer).collect();
    let place = |of: &Candidate| TODAY.iter().position(|name| *name == of.info.name).unwrap_or(TODAY.len());
    peers.sort_by_key(|of| place(of));
    ours.filter(|_| best.info.kind == Kind::Peer).into_iter().chain(peers).collect()
}

/// The best lock beside the peers, by throughput or by CPU time.
fn compared(best: &Candidate, others: &[&Candidate], what: &str, of: fn(&Cell) -> &[f64]) -> Vec<String> {
    let told = |peer: &&Candidate| {
        let ratio = best.beside(peer, of)?.told()?;
        Some(format!("{ratio} of {}", peer.info.name))
    };
    first_with(what, others.iter().filter_map(told).collect())
}

/// The first item says what the figures are.
fn first_with(what: &str, mut items: Vec<String>) -> Vec<String> {
    if let Some(first) = items.first_mut() {
        first.insert_str(0, &format!("{what} "));
    }
    items
}

/// Where the best lock does worst beside a peer.
fn weakest(report: &Report, best: &Candidate) -> Option<String> {
    let beside = best.cells.iter().filter_map(|cell| Some((cell, report.best_peer(cell)?)));
    let told = beside.filter(|(_, (_, ratio))| ratio.interval.is_some());
    let (cell, (peer, ratio)) = told.min_by(|(_, (_, a)), (_, (_, b))| a.least().total_cmp(&b.least()))?;
    let load = report.load(cell)?.with(cell.threads);
    (peer.lock != best.info.name).then(|| format!("throughput {ratio} of {} at {load}", peer.lock))
}

/// How evenly it is shared, and what memory it takes.
fn shares(best: &Candidate, other: Option<&Candidate>) -> Vec<String> {
    let range = |of: &Candidate| {
        let values = || of.cells.iter().filter_map(|cell| fairness(cell));
        Some(format!("{:.2}–{:.2}", values().reduce(f64::min)?, values().reduce(f64::max)?))
    };
    let other = other.and_then(|of| Some(format!(" ({} {})", of.info.name, range(of)?)));
    let told = |own| format!("slowest thread {own} of the fastest{}", other.unwrap_or_default());
    let mut items: Vec<String> = range(best).map(told).into_iter().collect();
    let memory = best.info.memory;
    items.push(format!("{} B a lock", best.info.bytes + memory.heap_per_lock));
    let a_thread = memory.per_thread + memory.per_thread_and_class;
    items.extend((a_thread > 0).then(|| format!("{a_thread} B a thread")));
    items
}

fn waits(report: &Report, best: &Candidate, others: &[&Candidate]) -> Option<Vec<String>> {
    let longest = |of: &Candidate| {
        let waits = of.cells.iter().filter_map(|cell| Some(cell.latency.as_ref()?.worst_ns));
        Some(format_ns(waits.max()? as f64))
    };
    let (own, time) = (longest(best)?, report.setting.latency_time_ms);
    let peers = others.iter().filter_map(|peer| Some(format!("{} {}", peer.info.name, longest(peer)?)));
    Some(core::iter::once(format!("longest {own} in rounds of {time} ms")).chain(peers).collect())
}

/// What one thread pays, beside what people use today.
fn alone(report: &Report, lock: &LockInfo) -> Vec<String> {
    let told = |(name, title): (&str, &str)| {
        let own = report.cost(&lock.name, name)?;
        let ratio = |peer: &&str| {
            let ratio = Ratio::of(&[(&own.rounds, &report.cost(peer, name)?.rounds)])?.told()?;
            Some(format!("{ratio} of {peer}"))
        };
        let peers = TODAY.iter().filter(|peer| **peer != lock.name).filter_map(ratio);
        let beside: Vec<String> = peers.take(if name == "ns" { 2 } else { 1 }).collect();
        let beside = if beside.is_empty() { String::new() } else { format!(": {}", beside.join(", ")) };
        let own = own.middle(|ns| format!("{ns:.1}"));
        Some(format!("{}{own} ns{beside}", title.trim_end_matches("ns")))
    };
    let costs = costs(report).into_iter().filter(|(name, _)| *name != "after_ns");
    first_with(&lock.name, costs.filter_map(told).collect())
}

fn wrong(report: &Report) -> Vec<String> {
    let told = |cell: &Cell| {
        let (word, load) = (cell.state.word()?, report.load(cell)?);
        Some(format!("{} is {word} ({})", cell.lock, load.with(cell.threads)))
    };
    report.cells.iter().filter(|cell| cell.state.is_wrong()).filter_map(told).collect()
}

/// Locks that collapsed or stalled, each where it first does.
fn lost(report: &Report, collapsed: &[&Cell]) -> Vec<String> {
    let told = |lock: &String| {
        let first = collapsed.iter().find(|cell| cell.lock == *lock)?;
        Some(format!("{lock} ({})", report.load(first)?.with(first.threads)))
    };
    let locks = once(collapsed.iter().map(|cell| &cell.lock)).into_iter();
    first_with("below a tenth of the best:", locks.filter_map(told).collect())
}

#[cfg(test)]
#[path = "verdict_tests.rs"]
mod tests;
