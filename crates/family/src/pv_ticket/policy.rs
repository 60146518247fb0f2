//! How a paravirtual ticket lock waits and wakes: the choices.
use crate::platform::FamilyPlatform;
use crate::tunables::FamilyTunables as _;
use stanchion_core::tunables::Tunable;

/// The choices of a paravirtual ticket lock.
pub trait TicketPolicy: Send + Sync + 'static {
    /// The name of the lock with this policy, on command lines and in files.
    const NAME: &'static str;

    /// How many polls a waiter lets pass before it halts, so many turns before its own.
    fn polls<P: FamilyPlatform>(turns_ahead: u16) -> u32;

    /// How many tickets a release wakes that finds somebody asleep, the next one included: 1 or more.
    fn wakes<P: FamilyPlatform>() -> u16;
}

/// What kernels did from 3.12 to 4.1: everybody polls for the same time, and the next in line is woken.
#[derive(Debug)]
pub enum Plain {}

impl TicketPolicy for Plain {
    const NAME: &'static str = "pv-ticket";

    fn polls<P: FamilyPlatform>(_turns_ahead: u16) -> u32 {
        P::tunable(Tunable::SpinThreshold)
    }

    fn wakes<P: FamilyPlatform>() -> u16 {
        1
    }
}

/// `oticket`: waiters that are near their turn poll for long, so that it finds them awake, and a release
/// wakes several tickets, so that a wake-up takes place during the sections before.
#[derive(Debug)]
pub enum Opportunistic {}

/// The waiter farthest away that counts as near polls so many times longer, as a power of two; each turn
/// nearer doubles it.
const LEAST_SHIFT: u32 = 3;

impl TicketPolicy for Opportunistic {
    const NAME: &'static str = "pv-ticket-opportunistic";

    fn polls<P: FamilyPlatform>(turns_ahead: u16) -> u32 {
        longer(
            P::tunable(Tunable::SpinThreshold),
            turns_ahead.max(1).into(),
            P::tunable(Tunable::OticketNear),
        )
    }

    fn wakes<P: FamilyPlatform>() -> u16 {
        P::tunable(Tunable::OticketWake).clamp(1, MOST_WOKEN.into()) as u16
    }
}

/// No more tickets than this can be waited for at a time.
const MOST_WOKEN: u16 = 1 << 14;

/// `threshold` polls, or more if the turn is near; as many as there can be if that is too many for the type.
fn longer(threshold: u32, turns_ahead: u32, near: u32) -> u32 {
    if turns_ahead >= near {
        return threshold;
    }
    let shift = (near - 1 - turns_ahead).saturating_add(LEAST_SHIFT).min(u32::BITS);
    (u64::from(threshold) << shift).min(u32::MAX.into()) as u32
}

#[cfg(test)]
mod tests {
    use super::longer;

    #[test]
    fn the_nearer_the_longer_and_no_overflow() {
        const THRESHOLD: u32 = 1 << 15;
        assert_eq!(longer(THRESHOLD, 18, 18), THRESHOLD, "not near");
        assert_eq!(longer(THRESHOLD, 17, 18), 1 << 18);
        assert_eq!(longer(THRESHOLD, 16, 18), 1 << 19);
        assert_eq!(longer(THRESHOLD, 4, 18), 1 << 31);
        assert_eq!(longer(THRESHOLD, 3, 18), u32::MAX, "2^32 is one too many");
        assert_eq!(longer(THRESHOLD, 1, 18), u32::MAX, "2^34 in the original");
        assert_eq!(longer(u32::MAX, 1, u32::MAX), u32::MAX);
        assert_eq!(longer(0, 1, 18), 0);
    }
}
