//! What a caller asks for.

use net::Nanos;

use super::LaneId;

/// How long a caller waits; `None` is for ever.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Patience {
    /// For an open connection, TLS included.
    pub connect_ns: Option<Nanos>,
    /// For the next byte of the answer.
    pub read_ns: Option<Nanos>,
}

/// One exchange that is asked for.
#[derive(Debug, Clone, Copy)]
pub struct Ask<'a> {
    /// Over what.
    pub lane: LaneId,
    /// The request as it is written, in two pieces.
    pub head: &'a [u8],
    /// See `head`.
    pub body: &'a [u8],
    /// Whether the answer has no body whatever its head says.
    pub is_head: bool,
    /// Whether the caller reads the body piece by piece.
    pub streams: bool,
    /// When the caller asked.
    pub intended: Nanos,
    /// How long it waits.
    pub patience: Patience,
}
