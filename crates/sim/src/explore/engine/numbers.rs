//! Who has which context number. Where there are fewer numbers than contexts, whoever asks first gets one and
//! keeps it to its end, as threads do.
use super::super::failure::Kind;
use super::super::{CONTEXTS, Ctx};
use super::{Engine, Status, bit};
use stanchion_core::CpuId;

/// The numbers of one run. The place of a number is counted from the lowest that there is.
#[derive(Debug)]
pub(super) struct Numbers {
    first: u16,
    /// Who has the number at each place.
    owners: [Option<Ctx>; CONTEXTS],
    /// The place of each context's number.
    places: [Option<usize>; CONTEXTS],
    count: usize,
}

impl Numbers {
    /// `count` numbers from `first` on for so many contexts: each has its own if there are enough.
    pub(super) fn new(first: u16, count: usize, contexts: usize) -> Self {
        let mut numbers = Self { first, owners: [None; CONTEXTS], places: [None; CONTEXTS], count };
        if count >= contexts {
            (0..contexts).for_each(|ctx| numbers.give(ctx, ctx));
        }
        numbers
    }

    /// `ctx` has the number at `place` from now on, and whoever had it has it no more.
    fn give(&mut self, ctx: Ctx, place: usize) {
        if let Some(before) = self.owners[place].replace(ctx) {
            self.places[before] = None;
        }
        self.places[ctx] = Some(place);
    }

    /// Who has the number `cpu`.
    pub(super) fn owner(&self, cpu: CpuId) -> Option<Ctx> {
        let place = usize::from(cpu.index().checked_sub(self.first)?);
        self.owners.get(place).copied().flatten()
    }

    /// The number of `ctx`.
    fn of(&self, ctx: Ctx) -> Option<CpuId> {
        self.places[ctx].and_then(|place| CpuId::new(self.first + place as u16))
    }
}

impl Engine {
    /// The number of the current context, as it knows it.
    pub(in crate::explore) fn number(&mut self) -> Option<CpuId> {
        if self.numbers.places[self.current].is_none() {
            self.ask_for_number();
        }
        self.numbers.of(self.current)
    }

    /// Who has the number `cpu`, if anybody has.
    pub(in crate::explore) fn owner_of(&self, cpu: CpuId) -> Option<Ctx> {
        self.numbers.owner(cpu)
    }

    /// Everybody is done: what somebody has not given back.
    pub(in crate::explore) fn kept(&self) -> Option<String> {
        (0..CONTEXTS).find_map(|place| {
            let what = self.domain.kept(place, true)?;
            Some(
                self.numbers.owners[place]
                    .map_or(format!("number {place} {what}"), |ctx| format!("c{ctx} {what}")),
            )
        })
    }

    /// The current context gets a number that nobody has, or that of a context which is done, if there is
    /// one.
    #[cold]
    fn ask_for_number(&mut self) {
        let is_done = |ctx: Ctx| self.status[ctx] == Status::Done && self.buffers.filled() & bit(ctx) == 0;
        let all = &self.numbers.owners[..self.numbers.count];
        let free = all.iter().position(|owner| owner.is_none_or(is_done));
        let Some(place) = free else { return };
        if let (Some(before), Some(what)) = (self.numbers.owners[place], self.domain.kept(place, false)) {
            self.fail(Kind::Leftover, format!("c{before} {what}"));
        }
        self.numbers.give(self.current, place);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_leads_to_its_owner_and_goes_to_the_next() {
        let mut numbers = Numbers::new(254, 2, 3);
        numbers.give(2, 0);
        numbers.give(0, 1);
        let owner = |numbers: &Numbers, number| CpuId::new(number).and_then(|cpu| numbers.owner(cpu));
        assert_eq!([0, 1, 2].map(|ctx| numbers.of(ctx).map(CpuId::index)), [Some(255), None, Some(254)]);
        assert_eq!(
            [254, 255, 253, 256].map(|number| owner(&numbers, number)),
            [Some(2), Some(0), None, None]
        );
        numbers.give(1, 0);
        assert_eq!((owner(&numbers, 254), numbers.of(2)), (Some(1), None));
    }

    #[test]
    fn each_context_has_its_own_where_there_are_enough() {
        let numbers = Numbers::new(0, 3, 3);
        assert_eq!([2, 0, 1].map(|ctx| numbers.of(ctx).map(CpuId::index)), [Some(2), Some(0), Some(1)]);
    }
}
