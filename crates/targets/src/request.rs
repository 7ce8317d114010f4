//! Reads requests from a raw connection, as far as their end requires it.
//!
//! It does not answer `Expect: 100-continue`, and refuses requests whose end is not defined.

use std::io;

use tokio::io::{AsyncBufRead, AsyncBufReadExt, AsyncReadExt};

/// The maximum length of a line of a head, and the maximum number of lines.
const LINE_BYTES: u64 = 64 * 1024;
const LINES: usize = 1_000;

/// A complete request.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct ReceivedRequest {
    /// Whether its response has no body.
    pub(crate) head_only: bool,
    /// Whether the client keeps the connection open.
    pub(crate) keep_alive: bool,
    /// The target of its request line.
    pub(crate) path: String,
    /// The requested part of its body.
    pub(crate) body: Vec<u8>,
    /// The key of its handshake, if it asks for WebSocket.
    pub(crate) websocket_key: Option<String>,
}

#[derive(Debug, Clone, Copy)]
enum BodyFraming {
    Length(u64),
    Chunked,
}

/// Reads the next request with so many bytes of its body; None if the client has closed between two.
pub(crate) async fn next(
    source: &mut (impl AsyncBufRead + Unpin),
    kept: usize,
) -> io::Result<Option<ReceivedRequest>> {
    if source.fill_buf().await?.is_empty() {
        return Ok(None);
    }
    let first = line(source).await?;
    let mut words = first.split(' ');
    let (method, path, version) = (words.next(), words.next(), words.next());
    let keep_alive = match version {
        Some("HTTP/1.1") => true,
        Some("HTTP/1.0") => false,
        _ => return Err(malformed("request line")),
    };
    let path = path.unwrap_or_default().to_owned();
    let head_only = method == Some("HEAD");
    let mut request = ReceivedRequest { head_only, keep_alive, path, ..ReceivedRequest::default() };
    let framing = headers(source, &mut request).await?;
    let mut body = PartialBody { kept, bytes: Vec::new() };
    match framing {
        BodyFraming::Length(bytes) => body.take(source, bytes).await?,
        BodyFraming::Chunked => body.take_chunks(source).await?,
    }
    Ok(Some(ReceivedRequest { body: body.bytes, ..request }))
}

/// A body that is read completely and kept in part.
struct PartialBody {
    kept: usize,
    bytes: Vec<u8>,
}

async fn headers(
    source: &mut (impl AsyncBufRead + Unpin),
    request: &mut ReceivedRequest,
) -> io::Result<BodyFraming> {
    let mut framing = BodyFraming::Length(0);
    for _ in 0..LINES {
        let line = line(source).await?;
        let header = line.to_ascii_lowercase();
        if header.is_empty() {
            return Ok(framing);
        }
        let (name, value) = header.split_once(':').ok_or_else(|| malformed("header"))?;
        match (name, value.trim()) {
            ("connection", "close") => request.keep_alive = false,
            ("connection", "keep-alive") => request.keep_alive = true,
            ("transfer-encoding", "chunked") => framing = BodyFraming::Chunked,
            ("content-length", value) => {
                let bytes = value.parse().map_err(|_| malformed("content-length"))?;
                framing = BodyFraming::Length(bytes);
            }
            ("sec-websocket-key", _) => {
                let value = line[name.len() + 1..].trim();
                request.websocket_key = Some(value.to_owned());
            }
            _ => {}
        }
    }
    Err(malformed("head: too many lines"))
}

impl PartialBody {
    async fn take_chunks(&mut self, source: &mut (impl AsyncBufRead + Unpin)) -> io::Result<()> {
        loop {
            let size = line(source).await?;
            let digits = size.split(';').next().unwrap_or_default().trim();
            let bytes = u64::from_str_radix(digits, 16).map_err(|_| malformed("chunk size"))?;
            if bytes == 0 {
                break;
            }
            self.take(source, bytes).await?;
            if !line(source).await?.is_empty() {
                return Err(malformed("end of a chunk"));
            }
        }
        // The trailers, up to an empty line.
        while !line(source).await?.is_empty() {}
        Ok(())
    }

    async fn take(
        &mut self,
        source: &mut (impl AsyncBufRead + Unpin),
        mut bytes: u64,
    ) -> io::Result<()> {
        while bytes > 0 {
            let there = source.fill_buf().await?;
            if there.is_empty() {
                return Err(io::ErrorKind::UnexpectedEof.into());
            }
            // At most the buffered bytes, which fit a usize.
            let part = bytes.min(there.len() as u64) as usize;
            let room = self.kept.saturating_sub(self.bytes.len());
            self.bytes.extend_from_slice(&there[..part.min(room)]);
            source.consume(part);
            bytes -= part as u64;
        }
        Ok(())
    }
}

/// Reads a line without its end.
async fn line(source: &mut (impl AsyncBufRead + Unpin)) -> io::Result<String> {
    let mut bytes = Vec::new();
    source.take(LINE_BYTES).read_until(b'\n', &mut bytes).await?;
    if bytes.pop() != Some(b'\n') {
        return Err(malformed("line: too long, or cut off"));
    }
    if bytes.last() == Some(&b'\r') {
        bytes.pop();
    }
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

/// Returns an error; the connection is closed. Its text helps to debug a client.
fn malformed(what: &'static str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, what)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read_all(mut bytes: &[u8]) -> io::Result<Vec<ReceivedRequest>> {
        let runtime = tokio::runtime::Builder::new_current_thread().build()?;
        let mut requests = Vec::new();
        while let Some(request) = runtime.block_on(next(&mut bytes, 4))? {
            requests.push(request);
        }
        Ok(requests)
    }

    #[test]
    fn reads_pipelined_requests_of_every_framing() {
        let bytes = b"GET / HTTP/1.1\r\nhost: x\r\n\r\n\
            POST / HTTP/1.1\r\nContent-Length: 5\r\n\r\nG\r\n\r\n\
            POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n3;x=y\r\nabc\r\nA\r\n0123456789\r\n0\r\nt: u\r\n\r\n\
            HEAD / HTTP/1.1\r\nconnection: close\r\n\r\n\
            GET / HTTP/1.0\r\n\r\n\
            GET / HTTP/1.0\r\nConnection: keep-alive\r\n\r\n";
        let requests = read_all(bytes).unwrap();
        let bodies: Vec<_> = requests.iter().map(|request| request.body.as_slice()).collect();
        assert_eq!(bodies, [b"".as_slice(), b"G\r\n\r", b"abc0", b"", b"", b""]);
        let seen: Vec<(bool, bool)> =
            requests.into_iter().map(|request| (request.head_only, request.keep_alive)).collect();
        let (get, last) = ((false, true), (false, false));
        assert_eq!(seen, [get, get, get, (true, false), last, get]);
    }

    #[test]
    fn refuses_what_it_cannot_delimit() {
        let bad: [&[u8]; 6] = [
            b"GET /\r\n\r\n",
            b"GET / HTTP/1.1\r\nnonsense\r\n\r\n",
            b"POST / HTTP/1.1\r\ncontent-length: banana\r\n\r\n",
            b"POST / HTTP/1.1\r\ntransfer-encoding: chunked\r\n\r\nzz\r\n",
            b"POST / HTTP/1.1\r\ntransfer-encoding: chunked\r\n\r\n1\r\nab\r\n0\r\n\r\n",
            b"POST / HTTP/1.1\r\ncontent-length: 5\r\n\r\nabc",
        ];
        for bytes in bad {
            assert!(read_all(bytes).is_err(), "{}", String::from_utf8_lossy(bytes));
        }
    }
}
