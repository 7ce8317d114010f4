//! How the parent reaches its children: processes through pipes, or nodes through any stream of bytes.

use std::io::{self, Read, Write};
use std::net::{Shutdown, TcpStream};
use std::os::unix::net::UnixStream;
use std::sync::Arc;
use std::time::Duration;

use crate::messages::{DISCONNECTED, Message};

/// The stream on which orders are written.
pub type OrderStream = Box<dyn Write + Send>;

/// The stream from which replies are read.
pub type ReplyStream = Box<dyn Read + Send>;

/// Ends a child, from any thread; its replies end then.
pub type EndChild = Arc<dyn Fn() + Send + Sync>;

/// The way to one child, which runs [`crate::serve`] or [`crate::serve_on`] at its other end.
pub trait ChildTransport: Send + 'static {
    /// Returns the two streams; called once.
    fn streams(&mut self) -> io::Result<(OrderStream, ReplyStream)>;

    /// Returns a function that ends the child.
    fn ending(&self) -> EndChild;

    /// Takes note that the load of the child is over, and closes the streams unless the child does.
    fn finish(&mut self) {}

    /// Waits until the child has ended, and returns how; called after its replies have ended.
    fn wait(&mut self) -> Message;

    /// Returns the name of its node, if it is on another machine.
    fn node(&self) -> Option<&str> {
        None
    }

    /// Returns after how much time without a sign of life the other side counts as lost.
    fn silence_limit(&self) -> Duration;
}

/// After this time without a sign of life, a child behind a socket counts as lost: its machine or its
/// network may be gone without a word.
const SOCKET_SILENCE: Duration = Duration::from_secs(2);

/// A socket whose other end is a child.
pub trait ChildSocket: Read + Write + Send + Sync + Sized + 'static {
    /// Returns a second handle of the socket.
    fn second(&self) -> io::Result<Self>;

    /// Ends both directions.
    fn end(&self);
}

impl ChildSocket for UnixStream {
    fn second(&self) -> io::Result<Self> {
        self.try_clone()
    }

    fn end(&self) {
        let _ = self.shutdown(Shutdown::Both);
    }
}

impl ChildSocket for TcpStream {
    fn second(&self) -> io::Result<Self> {
        self.try_clone()
    }

    fn end(&self) {
        let _ = self.shutdown(Shutdown::Both);
    }
}

/// A child behind a connected socket.
#[derive(Debug)]
pub struct SocketChild<S: ChildSocket> {
    socket: Arc<S>,
    silence_limit: Duration,
    name: Option<String>,
}

impl<S: ChildSocket> SocketChild<S> {
    /// Takes a connected socket.
    pub fn new(socket: S) -> Self {
        Self { socket: Arc::new(socket), silence_limit: SOCKET_SILENCE, name: None }
    }

    /// Names the node of the child, which is another machine.
    #[must_use]
    pub fn on_node(mut self, name: impl Into<String>) -> Self {
        self.name = Some(name.into());
        self
    }

    /// Sets after how much time without a sign of life the other side counts as lost.
    #[must_use]
    pub fn with_silence_limit(mut self, limit: Duration) -> Self {
        self.silence_limit = limit;
        self
    }
}

impl<S: ChildSocket> ChildTransport for SocketChild<S> {
    fn streams(&mut self) -> io::Result<(OrderStream, ReplyStream)> {
        let replies = io::BufReader::new(self.socket.second()?);
        Ok((Box::new(self.socket.second()?), Box::new(replies)))
    }

    fn ending(&self) -> EndChild {
        let socket = Arc::clone(&self.socket);
        Arc::new(move || socket.end())
    }

    fn finish(&mut self) {
        self.socket.end();
    }

    fn wait(&mut self) -> Message {
        DISCONNECTED.plain()
    }

    fn node(&self) -> Option<&str> {
        self.name.as_deref()
    }

    fn silence_limit(&self) -> Duration {
        self.silence_limit
    }
}

impl<S: ChildSocket> Drop for SocketChild<S> {
    fn drop(&mut self) {
        self.socket.end();
    }
}
