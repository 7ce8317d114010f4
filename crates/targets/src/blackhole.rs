//! A listener that answers no SYN: its accept queue has the minimum length, is full, and is never read.
//!
//! It works as long as the kernel drops the SYNs of a full queue, which is what Linux does unless
//! `net.ipv4.tcp_abort_on_overflow` is set.

use std::io;
use std::net::{Ipv4Addr, Ipv6Addr, SocketAddr, TcpStream};
use std::time::Duration;

use socket2::Socket;

use crate::listener;

/// The time to wait for the response to a SYN: on loopback it is immediate, but the kernel may be busy.
const UNANSWERED: Duration = Duration::from_secs(1);
/// Linux accepts one more connection than the backlog of 0.
const MOST_FILLERS: usize = 8;

/// The full listener and the connections that fill it.
#[derive(Debug)]
pub(crate) struct Blackhole {
    address: SocketAddr,
    _listener: Socket,
    _fillers: Vec<TcpStream>,
}

impl Blackhole {
    /// Listens and fills the queue; returns when a connect was seen to hang.
    pub(crate) fn open(address: SocketAddr) -> io::Result<Self> {
        let listener = listener::open(address, false)?;
        listener.listen(0)?;
        let address = listener::local_address(&listener)?;
        let fillers = fill(reachable(address))?;
        Ok(Blackhole { address, _listener: listener, _fillers: fillers })
    }

    pub(crate) fn address(&self) -> SocketAddr {
        self.address
    }
}

fn fill(address: SocketAddr) -> io::Result<Vec<TcpStream>> {
    let mut fillers = Vec::new();
    while fillers.len() < MOST_FILLERS {
        match TcpStream::connect_timeout(&address, UNANSWERED) {
            Ok(filler) => fillers.push(filler),
            Err(error) if error.kind() == io::ErrorKind::TimedOut => return Ok(fillers),
            Err(error) => return Err(error),
        }
    }
    Err(io::Error::other(format!(
        "no_accept: {address} still accepts with {MOST_FILLERS} connections in a queue of 0"
    )))
}

/// Returns the loopback address of a listener on all addresses.
fn reachable(address: SocketAddr) -> SocketAddr {
    match address {
        SocketAddr::V4(v4) if v4.ip().is_unspecified() => (Ipv4Addr::LOCALHOST, v4.port()).into(),
        SocketAddr::V6(v6) if v6.ip().is_unspecified() => (Ipv6Addr::LOCALHOST, v6.port()).into(),
        other => other,
    }
}
