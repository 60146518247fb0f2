//! Stanchion's simulator for Python: the module `stanchion._native`.
//!
//! Everything that simulates is in `stanchion-cells`; this crate turns arguments of Python into scenes, and
//! figures into tables ([`table`]). The Python files beside it have what needs no Rust. They are what users
//! import.
#![forbid(unsafe_code)]
#![expect(clippy::needless_pass_by_value, reason = "what Python hands over is a value of its own")]

mod lists;
mod published;
mod runs;
mod table;

use pyo3::prelude::*;

/// The simulator; use the package `stanchion`, which has it with its documentation.
#[pymodule]
mod _native {
    #[pymodule_export]
    use crate::lists::{locks, machines, workloads};
    #[pymodule_export]
    use crate::published::reproduce;
    #[pymodule_export]
    use crate::runs::{read_file, resolve, run_cells, simulate};
    #[pymodule_export]
    use crate::table::Table;

    #[pymodule_init]
    fn init(module: &super::Bound<'_, super::PyModule>) -> super::PyResult<()> {
        use super::PyModuleMethods;
        stanchion_cells::pool::keep_panics_to_cells();
        module.add("__version__", env!("CARGO_PKG_VERSION"))
    }
}

/// What is wrong with arguments or with a file, in one line.
fn refused(message: String) -> PyErr {
    pyo3::exceptions::PyValueError::new_err(message)
}
