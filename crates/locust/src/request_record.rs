//! The record of one request that Locust has reported.

use client::{Gap, Reason, Stamps, StreamObservation, UNSET};
use net::Nanos;

/// A request that Locust has reported.
#[derive(Debug, Clone, Copy)]
pub struct RequestRecord<'a> {
    /// The time stamps: `intended` is the call of the client, the others are those of the socket.
    pub stamps: Stamps,
    /// The response time that Locust reported, which includes preparing the request.
    pub response_ns: Option<Nanos>,
    /// The time from the last byte until the greenlet was resumed.
    pub lag_ns: Option<Nanos>,
    /// The status, if a head was received.
    pub status: Option<u16>,
    /// The error reason; none if Locust counts a success.
    pub failure: Option<Reason>,
    /// The error text of Locust.
    pub detail: &'a str,
    /// Bytes that were received.
    pub bytes_in: u64,
    /// Bytes that were sent.
    pub bytes_out: u64,
    /// Whether the client closed the stream before its end, which is therefore unknown.
    pub is_abandoned: bool,
    /// The observations of a stream of events, and the gaps between its texts.
    pub stream: Option<(&'a StreamObservation, &'a [Gap])>,
}

impl<'a> RequestRecord<'a> {
    /// Returns the record of an event without an exchange of torr: the locustfile fired it, or its
    /// request failed before it was sent.
    #[must_use]
    pub fn event(
        now: Nanos,
        response_ns: Option<Nanos>,
        failure: Option<&'a str>,
        is_unsent: bool,
    ) -> Self {
        let reason = if is_unsent { Reason::ConnectOther } else { Reason::CheckLocustfile };
        let intended = now.saturating_sub(response_ns.unwrap_or(0));
        Self {
            stamps: Stamps { last_byte: now, ..Stamps::new(intended, UNSET) },
            response_ns,
            lag_ns: None,
            status: None,
            failure: failure.map(|_| reason),
            detail: failure.unwrap_or_default(),
            bytes_in: 0,
            bytes_out: 0,
            is_abandoned: false,
            stream: None,
        }
    }
}
