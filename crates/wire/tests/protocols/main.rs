//! Bytes in, events out: every protocol as a whole, through what the crate gives to others.

#![allow(clippy::unwrap_used)] // A test that cannot go on may panic.

mod framing;
mod hpack;
mod http2;
mod limits;
mod response;
mod streams;
mod websocket;
