//! `ticket`: FIFO ticket lock; never sleeps.
use super::ours::Ours;

pub(crate) struct Ticket;

impl Ours for Ticket {
    const NAME: &'static str = "ticket";
    const ABOUT: &'static str = "FIFO ticket lock; never sleeps";
    type Silent = stanchion::lock::TicketLock;
    type Counted = stanchion::lock::counted::TicketLock;
}
