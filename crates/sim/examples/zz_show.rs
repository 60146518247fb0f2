//! Scratch.
use stanchion_sim::explore::{Options, investigate, locks};
fn main() {
    let w: Vec<String> = std::env::args().skip(1).collect();
    let s = locks().into_iter().find(|s| s.name() == w[0]).unwrap();
    let f = investigate(&s, &Options::default(), w[1].parse().unwrap());
    if let Some(f) = f {
        println!("{:?}\n{}", f.failure, f.interleaving);
    }
}
