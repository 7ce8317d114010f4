//! The interface between a worker and the system: a clock, sockets, and waiting.

use std::io;
use std::net::IpAddr;

use crate::{Address, Nanos, ThreadUsage};

/// An event of a socket since the last wait.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Ready {
    /// The token of the socket, which was given to [`Driver::dial`].
    pub token: u64,
    /// Bytes, or the end of the stream, can be read.
    pub readable: bool,
    /// The dial has ended, or a full send buffer has room again.
    pub writable: bool,
    /// The other side will send nothing more, or the socket is broken.
    pub closed: bool,
}

/// Sockets and time. Readiness is edge-triggered: a read that fills its buffer must be repeated.
pub trait Driver {
    /// One socket; dropping it closes it.
    type Socket;

    /// Returns the time.
    fn now(&self) -> Nanos;

    /// Returns the processor time of the thread that drives it.
    fn usage(&self) -> ThreadUsage;

    /// Starts to connect; each [`Ready`] of this socket has `token`.
    fn dial(&mut self, to: &Address, from: Option<IpAddr>, token: u64) -> io::Result<Self::Socket>;

    /// Returns why a socket that was reported closed is broken, if it is.
    fn error(&mut self, socket: &Self::Socket) -> Option<io::Error>;

    /// Sends as many bytes as the socket accepts; `WouldBlock` if it accepts none.
    fn send(&mut self, socket: &Self::Socket, bytes: &[u8]) -> io::Result<usize>;

    /// Receives bytes; 0 is the end of the stream, `WouldBlock` means that there are none.
    fn recv(&mut self, socket: &Self::Socket, buffer: &mut [u8]) -> io::Result<usize>;

    /// Discards up to `scratch.len()` bytes; otherwise like [`Driver::recv`].
    fn discard(&mut self, socket: &Self::Socket, scratch: &mut [u8]) -> io::Result<usize>;

    /// Returns the number of received bytes that were not read.
    fn unread(&self, socket: &Self::Socket) -> u64;

    /// Waits for events, until a time at most; replaces the content of `ready`.
    fn wait(&mut self, until: Nanos, ready: &mut Vec<Ready>) -> io::Result<()>;
}
