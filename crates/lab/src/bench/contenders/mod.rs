//! Every lock the benchmark knows. To add one: write one small file here and add one row below. A lock of
//! ours needs an `impl` of [`ours::Ours`]; a peer, one of [`Contender`](super::contender::Contender).
mod ours;

use super::contender::{Entry, Kind};

/// Declares the modules and the list from one row each, so that neither can be forgotten.
macro_rules! contenders {
    ($($(#[$attribute:meta])* $file:ident => $entry:expr;)*) => {
        $($(#[$attribute])* mod $file;)*

        /// The registry, in the order of tables and legends: ours first, then what people use today.
        pub(crate) static ALL: &[Entry] = &[$($(#[$attribute])* $entry,)*];
    };
}

contenders! {
    byte => ours::entry::<byte::Byte>();
    ticket => ours::entry::<ticket::Ticket>();
    qspin => ours::entry::<qspin::QSpin>();
    cna => ours::entry::<cna::Cna>();
    xen_pv => ours::entry::<xen_pv::XenPv>();
    pv_ticket => ours::entry::<pv_ticket::PvTicket>();
    pv_ticket_opportunistic => ours::entry::<pv_ticket_opportunistic::PvTicketOpportunistic>();
    pv_qspin => ours::entry::<pv_qspin::PvQSpin>();
    pv_qspin_kick_at_unlock => ours::entry::<pv_qspin_kick_at_unlock::PvQSpinKickAtUnlock>();
    pv_qspin_fenced => Entry::of::<pv_qspin_fenced::PvQSpinFenced>();
    std_mutex => Entry::of::<std_mutex::Std>();
    parking_lot => Entry::of::<parking_lot::ParkingLot>();
    pthread => Entry::of::<pthread::Pthread>();
    #[cfg(target_env = "gnu")]
    pthread_adaptive => Entry::of::<pthread_adaptive::Adaptive>();
    pthread_spin => Entry::of::<pthread_spin::Spin>();
    spin_crate => Entry::of::<spin_crate::Spin>();
    usync => Entry::of::<usync::Usync>();
    mcslock => Entry::of::<mcslock::Mcs>();
    spin_park => Entry::of::<spin_park::SpinPark>();
    busted_none => Entry::of::<busted_none::BustedNone>();
}

/// The lock of that name.
pub(crate) fn by_name(name: &str) -> Option<&'static Entry> {
    ALL.iter().find(|entry| entry.name == name)
}

/// All locks of one kind.
pub(crate) fn of_kind(kind: Kind) -> impl Iterator<Item = &'static Entry> {
    ALL.iter().filter(move |entry| entry.kind == kind)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_distinct_and_described() {
        for entry in ALL {
            assert_eq!(ALL.iter().filter(|other| other.name == entry.name).count(), 1, "{}", entry.name);
            assert!(!entry.about.is_empty() && entry.about.len() < 70, "{}", entry.name);
        }
    }

    #[test]
    fn the_hidden_lock_is_found_by_name_only() {
        assert_eq!(by_name("busted-none").map(|entry| entry.kind), Some(Kind::Hidden));
        assert!(of_kind(Kind::Peer).all(|entry| entry.name != "busted-none"));
    }
}
