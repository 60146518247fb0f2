//! Names for addresses and values of one run, in the field's words: `lock.tail`, `c2.0.next`,
//! `parking slot 7`.
use super::cells::address_of;
use super::domain::SteppedDomain;
use super::platform::Stepped;
use super::subjects::Subject;
use super::{CONTEXTS, LOCK_BYTES};
use stanchion_core::NodeId;
use stanchion_core::nodes::WaitNode;
use stanchion_core::numbers::NESTING_LEVELS;
use stanchion_family::catalogue::Tail;
use stanchion_family::percpu::PerCpu;
use stanchion_family::tail::NodeCode;
use std::collections::HashMap;

/// What a value stands for.
#[derive(Clone, Copy, PartialEq)]
enum Sort {
    Number,
    Node,
    Wait,
    Slot,
}

/// The dictionary of one run.
pub(super) struct Names {
    base: usize,
    cells: HashMap<usize, (String, Sort)>,
    /// What stands before the place of a number, and the lowest number.
    whose: char,
    first: u16,
    /// Where each context's storage begins.
    own: Vec<usize>,
    /// Where each context's nodes of waits begin.
    waits: Vec<usize>,
    /// Where each row of parking slots begins, and how many bytes one has.
    rows: Vec<usize>,
    slots: usize,
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
    /// Names for locks that stand at `base`, so many of them, and for `domain`, where there are so many
    /// contexts.
    pub(super) fn new(
        subject: &Subject,
        base: usize,
        locks: usize,
        domain: &SteppedDomain,
        contexts: usize,
    ) -> Self {
        let mut cells = HashMap::new();
        for lock in 0..locks {
            for &(offset, field) in subject.stated.fields {
                let sort = match (field, subject.stated.tail) {
                    ("tail", Tail::Nodes) => Sort::Node,
                    ("newest", Tail::Waits) => Sort::Wait,
                    _ => Sort::Number,
                };
                cells.insert(
                    base + lock * LOCK_BYTES + offset,
                    (format!("{}.{field}", lock_name(lock)), sort),
                );
            }
        }
        let machine = domain.machine();
        // Where there are fewer numbers than contexts, storage goes by the place of its number.
        let whose = if machine.numbers < contexts { 'n' } else { 'c' };
        let (mut own, mut waits) = (Vec::new(), Vec::new());
        for place in 0..CONTEXTS {
            let percpu = domain.storage(place);
            own.push(core::ptr::from_ref(percpu).addr());
            waits.push(domain.waits(place).as_ptr().addr());
            for level in 0..NESTING_LEVELS {
                let node = percpu.node(level);
                let name = |field| format!("{whose}{place}.{level}.{field}");
                cells.insert(address_of(&node.next), (name("next"), Sort::Node));
                cells.insert(address_of(&node.state), (name("state"), Sort::Number));
                cells.insert(address_of(&node.parking), (name("parking"), Sort::Number));
            }
        }
        let slots = (machine.slots_taken + machine.slots) * size_of::<u32>();
        let rows = domain.rows().collect();
        Self { base, cells, whose, first: machine.first_number, own, waits, rows, slots }
    }

    /// What stands at `address`.
    pub(super) fn cell(&self, address: usize) -> String {
        if let Some((name, _)) = self.cells.get(&address) {
            return name.clone();
        }
        let within = |start: usize, bytes: usize| address.checked_sub(start).filter(|&offset| offset < bytes);
        for (index, &start) in self.own.iter().enumerate() {
            if let Some(offset) = within(start, size_of::<PerCpu<Stepped>>()) {
                return format!("{}{index}.own+{offset}", self.whose);
            }
        }
        let one = size_of::<WaitNode<Stepped>>();
        for (index, &start) in self.waits.iter().enumerate() {
            if let Some(offset) = within(start, NESTING_LEVELS * one) {
                return format!("{}{index}.{}.wait+{}", self.whose, offset / one, offset % one);
            }
        }
        if let Some(slot) = self.slot(address) {
            return format!("parking slot {slot}");
        }
        match within(self.base, LOCK_BYTES * 8) {
            Some(offset) => format!("{}+{}", lock_name(offset / LOCK_BYTES), offset % LOCK_BYTES),
            None => format!("{address:#x}"),
        }
    }

    fn slot(&self, address: usize) -> Option<usize> {
        let start = self
            .rows
            .iter()
            .find(|&&start| address.checked_sub(start).is_some_and(|offset| offset < self.slots))?;
        Some((address - start) / size_of::<u32>() + 1)
    }

    /// What `value` means at `address`.
    pub(super) fn value(&self, address: usize, value: u64) -> String {
        let sort = match self.cells.get(&address) {
            Some(&(_, sort)) => sort,
            None if self.slot(address).is_some() => Sort::Slot,
            None => Sort::Number,
        };
        if sort == Sort::Number {
            return value.to_string();
        }
        if sort == Sort::Wait {
            let whose = NodeId::new(value as u16).and_then(|id| Some((id.context()?, id.level())));
            return whose.map_or("none".to_owned(), |(cpu, level)| {
                format!("{}{}.{level}", self.whose, i32::from(cpu.index()) - i32::from(self.first))
            });
        }
        let consumed = if value > u64::from(u16::MAX) { " consumed" } else { "" };
        match NodeCode::from_raw(value as u16) {
            Some(code) => {
                let place = i32::from(code.cpu().index()) - i32::from(self.first);
                format!("{}{place}.{}{consumed}", self.whose, code.level())
            }
            None => "none".to_owned(),
        }
    }
}
