//! Tables: columns that pandas, polars and pyarrow take without a copy, and everybody else as lists.
use crate::refused;
use arrow_array::ffi_stream::FFI_ArrowArrayStream;
use arrow_array::{
    Array, ArrayRef, BooleanArray, Float64Array, RecordBatch, RecordBatchIterator, StringArray, UInt64Array,
};
use arrow_schema::ffi::FFI_ArrowSchema;
use arrow_schema::{DataType, Field, Schema};
use pyo3::exceptions::PyKeyError;
use pyo3::prelude::*;
use pyo3::types::{PyCapsule, PyDict, PyList};
use stanchion_cells::column::{Column, Kind, Value};
use std::sync::Arc;

/// A table: columns with names, all of one length. `pandas.DataFrame.from_arrow(table)`,
/// `polars.DataFrame(table)` and `pyarrow.table(table)` take it as it is; `to_dict()` needs none of them.
#[pyclass(frozen, module = "stanchion")]
pub(crate) struct Table(RecordBatch);

impl Table {
    /// The table that `columns` make of `rows`.
    pub(crate) fn of<R>(columns: &[Column<R>], rows: &[R]) -> Self {
        let values = columns.iter().map(|column| {
            let values: Vec<Value> = rows.iter().map(|row| column.value(row)).collect();
            (column.name.clone(), array(column.kind, values))
        });
        // Made without the shortcut for lists of arrays, which would say of each column without a gap that it
        // never has one: schemas of two results would differ by their values.
        let (fields, arrays): (Vec<Field>, Vec<ArrayRef>) =
            values.map(|(name, array)| (Field::new(name, array.data_type().clone(), true), array)).unzip();
        Self::made(fields, arrays)
    }

    /// The columns of both, which have as many rows.
    pub(crate) fn beside(&self, other: &Self) -> Self {
        let both = [&self.0, &other.0];
        let fields =
            both.iter().flat_map(|batch| batch.schema_ref().fields().iter().map(|field| (**field).clone()));
        Self::made(fields.collect(), both.iter().flat_map(|batch| batch.columns().iter().cloned()).collect())
    }

    fn made(fields: Vec<Field>, arrays: Vec<ArrayRef>) -> Self {
        let batch = RecordBatch::try_new(Arc::new(Schema::new(fields)), arrays);
        Self(batch.expect("each column has a value for each row"))
    }

    fn column(&self, name: &str) -> PyResult<&ArrayRef> {
        let known =
            || self.0.schema_ref().fields().iter().map(|field| field.name().as_str()).collect::<Vec<_>>();
        self.0
            .column_by_name(name)
            .ok_or_else(|| PyKeyError::new_err(stanchion_sim::unknown("column", name, known())))
    }
}

/// Values of one kind as Arrow has them.
fn array(kind: Kind, values: Vec<Value>) -> ArrayRef {
    let values = values.into_iter();
    match kind {
        Kind::Text => Arc::new(
            values
                .map(|value| if let Value::Text(text) = value { Some(text) } else { None })
                .collect::<StringArray>(),
        ),
        Kind::Whole => Arc::new(
            values
                .map(|value| if let Value::Whole(number) = value { Some(number) } else { None })
                .collect::<UInt64Array>(),
        ),
        Kind::Real => Arc::new(
            values
                .map(|value| if let Value::Real(number) = value { Some(number) } else { None })
                .collect::<Float64Array>(),
        ),
        Kind::Truth => Arc::new(
            values
                .map(|value| if let Value::Truth(truth) = value { Some(truth) } else { None })
                .collect::<BooleanArray>(),
        ),
    }
}

/// The values of a column for Python, with `None` for those that are missing.
fn list<'py>(py: Python<'py>, array: &ArrayRef) -> PyResult<Bound<'py, PyList>> {
    let any = array.as_any();
    if let Some(texts) = any.downcast_ref::<StringArray>() {
        PyList::new(py, texts.iter().collect::<Vec<_>>())
    } else if let Some(numbers) = any.downcast_ref::<UInt64Array>() {
        PyList::new(py, numbers.iter().collect::<Vec<_>>())
    } else if let Some(numbers) = any.downcast_ref::<Float64Array>() {
        PyList::new(py, numbers.iter().collect::<Vec<_>>())
    } else if let Some(truths) = any.downcast_ref::<BooleanArray>() {
        PyList::new(py, truths.iter().collect::<Vec<_>>())
    } else {
        Err(refused(format!("a column of {}", array.data_type())))
    }
}

#[pymethods]
impl Table {
    /// The names of the columns.
    #[getter]
    fn columns(&self) -> Vec<String> {
        self.0.schema_ref().fields().iter().map(|field| field.name().clone()).collect()
    }

    fn __len__(&self) -> usize {
        self.0.num_rows()
    }

    /// The values of a column.
    fn __getitem__<'py>(&self, py: Python<'py>, name: &str) -> PyResult<Bound<'py, PyList>> {
        list(py, self.column(name)?)
    }

    /// All columns as lists, by name.
    fn to_dict<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let columns = PyDict::new(py);
        for (field, array) in self.0.schema_ref().fields().iter().zip(self.0.columns()) {
            columns.set_item(field.name(), list(py, array)?)?;
        }
        Ok(columns)
    }

    fn __repr__(&self) -> String {
        format!("<stanchion.Table of {} rows: {}>", self.0.num_rows(), self.columns().join(", "))
    }

    /// The table by Arrow's C stream interface.
    #[pyo3(signature = (requested_schema=None))]
    fn __arrow_c_stream__<'py>(
        &self,
        py: Python<'py>,
        requested_schema: Option<Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyCapsule>> {
        // A producer may ignore the wish for other types; the protocol says so.
        drop(requested_schema);
        let reader = RecordBatchIterator::new([Ok(self.0.clone())], self.0.schema());
        PyCapsule::new_with_value(py, FFI_ArrowArrayStream::new(Box::new(reader)), c"arrow_array_stream")
    }

    /// Names and types of the columns by Arrow's C data interface.
    fn __arrow_c_schema__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyCapsule>> {
        let data_type = DataType::Struct(self.0.schema_ref().fields().clone());
        let schema = FFI_ArrowSchema::try_from(data_type).map_err(|error| refused(error.to_string()))?;
        PyCapsule::new_with_value(py, schema, c"arrow_schema")
    }
}
