//! Who is inside of a reader-writer lock, and how many readers passed a writer that waited.
use super::failure::{Failure, Kind};
use super::{CONTEXTS, Ctx};

/// What is known of one lock. Contexts are told when they go in and out; what a lock's word says is looked at elsewhere.
#[derive(Clone, Debug, Default)]
pub(super) struct Sharing {
    /// Who holds it alone.
    alone: Option<Ctx>,
    /// How often each context reads.
    readers: [u8; CONTEXTS],
    /// Who is among them and may become the writer.
    upgradable: Option<Ctx>,
    /// How many acquisitions have begun.
    begun: u64,
    /// Who waits to write, and which acquisition that is.
    waits: [Option<u64>; CONTEXTS],
    /// How many readers that began later went in since.
    passed: [u32; CONTEXTS],
}

impl Sharing {
    /// An acquisition begins, by `writer` if it is to write; its number.
    pub(super) fn begins(&mut self, writer: Option<Ctx>) -> u64 {
        self.begun += 1;
        if let Some(writer) = writer {
            (self.waits[writer], self.passed[writer]) = (Some(self.begun), 0);
        }
        self.begun
    }

    /// `me` goes in to read; `began` is its acquisition's number if it may be told to wait. The most readers that have passed a
    /// writer.
    pub(super) fn reads(&mut self, me: Ctx, began: Option<u64>) -> Result<u32, Failure> {
        if let Some(writer) = self.alone {
            return Err(broken(format!("c{me} entered as a reader while c{writer} wrote")));
        }
        self.readers[me] += 1;
        let mut worst = 0;
        for (waits, passed) in self.waits.iter().zip(&mut self.passed) {
            if began.zip(*waits).is_some_and(|(began, waits)| waits < began) {
                *passed += 1;
                worst = worst.max(*passed);
            }
        }
        Ok(worst)
    }

    /// `me` reads once less.
    pub(super) fn stops_reading(&mut self, me: Ctx) {
        self.readers[me] -= 1;
    }

    /// `me` goes in to write.
    pub(super) fn writes(&mut self, me: Ctx) -> Result<(), Failure> {
        self.waits[me] = None;
        if let Some(writer) = self.alone {
            return Err(broken(format!("c{me} entered as a writer while c{writer} wrote")));
        }
        if let Some(reader) = (0..CONTEXTS).find(|&ctx| self.readers[ctx] > 0) {
            return Err(broken(format!("c{me} entered as a writer while c{reader} read")));
        }
        self.alone = Some(me);
        Ok(())
    }

    /// The writer writes no more.
    pub(super) fn stops_writing(&mut self) {
        self.alone = None;
    }

    /// `me`, which reads, is from now on the one that may become the writer.
    pub(super) fn may_upgrade(&mut self, me: Ctx) -> Result<(), Failure> {
        if let Some(other) = self.upgradable.replace(me) {
            return Err(broken(format!("c{me} entered upgradably while c{other} was in so")));
        }
        Ok(())
    }

    /// It is not any more.
    pub(super) fn may_not_upgrade(&mut self) {
        self.upgradable = None;
    }

    /// Somebody who is in.
    pub(super) fn holder(&self) -> Option<Ctx> {
        self.alone.or_else(|| (0..CONTEXTS).find(|&ctx| self.readers[ctx] > 0))
    }

    /// Whether `ctx` waits to write.
    pub(super) fn is_waiting(&self, ctx: Ctx) -> bool {
        self.waits[ctx].is_some()
    }

    /// The writer that has waited longest.
    pub(super) fn first_waiting(&self) -> Option<Ctx> {
        (0..CONTEXTS).filter(|&ctx| self.is_waiting(ctx)).min_by_key(|&ctx| self.waits[ctx])
    }
}

fn broken(what: String) -> Failure {
    Failure { kind: Kind::Exclusion, what }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn readers_share_and_writers_do_not() {
        let mut sharing = Sharing::default();
        assert_eq!((sharing.reads(0, None), sharing.reads(1, None)), (Ok(0), Ok(0)));
        assert!(sharing.writes(2).is_err_and(|failure| failure.kind == Kind::Exclusion));
        sharing.stops_reading(0);
        sharing.stops_reading(1);
        assert_eq!(sharing.writes(2), Ok(()));
        assert!(sharing.reads(0, None).is_err() && sharing.writes(1).is_err());
        sharing.stops_writing();
        assert_eq!((sharing.may_upgrade(0), sharing.holder()), (Ok(()), None));
        assert!(sharing.may_upgrade(1).is_err());
    }

    #[test]
    fn readers_that_come_after_a_writer_and_go_in_before_it_have_passed_it() {
        let mut sharing = Sharing::default();
        let early = sharing.begins(None);
        sharing.begins(Some(3));
        let late = sharing.begins(None);
        assert_eq!(sharing.reads(0, Some(early)), Ok(0), "it was there before");
        assert_eq!(sharing.reads(1, Some(late)), Ok(1));
        assert_eq!(sharing.reads(2, None), Ok(0), "nobody may tell it to wait");
        let later = sharing.begins(None);
        assert_eq!((sharing.reads(1, Some(later)), sharing.first_waiting()), (Ok(2), Some(3)));
    }
}
