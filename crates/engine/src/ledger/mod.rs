//! The books of Locust processes: what every request did, by name, second by second.
//!
//! A `Ledger` is one process's: it counts what ends, and hands up a sheet of closed pages. A
//! `Gathering` lays the sheets of all processes on each other, by name and by second, and makes
//! the intervals and the level of a run of them. Neither knows Python, sockets or files; time comes
//! in from outside.

mod account;
mod booking;
mod counts;
mod crowd;
mod gathering;
mod queue;
mod sheet;
mod side;
#[cfg(test)]
mod tests;
mod titles;

use client::UNSET;
use net::Nanos;

use account::Account;
pub use booking::Booking;
pub use counts::Count;
pub use gathering::Gathering;
pub use sheet::{Sheet, Standing};
use titles::Titles;

/// The books of one process, which fires in one thread. Rows outlive tests; counts do not.
#[derive(Debug, Default)]
pub struct Ledger {
    titles: Titles,
    /// None between tests.
    account: Option<Account>,
}

impl Ledger {
    /// The row of a method, which may be empty, and a name; those beyond the first 200 share one.
    ///
    /// Rows of events are shown by themselves, and are in no total.
    pub fn row(&mut self, method: &str, name: &str, is_event: bool) -> u32 {
        self.titles.row(method, name, is_event)
    }

    /// Whether there is such a row.
    #[must_use]
    pub fn has_row(&self, row: u32) -> bool {
        (row as usize) < self.titles.list().len()
    }

    /// Begins a test, and forgets what was not handed up of the one before. To be called by the
    /// thread that fires, after any fork; `now` is monotonic, `wall` counts from the epoch.
    ///
    /// With a warm-up, the window begins at `open_window`.
    pub fn begin(&mut self, now: Nanos, wall: Nanos, has_warmup: bool) {
        self.account = Some(Account::new(now, wall, has_warmup));
    }

    /// Ends the warm-up, if it is one: what was counted until now stays apart.
    pub fn open_window(&mut self, now: Nanos) {
        if let Some(account) = self.open() {
            account.open_window(now);
        }
    }

    /// Counts a request that has ended.
    pub fn book(&mut self, row: u32, booking: &Booking<'_>) {
        let name = self.titles.list().get(row as usize).map_or("", |title| title.name.as_str());
        if let Some(account) = self.account.as_mut().filter(|account| !account.is_over) {
            account.book(row, name, booking);
        }
    }

    /// Notes a request that was reported before its end: if the test ends first, it is in flight.
    pub fn await_end(&mut self, row: u32, intended: Nanos) {
        if let Some(account) = self.open().filter(|_| intended != UNSET) {
            account.awaited.push((row, intended));
        }
    }

    /// The end of one of those has come, in whatever way: what it was is counted now.
    pub fn settle(&mut self, row: u32, intended: Nanos) {
        if let Some(account) = self.open() {
            account.settle(row, intended);
        }
    }

    /// Notes how many streams broke of which nothing was reported.
    pub fn unreported(&mut self, broken: u64) {
        if let Some(account) = self.open() {
            account.unreported = broken;
        }
    }

    /// Counts a request that will have no end: its user is gone. It stays in flight.
    pub fn abandon(&mut self, row: u32, intended: Nanos) {
        if let Some(account) = self.open().filter(|_| intended != UNSET) {
            account.abandon(row, intended);
        }
    }

    /// Reads how long the thread that fires has waited for a core. To be called by it before what is
    /// late is counted: what others took of the core is no lateness of this process.
    pub fn look_at_queue(&mut self, now: Nanos) {
        if let Some(account) = self.open() {
            account.look_at_queue(now);
        }
    }

    /// Notes how late a clock of this process rang: evidence of its health, and no request's time.
    pub fn late(&mut self, now: Nanos, nanos: Nanos) {
        if let Some(account) = self.open() {
            account.late(now, nanos);
        }
    }

    /// Ends the test; what is booked from now on counts nowhere.
    pub fn end(&mut self, now: Nanos) {
        if let Some(account) = self.open() {
            account.close(now);
        }
    }

    /// Hands up the pages of the seconds that have passed, and after the end of a test all of them.
    pub fn sheet(&mut self, now: Nanos, standing: Standing) -> Sheet {
        let titles = self.titles.list().to_vec();
        let Some(account) = &mut self.account else {
            return Sheet::new(titles, Vec::new(), sheet::Cost::default());
        };
        account.standing = standing;
        if !account.is_over {
            account.turn(now);
        }
        let mut sheet = Sheet::new(titles, account.take_pages(), account.cost());
        sheet.unreported = account.unreported;
        if account.is_over {
            self.account = None;
        }
        sheet
    }

    /// The test under way.
    fn open(&mut self) -> Option<&mut Account> {
        self.account.as_mut().filter(|account| !account.is_over)
    }
}
