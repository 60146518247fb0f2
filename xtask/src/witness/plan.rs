//! Which orderings can be weaker, and how.
use crate::orderings::FileOrderings;
use crate::sites::Site;

/// One ordering made weaker.
#[derive(Clone)]
pub(crate) struct Weaker {
    /// The tag, or the function of an operation without one.
    pub(crate) id: String,
    /// What is changed, as in `compare_exchange: AcqRel to Acquire`.
    pub(crate) what: String,
    /// What the model must reach for the change to matter: the file and the line as it knows them, and the
    /// operation. Whether an exchange fails is not the place's business.
    pub(crate) place: String,
    /// What the model is told: the place, `.failure` of an exchange or `.fence`, and what it becomes.
    pub(crate) argument: String,
}

impl Weaker {
    pub(crate) fn key(&self) -> (String, String) {
        (self.id.clone(), self.what.clone())
    }
}

/// Every way to make an ordering weaker, of files with locks, which are run in the model; in the source's
/// order.
pub(crate) fn weakenings(files: &[FileOrderings]) -> Vec<Weaker> {
    let mut found = Vec::new();
    let has_locks =
        |path: &str| path.starts_with("crates/core/src/") || path.starts_with("crates/family/src/");
    for file in files.iter().filter(|file| has_locks(&file.path)) {
        for (site, tags) in &file.sites {
            let id = tags.first().map_or(&site.function, |&tag| &file.tags[tag].id);
            found.extend(of_site(&file.path, id, site));
        }
    }
    found
}

fn of_site(path: &str, id: &str, site: &Site) -> Vec<Weaker> {
    let (name, orderings) = site.op.rsplit_once('(').unwrap_or((&site.op, ""));
    let op = name.rsplit(['.', ':']).next().unwrap_or(name);
    let orderings: Vec<&str> = orderings.trim_end_matches(')').split(", ").collect();
    // This one is made of `store_then_load`, which finds itself called where it is.
    let op = if op == "release_then_look" { "store_then_load" } else { op };
    let place = format!("{path}:{}:{op}", site.called);
    let weaker = |part: &str, from: &str, to: &str| Weaker {
        id: id.to_owned(),
        what: format!("{op}{part}: {from} to {to}"),
        argument: format!("{place}{part}={to}"),
        place: place.clone(),
    };
    let each = |part: &str, from: &str| -> Vec<Weaker> {
        steps_down(op, part, from).iter().map(|to| weaker(part, from, to)).collect()
    };
    match op {
        "store_then_load" => [each("", "Release"), vec![weaker(".fence", "SeqCst", "nothing")]].concat(),
        // Made of these, which find themselves called where it is.
        "release_fenced_then_look" => ["store(Release)", "fence(SeqCst)"]
            .into_iter()
            .flat_map(|op| of_site(path, id, &Site { op: op.to_owned(), ..site.clone() }))
            .collect(),
        "heavy_barrier" => vec![weaker("", "SeqCst", "nothing")],
        // Order nothing between contexts, or are not the core's, or say elsewhere with which fence.
        "compiler_barrier" | "membarrier" => Vec::new(),
        "compare_exchange" => {
            let failure = orderings.get(1).copied().unwrap_or("Relaxed");
            [each("", orderings[0]), each(".failure", failure)].concat()
        }
        _ => each("", orderings[0]),
    }
}

/// The next weaker orderings of an operation.
fn steps_down(op: &str, part: &str, from: &str) -> &'static [&'static str] {
    let loads = matches!(op, "load" | "wait_until" | "wait_until_polls") || part == ".failure";
    match from {
        "Acquire" | "Release" if op == "fence" => &["nothing"],
        "AcqRel" if op == "fence" => &["Acquire", "Release"],
        "SeqCst" if op == "fence" => &["AcqRel"],
        "Acquire" | "Release" => &["Relaxed"],
        // The model's SeqCst accesses are no stronger than these, so the next step is the one to look at.
        "SeqCst" if loads => &["Relaxed"],
        "SeqCst" if op == "store" || op == "store_then_load" => &["Relaxed"],
        "SeqCst" | "AcqRel" => &["Acquire", "Release"],
        _ => &[],
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::orderings::collect;
    use crate::source::Source;

    #[test]
    fn each_ordering_is_weakened_by_one_step() {
        let text = "impl Q { fn f(&self) {
            // ord: Q1 pairs Q2: the taker sees it all
            self.cell(slot).compare_exchange(0, 1, AcqRel, Acquire);
            // ord: Q2 alone: a hint and no more
            self.b.load(Relaxed);
            // ord: Q3 pairs Q1: the section goes out
            P::store_then_load(&self.a, 0, &self.b);
            if !P::heavy_barrier() {}
            P::compiler_barrier();
        } }";
        let file = collect(&Source::parse("crates/core/src/q.rs", text).expect("parses"));
        let found: Vec<String> =
            weakenings(&[file]).iter().map(|weaker| format!("{} {}", weaker.id, weaker.argument)).collect();
        assert_eq!(
            found,
            [
                "Q1 crates/core/src/q.rs:3:compare_exchange=Acquire",
                "Q1 crates/core/src/q.rs:3:compare_exchange=Release",
                "Q1 crates/core/src/q.rs:3:compare_exchange.failure=Relaxed",
                "Q3 crates/core/src/q.rs:7:store_then_load=Relaxed",
                "Q3 crates/core/src/q.rs:7:store_then_load.fence=nothing",
                "Q::f crates/core/src/q.rs:8:heavy_barrier=nothing",
            ]
        );
    }

    #[test]
    fn a_place_is_an_operation_without_its_part() {
        let text = "fn f(&self) { self.a.compare_exchange(0, 1, Relaxed, Acquire); }";
        let file = collect(&Source::parse("crates/core/src/q.rs", text).expect("parses"));
        let weaker = &weakenings(&[file])[0];
        assert_eq!(weaker.place, "crates/core/src/q.rs:1:compare_exchange");
        assert_eq!(weaker.argument, "crates/core/src/q.rs:1:compare_exchange.failure=Relaxed");
    }
}
