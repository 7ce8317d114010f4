//! The statistics of Locust processes, by name and by second.
//!
//! A `RequestTally` counts the requests of one process, and reports closed intervals. A
//! `TallyAggregate` adds up the reports of all processes, by name and by second, to the intervals and
//! the level of a run. Neither uses Python, sockets, files or clocks.

mod aggregate;
mod call_state;
mod counts;
mod exchanges;
mod locust_report;
mod process_report;
mod request_record;
mod row_names;
mod row_tallies;
mod run_queue;
mod test_tally;
#[cfg(test)]
mod tests;
mod user_counts;

use client::UNSET;
use net::Nanos;

pub use aggregate::TallyAggregate;
pub use call_state::CallState;
pub use counts::{Count, Counts};
pub use exchanges::Exchanges;
pub use locust_report::LocustReport;
pub use process_report::ProcessReport;
pub use request_record::RequestRecord;
use row_names::RowNames;
use test_tally::TestTally;

/// The counts of one process, which sends the load in one thread. Rows remain after a test.
#[derive(Debug, Default)]
pub struct RequestTally {
    row_names: RowNames,
    /// The running test.
    test: Option<TestTally>,
}

impl RequestTally {
    /// Returns the row of a method, which may be empty, and a name; beyond 200, names share a row.
    ///
    /// Rows of events are in no total.
    pub fn row(&mut self, method: &str, name: &str, is_event: bool) -> u32 {
        self.row_names.row(method, name, is_event)
    }

    /// Returns whether a row exists.
    #[must_use]
    pub fn has_row(&self, row: u32) -> bool {
        (row as usize) < self.row_names.list().len()
    }

    /// Begins a test, and drops the counts of the previous one. Call this in the thread that sends the
    /// load, after any fork; `now` is monotonic, `wall` counts from the epoch.
    ///
    /// With a warm-up, the window begins at `open_window`.
    pub fn begin(&mut self, now: Nanos, wall: Nanos, has_warmup: bool) {
        self.test = Some(TestTally::new(now, wall, has_warmup));
    }

    /// Ends the warm-up, if there is one.
    pub fn open_window(&mut self, now: Nanos) {
        if let Some(test) = self.running_test() {
            test.open_window(now);
        }
    }

    /// Counts a request that has ended.
    pub fn record_request(&mut self, row: u32, record: &RequestRecord<'_>) {
        let name =
            self.row_names.list().get(row as usize).map_or("", |row_name| row_name.name.as_str());
        if let Some(test) = self.test.as_mut().filter(|test| !test.is_over) {
            test.record_request(row, name, record);
        }
    }

    /// Records a request that was reported before its end; if the test ends first, it is in flight.
    pub fn record_open_request(&mut self, row: u32, intended: Nanos) {
        if let Some(test) = self.running_test().filter(|_| intended != UNSET) {
            test.open_requests.push((row, intended));
        }
    }

    /// Removes a request that was reported before its end, and has ended.
    pub fn remove_open_request(&mut self, row: u32, intended: Nanos) {
        if let Some(test) = self.running_test() {
            test.remove_open_request(row, intended);
        }
    }

    /// Sets the number of broken streams that Locust has not reported.
    pub fn set_unreported_streams(&mut self, broken: u64) {
        if let Some(test) = self.running_test() {
            test.unreported_streams = broken;
        }
    }

    /// Counts a request whose user was stopped before its end: it stays in flight.
    pub fn abandon(&mut self, row: u32, intended: Nanos) {
        if let Some(test) = self.running_test().filter(|_| intended != UNSET) {
            test.abandon(row, intended);
        }
    }

    /// Reads how long this thread has waited for a core: such waits are subtracted from a lag.
    fn read_run_queue(&mut self, now: Nanos) {
        if let Some(test) = self.running_test() {
            test.read_run_queue(now);
        }
    }

    /// Records the lag of a timer, which shows the health of this process.
    pub fn record_timer_lag(&mut self, now: Nanos, nanos: Nanos) {
        if let Some(test) = self.running_test() {
            test.read_run_queue(now);
            test.record_timer_lag(now, nanos);
        }
    }

    /// Ends the test; later requests are not counted.
    pub fn end(&mut self, now: Nanos) {
        if let Some(test) = self.running_test() {
            test.end(now);
        }
    }

    /// Returns the intervals of elapsed seconds, and after the end of a test all others.
    pub fn take_report(&mut self, now: Nanos) -> ProcessReport {
        let row_names = self.row_names.list().to_vec();
        let Some(test) = &mut self.test else {
            return ProcessReport::new(
                row_names,
                Vec::new(),
                process_report::ProcessUsage::default(),
            );
        };
        if !test.is_over {
            test.close_elapsed_intervals(now);
        }
        let mut report = ProcessReport::new(row_names, test.take_intervals(), test.process_usage());
        report.unreported_streams = test.unreported_streams;
        if test.is_over {
            self.test = None;
        }
        report
    }

    /// Returns the running test.
    fn running_test(&mut self) -> Option<&mut TestTally> {
        self.test.as_mut().filter(|test| !test.is_over)
    }
}
