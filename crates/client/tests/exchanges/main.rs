//! Exchanges over connections, most of them on a simulated network.

#![allow(clippy::unwrap_used, clippy::panic)] // A test that cannot go on may panic.

mod bounds;
mod broken;
mod closing;
mod layer;
mod reactor;
mod support;
mod tls;
