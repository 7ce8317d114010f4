//! The binding `torr._engine`, which only converts types.
//!
//! Plans, intervals and levels are passed as JSON, which Python, the engine and other processes use.

mod call;
mod child;
mod counts;
mod reactor;
mod request_tally;
mod run;
mod target;
mod toml_file;

use engine::{Plan, Reason};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

/// The compiled engine.
///
/// It does not need the GIL, since its classes are `Sync`.
#[pymodule(gil_used = false)]
fn _engine(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<run::PyRun>()?;
    module.add_class::<request_tally::PyRequestTally>()?;
    module.add_class::<request_tally::PyTallyAggregate>()?;
    module.add_class::<counts::PyCounts>()?;
    module.add_class::<target::PyTarget>()?;
    module.add_class::<reactor::PyReactor>()?;
    module.add_class::<reactor::PyConnectionPool>()?;
    module.add_class::<reactor::PyTls>()?;
    module.add_class::<call::PyCall>()?;
    module.add_function(wrap_pyfunction!(once, module)?)?;
    module.add_function(wrap_pyfunction!(child::fire, module)?)?;
    module.add_function(wrap_pyfunction!(child::listen, module)?)?;
    module.add_function(wrap_pyfunction!(statistics, module)?)?;
    module.add_function(wrap_pyfunction!(version, module)?)?;
    module.add_function(wrap_pyfunction!(defects, module)?)?;
    module.add_function(wrap_pyfunction!(faults, module)?)?;
    module.add_function(wrap_pyfunction!(reasons, module)?)?;
    module.add_function(wrap_pyfunction!(messages, module)?)?;
    module.add_function(wrap_pyfunction!(toml_file::read_toml, module)?)
}

/// Sends one request, and returns request and answer as JSON.
#[pyfunction]
fn once(py: Python<'_>, plan_json: &str) -> PyResult<String> {
    let plan = Plan::from_json(plan_json).map_err(PyValueError::new_err)?;
    let outcome = py.detach(|| engine::once(&plan)).map_err(run::not_started)?;
    Ok(outcome.to_string())
}

/// Returns statistics and histogram of nanoseconds, as in result.json.
#[pyfunction]
fn statistics(values: Vec<u64>) -> String {
    engine::statistics(values).to_string()
}

/// Returns the version of the engine.
#[pyfunction]
fn version() -> &'static str {
    env!("CARGO_PKG_VERSION")
}

/// Returns the names of the faults of a faulty target.
#[pyfunction]
fn faults() -> Vec<&'static str> {
    targets::Fault::ALL.iter().map(|fault| fault.name()).collect()
}

/// Returns the defects of streams of a chat target: names and meanings.
#[pyfunction]
fn defects() -> Vec<(&'static str, &'static str)> {
    targets::Defect::ALL.iter().map(|defect| (defect.name(), defect.meaning())).collect()
}

/// Returns the error reasons: names and descriptions.
#[pyfunction]
fn reasons() -> Vec<(&'static str, &'static str)> {
    Reason::ALL.iter().map(|reason| (reason.name(), reason.text())).collect()
}

/// Returns the codes of the messages in levels with their English, for one `{n}` and several.
#[pyfunction]
fn messages() -> Vec<(&'static str, Vec<&'static str>)> {
    engine::MESSAGES.iter().map(|template| (template.code, template.english.to_vec())).collect()
}
