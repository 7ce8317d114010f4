//! The request of an exchange.

use net::Nanos;

use super::PoolId;

/// Time limits of an exchange; `None` is unlimited.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Timeouts {
    /// For opening the connection, including TLS.
    pub connect_ns: Option<Nanos>,
    /// For each read.
    pub read_ns: Option<Nanos>,
}

/// The request of an exchange, and how it is sent.
#[derive(Debug, Clone, Copy)]
pub struct ExchangeRequest<'a> {
    /// The pool whose connections are used.
    pub pool: PoolId,
    /// The first part of the bytes that are sent.
    pub head: &'a [u8],
    /// The second part of the bytes that are sent.
    pub body: &'a [u8],
    /// Whether the method is HEAD, so that the response has no body.
    pub is_head: bool,
    /// Whether the caller reads the body piece by piece.
    pub streams: bool,
    /// The intended send time.
    pub intended: Nanos,
    /// The time limits.
    pub timeouts: Timeouts,
}
