//! What bytes pass through between the exchange and the socket: nothing, or a secure layer.

use std::fmt;

/// A secure layer as a sans-I/O state: ciphertext in, plaintext out, and the other way round.
pub trait Layer: Send {
    /// Whether the handshake is over.
    fn is_open(&self) -> bool;

    /// Takes ciphertext that arrived.
    fn take_in(&mut self, cipher: &[u8]) -> Result<(), LayerError>;

    /// Gives plaintext; 0 when there is none yet.
    fn read(&mut self, plain: &mut [u8]) -> usize;

    /// Takes plaintext to be sent; gives how much was taken.
    fn write(&mut self, plain: &[u8]) -> usize;

    /// The ciphertext that waits to be sent; whoever sends removes it from the front.
    fn outgoing(&mut self) -> &mut Vec<u8>;
}

/// Why a secure layer broke, in words.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LayerError(pub String);

impl fmt::Display for LayerError {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(&self.0)
    }
}

impl std::error::Error for LayerError {}
