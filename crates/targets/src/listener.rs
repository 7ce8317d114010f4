//! Listening sockets, and the loop that accepts connections.

use std::io;
use std::net::{SocketAddr, ToSocketAddrs};
use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;
use std::time::Duration;

use socket2::{Domain, Socket, Type};
use tokio::net::{TcpListener, TcpStream};

use crate::counts::ThreadCounts;

/// A larger queue than kernels allow; they reduce it.
const BACKLOG: i32 = 65_535;
/// The pause after an error such as EMFILE, so that the loop does not spin.
const PAUSE: Duration = Duration::from_millis(50);

/// Serves accepted connections.
pub(crate) trait Serve: Send + 'static {
    /// Serves the connection to its end.
    fn serve(
        &self,
        stream: TcpStream,
        tally: Arc<ThreadCounts>,
    ) -> impl Future<Output = ()> + Send + 'static;
}

/// Returns the first address of host and port.
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

/// Creates a listener for each thread, all on the same address.
///
/// Several listeners share it by SO_REUSEPORT, with which they could also share it with another server.
/// Therefore the port is first bound alone.
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

/// Creates a listener for each thread, on an address that other processes may share.
pub(crate) fn bind_shared(address: SocketAddr, threads: usize) -> io::Result<Vec<Socket>> {
    let in_use = |error: io::Error| io::Error::new(error.kind(), format!("{address}: {error}"));
    let listen = |_| {
        let socket = open(address, true)?;
        socket.listen(BACKLOG)?;
        Ok(socket)
    };
    (0..threads).map(listen).collect::<io::Result<_>>().map_err(in_use)
}

/// Creates a bound socket that does not listen.
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

/// Accepts connections for ever. After an error it continues: without descriptors, connections stay in the
/// queue of the kernel until there are some.
pub(crate) async fn accept(listener: TcpListener, serve: impl Serve, tally: Arc<ThreadCounts>) {
    loop {
        let Ok((stream, _)) = listener.accept().await else {
            tokio::time::sleep(PAUSE).await;
            continue;
        };
        tally.connections.fetch_add(1, Relaxed);
        // It fails only for a closed connection, which the next read notices.
        let _ = stream.set_nodelay(true);
        tokio::spawn(serve.serve(stream, Arc::clone(&tally)));
    }
}
