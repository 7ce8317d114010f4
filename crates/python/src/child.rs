//! The main functions of light child processes.

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

use crate::target::{not_started, parse};

/// Sends the part of a load whose plan is read from standard input; ends with the input.
#[pyfunction]
pub(crate) fn fire(py: Python<'_>) -> PyResult<()> {
    py.detach(engine::serve).map_err(PyValueError::new_err)
}

/// Serves a port together with other processes, until standard input ends.
///
/// Prints `listening` when it listens, and its counts as a line of JSON at the end.
#[pyfunction]
pub(crate) fn listen(py: Python<'_>, spec_json: &str) -> PyResult<()> {
    let spec = parse(spec_json)?;
    py.detach(|| targets::serve_shared(spec)).map_err(not_started)
}
