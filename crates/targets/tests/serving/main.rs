//! Targets that serve, met by a client on a plain socket: one program, so that it is linked once.

#![allow(clippy::unwrap_used, reason = "a test may fail")]

mod bytes;
mod chat;
#[path = "../common/mod.rs"]
mod common;
mod delay;
mod faults;
mod hello;
mod http2;
mod lifecycle;
mod spec;
mod websocket;
