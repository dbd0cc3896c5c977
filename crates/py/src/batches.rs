//! Batches of Arrow: the memory of pyarrow, not a copy of it.

use arrow::datatypes::Schema;
use arrow::record_batch::RecordBatch;
use arrow_pyarrow::PyArrowType;
use condenser::app::row_compressor;
use condenser::pipeline::{RowCompressor, restore_rows};
use pyo3::prelude::*;

use crate::errors::raised;
use crate::options;

/// More than any machine has.
const MAX_THREADS: usize = 1024;

/// Compresses batches, each by itself, from any thread.
#[pyclass(frozen, module = "condenser._condenser")]
pub(crate) struct BatchCompressor(RowCompressor);

#[pymethods]
impl BatchCompressor {
    #[new]
    fn new(py: Python<'_>, options: &str, threads: usize) -> PyResult<Self> {
        let threads = threads.min(MAX_THREADS);
        py.detach(|| row_compressor(&options::of_options(options, &options::OF_ROWS)?, threads))
            .map(Self)
            .map_err(raised)
    }

    /// The column that holds the conversations.
    fn column(&self, rows: PyArrowType<RecordBatch>) -> PyResult<String> {
        self.0.column(&rows.0).map_err(raised)
    }

    fn schema(&self, schema: PyArrowType<Schema>) -> PyResult<PyArrowType<Schema>> {
        self.0.schema(&schema.0).map(|schema| PyArrowType(schema.as_ref().clone())).map_err(raised)
    }

    fn compress(&self, py: Python<'_>, rows: PyArrowType<RecordBatch>) -> PyResult<PyArrowType<RecordBatch>> {
        py.detach(|| self.0.compress(&rows.0)).map(PyArrowType).map_err(raised)
    }
}

/// The rows that were compressed.
#[pyfunction]
pub(crate) fn restore_batch(
    py: Python<'_>,
    rows: PyArrowType<RecordBatch>,
    column: Option<&str>,
) -> PyResult<PyArrowType<RecordBatch>> {
    py.detach(|| restore_rows(&rows.0, column)).map(PyArrowType).map_err(raised)
}
