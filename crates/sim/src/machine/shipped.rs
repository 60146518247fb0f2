//! The texts of the machines that come with the simulator.

/// Includes a shipped file under its name.
macro_rules! shipped {
    ($($name:literal)*) => {
        &[$(($name, include_str!(concat!("../../machines/", $name, ".toml")))),*]
    };
}

/// Name and text of each, by name.
pub(super) const LIBRARY: &[(&str, &str)] = shipped! {
    "epyc-2s"
    "graviton-like"
    "haswell-ep-2x10x2"
    "haswell-ex-4x8"
    "opteron-6272-8x8"
    "opteron-6344-8x6"
    "power9-16x12x8"
    "qemu-tcg"
    "small-vm"
    "westmere-ex-8x4"
    "xen-2cpu"
    "xeon-e7-4830v3-4x12"
    "xeon-e7-8895v3-4x18x2"
    "xeon-e7-8895v3-8x18x2"
    "zen5-vm"
};
