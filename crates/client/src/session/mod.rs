//! Protocol sessions: the state of the protocol on one connection, without I/O.
//!
//! A session has slots, each of which carries one exchange at a time: one slot under HTTP/1.1, more
//! where a protocol multiplexes. The owner of the connection begins exchanges in slots. The session
//! says which bytes to send, takes the received bytes in any split, and reports the exchanges that
//! have ended.

mod http1;
mod http2;
#[cfg(any(test, feature = "line-protocol"))]
mod lines;
mod websocket;

use std::io;
use std::sync::Arc;

use net::Nanos;
use wire::http2::Http2Request;
use wire::websocket::MessageRequest;
use wire::{EncodedRequest, Http1Options, RequestTemplate};

use crate::{Budget, Exchange, MessageCounts, Outcome};
use http1::Http1Session;
use http2::Http2Session;
#[cfg(any(test, feature = "line-protocol"))]
use lines::LineSession;
use websocket::WebSocketSession;
pub use websocket::{MessageMatching, WebSocketOptions};

/// The protocol that an endpoint's connections use.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum Protocol {
    /// HTTP/1.1.
    #[default]
    Http1,
    /// HTTP/2, and the most exchanges that a connection carries at once.
    Http2(u16),
    /// WebSocket, after an opening handshake of HTTP/1.1.
    WebSocket(Arc<WebSocketOptions>),
    /// A multiplexing protocol of lines, which only tests use, and its slots per connection.
    #[cfg(any(test, feature = "line-protocol"))]
    Lines(u16),
}

impl Protocol {
    /// Encodes a request as its session sends it.
    #[must_use]
    pub fn encode(&self, request: &RequestTemplate, options: Http1Options) -> EncodedRequest {
        match self {
            Self::Http1 => request.to_http1(options),
            Self::Http2(_) => request.to_http2(),
            Self::WebSocket(options) => request.to_message(options.is_binary),
            #[cfg(any(test, feature = "line-protocol"))]
            Self::Lines(_) => EncodedRequest::of_text(request.target()),
        }
    }

    /// Returns an encoded request as people read it; with WebSocket after the handshake of a connection
    /// with this seed, and only if it was sent.
    #[must_use]
    pub fn readable(&self, encoded: &[u8], seed: u64, is_sent: bool) -> Vec<u8> {
        match self {
            Self::Http2(_) => Http2Request::read(encoded).to_text(),
            Self::WebSocket(options) => {
                let mut sent = websocket::handshake_text(options, seed);
                if is_sent {
                    sent.extend_from_slice(MessageRequest::read(encoded).payload);
                }
                sent
            }
            _ => encoded.to_vec(),
        }
    }

    /// Returns whether its messages have no answers.
    #[must_use]
    pub fn is_one_way(&self) -> bool {
        matches!(self, Self::WebSocket(options) if options.matching == MessageMatching::None)
    }

    /// Returns whether a connection can carry several exchanges at once.
    #[must_use]
    pub fn multiplexes(&self) -> bool {
        *self != Self::Http1
    }

    /// Returns the number of slots per connection.
    #[must_use]
    pub fn slots(&self) -> u16 {
        match self {
            Self::Http1 => 1,
            Self::Http2(slots) => *slots,
            Self::WebSocket(options) => options.slots,
            #[cfg(any(test, feature = "line-protocol"))]
            Self::Lines(slots) => *slots,
        }
    }
}

/// The exchanges in the slots of one connection.
pub trait Slots {
    /// Returns the exchange in a slot, and the encoded request that it sends.
    fn slot(&mut self, slot: u16) -> (&mut Exchange, &[u8]);
}

/// The only exchange on a connection, and its request.
impl Slots for (&mut Exchange, &[u8]) {
    fn slot(&mut self, _: u16) -> (&mut Exchange, &[u8]) {
        (self.0, self.1)
    }
}

/// An exchange that has ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Ended {
    /// Its slot.
    pub slot: u16,
    /// How it ended.
    pub outcome: Outcome,
}

/// The size of the next read.
#[derive(Debug, Clone, Copy)]
pub(crate) struct NextRead {
    /// Bytes to read at most.
    pub(crate) room: usize,
    /// Bytes of a body that may be discarded in the kernel; 0 if the bytes must be read.
    pub(crate) discardable: u64,
}

/// A read, and what its bytes may use and change.
pub(crate) struct Received<'a> {
    /// The received bytes, at the start of the worker's buffer; empty if they were discarded.
    pub(crate) bytes: &'a [u8],
    /// The time of the read.
    pub(crate) at: Nanos,
    /// Whether the bytes may have been waiting in the socket while the worker was busy.
    pub(crate) is_late: bool,
    /// The latest head of a response.
    pub(crate) heads: &'a mut wire::Heads,
    /// The memory that all exchanges may use together.
    pub(crate) budget: &'a mut Budget,
    /// Exchanges that have ended.
    pub(crate) ended: &'a mut Vec<Ended>,
    /// What servers sent without being asked.
    pub(crate) messages: &'a mut MessageCounts,
}

/// A protocol on one connection.
pub(crate) trait ProtocolSession {
    /// Begins an exchange in a free slot.
    fn begin(&mut self, slot: u16, exchange: &mut Exchange, request: &[u8]);

    /// Returns the bytes to send next; empty if there are none.
    fn outgoing<'a>(&'a mut self, slots: &'a mut impl Slots) -> &'a [u8];

    /// Takes note that the first `count` outgoing bytes were sent; the write began at `at`.
    fn sent(&mut self, count: usize, at: Nanos, slots: &mut impl Slots);

    /// Returns whether exchanges end because of what was sent.
    fn has_written(&self) -> bool {
        false
    }

    /// Ends these exchanges, at `now`.
    fn end_written(&mut self, _now: Nanos, _slots: &mut impl Slots, _ended: &mut Vec<Ended>) {}

    /// Returns whether exchanges are running.
    fn is_active(&self) -> bool;

    /// Returns whether more bytes are to be read after some were.
    fn reads_on(&self) -> bool {
        self.is_active()
    }

    /// Returns how much to read next; `buffer` is the size of the buffer.
    fn next_read(&self, slots: &mut impl Slots, is_plain: bool, buffer: usize) -> NextRead;

    /// Takes received bytes.
    fn feed(&mut self, received: Received<'_>, slots: &mut impl Slots);

    /// Takes note that so many bytes of a body were received and discarded.
    fn discarded(&mut self, count: usize, received: Received<'_>, slots: &mut impl Slots);

    /// Ends all running exchanges, because the target closed the connection.
    fn end_of_stream(
        &mut self,
        now: Nanos,
        is_reused: bool,
        slots: &mut impl Slots,
        ended: &mut Vec<Ended>,
    );

    /// Ends all running exchanges, because the connection broke.
    fn broken(
        &mut self,
        now: Nanos,
        is_reused: bool,
        error: &io::Error,
        slots: &mut impl Slots,
        ended: &mut Vec<Ended>,
    );

    /// Cancels the exchange in a slot at `now`; returns whether the connection can carry others
    /// afterwards.
    fn cancel(&mut self, slot: u16, now: Nanos, slots: &mut impl Slots) -> bool;

    /// Returns whether the connection can carry exchanges that have not begun.
    fn accepts(&self) -> bool {
        true
    }

    /// Returns whether there are bytes that could be sent. Only sessions of several exchanges are asked.
    fn has_outgoing(&self) -> bool {
        false
    }

    /// Returns whether bytes are received and sent without any exchange.
    fn runs_idle(&self) -> bool {
        false
    }
}

/// The session of a connection.
#[derive(Debug)]
pub(crate) enum Session {
    Http1(Http1Session),
    Http2(Box<Http2Session>),
    WebSocket(Box<WebSocketSession>),
    #[cfg(any(test, feature = "line-protocol"))]
    Lines(LineSession),
}

impl Session {
    /// Creates the session of a connection; the seed is for everything random.
    pub(crate) fn new(protocol: &Protocol, seed: u64) -> Self {
        match protocol {
            Protocol::Http1 => Self::Http1(Http1Session::default()),
            Protocol::Http2(slots) => Self::Http2(Box::new(Http2Session::new(*slots))),
            Protocol::WebSocket(options) => {
                Self::WebSocket(Box::new(WebSocketSession::new(Arc::clone(options), seed)))
            }
            #[cfg(any(test, feature = "line-protocol"))]
            Protocol::Lines(slots) => Self::Lines(LineSession::new(*slots)),
        }
    }
}

/// Evaluates an expression with the session, whatever its protocol is.
macro_rules! with_session {
    ($session:expr, $name:ident => $call:expr) => {
        match $session {
            $crate::session::Session::Http1($name) => $call,
            $crate::session::Session::Http2($name) => $call,
            $crate::session::Session::WebSocket($name) => $call,
            #[cfg(any(test, feature = "line-protocol"))]
            $crate::session::Session::Lines($name) => $call,
        }
    };
}
pub(crate) use with_session;
