//! Names for addresses and values of one run, in the field's words: `lock.tail`, `c2.0.next`, `spot 7`.
use super::cells::address_of;
use super::platform::{Stepped, SteppedDomain};
use super::subjects::{Subject, Tails};
use super::{CONTEXTS, SPOT_ROWS};
use crate::arena::LINE_BYTES;
use stanchion_core::CpuId;
use stanchion_core::percpu::{Domain, PerCpu};
use stanchion_core::tail::{NESTING_LEVELS, NodeCode};
use std::collections::HashMap;

/// What a value stands for.
#[derive(Clone, Copy, PartialEq)]
enum Sort {
    Number,
    Node,
    Spot,
}

/// The dictionary of one run.
pub(super) struct Names {
    base: usize,
    cells: HashMap<usize, (String, Sort)>,
    /// Where each context's storage begins.
    own: Vec<usize>,
    rows: Vec<usize>,
}

/// What the locks of a run are called.
pub(super) fn lock_name(index: usize) -> String {
    match index {
        0 => "lock".to_owned(),
        1 => "lock B".to_owned(),
        level => format!("handler lock {}", level - 1),
    }
}

impl Names {
    /// Names for locks that stand at `base`, so many of them, and for `domain`.
    pub(super) fn new(subject: &Subject, base: usize, locks: usize, domain: &SteppedDomain) -> Self {
        let mut cells = HashMap::new();
        for lock in 0..locks {
            for &(offset, field) in subject.fields {
                let tail = field == "tail" && subject.tails == Tails::Nodes;
                let sort = if tail { Sort::Node } else { Sort::Number };
                cells.insert(
                    base + lock * LINE_BYTES + offset,
                    (format!("{}.{field}", lock_name(lock)), sort),
                );
            }
        }
        let mut own = Vec::new();
        for index in 0..CONTEXTS as u16 {
            let Some(cpu) = CpuId::new(index) else { continue };
            let percpu = domain.cpu(cpu);
            own.push(core::ptr::from_ref(percpu).addr());
            for level in 0..NESTING_LEVELS {
                let node = percpu.node(level);
                let name = |field| format!("c{index}.{level}.{field}");
                cells.insert(address_of(&node.next), (name("next"), Sort::Node));
                cells.insert(address_of(&node.state), (name("state"), Sort::Number));
                cells.insert(address_of(&node.spot), (name("spot"), Sort::Number));
            }
        }
        let rows = (0..SPOT_ROWS).map(|row| domain.spots(row * LINE_BYTES).addr()).collect();
        Self { base, cells, own, rows }
    }

    /// What stands at `address`.
    pub(super) fn cell(&self, address: usize) -> String {
        if let Some((name, _)) = self.cells.get(&address) {
            return name.clone();
        }
        let within = |start: usize, bytes: usize| address.checked_sub(start).filter(|&offset| offset < bytes);
        for (index, &start) in self.own.iter().enumerate() {
            if let Some(offset) = within(start, size_of::<PerCpu<Stepped>>()) {
                return format!("c{index}.own+{offset}");
            }
        }
        if let Some(spot) = self.spot(address) {
            return format!("spot {spot}");
        }
        match within(self.base, LINE_BYTES * 8) {
            Some(offset) => format!("{}+{}", lock_name(offset / LINE_BYTES), offset % LINE_BYTES),
            None => format!("{address:#x}"),
        }
    }

    fn spot(&self, address: usize) -> Option<usize> {
        let row = size_of::<stanchion_core::spots::Spots<Stepped>>();
        let start =
            self.rows.iter().find(|&&start| address.checked_sub(start).is_some_and(|offset| offset < row))?;
        Some((address - start) / size_of::<u32>() + 1)
    }

    /// What `value` means at `address`.
    pub(super) fn value(&self, address: usize, value: u64) -> String {
        let sort = match self.cells.get(&address) {
            Some(&(_, sort)) => sort,
            None if self.spot(address).is_some() => Sort::Spot,
            None => Sort::Number,
        };
        if sort == Sort::Number {
            return value.to_string();
        }
        let consumed = if value > u64::from(u16::MAX) { " consumed" } else { "" };
        match NodeCode::from_raw(value as u16) {
            Some(code) => format!("c{}.{}{consumed}", code.cpu().index(), code.level()),
            None => "none".to_owned(),
        }
    }
}
