//! Whole workers in a simulated world: one program, so that it is linked once.

// A test that cannot start or go on may panic.
#![allow(clippy::unwrap_used, clippy::panic)]

mod cancellation;
mod faults;
mod feeds;
mod grpc;
mod http2;
mod http2_users;
mod mixes;
mod multiplexing;
mod other_tools;
mod pacing;
mod parts;
mod random_plans;
mod shapes;
mod sources;
mod spawning;
mod streams;
mod users;
mod websocket;
mod world;
