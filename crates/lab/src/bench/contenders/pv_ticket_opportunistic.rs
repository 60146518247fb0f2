//! `pv-ticket-opportunistic`: pv-ticket whose waiters near their turn spin.
use super::ours::Ours;

pub(crate) struct PvTicketOpportunistic;

impl Ours for PvTicketOpportunistic {
    const NAME: &'static str = "pv-ticket-opportunistic";
    const ABOUT: &'static str = "pv-ticket whose waiters near their turn spin";
    type Silent = stanchion::lock::PvTicketOpportunisticLock;
    type Counted = stanchion::lock::counted::PvTicketOpportunisticLock;
}
