//! What bytes pass through between the exchange and the socket: nothing, or a secure layer.

use std::fmt;

/// A secure layer as a sans-I/O state: ciphertext in, plaintext out, and the other way round.
pub trait Layer: Send {
    /// Whether the handshake is over.
    fn is_open(&self) -> bool;

    /// Whether the other side has said that nothing more will come.
    fn is_ended(&self) -> bool;

    /// Copies to the front of `cipher` what an earlier call left, since it was no whole record: it
    /// belongs before what is read next. Returns its length.
    fn restore(&mut self, cipher: &mut [u8]) -> usize;

    /// Takes ciphertext, what was restored and what arrived (and scrambles it); returns how much
    /// plaintext it put into `plain`, which must be as long as `cipher`.
    fn open(&mut self, cipher: &mut [u8], plain: &mut [u8]) -> Result<usize, LayerError>;

    /// Takes plaintext to be sent, all of it.
    fn seal(&mut self, plain: &[u8]) -> Result<(), LayerError>;

    /// Says to the other side that nothing more will come.
    fn end(&mut self);

    /// The ciphertext that waits to be sent; whoever sends removes it from the front.
    fn outgoing(&mut self) -> &mut Vec<u8>;
}

/// Why a secure layer broke: what it is counted as, and the words for a person.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LayerError {
    /// What it is counted as.
    pub fault: LayerFault,
    /// What exactly happened.
    pub text: String,
}

/// The ways in which a secure layer breaks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LayerFault {
    /// The certificate is not valid any more.
    Expired,
    /// The certificate is not valid yet.
    NotYetValid,
    /// The certificate is for another name.
    WrongHost,
    /// Nobody who is trusted has signed the certificate.
    UnknownIssuer,
    /// An authority's certificate stands in for the server's own.
    AuthorityAsServer,
    /// The certificate is wrong in another way.
    BadCertificate,
    /// The other side refused, such as for want of a client certificate.
    Refused,
    /// The two have no version, cipher or protocol in common.
    NothingInCommon,
    /// What came is not TLS.
    NotTls,
    /// Anything else.
    Failed,
}

impl fmt::Display for LayerError {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(&self.text)
    }
}

impl std::error::Error for LayerError {}
