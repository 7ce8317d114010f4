//! `Target`: an embedded test server.

use pyo3::exceptions::{PyOSError, PyValueError};
use pyo3::prelude::*;

/// An embedded server, which listens in threads of its own.
#[pyclass(frozen, name = "Target")]
pub(crate) struct PyTarget {
    target: targets::Target,
    #[pyo3(get)]
    port: u16,
}

#[pymethods]
impl PyTarget {
    #[new]
    fn new(py: Python<'_>, spec_json: &str) -> PyResult<Self> {
        let spec = parse(spec_json)?;
        let target = py.detach(|| targets::Target::start(spec)).map_err(not_started)?;
        Ok(Self { port: target.addr().port(), target })
    }

    /// Returns its counts as JSON.
    fn counts(&self) -> PyResult<String> {
        serde_json::to_string(&self.target.counts())
            .map_err(|error| PyValueError::new_err(error.to_string()))
    }

    /// Closes the listener and all connections; raises OSError if its log is incomplete.
    fn stop(&self, py: Python<'_>) -> PyResult<()> {
        py.detach(|| self.target.stop()).map_err(|error| PyOSError::new_err(error.to_string()))
    }
}

/// Reads a spec; raises ValueError for an invalid one.
pub(crate) fn parse(spec_json: &str) -> PyResult<targets::Spec> {
    serde_json::from_str(spec_json)
        .map_err(|error| PyValueError::new_err(format!("target: {error}")))
}

/// Converts an error: ValueError for an invalid spec, OSError if a target cannot listen.
#[allow(clippy::needless_pass_by_value)] // `map_err` passes values.
pub(crate) fn not_started(error: std::io::Error) -> PyErr {
    match error.kind() {
        std::io::ErrorKind::InvalidInput => PyValueError::new_err(error.to_string()),
        _ => PyOSError::new_err(error.to_string()),
    }
}
