//! The workloads, and what an order makes of them.
mod build;
mod compute;
mod queue;
mod report;
mod run;
mod stress;
mod torture;

use crate::conform;
use crate::locks::{self, Visit};
use crate::machine::Machine;
use crate::order::{Order, Workload};
use crate::record;
use crate::shared::Shared;
use crate::subject::Subject;
use alloc::borrow::ToOwned;
use alloc::vec;
use alloc::vec::Vec;
use build::Build;
use compute::Pace;
use run::carry_out;
use stress::Stress;
use torture::Torture;

/// Carries the order out, on vCPU 0; whether all went well.
pub(crate) fn lead<M: Machine>(order: &Order, shared: &'static Shared<M>) -> bool {
    let names = match order.workload {
        Workload::Boot => return true,
        Workload::Conform => return conform::carry_out(shared, order),
        _ if order.lock == "all" => locks::lock_names().map(ToOwned::to_owned).collect(),
        _ => vec![order.lock.clone()],
    };
    // No shortcut: one that fails does not keep the others from their turn.
    names.into_iter().fold(true, |ok, name| {
        let went_well = locks::visit::<M, _>(&name, &mut Trial { order, shared, lock: &name });
        ok & went_well.unwrap_or_else(|| no_such_lock::<M>(&name))
    })
}

/// Says so, and that this is no success.
pub(crate) fn no_such_lock<M: Machine>(name: &str) -> bool {
    let all = locks::lock_names().collect::<Vec<_>>().join(" ");
    record::failure::<M>("order", &format_args!("lock={name}: no such lock; there are {all}"));
    false
}

/// One lock's turn.
struct Trial<'a, M: Machine> {
    order: &'a Order,
    shared: &'static Shared<M>,
    lock: &'a str,
}

impl<M: Machine> Visit for Trial<'_, M> {
    type Output = bool;

    fn visit<S: Subject>(&mut self) -> bool {
        let Self { order, shared, lock } = *self;
        let pace = || Pace::of::<M>(order);
        match order.workload {
            Workload::Boot | Workload::Conform => true,
            Workload::Torture => carry_out(shared, order, lock, Torture::<M, S>::new(order)),
            Workload::Build => carry_out(shared, order, lock, Build::<M, S>::new(order, pace())),
            Workload::Counter | Workload::Rw => {
                carry_out(shared, order, lock, Stress::<M, S>::new(order, pace()))
            }
        }
    }
}
