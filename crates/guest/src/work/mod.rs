//! The workloads, and what an order makes of them.
mod build;
mod chore;
mod compute;
mod queue;
mod report;
mod stress;
mod torture;

use crate::locks::{self, Visit};
use crate::machine::Machine;
use crate::order::{Order, Workload};
use crate::record;
use crate::shared::Shared;
use crate::subject::Subject;
use alloc::vec;
use alloc::vec::Vec;
use build::Build;
use chore::carry_out;
use compute::Pace;
use stress::Stress;
use torture::Torture;

/// Carries the order out, on vCPU 0; whether all went well.
pub(crate) fn lead<M: Machine>(order: &Order, shared: &'static Shared<M>) -> bool {
    let known = locks::lock_names::<M>();
    let names: Vec<&str> = match order.workload {
        Workload::Boot => return true,
        Workload::Conform => {
            record::failure::<M>("order", &"workload=conform: this image has no conformance tests");
            return false;
        }
        _ if order.lock == "all" => known.clone(),
        _ => vec![order.lock.as_str()],
    };
    let mut ok = true;
    for name in names {
        match locks::visit::<M, _>(name, &mut Trial { order, shared }) {
            Some(went_well) => ok &= went_well,
            None => {
                let all = known.join(" ");
                record::failure::<M>("order", &format_args!("lock={name}: no such lock; there are {all}"));
                return false;
            }
        }
    }
    ok
}

/// One lock's turn.
struct Trial<'a, M: Machine> {
    order: &'a Order,
    shared: &'static Shared<M>,
}

impl<M: Machine> Visit for Trial<'_, M> {
    type Output = bool;

    fn visit<S: Subject>(&mut self, name: &'static str) -> bool {
        let Self { order, shared } = *self;
        match order.workload {
            Workload::Boot | Workload::Conform => true,
            Workload::Torture => carry_out(shared, order, name, &|| Torture::<M, S>::new(order)),
            Workload::Build => {
                let pace = Pace::of::<M>(order);
                carry_out(shared, order, name, &|| Build::<M, S>::new(order, pace))
            }
            Workload::Counter | Workload::Rw => {
                let pace = Pace::of::<M>(order);
                carry_out(shared, order, name, &|| Stress::<M, S>::new(order, pace))
            }
        }
    }
}
