//! `Ledger` and `Gathering`: the books of Locust processes.
//!
//! Nothing of Python is called while books are open: greenlets switch wherever they like.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::SystemTime;

use engine::{Booking, Reason, Sheet, Standing};
use net::{Address, Nanos, monotonic_ns};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyBytes;

use crate::call::Call;
use crate::entry::Entry;

/// The books of one Locust process. To be made and used in the thread that fires.
#[pyclass(frozen)]
pub(crate) struct Ledger {
    ledger: Arc<Mutex<engine::Ledger>>,
}

impl Ledger {
    /// Works on the books; nothing of Python may be called meanwhile.
    pub(crate) fn with<T>(&self, work: impl FnOnce(&mut engine::Ledger) -> T) -> T {
        // Counts are whole between two calls, whatever became of the last one.
        work(&mut self.ledger.lock().unwrap_or_else(PoisonError::into_inner))
    }

    fn with_row<T>(&self, row: u32, work: impl FnOnce(&mut engine::Ledger) -> T) -> PyResult<T> {
        let done = self.with(|ledger| ledger.has_row(row).then(|| work(ledger)));
        done.ok_or_else(|| PyValueError::new_err(format!("row {row} is not known")))
    }
}

#[pymethods]
impl Ledger {
    #[new]
    fn new() -> Self {
        Self { ledger: Arc::default() }
    }

    /// The row of a method and a name; an event has no exchange of ours behind it.
    #[pyo3(signature = (method, name, *, event=false))]
    fn row(&self, method: &str, name: &str, event: bool) -> u32 {
        self.with(|ledger| ledger.row(method, name, event))
    }

    /// Begins a test; the one before is forgotten. With a warm-up, the window is opened later.
    #[pyo3(signature = (*, warmup=false))]
    fn begin(&self, warmup: bool) {
        self.with(|ledger| ledger.begin(monotonic_ns(), wall_ns(), warmup));
    }

    /// Ends the warm-up, if it is one.
    fn open_window(&self) {
        self.with(|ledger| ledger.open_window(monotonic_ns()));
    }

    /// Counts what no call is behind: what a locustfile fired by itself, or a request that did not
    /// get so far (`unsent`), or that another client sent.
    #[pyo3(signature = (row, response_ms, failure=None, bytes_in=0, unsent=false))]
    fn book_event(
        &self,
        row: u32,
        response_ms: Option<f64>,
        failure: Option<&str>,
        bytes_in: u64,
        unsent: bool,
    ) -> PyResult<()> {
        let mut event = Booking::event(monotonic_ns(), response_ms.and_then(nanos), failure);
        event.failure =
            event.failure.map(|reason| if unsent { Reason::ConnectOther } else { reason });
        self.with_row(row, |ledger| ledger.book(row, &Booking { bytes_in, ..event }))
    }

    /// Counts a request whose call is `call`, as Locust reported it; a stream that is still read
    /// is counted when it ends. `is_status` says that its status is what failed. False, and nothing
    /// counted, for a call that was counted before.
    #[pyo3(signature = (row, call, response_ms, failure=None, is_status=false))]
    fn book(
        &self,
        row: u32,
        call: &Call,
        response_ms: Option<f64>,
        failure: Option<&str>,
        is_status: bool,
    ) -> bool {
        let entry = Entry {
            ledger: Arc::clone(&self.ledger),
            row,
            response_ns: response_ms.and_then(nanos),
            failure: failure.map(str::to_owned),
            is_status,
        };
        call.state.book(entry)
    }

    /// Counts a request that was given up before it ended.
    fn abandon(&self, row: u32) -> PyResult<()> {
        self.with_row(row, |ledger| ledger.abandon(row, monotonic_ns()))
    }

    /// Notes how late a timer of this process rang.
    fn late(&self, seconds: f64) {
        if let Some(late) = nanos(seconds * 1e3) {
            let now = monotonic_ns();
            self.with(|ledger| {
                ledger.look_at_queue(now);
                ledger.late(now, late);
            });
        }
    }

    /// Notes how many streams broke in this test of which nothing was reported.
    fn unreported(&self, broken: u64) {
        self.with(|ledger| ledger.unreported(broken));
    }

    /// Ends the test: what is booked from now on counts nowhere.
    fn end(&self) {
        self.with(|ledger| ledger.end(monotonic_ns()));
    }

    /// Hands up what was counted in the seconds that have passed, and after the end all of it;
    /// None when there is nothing.
    #[pyo3(signature = (in_flight=0))]
    fn sheet<'py>(&self, py: Python<'py>, in_flight: u64) -> Option<Bound<'py, PyBytes>> {
        let sheet = self.take_sheet(in_flight);
        (!sheet.is_empty()).then(|| PyBytes::new(py, &sheet.to_bytes()))
    }
}

impl Ledger {
    fn take_sheet(&self, in_flight: u64) -> Sheet {
        let standing = Standing { in_flight, ..Standing::default() };
        self.with(|ledger| ledger.sheet(monotonic_ns(), standing))
    }
}

/// The sheets of all processes of one test, as one.
#[pyclass(frozen)]
pub(crate) struct Gathering {
    gathering: Mutex<engine::Gathering>,
}

impl Gathering {
    fn with<T>(&self, work: impl FnOnce(&mut engine::Gathering) -> T) -> T {
        work(&mut self.gathering.lock().unwrap_or_else(PoisonError::into_inner))
    }

    fn take_sheet(&self, process: &str, sheet: Sheet) -> Vec<String> {
        let intervals = self.with(|gathering| gathering.take(process, sheet));
        intervals.iter().map(ToString::to_string).collect()
    }
}

#[pymethods]
impl Gathering {
    /// Begins with a test; `addresses` are those of the target, `IP:PORT`, to see who shares this
    /// machine. The warm-up will last `warmup_s`, about; `apart` says that this process fires
    /// nothing itself.
    #[new]
    #[pyo3(signature = (addresses=Vec::new(), *, warmup_s=0.0, apart=false))]
    #[allow(clippy::needless_pass_by_value)] // The binding can only take what Python lists give.
    fn new(addresses: Vec<String>, warmup_s: f64, apart: bool) -> PyResult<Self> {
        let read = |text: &String| text.parse().map(Address::Ip);
        let addresses: Result<Vec<_>, _> = addresses.iter().map(read).collect();
        let addresses = addresses.map_err(|error| PyValueError::new_err(error.to_string()))?;
        let warmup_ns = nanos(warmup_s * 1e3).unwrap_or(0);
        let gathering = engine::Gathering::new(&addresses, wall_ns(), warmup_ns, apart);
        Ok(Self { gathering: Mutex::new(gathering) })
    }

    /// Waits for a process that will report.
    fn expect(&self, process: &str) {
        self.with(|gathering| gathering.expect(process));
    }

    /// Takes what another process handed up; the intervals that are whole now, as JSON. ValueError
    /// when it cannot be read.
    fn take(&self, process: &str, sheet: &[u8]) -> PyResult<Vec<String>> {
        let sheet = Sheet::from_bytes(sheet).map_err(PyValueError::new_err)?;
        Ok(self.take_sheet(process, sheet))
    }

    /// The same from a ledger of this process.
    #[pyo3(signature = (process, ledger, in_flight=0))]
    fn take_from(&self, process: &str, ledger: &Ledger, in_flight: u64) -> Vec<String> {
        self.take_sheet(process, ledger.take_sheet(in_flight))
    }

    /// Notes how many users there are now.
    fn users(&self, now: u64) {
        self.with(|gathering| gathering.users(wall_ns(), now));
    }

    /// Ends the test: the intervals that are left.
    #[pyo3(signature = (*, interrupted=false))]
    fn end(&self, interrupted: bool) -> Vec<String> {
        let intervals = self.with(|gathering| gathering.end(interrupted));
        intervals.iter().map(ToString::to_string).collect()
    }

    /// The level as JSON, complete after the end.
    fn level(&self) -> String {
        self.with(|gathering| engine::level_json(gathering.summary()).to_string())
    }
}

/// Whatever a locustfile says took so long; what is no time is none.
#[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)] // It saturates.
fn nanos(milliseconds: f64) -> Option<Nanos> {
    milliseconds.is_finite().then(|| (milliseconds.max(0.0) * 1e6).round() as Nanos)
}

/// Nanoseconds since the epoch.
#[allow(clippy::cast_possible_truncation)] // They fit until the year 2554.
fn wall_ns() -> Nanos {
    let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH);
    since.map_or(0, |since| since.as_nanos() as Nanos)
}
