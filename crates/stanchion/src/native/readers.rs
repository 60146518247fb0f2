//! Which line of a class belongs to whom: a class as per-CPU reader-writer locks ask for it.
use super::classes::{Class, Line};
use super::kinds::{Counting, Native};
use super::slots;
use core::ptr;
use stanchion_core::{CpuId, ReaderCell, ReaderClass};

/// The calling thread's line.
#[inline(always)]
fn own_line(class: &'static Class) -> Option<&'static Line> {
    match slots::number_if_any().and_then(|cpu| class.line(cpu)) {
        Some(line) => Some(line),
        None => first_line(class),
    }
}

#[cold]
fn first_line(class: &'static Class) -> Option<&'static Line> {
    let cpu = slots::this_cpu()?;
    class.line(cpu).or_else(|| {
        class.make_lines();
        class.line(cpu)
    })
}

impl<C: Counting> ReaderClass<Native<C>> for &'static Class {
    fn cell(&self, cpu: CpuId) -> Option<&ReaderCell<Native<C>>> {
        self.line(cpu).map(Line::cell)
    }

    #[inline(always)]
    fn own(&self) -> Option<&ReaderCell<Native<C>>> {
        own_line(self).map(Line::cell)
    }

    fn each(&self, mut visit: impl FnMut(CpuId, &ReaderCell<Native<C>>)) {
        slots::each_taken(|cpu| {
            if let Some(line) = self.line(cpu) {
                visit(cpu, line.cell());
            }
        });
    }

    fn id(&self) -> usize {
        if self.is_common() { 0 } else { ptr::from_ref(*self).addr() }
    }
}
