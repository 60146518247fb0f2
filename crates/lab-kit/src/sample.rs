//! What commands that measure tell of a lock to those that set locks in relation.

#[derive(Clone, Debug)]
pub struct Sample {
    pub lock: String,
    /// The profile, or the machine with its workload.
    pub load: String,
    pub threads: usize,
    /// How much was done, more being better: by round, or by seed. Empty if the cell went wrong, as all are.
    pub rates: Vec<f64>,
    /// The longest waits.
    pub worst_ns: Vec<f64>,
    /// CPU times of an acquisition, in any unit.
    pub cpu: Vec<f64>,
}
