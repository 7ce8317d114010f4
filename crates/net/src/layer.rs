//! The secure layer between exchanges and a socket, if there is one.

use std::fmt;

/// A secure layer without I/O: it turns ciphertext into plaintext, and plaintext into ciphertext.
pub trait Layer: Send {
    /// Returns whether the handshake is over.
    fn is_open(&self) -> bool;

    /// Returns the protocol that the server chose in the handshake (ALPN), if it chose one.
    fn protocol(&self) -> Option<&[u8]>;

    /// Returns whether the other side has announced the end of its data.
    fn is_ended(&self) -> bool;

    /// Copies the bytes of an incomplete record, which an earlier call left, to the front of `cipher`: the
    /// next read bytes follow them. Returns their number.
    fn restore(&mut self, cipher: &mut [u8]) -> usize;

    /// Takes ciphertext, restored and received bytes, and overwrites it; returns the number of bytes of
    /// plaintext in `plain`, which must be as long as `cipher`.
    fn open(&mut self, cipher: &mut [u8], plain: &mut [u8]) -> Result<usize, LayerError>;

    /// Takes plaintext to send.
    fn seal(&mut self, plain: &[u8]) -> Result<(), LayerError>;

    /// Announces the end of the data to the other side.
    fn end(&mut self);

    /// Returns the ciphertext to send; the sender removes it from the front.
    fn outgoing(&mut self) -> &mut Vec<u8>;
}

/// Why a secure layer failed: its class, and a text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LayerError {
    /// The class.
    pub fault: LayerFault,
    /// The exact cause.
    pub text: String,
}

/// The classes of failures of a secure layer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LayerFault {
    /// The certificate is not valid any more.
    Expired,
    /// The certificate is not valid yet.
    NotYetValid,
    /// The certificate is for another name.
    WrongHost,
    /// No trusted authority has signed the certificate.
    UnknownIssuer,
    /// The server shows the certificate of an authority as its own.
    AuthorityAsServer,
    /// The certificate is wrong in another way.
    BadCertificate,
    /// The other side refused, for example because of a missing client certificate.
    Refused,
    /// The two have no version, cipher or protocol in common.
    NothingInCommon,
    /// The received bytes are not TLS.
    NotTls,
    /// Any other failure.
    Failed,
}

impl fmt::Display for LayerError {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(&self.text)
    }
}

impl std::error::Error for LayerError {}
