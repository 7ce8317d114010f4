//! `Run`: the handle of a running load.

use std::time::Duration;

use engine::{ChildTransport, FeedRow, Plan, RowSource, SocketChild, StartError};
use pyo3::exceptions::{
    PyConnectionError, PyOSError, PyRuntimeError, PyStopIteration, PyValueError,
};
use pyo3::prelude::*;

/// One running load, in threads or processes of its own.
#[pyclass(frozen, name = "Run")]
pub(crate) struct PyRun {
    run: engine::Run,
}

#[pymethods]
impl PyRun {
    #[new]
    #[pyo3(signature = (plan_json, child=Vec::new(), rows=None))]
    #[allow(clippy::needless_pass_by_value)] // The binding can only take what Python lists give.
    fn new(
        py: Python<'_>,
        plan_json: &str,
        child: Vec<String>,
        rows: Option<Py<PyAny>>,
    ) -> PyResult<Self> {
        let plan = Plan::from_json(plan_json).map_err(PyValueError::new_err)?;
        let run = py.detach(|| engine::Run::start_fed(&plan, &child, rows.map(source)));
        Ok(Self { run: run.map_err(not_started)? })
    }

    /// Starts a load on other nodes: each has a name and connected TCP sockets, by descriptor, at
    /// whose other end `fire` runs. The sockets are duplicated. A node counts as lost after `silence_s`
    /// without a sign of life, or after the usual time.
    #[staticmethod]
    #[pyo3(signature = (plan_json, sockets, rows=None, silence_s=None))]
    #[allow(clippy::needless_pass_by_value)] // The binding can only take what Python lists give.
    fn on_nodes(
        py: Python<'_>,
        plan_json: &str,
        sockets: Vec<(String, i32)>,
        rows: Option<Py<PyAny>>,
        silence_s: Option<u64>,
    ) -> PyResult<Self> {
        let plan = Plan::from_json(plan_json).map_err(PyValueError::new_err)?;
        let limit = silence_s.map(Duration::from_secs);
        let node = |(name, descriptor): &(String, i32)| {
            let child = SocketChild::new(net::tcp_stream_of(*descriptor)?).on_node(name.as_str());
            let child = match limit {
                Some(limit) => child.with_silence_limit(limit),
                None => child,
            };
            Ok(Box::new(child) as Box<dyn ChildTransport>)
        };
        let nodes: std::io::Result<Vec<_>> = sockets.iter().map(node).collect();
        let nodes = nodes.map_err(|error| PyOSError::new_err(error.to_string()))?;
        let run = py.detach(|| engine::Run::start_fed_on(&plan, nodes, rows.map(source)));
        let run = run.map_err(not_started)?;
        Ok(Self { run })
    }

    /// Returns the next interval as JSON; None if none came in time or there are no more.
    fn next_interval(&self, py: Python<'_>, timeout_s: f64) -> PyResult<Option<String>> {
        let timeout = Duration::try_from_secs_f64(timeout_s)
            .map_err(|error| PyValueError::new_err(format!("timeout_s {timeout_s}: {error}")))?;
        let interval = py.detach(|| self.run.next_interval(timeout));
        Ok(interval.map(|interval| interval.to_string()))
    }

    /// Returns whether all intervals were returned and the level is ready.
    fn done(&self) -> bool {
        self.run.is_done()
    }

    /// Ends the measurement window; waits for open requests up to the drain time.
    fn stop(&self) {
        self.run.stop();
    }

    /// Ends at once; open requests count as in flight.
    fn abort(&self) {
        self.run.abort();
    }

    /// Returns the measured level as JSON.
    fn level(&self, py: Python<'_>) -> PyResult<String> {
        let level = py.detach(|| self.run.level());
        level.map(|level| level.to_string()).ok_or_else(still_running)
    }
}

/// Rows of a Python iterator, whose items are lists of rows.
struct PyRows(Py<PyAny>);

/// One of them: as [`FeedRow`], in its order.
type PyRow = (u64, u64, Vec<u64>, Option<u32>, u64, u64, u16, Vec<String>, [u64; 2]);

fn source(rows: Py<PyAny>) -> Box<dyn RowSource> {
    Box::new(PyRows(rows))
}

impl RowSource for PyRows {
    fn next(&mut self) -> Result<Vec<FeedRow>, String> {
        Python::attach(|py| {
            let next = self.0.bind(py).call_method0("__next__");
            match next.and_then(|rows| rows.extract::<Vec<PyRow>>()) {
                Ok(rows) => Ok(rows.into_iter().map(row).collect()),
                Err(error) if error.is_instance_of::<PyStopIteration>(py) => Ok(Vec::new()),
                Err(error) => Err(error.value(py).to_string()),
            }
        })
    }
}

fn row(row: PyRow) -> FeedRow {
    let (number, session, after, followers, due_ns, pause_ns, request, cells, tokens) = row;
    let cells = cells.into_iter().map(String::into_boxed_str).collect();
    FeedRow { number, session, after, followers, due_ns, pause_ns, request, cells, tokens }
}

pub(crate) fn not_started(error: StartError) -> PyErr {
    match error {
        StartError::Plan(text) => PyValueError::new_err(text),
        StartError::Machine(text) => PyOSError::new_err(text),
        StartError::Unanswered(server, reason) => {
            PyConnectionError::new_err((server, reason.name()))
        }
    }
}

fn still_running() -> PyErr {
    PyRuntimeError::new_err("the run is not over yet")
}
