//! The answer, in ten lines at most: which lock to take here, by how much over what people use today, what it
//! costs, how long its waiters wait, and how sure that is.
use super::contender::Kind;
use super::costs::costs;
use super::mix::Load;
use super::quantity::fairness;
use super::report::{Cell, LockInfo, Report, State};
use super::rows::Rows;
use super::warnings::Warning;
use lab_kit::export::grid::WIDTH;
use lab_kit::stats::{PAIRS_ENOUGH, Ratio, median};
use lab_kit::units::{format_ns, percent};

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
    let wrong = wrong(report);
    let mut lines = vec![sure(report)];
    if !wrong.is_empty() {
        lines.push(fitted("broken", wrong));
    }
    let contended = contended(report);
    let candidates = candidates(report, &contended);
    if let Some(best) = candidates.first() {
        lines.push(take(report, best, &candidates, contended.len()));
        lines.extend(compared(best, &candidates, "ahead", "throughput", Candidate::rates));
        lines.extend(weakest(report, best));
        lines.extend(compared(best, &candidates, "costs", "CPU time of an acquisition", Candidate::cpu));
        lines.push(memory_and_fairness(best, &candidates));
        lines.extend(longest(report, best, &candidates));
        lines.extend(alone(report, best.info));
    } else {
        if !contended.is_empty() {
            lines.push(fitted("take", vec!["not decided: no lock held under all loads".to_owned()]));
        }
        lines.extend(cheapest(report).and_then(|lock| alone(report, lock)));
    }
    let collapsed = collapsed(report);
    if !collapsed.is_empty() {
        lines.push(fitted("lost", collapsed));
    }
    lines
}

/// A line of a label and as many of the items as fit; how many do not is said.
fn fitted(label: &str, items: Vec<String>) -> String {
    let mut line = format!("  {label:<8}");
    let count = items.len();
    for (index, item) in items.into_iter().enumerate() {
        let gap = if index == 0 { "" } else { ", " };
        let left = count - index;
        let reserve = if left > 1 { format!(", and {} more", left - 1).len() } else { 0 };
        if index > 0 && line.chars().count() + gap.len() + item.chars().count() + reserve > WIDTH {
            return format!("{line}, and {left} more");
        }
        line += gap;
        line += &item;
    }
    line
}

/// How much it rests on: rounds, noise, and what speaks against it.
fn sure(report: &Report) -> String {
    let setting = &report.setting;
    let spreads: Vec<f64> = report
        .cells
        .iter()
        .filter(|cell| cell.state == State::Measured)
        .filter_map(|cell| cell.throughput.as_ref().map(lab_kit::stats::Summary::spread))
        .collect();
    let mut items = vec![format!("{} rounds of {} ms", setting.rounds, setting.time_ms)];
    if !spreads.is_empty() {
        items.push(format!("half of the cells within ±{}", percent(median(&spreads))));
    }
    if setting.quick {
        items.push("a quick one".to_owned());
    }
    if !report.complete {
        items.push("unfinished".to_owned());
    }
    items.extend(report.warnings.iter().filter_map(|warning| match warning {
        Warning::DebugBuild => Some("a debug build: worthless".to_owned()),
        Warning::OneCpu => Some("one CPU".to_owned()),
        Warning::BusyBefore { .. } | Warning::BusyDuring { .. } => Some("other programs ran".to_owned()),
        Warning::Stolen { .. } => Some("the hypervisor took CPU time".to_owned()),
        _ => None,
    }));
    items.dedup();
    let line = fitted("", items);
    format!("verdict: {}", line.trim_start())
}

/// The loads at which several threads want the lock.
fn contended(report: &Report) -> Vec<(Load<'_>, usize)> {
    let counts = |load: Load<'_>| {
        let counts = report.setting.threads.iter().copied();
        counts.filter(|&column| load.threads(column) > 1).collect::<Vec<_>>()
    };
    let loads = report.loads().into_iter();
    let columns = loads.flat_map(|load| counts(load).into_iter().map(move |column| (load, column)));
    columns.filter(|&(load, column)| !report.column(load, column).is_empty()).collect()
}

/// The locks that held everywhere, the fastest in the geometric mean first.
fn candidates<'a>(report: &'a Report, contended: &[(Load<'a>, usize)]) -> Vec<Candidate<'a>> {
    let loads = report.loads();
    let lost = |name: &str| {
        let collapsed = |load: &Load| Rows::of(report, *load).collapsed.iter().any(|cell| cell.lock == name);
        loads.iter().any(collapsed)
    };
    let sound = |info: &'a LockInfo| {
        let cell = |&(load, column): &(Load<'a>, usize)| {
            report.at(&info.name, load, column).filter(|cell| cell.state == State::Measured)
        };
        let cells = contended.iter().map(cell).collect::<Option<Vec<_>>>()?;
        Some(Candidate { info, cells })
    };
    let asked = report.locks.iter().filter(|info| info.kind != Kind::Hidden && !lost(&info.name));
    let mut candidates: Vec<_> = asked.filter_map(sound).filter(|all| !all.cells.is_empty()).collect();
    let score = |of: &Candidate| of.cells.iter().map(|cell| cell.rate().ln()).sum::<f64>();
    candidates.sort_by(|a, b| score(b).total_cmp(&score(a)));
    candidates
}

impl Candidate<'_> {
    fn rates(cell: &Cell) -> &[f64] {
        cell.rates()
    }

    fn cpu(cell: &Cell) -> &[f64] {
        &cell.cpu_rounds
    }

    /// This lock beside another over all loads.
    fn beside(&self, other: &Self, value: fn(&Cell) -> &[f64]) -> Option<Ratio> {
        let pairs = self.cells.iter().zip(&other.cells).map(|(own, other)| (value(own), value(other)));
        Ratio::of(&pairs.collect::<Vec<_>>())
    }
}

/// Which lock to take, or why that is not decided.
fn take(report: &Report, best: &Candidate, all: &[Candidate], loads: usize) -> String {
    let name = &best.info.name;
    let over = format!("over {loads} contended loads");
    if report.setting.rounds < PAIRS_ENOUGH {
        return fitted(
            "take",
            vec![format!("not decided: an answer needs {PAIRS_ENOUGH} rounds; {name} was ahead {over}")],
        );
    }
    let clear =
        |other: &&Candidate| best.beside(other, Candidate::rates).is_some_and(|ratio| ratio.is_clear());
    let equal: Vec<&str> =
        all[1..].iter().filter(|other| !clear(other)).map(|other| other.info.name.as_str()).collect();
    if !equal.is_empty() {
        let first = format!("no difference beyond the noise {over}: {name}");
        let others = equal.into_iter().map(str::to_owned);
        return fitted("take", core::iter::once(first).chain(others).collect());
    }
    if all.len() == 1 {
        return fitted("take", vec![format!("{name}: the only one that holds {over}")]);
    }
    fitted("take", vec![format!("{name}: the fastest of {} locks that hold {over}", all.len())])
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
fn compared(
    best: &Candidate,
    all: &[Candidate],
    label: &str,
    what: &str,
    value: fn(&Cell) -> &[f64],
) -> Option<String> {
    let told = |peer: &&Candidate| {
        let ratio = best.beside(peer, value)?.told()?;
        Some(format!("{ratio} of {}", peer.info.name))
    };
    let mut items: Vec<String> = others(best, all).iter().filter_map(told).collect();
    if items.is_empty() {
        return None;
    }
    // The first says what the figures are.
    items[0] = format!("{what} {}", items[0]);
    Some(fitted(label, items))
}

/// Where the best lock does worst beside a peer.
fn weakest(report: &Report, best: &Candidate) -> Option<String> {
    let ratio = |cell: &&&Cell| report.to_best_peer(cell).filter(|ratio| ratio.interval.is_some());
    let cells = best.cells.iter().filter_map(|cell| Some((ratio(&cell)?, cell)));
    let (ratio, cell) = cells.min_by(|a, b| a.0.ratio.total_cmp(&b.0.ratio))?;
    let load = report.load(cell)?;
    let peer = &report.best_peer(load, load.column(cell.threads))?.lock;
    (*peer != best.info.name).then(|| {
        fitted("weakest", vec![format!("throughput {ratio} of {peer} at {}", load.with(cell.threads))])
    })
}

fn memory_and_fairness(best: &Candidate, all: &[Candidate]) -> String {
    let range = |of: &Candidate| {
        let values: Vec<f64> = of.cells.iter().filter_map(|cell| fairness(cell)).collect();
        let (low, high) =
            (values.iter().copied().reduce(f64::min)?, values.iter().copied().reduce(f64::max)?);
        Some(format!("{low:.2}–{high:.2}"))
    };
    let others = others(best, all);
    let told = range(best).map(|own| {
        let other =
            others.first().and_then(|other| Some(format!(" ({} {})", other.info.name, range(other)?)));
        format!("slowest thread {own} of the fastest{}", other.unwrap_or_default())
    });
    let (info, memory) = (best.info, best.info.memory);
    let mut items: Vec<String> = told.into_iter().collect();
    items.push(format!("{} B a lock", info.bytes + memory.heap_per_lock));
    let a_thread = memory.per_thread + memory.per_thread_and_class;
    if a_thread > 0 {
        items.push(format!("{a_thread} B a thread"));
    }
    fitted("shares", items)
}

/// The longest waits seen.
fn longest(report: &Report, best: &Candidate, all: &[Candidate]) -> Option<String> {
    let of =
        |lock: &Candidate| lock.cells.iter().filter_map(|cell| cell.latency.as_ref()?.worst_ns.into()).max();
    let own: u64 = of(best)?;
    let time = report.setting.latency_time_ms;
    let mut items = vec![format!("longest {} in rounds of {time} ms", format_ns(own as f64))];
    items.extend(
        others(best, all)
            .into_iter()
            .filter_map(|peer| Some(format!("{} {}", peer.info.name, format_ns(of(peer)? as f64)))),
    );
    Some(fitted("waits", items))
}

/// What one thread pays, beside what people use today.
fn alone(report: &Report, lock: &LockInfo) -> Option<String> {
    let told = |(name, title): (&str, &str)| {
        let own = report.cost(&lock.name, name)?;
        let peers = TODAY.iter().filter(|peer| **peer != lock.name);
        let ratio = |peer: &str| {
            let ratio = Ratio::of(&[(&own.rounds, &report.cost(peer, name)?.rounds)])?.told()?;
            Some(format!("{ratio} of {peer}"))
        };
        let beside = peers.filter_map(|peer| ratio(peer)).take(if name == "ns" { 2 } else { 1 });
        let beside: Vec<String> = beside.collect();
        let what = title.trim_end_matches("ns").trim_end();
        let what = if what.is_empty() { String::new() } else { format!("{what} ") };
        let beside = if beside.is_empty() { String::new() } else { format!(": {}", beside.join(", ")) };
        Some(format!("{what}{:.1} ns{beside}", own.median))
    };
    let costs = costs(report).into_iter().filter(|(name, _)| *name != "after_ns");
    let mut items: Vec<String> = costs.filter_map(told).collect();
    items.first_mut()?.insert_str(0, &format!("{} ", lock.name));
    Some(fitted("alone", items))
}

/// The lock that costs one thread the least, if nothing else was measured.
fn cheapest(report: &Report) -> Option<&LockInfo> {
    let (name, _) = costs(report).first().copied()?;
    let cost = |info: &LockInfo| report.median_cost(&info.name, name);
    let locks = report.locks.iter().filter(|info| info.kind != Kind::Hidden);
    locks.min_by(|a, b| cost(a).total_cmp(&cost(b)))
}

/// What must not pass silently.
fn wrong(report: &Report) -> Vec<String> {
    let told = |cell: &Cell| {
        let load = report.load(cell)?;
        let word = match &cell.state {
            State::Broken { .. } | State::Torn { .. } => "BROKEN",
            State::Failed { .. } => "failed",
            _ => return None,
        };
        Some(format!("{} is {word} ({})", cell.lock, load.with(cell.threads)))
    };
    report.cells.iter().filter_map(told).collect()
}

/// Locks that collapsed or stalled, each where it first does.
fn collapsed(report: &Report) -> Vec<String> {
    let mut seen: Vec<&str> = Vec::new();
    let mut items = Vec::new();
    for load in report.loads() {
        for cell in Rows::of(report, load).collapsed {
            if !seen.contains(&cell.lock.as_str()) {
                seen.push(&cell.lock);
                items.push(format!("{} ({})", cell.lock, load.with(cell.threads)));
            }
        }
    }
    if let Some(first) = items.first_mut() {
        *first = format!("below a tenth of the best: {first}");
    }
    items
}

#[cfg(test)]
#[path = "verdict_tests.rs"]
mod tests;
