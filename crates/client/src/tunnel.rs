//! The way through a proxy: asked for with CONNECT before anything else is said (RFC 9110, 9.3.6).

use std::io::ErrorKind;
use std::sync::Arc;

use net::Driver;
use wire::Head;

use crate::Reason;

/// The head of a proxy's answer; more is no answer.
const HEAD_BYTES: usize = 8 * 1024;

/// One way through a proxy.
#[derive(Debug)]
pub struct Tunnel {
    request: Arc<[u8]>,
    written: usize,
    answer: Vec<u8>,
    is_open: bool,
}

impl Tunnel {
    /// A way that has not been asked for yet; `request` is the whole CONNECT request.
    #[must_use]
    pub fn new(request: Arc<[u8]>) -> Self {
        Self { request, written: 0, answer: Vec::new(), is_open: false }
    }

    /// Asks, and reads the answer as far as it came; true when the way is open.
    pub fn advance<D: Driver>(
        &mut self,
        driver: &mut D,
        socket: &D::Socket,
    ) -> Result<bool, Reason> {
        while self.written < self.request.len() {
            match driver.send(socket, &self.request[self.written..]) {
                Ok(length) => self.written += length,
                Err(error) if error.kind() == ErrorKind::WouldBlock => return Ok(false),
                Err(_) => return Err(Reason::ConnectProxy),
            }
        }
        // Byte by byte, so that nothing behind the head is taken: it belongs to whoever comes next.
        let mut byte = [0];
        while !self.is_open {
            match driver.recv(socket, &mut byte) {
                Ok(0) => return Err(Reason::ConnectProxy),
                Ok(_) => self.take(byte[0])?,
                Err(error) if error.kind() == ErrorKind::WouldBlock => return Ok(false),
                Err(_) => return Err(Reason::ConnectProxy),
            }
        }
        Ok(true)
    }

    fn take(&mut self, byte: u8) -> Result<(), Reason> {
        self.answer.push(byte);
        if self.answer.ends_with(b"\r\n\r\n") {
            // An answer to CONNECT has no body, whatever its head says.
            match Head::parse(&self.answer, true) {
                Ok(Some((head, _))) if (200..300).contains(&head.status) => self.is_open = true,
                Ok(Some((head, _))) if head.status < 200 => self.answer.clear(),
                _ => return Err(Reason::ConnectProxy),
            }
        }
        if self.answer.len() > HEAD_BYTES { Err(Reason::ConnectProxy) } else { Ok(()) }
    }
}
