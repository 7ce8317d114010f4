//! The way through a proxy: asked for with CONNECT before anything else is said (RFC 9110, 9.3.6).

use std::io::ErrorKind;
use std::sync::Arc;

use net::Driver;
use wire::Head;

use crate::{Opening, Reason};

/// The head of a proxy's answer; more is no answer.
const HEAD_BYTES: usize = 8 * 1024;

/// All its answers together, interim ones too.
const ANSWER_BYTES: usize = 64 * 1024;

/// Bytes read in one go before other connections get their turn.
const BYTES_IN_A_ROW: usize = 1024;

/// One way through a proxy.
#[derive(Debug)]
pub struct Tunnel {
    request: Arc<[u8]>,
    written: usize,
    answer: Vec<u8>,
    /// Of all answers, interim ones too.
    length: usize,
    is_open: bool,
}

impl Tunnel {
    /// A way that has not been asked for yet; `request` is the whole CONNECT request.
    #[must_use]
    pub fn new(request: Arc<[u8]>) -> Self {
        Self { request, written: 0, answer: Vec::new(), length: 0, is_open: false }
    }

    /// Asks, and reads the answer as far as it came, a part of it at a time.
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
        // Byte by byte, so that nothing behind the head is taken: it belongs to whoever comes next.
        let mut byte = [0];
        for _ in 0..BYTES_IN_A_ROW {
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
            // An answer to CONNECT has no body, whatever its head says.
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
