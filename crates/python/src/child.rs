//! What light child processes do: each call is the whole life of one.

use std::io::{Read, Write};

use pyo3::exceptions::{PyOSError, PyValueError};
use pyo3::prelude::*;

use crate::target::{parse, started};

/// Fires the part of a load that comes on the standard input; ends with it.
#[pyfunction]
pub(crate) fn fire(py: Python<'_>) -> PyResult<()> {
    py.detach(engine::serve).map_err(PyValueError::new_err)
}

/// Serves a port that other processes serve too, until the standard input ends.
///
/// Says `listening` when it does, and at the end its counts as JSON: one line each.
#[pyfunction]
pub(crate) fn listen(py: Python<'_>, spec_json: &str) -> PyResult<()> {
    let spec = parse(spec_json)?;
    py.detach(|| {
        let target = started(targets::Target::share(spec))?;
        say("listening")?;
        // However it ends, nobody is there any more who wants this target.
        let _ = std::io::stdin().read_to_end(&mut Vec::new());
        target.stop().map_err(|error| PyOSError::new_err(error.to_string()))?;
        let counts = serde_json::to_string(&target.counts());
        say(&counts.map_err(|error| PyValueError::new_err(error.to_string()))?)
    })
}

fn say(line: &str) -> PyResult<()> {
    let mut output = std::io::stdout().lock();
    writeln!(output, "{line}").map_err(|error| PyOSError::new_err(error.to_string()))
}
