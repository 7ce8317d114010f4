//! Listening sockets, and the loop that takes connections from one.

use std::io;
use std::net::{SocketAddr, ToSocketAddrs};
use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;
use std::time::Duration;

use socket2::{Domain, Socket, Type};
use tokio::net::{TcpListener, TcpStream};

use crate::counts::ThreadCounts;

/// More than kernels allow; they clamp it.
const BACKLOG: i32 = 65_535;
/// How long nothing is accepted after an error such as EMFILE: long enough not to spin on it.
const PAUSE: Duration = Duration::from_millis(50);

/// What is done with an accepted connection.
pub(crate) trait Serve: Send + 'static {
    /// Serves the connection to its end.
    fn serve(
        &self,
        stream: TcpStream,
        tally: Arc<ThreadCounts>,
    ) -> impl Future<Output = ()> + Send + 'static;
}

/// The first address of host and port.
pub(crate) fn resolve(host: &str, port: u16) -> io::Result<SocketAddr> {
    let found = (host, port).to_socket_addrs().map(|mut addresses| addresses.next());
    match found {
        Ok(Some(address)) => Ok(address),
        Ok(None) => {
            Err(io::Error::new(io::ErrorKind::NotFound, format!("host {host}: no address")))
        }
        Err(error) => Err(io::Error::new(error.kind(), format!("host {host}: {error}"))),
    }
}

/// One listener a thread, all on the same address.
///
/// Many listeners share it by SO_REUSEPORT, which would also let them share it with a server
/// that is already there. So the port is taken alone first.
pub(crate) fn bind(address: SocketAddr, threads: usize) -> io::Result<Vec<Socket>> {
    let in_use = |error: io::Error| io::Error::new(error.kind(), format!("{address}: {error}"));
    let alone = open(address, false).map_err(in_use)?;
    let address = local_address(&alone)?;
    if threads == 1 {
        alone.listen(BACKLOG).map_err(in_use)?;
        return Ok(vec![alone]);
    }
    drop(alone);
    bind_shared(address, threads)
}

/// One listener a thread, on an address that others may listen on too.
pub(crate) fn bind_shared(address: SocketAddr, threads: usize) -> io::Result<Vec<Socket>> {
    let in_use = |error: io::Error| io::Error::new(error.kind(), format!("{address}: {error}"));
    let listen = |_| {
        let socket = open(address, true)?;
        socket.listen(BACKLOG)?;
        Ok(socket)
    };
    (0..threads).map(listen).collect::<io::Result<_>>().map_err(in_use)
}

/// A bound socket that does not listen yet.
pub(crate) fn open(address: SocketAddr, shared: bool) -> io::Result<Socket> {
    let socket = Socket::new(Domain::for_address(address), Type::STREAM, None)?;
    socket.set_reuse_address(true)?;
    socket.set_reuse_port(shared)?;
    socket.set_nonblocking(true)?;
    socket.bind(&address.into())?;
    Ok(socket)
}

pub(crate) fn local_address(socket: &Socket) -> io::Result<SocketAddr> {
    let address = socket.local_addr()?.as_socket();
    address.ok_or_else(|| io::Error::other("a TCP socket without an IP address"))
}

/// Accepts for ever. An error ends nothing: without descriptors, those who wait stay in the
/// kernel's queue until there are some again.
pub(crate) async fn accept(listener: TcpListener, serve: impl Serve, tally: Arc<ThreadCounts>) {
    loop {
        let Ok((stream, _)) = listener.accept().await else {
            tokio::time::sleep(PAUSE).await;
            continue;
        };
        tally.connections.fetch_add(1, Relaxed);
        // Fails only for a connection that is already gone, which is noticed by reading.
        let _ = stream.set_nodelay(true);
        tokio::spawn(serve.serve(stream, Arc::clone(&tally)));
    }
}
