//! condenser for Python: the library, with Arrow in and out. What users see is `python/condenser`; this is what it calls.

mod batches;
mod errors;
mod jobs;
mod options;
mod single;

use pyo3::prelude::*;

/// Refuses options that are none.
#[pyfunction]
fn check_options(py: Python<'_>, given: &str) -> PyResult<()> {
    py.detach(|| options::of_options(given, &options::OF_ROWS).map(drop)).map_err(errors::raised)
}

#[pymodule]
fn _condenser(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add("__version__", env!("CARGO_PKG_VERSION"))?;
    module.add_class::<single::Compressor>()?;
    module.add_class::<batches::BatchCompressor>()?;
    module.add_class::<jobs::Job>()?;
    module.add_class::<jobs::Opened>()?;
    module.add_function(wrap_pyfunction!(single::restore_record, module)?)?;
    module.add_function(wrap_pyfunction!(single::count_tokens, module)?)?;
    module.add_function(wrap_pyfunction!(batches::restore_batch, module)?)?;
    module.add_function(wrap_pyfunction!(check_options, module)?)?;
    errors::add_to(module)
}
