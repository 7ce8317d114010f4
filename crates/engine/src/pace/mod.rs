//! When requests are due: the schedule of arrivals, and the think times of users.

mod schedule;
pub(crate) mod think;

pub use schedule::Schedule;
