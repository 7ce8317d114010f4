//! The client of a raw connection: requests or frames are read from it, and bytes are written to it.

use std::io;
use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;
use std::time::Duration;

use socket2::SockRef;
use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader, Interest};
use tokio::net::TcpStream;
use tokio::time::sleep;

use crate::counts::ThreadCounts;
use crate::frames::{HEAD_BYTES, PREFACE, RawFrameHead};
use crate::request::{self, ReceivedRequest};
use crate::step::FaultStep;

/// So many bytes tell the preface of HTTP/2 from a request line: `PRI `.
const PREFACE_BEGIN: usize = 4;
/// The pause until the rest of these bytes is looked for.
const BEFORE_PEEK: Duration = Duration::from_millis(1);

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
        // A handshake of WebSocket is no request: its messages are.
        let is_request = request.as_ref().is_some_and(|one| one.websocket_key.is_none());
        self.tally.requests.fetch_add(u64::from(is_request), Relaxed);
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

    /// Returns the socket, the bytes that were read from it and not used, and the counts.
    pub(crate) fn into_parts(self) -> (TcpStream, Vec<u8>, Arc<ThreadCounts>) {
        let received = self.stream.buffer().to_vec();
        (self.stream.into_inner(), received, self.tally)
    }

    /// Reads some bytes; none if the client has closed.
    pub(crate) async fn read_some(&mut self) -> io::Result<Vec<u8>> {
        let bytes = self.stream.fill_buf().await?.to_vec();
        self.stream.consume(bytes.len());
        Ok(bytes)
    }

    /// Counts a complete response.
    pub(crate) fn answered(&self) {
        self.tally.answered.fetch_add(1, Relaxed);
    }

    /// Returns when the client has closed the connection, in its direction or in both, also if it has sent
    /// bytes before that are not read.
    pub(crate) async fn hung_up(&self) {
        // The kernel's EPOLLRDHUP. Readable bytes would be news each time.
        let ready = self.stream.get_ref().ready(Interest::PRIORITY).await;
        if !ready.is_ok_and(|ready| ready.is_read_closed()) {
            std::future::pending::<()>().await;
        }
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

    /// Closes the connection in this direction: the client reads to its end.
    pub(crate) async fn end_writing(&mut self) -> io::Result<()> {
        self.stream.shutdown().await
    }

    /// Makes closing send a reset.
    pub(crate) fn end_by_reset(&self) -> io::Result<()> {
        SockRef::from(self.stream.get_ref()).set_linger(Some(Duration::ZERO))
    }

    /// Returns whether the client begins as HTTP/2 does with prior knowledge.
    pub(crate) async fn speaks_http2(&mut self) -> bool {
        let begin = &PREFACE[..PREFACE_BEGIN];
        loop {
            let mut seen = [0; PREFACE_BEGIN];
            match self.stream.get_ref().peek(&mut seen).await {
                Ok(count) if !begin.starts_with(&seen[..count]) || count == 0 => return false,
                Ok(PREFACE_BEGIN) => return true,
                Ok(_) => sleep(BEFORE_PEEK).await,
                Err(_) => return false,
            }
        }
    }

    /// Reads so many bytes; an error if the client closes before.
    pub(crate) async fn read_exactly(&mut self, count: usize) -> io::Result<Vec<u8>> {
        let mut bytes = vec![0; count];
        self.stream.read_exact(&mut bytes).await?;
        Ok(bytes)
    }

    /// Reads the head of the next frame of HTTP/2; none if the client has closed before it.
    pub(crate) async fn read_frame_head(&mut self) -> io::Result<Option<RawFrameHead>> {
        if self.stream.fill_buf().await?.is_empty() {
            return Ok(None);
        }
        let mut bytes = [0; HEAD_BYTES];
        self.stream.read_exact(&mut bytes).await?;
        Ok(Some(RawFrameHead::of(bytes)))
    }

    /// Takes a step of a fault. The socket itself closes when the connection is dropped.
    pub(crate) async fn take(&mut self, step: FaultStep) -> io::Result<Ending> {
        match step {
            FaultStep::Send(bytes) => self.send(&bytes).await?,
            FaultStep::Pour(bytes, pause) => loop {
                self.send(&bytes).await?;
                sleep(pause).await;
            },
            FaultStep::Drip(bytes, pause) => self.drip(&bytes, pause).await?,
            FaultStep::Pause(pause) => sleep(pause).await,
            FaultStep::Silence => {
                self.listen_only().await?;
                return Ok(Ending::Over);
            }
            FaultStep::Close => return Ok(Ending::Over),
            FaultStep::Reset => {
                self.end_by_reset()?;
                return Ok(Ending::Over);
            }
        }
        Ok(Ending::Open)
    }

    async fn drip(&mut self, bytes: &[u8], pause: Duration) -> io::Result<()> {
        for byte in bytes.chunks(1) {
            self.send(byte).await?;
            sleep(pause).await;
        }
        Ok(())
    }
}
