//! `byte`: unfair test-and-test-and-set byte; never sleeps.
use super::ours::Ours;

pub(crate) struct Byte;

impl Ours for Byte {
    const NAME: &'static str = "byte";
    const ABOUT: &'static str = "unfair test-and-test-and-set byte; never sleeps";
    type Silent = stanchion::lock::ByteLock;
    type Counted = stanchion::lock::counted::ByteLock;
}
