//! `RequestTally` and `TallyAggregate`: the counts of Locust processes.
//!
//! No Python code is called while a lock is held, since it could switch greenlets.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::SystemTime;

use locust::{LocustReport, ProcessReport, RequestRecord};
use net::{Address, Nanos, monotonic_ns};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyBytes;

use crate::call::PyCall;

/// The counts of one Locust process; created and used in the thread that sends the load.
#[pyclass(frozen, name = "RequestTally")]
pub(crate) struct PyRequestTally {
    tally: Arc<Mutex<locust::RequestTally>>,
}

impl PyRequestTally {
    /// Calls `work` with the locked tally; `work` must not call Python code.
    pub(crate) fn with<T>(&self, work: impl FnOnce(&mut locust::RequestTally) -> T) -> T {
        // Counts are consistent even after a panic.
        work(&mut self.tally.lock().unwrap_or_else(PoisonError::into_inner))
    }

    fn with_row<T>(
        &self,
        row: u32,
        work: impl FnOnce(&mut locust::RequestTally) -> T,
    ) -> PyResult<T> {
        let result = self.with(|tally| tally.has_row(row).then(|| work(tally)));
        result.ok_or_else(|| PyValueError::new_err(format!("row {row} is not known")))
    }
}

#[pymethods]
impl PyRequestTally {
    #[new]
    fn new() -> Self {
        Self { tally: Arc::default() }
    }

    /// Returns the row of a method and a name; an event has no exchange of torr.
    #[pyo3(signature = (method, name, *, event=false))]
    fn row(&self, method: &str, name: &str, event: bool) -> u32 {
        self.with(|tally| tally.row(method, name, event))
    }

    /// Begins a test, and drops the counts of the previous one. A warm-up lasts until `open_window`.
    #[pyo3(signature = (*, warmup=false))]
    fn begin(&self, warmup: bool) {
        self.with(|tally| tally.begin(monotonic_ns(), wall_ns(), warmup));
    }

    /// Ends the warm-up, if there is one.
    fn open_window(&self) {
        self.with(|tally| tally.open_window(monotonic_ns()));
    }

    /// Counts a report without a call: an event that the locustfile fired, a request that failed
    /// before it was sent (`unsent`), or a request of another client.
    #[pyo3(signature = (row, response_ms, failure=None, bytes_in=0, unsent=false))]
    fn record_event(
        &self,
        row: u32,
        response_ms: Option<f64>,
        failure: Option<&str>,
        bytes_in: u64,
        unsent: bool,
    ) -> PyResult<()> {
        let response_ns = response_ms.and_then(nanos);
        let event = RequestRecord::event(monotonic_ns(), response_ns, failure, unsent);
        self.with_row(row, |tally| tally.record_request(row, &RequestRecord { bytes_in, ..event }))
    }

    /// Counts a request as Locust reported it; a stream is counted when it ends. `is_status` means
    /// that the failure is the status. Returns false, and counts nothing, if the call was reported
    /// before.
    #[pyo3(signature = (row, call, response_ms, failure=None, is_status=false))]
    fn record_request(
        &self,
        row: u32,
        call: &PyCall,
        response_ms: Option<f64>,
        failure: Option<&str>,
        is_status: bool,
    ) -> bool {
        let report = LocustReport {
            tally: Arc::clone(&self.tally),
            row,
            response_ns: response_ms.and_then(nanos),
            failure: failure.map(str::to_owned),
            is_status,
        };
        call.state.report(report)
    }

    /// Records the lag of a timer of this process.
    fn record_timer_lag(&self, seconds: f64) {
        if let Some(lag) = nanos(seconds * 1e3) {
            let now = monotonic_ns();
            self.with(|tally| tally.record_timer_lag(now, lag));
        }
    }

    /// Sets the number of broken streams of this test that Locust has not reported.
    fn set_unreported_streams(&self, broken: u64) {
        self.with(|tally| tally.set_unreported_streams(broken));
    }

    /// Ends the test; later requests are not counted.
    fn end(&self) {
        self.with(|tally| tally.end(monotonic_ns()));
    }

    /// Returns the counts of the complete seconds since the last report, and after the end all
    /// others; None if there are none.
    fn take_report<'py>(&self, py: Python<'py>) -> Option<Bound<'py, PyBytes>> {
        let report = self.next_report();
        (!report.is_empty()).then(|| PyBytes::new(py, &report.to_bytes()))
    }
}

impl PyRequestTally {
    fn next_report(&self) -> ProcessReport {
        self.with(|tally| tally.take_report(monotonic_ns()))
    }
}

/// The sum of the counts of all processes of one test.
#[pyclass(frozen, name = "TallyAggregate")]
pub(crate) struct PyTallyAggregate {
    aggregate: Mutex<locust::TallyAggregate>,
}

impl PyTallyAggregate {
    fn with<T>(&self, work: impl FnOnce(&mut locust::TallyAggregate) -> T) -> T {
        work(&mut self.aggregate.lock().unwrap_or_else(PoisonError::into_inner))
    }

    fn add(&self, process: &str, report: ProcessReport) -> Vec<String> {
        let intervals = self.with(|aggregate| aggregate.add_report(process, report));
        intervals.iter().map(ToString::to_string).collect()
    }
}

#[pymethods]
impl PyTallyAggregate {
    /// Creates the aggregate of a test. `addresses`, `IP:PORT`, tell whether the target runs on this
    /// machine; `warmup_s` is the expected length of the warm-up; a master sends no load itself.
    #[new]
    #[pyo3(signature = (addresses=Vec::new(), *, warmup_s=0.0, is_master=false))]
    #[allow(clippy::needless_pass_by_value)] // The binding can only take what Python lists give.
    fn new(addresses: Vec<String>, warmup_s: f64, is_master: bool) -> PyResult<Self> {
        let read = |text: &String| text.parse().map(Address::Ip);
        let addresses: Result<Vec<_>, _> = addresses.iter().map(read).collect();
        let addresses = addresses.map_err(|error| PyValueError::new_err(error.to_string()))?;
        let warmup_ns = nanos(warmup_s * 1e3).unwrap_or(0);
        let aggregate = locust::TallyAggregate::new(&addresses, wall_ns(), warmup_ns, is_master);
        Ok(Self { aggregate: Mutex::new(aggregate) })
    }

    /// Expects reports of a process.
    fn expect(&self, process: &str) {
        self.with(|aggregate| aggregate.expect(process));
    }

    /// Adds a report of another process, and returns the completed intervals as JSON. Raises
    /// ValueError if it cannot be read.
    fn add_report(&self, process: &str, report: &[u8]) -> PyResult<Vec<String>> {
        let report = ProcessReport::from_bytes(report).map_err(PyValueError::new_err)?;
        Ok(self.add(process, report))
    }

    /// Adds the counts of this process, and returns the completed intervals as JSON.
    fn add_local(&self, process: &str, tally: &PyRequestTally) -> Vec<String> {
        self.add(process, tally.next_report())
    }

    /// Sets the current number of users.
    fn set_users(&self, now: u64) {
        self.with(|aggregate| aggregate.set_users(wall_ns(), now));
    }

    /// Ends the test, and returns the remaining intervals.
    #[pyo3(signature = (*, interrupted=false))]
    fn end(&self, interrupted: bool) -> Vec<String> {
        let intervals = self.with(|aggregate| aggregate.end(interrupted));
        intervals.iter().map(ToString::to_string).collect()
    }

    /// Returns the level as JSON; complete after the end.
    fn level(&self) -> String {
        self.with(|aggregate| engine::level_json(aggregate.summary()).to_string())
    }
}

/// Converts milliseconds to nanoseconds; none if they are not finite.
#[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)] // It saturates.
fn nanos(milliseconds: f64) -> Option<Nanos> {
    milliseconds.is_finite().then(|| (milliseconds.max(0.0) * 1e6).round() as Nanos)
}

/// Returns nanoseconds since the epoch.
#[allow(clippy::cast_possible_truncation)] // They fit until the year 2554.
fn wall_ns() -> Nanos {
    let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH);
    since.map_or(0, |since| since.as_nanos() as Nanos)
}
