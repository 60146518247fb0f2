//! Network traffic of a guest through a table that every packet looks up under a read lock and hardly anything ever changes.
use super::Lives;
use super::parameters::parameters;
use crate::here::Here;
use crate::time::{MS, Time};

parameters! {
    /// Parameters of traffic through a table.
    TableIo {
        /// Tables, each with a lock, that a packet looks up one after the other.
        tables: u32 = "tables" Count(1, 64);
        /// How often a packet looks up each of them.
        lookups: u32 = "lookups" Count(1, 1000);
        /// Work inside of a lookup.
        critical: Time = "critical" Span(0, MS);
        /// Lines that a lookup reads.
        lines: u32 = "lines" Count(0, 16);
        /// One lookup in so many changes the table and needs its lock alone; 0: none.
        change_every: u32 = "change-every" Count(0, 1_000_000_000), or 0;
        /// Work for a packet outside of lookups, spread evenly between them.
        think: Time = "think" Span(0, 100 * MS);
        /// How much longer or shorter each piece of that work may be.
        varies_percent: u32 = "varies-percent" Percent(100), or 50;
    }
}

impl Lives for TableIo {
    fn locks(&self, _contexts: usize) -> usize {
        self.tables as usize
    }

    fn lines(&self, _contexts: usize) -> usize {
        (self.tables * self.lines) as usize
    }

    fn live(&self, here: &Here) {
        let lines = self.lines as usize;
        let think = self.think / Time::from(self.lookups * self.tables);
        loop {
            for lookup in 0..(self.lookups * self.tables) as usize {
                let table = lookup % self.tables as usize;
                here.compute(here.about(think, u64::from(self.varies_percent)));
                let changes = self.change_every > 0 && here.random(u64::from(self.change_every)) == 0;
                if changes {
                    here.acquire(table);
                } else {
                    here.acquire_shared(table);
                }
                here.touch(table * lines..(table + 1) * lines, changes);
                here.compute(self.critical);
                if changes {
                    here.release(table);
                } else {
                    here.release_shared(table);
                }
            }
            here.op();
        }
    }
}
