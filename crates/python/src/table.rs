//! Tables: columns in Arrow's format, handed to Python without a copy.

use crate::error::wrong;
use crate::shape::Kind;
use arrow_array::builder::{BooleanBuilder, Float64Builder, StringBuilder, UInt64Builder};
use arrow_array::cast::AsArray as _;
use arrow_array::ffi_stream::FFI_ArrowArrayStream;
use arrow_array::types::{Float64Type, UInt64Type};
use arrow_array::{
    Array as _, ArrayRef, BooleanArray, Float64Array, RecordBatch, RecordBatchIterator, StringArray, UInt64Array,
};
use arrow_schema::ffi::FFI_ArrowSchema;
use arrow_schema::{ArrowError, DataType, Field, Schema, SchemaRef};
use pyo3::prelude::*;
use pyo3::types::{PyCapsule, PyList};
use serde_json::Value;
use std::sync::Arc;

/// Rows of results, in columns.
#[pyclass(frozen, module = "sluice._sluice")]
pub(crate) struct Table {
    schema: SchemaRef,
    batches: Vec<RecordBatch>,
}

#[pymethods]
impl Table {
    /// Concatenates tables with the same columns, without copying rows.
    #[staticmethod]
    fn concat(tables: Vec<Bound<'_, Self>>) -> PyResult<Self> {
        let Some(first) = tables.first() else { return Err(wrong("no table")) };
        let schema = Arc::clone(&first.get().schema);
        if tables.iter().any(|table| table.get().schema != schema) {
            return Err(wrong("the tables have different columns"));
        }
        let batches = tables.iter().flat_map(|table| table.get().batches.iter().cloned()).collect();
        Ok(Self { schema, batches })
    }

    #[getter]
    fn num_rows(&self) -> usize {
        self.batches.iter().map(RecordBatch::num_rows).sum()
    }

    #[getter]
    fn column_names(&self) -> Vec<&str> {
        self.schema.fields().iter().map(|field| field.name().as_str()).collect()
    }

    /// Returns one column, as a list.
    fn column<'py>(&self, py: Python<'py>, name: &str) -> PyResult<Bound<'py, PyList>> {
        let index = self.schema.index_of(name).map_err(wrong)?;
        let list = PyList::empty(py);
        for batch in &self.batches {
            append(&list, batch.column(index))?;
        }
        Ok(list)
    }

    /// Returns the type of each column: `number`, `count`, `text` or `switch`.
    #[getter]
    fn kinds(&self) -> Vec<&str> {
        let kind = |field: &Arc<Field>| match field.data_type() {
            DataType::Float64 => "number",
            DataType::UInt64 => "count",
            DataType::Boolean => "switch",
            _ => "text",
        };
        self.schema.fields().iter().map(kind).collect()
    }

    /// Makes a table from columns, each with its name, its type as in `kinds`, and its values.
    #[staticmethod]
    fn from_columns(columns: Vec<(String, String, Bound<'_, PyAny>)>) -> PyResult<Self> {
        let (mut fields, mut arrays): (Vec<Field>, Vec<ArrayRef>) = (Vec::new(), Vec::new());
        for (name, kind, values) in columns {
            let array: ArrayRef = match kind.as_str() {
                "number" => Arc::new(Float64Array::from(values.extract::<Vec<Option<f64>>>()?)),
                "count" => Arc::new(UInt64Array::from(values.extract::<Vec<Option<u64>>>()?)),
                "switch" => Arc::new(BooleanArray::from(values.extract::<Vec<Option<bool>>>()?)),
                _ => Arc::new(StringArray::from(values.extract::<Vec<Option<String>>>()?)),
            };
            fields.push(Field::new(name, array.data_type().clone(), true));
            arrays.push(array);
        }
        let schema = Arc::new(Schema::new(fields));
        let batch = RecordBatch::try_new(Arc::clone(&schema), arrays).map_err(wrong)?;
        Ok(Self { schema, batches: vec![batch] })
    }

    /// Implements Arrow's `PyCapsule` interface.
    #[pyo3(signature = (requested_schema=None))]
    fn __arrow_c_stream__<'py>(
        &self,
        py: Python<'py>,
        requested_schema: Option<Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyCapsule>> {
        // The interface allows it to ignore a request for other types.
        drop(requested_schema);
        let batches: Vec<Result<RecordBatch, ArrowError>> = self.batches.iter().cloned().map(Ok).collect();
        let reader = RecordBatchIterator::new(batches, Arc::clone(&self.schema));
        PyCapsule::new_with_value(py, FFI_ArrowArrayStream::new(Box::new(reader)), c"arrow_array_stream")
    }

    fn __arrow_c_schema__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyCapsule>> {
        let schema = FFI_ArrowSchema::try_from(self.schema.as_ref()).map_err(wrong)?;
        PyCapsule::new_with_value(py, schema, c"arrow_schema")
    }
}

fn append(list: &Bound<'_, PyList>, array: &ArrayRef) -> PyResult<()> {
    for row in 0..array.len() {
        if array.is_null(row) {
            list.append(list.py().None())?;
            continue;
        }
        match array.data_type() {
            DataType::Float64 => list.append(array.as_primitive::<Float64Type>().value(row))?,
            DataType::UInt64 => list.append(array.as_primitive::<UInt64Type>().value(row))?,
            DataType::Boolean => list.append(array.as_boolean().value(row))?,
            _ => list.append(array.as_string::<i32>().value(row))?,
        }
    }
    Ok(())
}

/// A table that is being written, column by column.
#[derive(Default)]
pub(crate) struct Writer {
    fields: Vec<Field>,
    builders: Vec<Builder>,
}

enum Builder {
    Number(Float64Builder),
    Count(UInt64Builder),
    Text(StringBuilder),
    Switch(BooleanBuilder),
}

impl Writer {
    /// Adds a column.
    pub(crate) fn add(&mut self, name: String, kind: Kind) {
        let (kind, builder) = match kind {
            Kind::Number => (DataType::Float64, Builder::Number(Float64Builder::new())),
            Kind::Count => (DataType::UInt64, Builder::Count(UInt64Builder::new())),
            Kind::Text => (DataType::Utf8, Builder::Text(StringBuilder::new())),
            Kind::Switch => (DataType::Boolean, Builder::Switch(BooleanBuilder::new())),
        };
        self.fields.push(Field::new(name, kind, true));
        self.builders.push(builder);
    }

    /// True if a column has this name.
    pub(crate) fn has(&self, name: &str) -> bool {
        self.fields.iter().any(|field| field.name() == name)
    }

    /// Adds a row with a value for each column, in order. A value that is missing or of another kind becomes null.
    pub(crate) fn row<'v>(&mut self, values: impl IntoIterator<Item = Option<&'v Value>>) {
        let mut values = values.into_iter();
        for builder in &mut self.builders {
            builder.push(values.next().flatten());
        }
    }

    /// Finishes the table.
    pub(crate) fn finish(mut self) -> PyResult<Table> {
        let schema = Arc::new(Schema::new(self.fields));
        let columns = self.builders.iter_mut().map(Builder::finish).collect();
        let batch = RecordBatch::try_new(Arc::clone(&schema), columns).map_err(wrong)?;
        Ok(Table { schema, batches: vec![batch] })
    }
}

impl Builder {
    fn push(&mut self, value: Option<&Value>) {
        match self {
            Self::Number(builder) => builder.append_option(value.and_then(Value::as_f64)),
            Self::Count(builder) => builder.append_option(value.and_then(Value::as_u64)),
            Self::Switch(builder) => builder.append_option(value.and_then(Value::as_bool)),
            Self::Text(builder) => match value {
                None | Some(Value::Null) => builder.append_null(),
                Some(Value::String(text)) => builder.append_value(text),
                Some(other) => builder.append_value(other.to_string()),
            },
        }
    }

    fn finish(&mut self) -> ArrayRef {
        match self {
            Self::Number(builder) => Arc::new(builder.finish()),
            Self::Count(builder) => Arc::new(builder.finish()),
            Self::Text(builder) => Arc::new(builder.finish()),
            Self::Switch(builder) => Arc::new(builder.finish()),
        }
    }
}
