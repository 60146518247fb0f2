//! Threads look counters up by their labels and add to them; one in 4096 times all are gathered.
mod rounds;

use prometheus::{IntCounterVec, Opts, Registry};

const LABELS: [&str; 8] = ["get", "put", "post", "head", "delete", "patch", "trace", "options"];

fn main() {
    let registry = Registry::new();
    let counters = IntCounterVec::new(Opts::new("requests", "by method"), &["method"]).expect("a name");
    registry.register(Box::new(counters.clone())).expect("the only one");
    let done = rounds::threads(|thread, time| {
        let label = LABELS[(thread + time as usize) % LABELS.len()];
        counters.with_label_values(&[label]).inc();
        if time % 4096 == 4095 {
            assert_eq!(registry.gather().len(), 1);
        }
    });
    let counted: u64 = LABELS.iter().map(|label| counters.with_label_values(&[label]).get()).sum();
    assert_eq!(counted, done, "no request is lost");
}
