//! Answers each WebSocket message with the same message.
//!
//! A message counts as a request when it was read, and as answered when the kernel has its answer. A
//! request of HTTP without a handshake is refused.

use std::collections::VecDeque;
use std::io::{self, ErrorKind};
use std::sync::atomic::Ordering::Relaxed;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use tokio::io::AsyncWriteExt;
use tokio::net::TcpStream;
use tokio::time::{Instant, timeout_at};
use wire::websocket::{
    CloseFrame, Masking, MessageKind, OutgoingFrame, WebSocketEvent, WebSocketReader, accept_value,
};

use crate::WsSpec;
use crate::counts::ThreadCounts;
use crate::listener::Serve;
use crate::peer::RawClient;

/// The largest message that is answered.
pub(crate) const MAX_MESSAGE_BYTES: u64 = 64 * 1024 * 1024;
/// The largest buffer that a connection keeps.
const SPARE_BYTES: usize = 64 * 1024;
/// Bytes that are read at once.
const READ_BYTES: usize = 64 * 1024;
/// The message that nobody asked for.
const PUSHED: &[u8] = b"news";

const REFUSAL: &[u8] =
    b"HTTP/1.1 426 Upgrade Required\r\nupgrade: websocket\r\ncontent-length: 0\r\n\r\n";

/// Returns the response to a handshake with this key.
pub(crate) fn switching(key: &str) -> Vec<u8> {
    switching_with(&accept_value(key.as_bytes()), "")
}

/// Returns the same with another accept value, and with more fields.
pub(crate) fn switching_with(accept: &str, fields: &str) -> Vec<u8> {
    let head = "HTTP/1.1 101 Switching Protocols\r\nupgrade: websocket\r\nconnection: Upgrade";
    format!("{head}\r\nsec-websocket-accept: {accept}\r\n{fields}\r\n").into_bytes()
}

/// The echo server of one thread.
#[derive(Debug)]
pub(crate) struct WebSocketEcho {
    /// What was read last; many idle connections share it.
    buffer: Arc<Mutex<Vec<u8>>>,
    push_every: Option<Duration>,
}

impl WebSocketEcho {
    pub(crate) fn new(spec: &WsSpec) -> Self {
        let push_every = spec.push_every_ns.map(Duration::from_nanos);
        WebSocketEcho { buffer: Arc::new(Mutex::new(vec![0; READ_BYTES])), push_every }
    }
}

impl Serve for WebSocketEcho {
    fn serve(
        &self,
        stream: TcpStream,
        tally: Arc<ThreadCounts>,
    ) -> impl Future<Output = ()> + Send + 'static {
        let (buffer, push_every) = (Arc::clone(&self.buffer), self.push_every);
        async move {
            // The client closed the connection or broke the protocol; the counts show this.
            let _ = serve(RawClient::new(stream, tally), buffer, push_every).await;
        }
    }
}

async fn serve(
    mut client: RawClient,
    buffer: Arc<Mutex<Vec<u8>>>,
    push_every: Option<Duration>,
) -> io::Result<()> {
    while let Some(request) = client.next(0).await? {
        if let Some(key) = &request.websocket_key {
            client.send(&switching(key)).await?;
            let (stream, received, tally) = client.into_parts();
            let mut connection = EchoConnection::new(stream, tally, buffer);
            connection.take(&received);
            return connection.serve(push_every).await;
        }
        client.send(REFUSAL).await?;
        client.answered();
        if !request.keep_alive {
            break;
        }
    }
    Ok(())
}

/// A connection after its handshake.
struct EchoConnection {
    stream: TcpStream,
    tally: Arc<ThreadCounts>,
    buffer: Arc<Mutex<Vec<u8>>>,
    reader: WebSocketReader,
    /// The beginning of a message that is not complete.
    begun: Vec<u8>,
    /// Bytes that wait to be written, and where the answers in them end.
    out: Vec<u8>,
    answers: VecDeque<usize>,
    is_over: bool,
}

impl EchoConnection {
    fn new(stream: TcpStream, tally: Arc<ThreadCounts>, buffer: Arc<Mutex<Vec<u8>>>) -> Self {
        let reader = WebSocketReader::new(Masking::Required, MAX_MESSAGE_BYTES);
        let (begun, out, answers) = (Vec::new(), Vec::new(), VecDeque::new());
        EchoConnection { stream, tally, buffer, reader, begun, out, answers, is_over: false }
    }

    async fn serve(&mut self, push_every: Option<Duration>) -> io::Result<()> {
        let mut push_at = push_every.map(|every| Instant::now() + every);
        loop {
            self.write().await?;
            if self.is_over {
                return self.stream.shutdown().await;
            }
            match push_at {
                None => self.stream.readable().await?,
                Some(at) => match timeout_at(at, self.stream.readable()).await {
                    Ok(readable) => readable?,
                    Err(_) => {
                        OutgoingFrame::message(MessageKind::Text, PUSHED)
                            .write_unmasked(&mut self.out);
                        push_at = push_every.map(|every| at + every);
                        continue;
                    }
                },
            }
            if self.read()? == 0 {
                return Ok(());
            }
        }
    }

    /// Reads and takes what the socket has; returns the number of bytes, 0 at their end.
    fn read(&mut self) -> io::Result<usize> {
        let buffer = Arc::clone(&self.buffer);
        let mut buffer = buffer.lock().unwrap_or_else(PoisonError::into_inner);
        match self.stream.try_read(&mut buffer) {
            Ok(count) => {
                self.take(&buffer[..count]);
                Ok(count)
            }
            Err(error) if error.kind() == ErrorKind::WouldBlock => Ok(1),
            Err(error) => Err(error),
        }
    }

    /// Takes received bytes, and appends the answers.
    fn take(&mut self, mut bytes: &[u8]) {
        while !self.is_over {
            match self.reader.next(&mut bytes) {
                Ok(None) => break,
                Ok(Some(WebSocketEvent::Message(piece))) => {
                    let is_whole = piece.is_first && piece.is_last;
                    if !is_whole {
                        self.begun.extend_from_slice(piece.payload);
                    }
                    if piece.is_last {
                        let payload = if is_whole { piece.payload } else { &self.begun };
                        OutgoingFrame::message(piece.kind, payload).write_unmasked(&mut self.out);
                        self.begun = Vec::new();
                        self.tally.requests.fetch_add(1, Relaxed);
                        self.answers.push_back(self.out.len());
                    }
                }
                Ok(Some(WebSocketEvent::Ping(payload))) => {
                    OutgoingFrame::pong(payload).write_unmasked(&mut self.out);
                }
                Ok(Some(WebSocketEvent::Pong(_))) => {}
                Ok(Some(WebSocketEvent::Close(frame))) => {
                    let reply = CloseFrame { reason: "", ..frame };
                    close(&reply, &mut self.out);
                    self.is_over = true;
                }
                Err(error) => {
                    close(
                        &CloseFrame { code: Some(error.close_code()), reason: "" },
                        &mut self.out,
                    );
                    self.is_over = true;
                }
            }
        }
    }

    /// Writes everything, and counts what the kernel takes of it.
    async fn write(&mut self) -> io::Result<()> {
        let mut from = 0;
        while from < self.out.len() {
            match self.stream.try_write(&self.out[from..]) {
                Ok(count) => {
                    from += count;
                    let answered = self.answers.partition_point(|end| *end <= from);
                    self.answers.drain(..answered);
                    self.tally.bytes_out.fetch_add(count as u64, Relaxed);
                    self.tally.answered.fetch_add(answered as u64, Relaxed);
                }
                Err(error) if error.kind() == ErrorKind::WouldBlock => {
                    self.stream.writable().await?;
                }
                Err(error) => return Err(error),
            }
        }
        self.out.clear();
        self.out.shrink_to(SPARE_BYTES);
        Ok(())
    }
}

/// Appends a Close frame.
pub(crate) fn close(frame: &CloseFrame<'_>, out: &mut Vec<u8>) {
    if let Some(payload) = frame.payload() {
        OutgoingFrame::close(&payload).write_unmasked(out);
    }
}

#[cfg(test)]
mod tests {
    use tokio::io::AsyncReadExt;
    use tokio::net::TcpListener;

    use super::*;

    #[test]
    fn what_the_kernel_took_counts_although_a_later_write_fails() -> io::Result<()> {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        runtime.block_on(async {
            let listener = TcpListener::bind("127.0.0.1:0").await?;
            let mut client = TcpStream::connect(listener.local_addr()?).await?;
            let (tally, buffer) = (Arc::<ThreadCounts>::default(), Arc::default());
            let mut echo = EchoConnection::new(listener.accept().await?.0, tally.clone(), buffer);
            // Far more than sockets hold, with the longest head of a frame.
            let message = [&[0x82, 0xff, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0][..], &[0; 1 << 16]];
            for _ in 0..256 {
                echo.take(&message.concat());
            }
            // Bytes that were not read make its close a reset.
            let client = tokio::spawn(async move { client.read_exact(&mut [0; 1 << 18]).await });
            assert!(echo.write().await.is_err());
            client.await??;
            let (sent, answered) = (tally.bytes_out.load(Relaxed), tally.answered.load(Relaxed));
            assert!(sent >= 1 << 18, "{sent}");
            assert_eq!(answered, sent / (10 + (1 << 16)));
            Ok(())
        })
    }
}
