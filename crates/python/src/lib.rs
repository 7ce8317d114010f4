//! The binding `torr._engine`: texts in, texts out, and no decision of its own.
//!
//! Plans, intervals and levels cross as JSON, so that Python, the engine and other processes speak of
//! the same things in the same form.

mod call;
mod child;
mod counts;
mod locust_report;
mod reactor;
mod request_tally;
mod run;
mod target;
mod toml_file;

use engine::{Plan, Reason};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

/// The compiled engine. Only `torr.engine` and `torr.targets` import it.
///
/// It needs no GIL: its classes are `Sync`, so that a free-threaded Python stays free with it.
#[pymodule(gil_used = false)]
fn _engine(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<run::Run>()?;
    module.add_class::<request_tally::RequestTally>()?;
    module.add_class::<request_tally::TallyAggregate>()?;
    module.add_class::<counts::Counts>()?;
    module.add_class::<target::Target>()?;
    module.add_class::<reactor::Reactor>()?;
    module.add_class::<reactor::ConnectionPool>()?;
    module.add_class::<reactor::Tls>()?;
    module.add_class::<call::Call>()?;
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

/// Sends exactly one request; both sides of it as JSON.
#[pyfunction]
fn once(py: Python<'_>, plan_json: &str) -> PyResult<String> {
    let plan = Plan::from_json(plan_json).map_err(PyValueError::new_err)?;
    let outcome = py.detach(|| engine::once(&plan)).map_err(PyValueError::new_err)?;
    Ok(outcome.to_string())
}

/// Statistics of nanoseconds, and their histogram, as result files have them.
#[pyfunction]
fn statistics(values: Vec<u64>) -> String {
    engine::statistics(values).to_string()
}

/// The version of the engine.
#[pyfunction]
fn version() -> &'static str {
    env!("CARGO_PKG_VERSION")
}

/// The names of the faults that a faulty target knows.
#[pyfunction]
fn faults() -> Vec<&'static str> {
    targets::Fault::ALL.iter().map(|fault| fault.name()).collect()
}

/// What can go wrong with the streams of a chat target: names and meanings.
#[pyfunction]
fn defects() -> Vec<(&'static str, &'static str)> {
    targets::Defect::ALL.iter().map(|defect| (defect.name(), defect.meaning())).collect()
}

/// Why an attempt can fail: the names of the reasons, and each in words.
#[pyfunction]
fn reasons() -> Vec<(&'static str, &'static str)> {
    Reason::ALL.iter().map(|reason| (reason.name(), reason.text())).collect()
}

/// The codes of the messages in levels, each with its English: for one `{n}` and for several.
#[pyfunction]
fn messages() -> Vec<(&'static str, Vec<&'static str>)> {
    engine::MESSAGES.iter().map(|template| (template.code, template.english.to_vec())).collect()
}
