//! The opening handshake of a connection: its request, and the check of its response.

use wire::websocket::{HandshakeError, HandshakeKey, HandshakeRequest};
use wire::{MAX_INTERIM_ANSWERS, MAX_INTERIM_BYTES, ResponseHead, WireError};

use crate::Reason;

/// A handshake whose response is not complete.
#[derive(Debug)]
pub(super) struct OpeningHandshake {
    key: HandshakeKey,
    /// Received bytes of a head that is not complete.
    received: Vec<u8>,
    interim_answers: u32,
    interim_bytes: usize,
}

/// A handshake that failed.
#[derive(Debug)]
pub(super) struct HandshakeRefusal {
    pub(super) reason: Reason,
    /// The response, if it is one.
    pub(super) head: Option<ResponseHead>,
}

impl From<WireError> for HandshakeRefusal {
    fn from(error: WireError) -> Self {
        Self { reason: error.into(), head: None }
    }
}

impl OpeningHandshake {
    pub(super) fn new(random: [u8; 16]) -> Self {
        let key = HandshakeKey::new(random);
        Self { key, received: Vec::new(), interim_answers: 0, interim_bytes: 0 }
    }

    /// Returns the bytes to send.
    pub(super) fn request(&self, request: &HandshakeRequest) -> Vec<u8> {
        request.bytes(&self.key)
    }

    /// Returns whether a byte of the response was received.
    pub(super) fn has_begun(&self) -> bool {
        !self.received.is_empty() || self.interim_answers > 0
    }

    /// Takes received bytes: those behind the head of the response remain in `rest`. Returns the head once
    /// it is complete.
    pub(super) fn take(
        &mut self,
        rest: &mut &[u8],
        request: &HandshakeRequest,
    ) -> Result<Option<ResponseHead>, HandshakeRefusal> {
        self.received.extend_from_slice(rest);
        loop {
            let Some((head, length)) = ResponseHead::read(&self.received)? else {
                *rest = &[];
                return Ok(None);
            };
            self.received.drain(..length);
            if !(100..200).contains(&head.status) || head.status == 101 {
                // Only this read has bytes behind the head.
                *rest = &rest[rest.len() - self.received.len()..];
                return match request.check(&head, &self.key) {
                    Ok(()) => Ok(Some(head)),
                    Err(error) => Err(HandshakeRefusal { reason: error.into(), head: Some(head) }),
                };
            }
            self.interim_answers += 1;
            self.interim_bytes += length;
            if self.interim_answers > MAX_INTERIM_ANSWERS || self.interim_bytes > MAX_INTERIM_BYTES
            {
                return Err(WireError::TooManyInterim.into());
            }
        }
    }
}

impl From<HandshakeError> for Reason {
    fn from(error: HandshakeError) -> Self {
        match error {
            HandshakeError::Status(_) => Self::Status,
            HandshakeError::Upgrade => Self::ProtocolWebSocketUpgrade,
            HandshakeError::Connection => Self::ProtocolWebSocketConnection,
            HandshakeError::Accept => Self::ProtocolWebSocketAccept,
            HandshakeError::Extensions => Self::ProtocolWebSocketExtension,
            HandshakeError::Subprotocol => Self::ProtocolWebSocketSubprotocol,
        }
    }
}
