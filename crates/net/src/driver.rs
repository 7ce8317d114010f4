//! What a worker needs of the world: a clock, sockets, and a way to wait.

use std::io;
use std::net::IpAddr;

use crate::{Address, ThreadUsage};

/// Nanoseconds on the monotonic clock (of the machine, or of the simulation).
pub type Nanos = u64;

/// What happened to one socket since the last wait.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Ready {
    /// The token given when the socket was dialled.
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

    /// The time now.
    fn now(&self) -> Nanos;

    /// The processor time of the thread that drives it.
    fn usage(&self) -> ThreadUsage;

    /// Starts to connect; `token` comes back with each [`Ready`] of this socket.
    fn dial(&mut self, to: &Address, from: Option<IpAddr>, token: u64) -> io::Result<Self::Socket>;

    /// Why a socket that was reported closed is broken, if it is.
    fn error(&mut self, socket: &Self::Socket) -> Option<io::Error>;

    /// Writes what fits; `WouldBlock` when nothing does.
    fn send(&mut self, socket: &Self::Socket, bytes: &[u8]) -> io::Result<usize>;

    /// Reads what is there; 0 is the end of the stream, `WouldBlock` that nothing is there.
    fn recv(&mut self, socket: &Self::Socket, buffer: &mut [u8]) -> io::Result<usize>;

    /// Throws away up to `scratch.len()` bytes unseen; otherwise like [`Driver::recv`].
    fn discard(&mut self, socket: &Self::Socket, scratch: &mut [u8]) -> io::Result<usize>;

    /// How many bytes have come that nobody has read yet.
    fn unread(&self, socket: &Self::Socket) -> u64;

    /// Waits for readiness, but not beyond `until`; replaces the content of `ready`.
    fn wait(&mut self, until: Nanos, ready: &mut Vec<Ready>) -> io::Result<()>;
}
