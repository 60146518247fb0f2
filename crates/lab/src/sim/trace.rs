//! A recording as a trace for ui.perfetto.dev: a track for each CPU and vCPU; handovers and kicks as arrows.
//!
//! The format is Chrome's trace events in JSON, times in microseconds. They are rounded to nanoseconds before
//! anything else, ends like beginnings, so that what follows each other never overlaps.
use super::timeline::Caption;
use serde_json::json;
use stanchion_sim::{NS, Recording, Time};

/// More events than this make a file that a browser chokes on (50 MB).
pub(super) const MOST: usize = 400_000;
const CPUS: u32 = 1;
const VCPUS: u32 = 2;

/// A remark if the trace has to be cut, so that it has no more than `most` events.
pub(super) fn note(recording: &Recording, most: usize) -> Option<String> {
    let end = end_of(recording, most);
    let kept = (end - recording.from) / NS;
    (end < recording.to).then(|| {
        format!("the trace is cut after {kept} ns, at {most} events; a shorter --trace-time or a later --trace-from shows other parts")
    })
}

/// Up to when there are no more than `most` events.
fn end_of(recording: &Recording, most: usize) -> Time {
    let ran = recording.ran.iter().map(|ran| ran.from);
    let slices = ran.chain(recording.spells.iter().map(|spell| spell.from));
    let handovers = recording.handovers.iter().map(|handover| handover.acquired);
    let arrows = handovers.chain(recording.kicks.iter().map(|kick| kick.arrives));
    let mut times: Vec<Time> = slices.chain(arrows.flat_map(|time| [time; 2])).collect();
    if times.len() <= most {
        return recording.to;
    }
    let (_, end, _) = times.select_nth_unstable(most);
    *end
}

/// The trace, up to when it has `most` events.
pub(super) fn write(recording: &Recording, caption: &Caption, most: usize) -> String {
    let end = end_of(recording, most);
    let mut events = names(recording, caption);
    let ns = |time: Time| (time - recording.from) / NS;
    let us = |ns: u64| ns as f64 / 1e3;
    let slice = |pid: u32, tid: usize, name: &str, cat: &str, from: Time, to: Time| {
        let (from, to) = (ns(from), ns(to.min(end)));
        let (ts, dur) = (us(from), us(to.saturating_sub(from)));
        let item = json!({"ph": "X", "pid": pid, "tid": tid, "ts": ts, "dur": dur, "name": name, "cat": cat});
        (from < to).then(|| item.to_string())
    };
    for ran in recording.ran.iter().filter(|ran| ran.from < end) {
        events.extend(slice(CPUS, ran.cpu, &format!("vCPU {}", ran.context), "ran", ran.from, ran.to));
    }
    for spell in recording.spells.iter().filter(|spell| spell.from < end) {
        let cause = spell.cause.name();
        events.extend(slice(VCPUS, spell.context, cause, cause, spell.from, spell.to));
    }
    // Arrows between two vCPUs. They bind to the slices that are there at their ends.
    let handovers = recording.handovers.iter().map(|handover| {
        let name = format!("lock {} handed over", handover.lock);
        (name, "handover", (handover.giver, handover.released), (handover.taker, handover.acquired))
    });
    let kicks = recording.kicks.iter();
    let kicks = kicks.map(|of| ("kick".to_owned(), "kick", (of.from, of.sent), (of.to, of.arrives)));
    let arrows = handovers.chain(kicks).filter(|(.., (_, at))| *at < end);
    for (id, (name, cat, from, to)) in arrows.enumerate() {
        for (ph, (tid, at)) in [("s", from), ("f", to)] {
            let ts = us(ns(at));
            let item = json!({"ph": ph, "bp": "e", "pid": VCPUS, "tid": tid, "ts": ts, "id": id, "name": name, "cat": cat});
            events.push(item.to_string());
        }
    }
    format!("{{\"displayTimeUnit\":\"ns\",\"traceEvents\":[\n{}\n]}}\n", events.join(",\n"))
}

fn names(recording: &Recording, caption: &Caption) -> Vec<String> {
    let mut names = Vec::new();
    for (pid, what, tracks) in [(CPUS, "CPU", caption.cpus), (VCPUS, "vCPU", recording.contexts)] {
        let name = format!("{what}s: {caption}");
        names.push(json!({"ph": "M", "pid": pid, "name": "process_name", "args": {"name": name}}));
        names.push(json!({"ph": "M", "pid": pid, "name": "process_sort_index", "args": {"sort_index": pid}}));
        names.extend((0..tracks).map(|tid| {
            let name = format!("{what} {tid}");
            json!({"ph": "M", "pid": pid, "tid": tid, "name": "thread_name", "args": {"name": name}})
        }));
    }
    names.iter().map(ToString::to_string).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sim::tests as testing;
    use serde_json::Value;
    use stanchion_sim::Spell;
    use std::collections::BTreeMap;

    fn events(text: &str) -> Vec<Value> {
        let trace: Value = serde_json::from_str(text).expect("parses");
        trace["traceEvents"].as_array().expect("a list").clone()
    }

    /// Nanoseconds of a field of microseconds.
    fn ns(event: &Value, field: &str) -> u64 {
        (event[field].as_f64().expect("a number") * 1000.0).round() as u64
    }

    /// The slices of each track, in order of time.
    fn tracks(events: &[Value]) -> BTreeMap<(u64, u64), Vec<(u64, u64)>> {
        let mut tracks: BTreeMap<(u64, u64), Vec<(u64, u64)>> = BTreeMap::new();
        for event in events.iter().filter(|event| event["ph"] == "X") {
            let track = (event["pid"].as_u64().expect("a process"), event["tid"].as_u64().expect("a track"));
            let from = ns(event, "ts");
            tracks.entry(track).or_default().push((from, from + ns(event, "dur")));
        }
        for slices in tracks.values_mut() {
            slices.sort_unstable();
        }
        tracks
    }

    #[test]
    fn no_track_has_two_slices_at_a_time_and_none_is_lost() {
        let (recording, caption) = testing::recording("ticket", 4);
        let text = write(&recording, &caption, MOST);
        assert_eq!(note(&recording, MOST), None);
        let tracks = tracks(&events(&text));
        assert_eq!(tracks.len(), 2 + 4);
        for ((process, track), slices) in &tracks {
            assert!(slices.windows(2).all(|pair| pair[0].1 <= pair[1].0), "{process} {track} overlaps");
            let recorded: Vec<(Time, Time)> = if *process == u64::from(CPUS) {
                let of = recording.ran.iter().filter(|ran| ran.cpu as u64 == *track);
                of.map(|ran| (ran.from, ran.to)).collect()
            } else {
                let of = recording.spells.iter().filter(|spell| spell.context as u64 == *track);
                of.map(|spell| (spell.from, spell.to)).collect()
            };
            let sum: u64 = slices.iter().map(|(from, to)| to - from).sum();
            let expected = recorded.iter().map(|(from, to)| to - from).sum::<Time>() / NS;
            // Each end is rounded by less than a nanosecond.
            assert!(sum.abs_diff(expected) <= recorded.len() as u64, "{process} {track}: {sum} {expected}");
            assert!(sum <= (recording.to - recording.from) / NS && sum > 0, "{process} {track}");
        }
    }

    #[test]
    fn flows_begin_and_end_within_slices_of_vcpus() {
        let (recording, caption) = testing::recording("pv-qspin", 4);
        let events = events(&write(&recording, &caption, MOST));
        let tracks = tracks(&events);
        let mut starts = BTreeMap::new();
        let mut ends = BTreeMap::new();
        let mut bound = 0;
        for event in &events {
            let side = match event["ph"].as_str() {
                Some("s") => &mut starts,
                Some("f") => &mut ends,
                _ => continue,
            };
            let (track, at) = (event["tid"].as_u64().expect("a track"), ns(event, "ts"));
            let since = |time: Time| (time - recording.from) / NS;
            let during = |spell: &Spell| since(spell.from) <= at && at < since(spell.to);
            // An arrow binds to the slice below its end.
            if recording.spells.iter().any(|spell| spell.context as u64 == track && during(spell)) {
                bound += 1;
                let slices = &tracks[&(u64::from(VCPUS), track)];
                assert!(slices.iter().any(|&(from, to)| from <= at && at <= to), "{event}");
            }
            assert!(
                side.insert(event["id"].as_u64().expect("an id"), at).is_none(),
                "ids are used once a side"
            );
        }
        assert!(starts.len() > 10, "{}", starts.len());
        assert_eq!(bound, 2 * starts.len(), "every arrow binds at both ends");
        assert!(starts.keys().eq(ends.keys()));
        assert!(starts.iter().all(|(id, at)| ends[id] >= *at), "arrows go forwards");
        assert!(events.iter().any(|event| event["name"] == "kick"), "somebody was kicked");
    }

    #[test]
    fn a_long_recording_is_cut_at_a_moment_and_says_so() {
        let (recording, caption) = testing::recording("ticket", 4);
        let events = events(&write(&recording, &caption, 100));
        assert!(events.iter().filter(|event| event["ph"] != "M").count() <= 100);
        assert!(note(&recording, 100).expect("said").contains("at 100 events"));
        let ends: Vec<u64> = tracks(&events).values().filter_map(|slices| Some(slices.last()?.1)).collect();
        assert!(ends.iter().max().expect("tracks") < &((recording.to - recording.from) / NS));
    }

    #[test]
    fn tracks_are_named_whatever_the_machine_is_called() {
        let (recording, mut caption) = testing::recording("byte", 2);
        caption.machine = "a \"quoted\" one";
        let events = events(&write(&recording, &caption, MOST));
        let named = |name: &str| {
            let is =
                |event: &&Value| event["args"]["name"].as_str().is_some_and(|text| text.starts_with(name));
            events.iter().filter(is).count()
        };
        assert_eq!((named("CPUs: "), named("vCPUs: "), named("CPU "), named("vCPU ")), (1, 1, 2, 2));
    }
}
