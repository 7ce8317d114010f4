//! One request that has ended, as a Locust process tells of it.

use client::{Gap, Reason, Seen, Stamps, UNSET};
use net::Nanos;

/// A request that Locust was told of.
#[derive(Debug, Clone, Copy)]
pub struct Booking<'a> {
    /// When things happened: intended when the caller asked, the others as the sockets showed.
    pub stamps: Stamps,
    /// Locust's own response time, if it gave one: from before preparation until the caller ran on.
    pub response_ns: Option<Nanos>,
    /// How long the caller was ready before it ran on.
    pub lag_ns: Option<Nanos>,
    /// The status, if a head came.
    pub status: Option<u16>,
    /// Why it failed; none for what Locust counts as a success.
    pub failure: Option<Reason>,
    /// The failure in Locust's words.
    pub detail: &'a str,
    /// Bytes of the answer.
    pub bytes_in: u64,
    /// Bytes of the request.
    pub bytes_out: u64,
    /// Whether the client hung up before its end, so that nothing is known of that.
    pub is_left: bool,
    /// What its body showed and the gaps between its texts, where it was a stream of events.
    pub stream: Option<(&'a Seen, &'a [Gap])>,
}

impl<'a> Booking<'a> {
    /// What a locustfile fired by itself: no exchange is behind it.
    #[must_use]
    pub fn event(now: Nanos, response_ns: Option<Nanos>, failure: Option<&'a str>) -> Self {
        let intended = now.saturating_sub(response_ns.unwrap_or(0));
        Self {
            stamps: Stamps { last_byte: now, ..Stamps::new(intended, UNSET) },
            response_ns,
            lag_ns: None,
            status: None,
            failure: failure.map(|_| Reason::CheckLocustfile),
            detail: failure.unwrap_or_default(),
            bytes_in: 0,
            bytes_out: 0,
            is_left: false,
            stream: None,
        }
    }
}
