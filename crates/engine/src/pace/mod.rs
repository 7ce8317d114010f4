//! When requests are due: the schedule of arrivals, the think times of users, and when they give up.

pub(crate) mod cancellation;
mod schedule;
pub(crate) mod think;

pub use schedule::Schedule;
