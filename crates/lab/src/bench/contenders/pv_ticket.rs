//! `pv-ticket`: FIFO ticket lock; waiters sleep.
use super::ours::Ours;

pub(crate) struct PvTicket;

impl Ours for PvTicket {
    const NAME: &'static str = "pv-ticket";
    const ABOUT: &'static str = "FIFO ticket lock; waiters sleep";
    type Silent = stanchion::lock::PvTicketLock;
    type Counted = stanchion::lock::counted::PvTicketLock;
}
