//! The client of a raw connection: requests are read from it, and bytes are written to it.

use std::io;
use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;
use std::time::Duration;

use socket2::SockRef;
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader};
use tokio::net::TcpStream;

use crate::counts::ThreadCounts;
use crate::request::{self, ReceivedRequest};

/// A client of a server without an HTTP library.
pub(crate) struct RawClient {
    stream: BufReader<TcpStream>,
    pub(crate) tally: Arc<ThreadCounts>,
}

/// Whether the connection may carry another request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Ending {
    Open,
    Over,
}

impl RawClient {
    pub(crate) fn new(stream: TcpStream, tally: Arc<ThreadCounts>) -> Self {
        RawClient { stream: BufReader::new(stream), tally }
    }

    /// Reads and counts the next request with so many bytes of its body; none if the client has closed.
    pub(crate) async fn next(&mut self, kept: usize) -> io::Result<Option<ReceivedRequest>> {
        let request = request::next(&mut self.stream, kept).await?;
        self.tally.requests.fetch_add(u64::from(request.is_some()), Relaxed);
        Ok(request)
    }

    pub(crate) async fn send(&mut self, mut bytes: &[u8]) -> io::Result<()> {
        while !bytes.is_empty() {
            let sent = self.stream.write(bytes).await?;
            self.tally.bytes_out.fetch_add(sent as u64, Relaxed);
            bytes = &bytes[sent..];
        }
        Ok(())
    }

    /// Counts a complete response.
    pub(crate) fn answered(&self) {
        self.tally.answered.fetch_add(1, Relaxed);
    }

    /// Reads and discards until the client closes.
    pub(crate) async fn listen_only(&mut self) -> io::Result<()> {
        loop {
            let bytes = self.stream.fill_buf().await?.len();
            if bytes == 0 {
                return Ok(());
            }
            self.stream.consume(bytes);
        }
    }

    /// Makes closing send a reset.
    pub(crate) fn end_by_reset(&self) -> io::Result<()> {
        SockRef::from(self.stream.get_ref()).set_linger(Some(Duration::ZERO))
    }
}
