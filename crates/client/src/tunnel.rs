//! A tunnel through a proxy, which is opened with CONNECT (RFC 9110, 9.3.6).

use std::io::ErrorKind;
use std::sync::Arc;

use net::Driver;
use wire::Head;

use crate::Reason;

/// The maximum length of the head of a proxy's response.
const HEAD_BYTES: usize = 8 * 1024;

/// The maximum length of all its responses, including interim ones.
const ANSWER_BYTES: usize = 64 * 1024;

/// Bytes read in one call, before other connections get their turn.
const BYTES_PER_CALL: usize = 1024;

/// The progress of a connection that is being opened.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Opening {
    /// The connection waits for the next event of its socket.
    Pending,
    /// There may be unread bytes, for which no event will come: call again soon.
    Again,
    /// Bytes may be written.
    Open,
}

/// A tunnel through a proxy.
#[derive(Debug)]
pub struct Tunnel {
    request: Arc<[u8]>,
    written: usize,
    answer: Vec<u8>,
    /// The length of all responses, including interim ones.
    length: usize,
    is_open: bool,
}

impl Tunnel {
    /// Creates a tunnel that is not open; `request` is the whole CONNECT request.
    #[must_use]
    pub fn new(request: Arc<[u8]>) -> Self {
        Self { request, written: 0, answer: Vec::new(), length: 0, is_open: false }
    }

    /// Continues to send the request, and to read the response.
    pub fn advance<D: Driver>(
        &mut self,
        driver: &mut D,
        socket: &D::Socket,
    ) -> Result<Opening, Reason> {
        while self.written < self.request.len() {
            match driver.send(socket, &self.request[self.written..]) {
                Ok(length) => self.written += length,
                Err(error) if error.kind() == ErrorKind::WouldBlock => {
                    return Ok(Opening::Pending);
                }
                Err(_) => return Err(Reason::ConnectProxy),
            }
        }
        // Byte by byte, because bytes after the head belong to the next layer.
        let mut byte = [0];
        for _ in 0..BYTES_PER_CALL {
            if self.is_open {
                return Ok(Opening::Open);
            }
            match driver.recv(socket, &mut byte) {
                Ok(0) => return Err(Reason::ConnectProxy),
                Ok(_) => self.take(byte[0])?,
                Err(error) if error.kind() == ErrorKind::WouldBlock => {
                    return Ok(Opening::Pending);
                }
                Err(_) => return Err(Reason::ConnectProxy),
            }
        }
        Ok(Opening::Again)
    }

    fn take(&mut self, byte: u8) -> Result<(), Reason> {
        self.answer.push(byte);
        self.length += 1;
        if self.answer.ends_with(b"\r\n\r\n") {
            // A response to CONNECT has no body, whatever its head announces.
            match Head::parse(&self.answer, true) {
                Ok(Some((head, _))) if (200..300).contains(&head.status) => self.is_open = true,
                Ok(Some((head, _))) if head.status < 200 => self.answer.clear(),
                _ => return Err(Reason::ConnectProxy),
            }
        }
        let is_too_large = self.answer.len() > HEAD_BYTES || self.length > ANSWER_BYTES;
        if is_too_large { Err(Reason::ConnectProxy) } else { Ok(()) }
    }
}
