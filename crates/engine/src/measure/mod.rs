//! Measurements: histograms and tallies of a worker, intervals of all workers, their summary, and the
//! load generator's health.

pub(crate) mod aggregate;
mod buckets;
pub(crate) mod front;
pub(crate) mod goodput;
pub(crate) mod health;
pub(crate) mod machine;
pub(crate) mod metric;
mod packer;
pub(crate) mod report;
pub(crate) mod stream;
pub(crate) mod summary;
pub(crate) mod tally;
pub(crate) mod tally_pool;
pub(crate) mod timeline;
pub(crate) mod websocket;
