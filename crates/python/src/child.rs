//! The main functions of light child processes.

use std::io::{Read, Write};

use pyo3::exceptions::{PyOSError, PyValueError};
use pyo3::prelude::*;

use crate::target::{parse, started};

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
    py.detach(|| {
        let target = started(targets::Target::share(spec))?;
        say("listening")?;
        // The parent process has closed the pipe or has ended.
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
