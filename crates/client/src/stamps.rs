//! The stamps of one exchange, and the durations between them.

use net::Nanos;

/// A stamp that was never taken.
pub const UNSET: Nanos = Nanos::MAX;

/// When things happened, in nanoseconds on the monotonic clock; [`UNSET`] if they did not.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Stamps {
    /// When the pace said that the request should start.
    pub intended: Nanos,
    /// When a worker picked it up: began it, or let it wait for a free connection.
    pub taken: Nanos,
    /// How long its dial took, if it dialled.
    pub connect: Nanos,
    /// How long the TLS handshake after it took, if there was one.
    pub tls: Nanos,
    /// Just before the write of its first byte.
    pub sent: Nanos,
    /// At the return of the read that brought the first byte of the answer.
    pub first_byte: Nanos,
    /// At the return of the read that brought the last byte of the answer, or when it failed.
    pub last_byte: Nanos,
}

impl Stamps {
    /// An exchange that has only begun.
    #[must_use]
    pub fn new(intended: Nanos, taken: Nanos) -> Self {
        let unset = UNSET;
        let (connect, tls) = (unset, unset);
        Self { intended, taken, connect, tls, sent: unset, first_byte: unset, last_byte: unset }
    }

    /// `last_byte − sent`: what wrk shows.
    #[must_use]
    pub fn service(&self) -> Option<Nanos> {
        between(self.sent, self.last_byte)
    }

    /// `last_byte − intended`: what a user feels.
    #[must_use]
    pub fn response(&self) -> Option<Nanos> {
        between(self.intended, self.last_byte)
    }

    /// `first_byte − sent`.
    #[must_use]
    pub fn ttfb(&self) -> Option<Nanos> {
        between(self.sent, self.first_byte)
    }

    /// `sent − taken`: the queue for a connection and the dial; not the generator's fault.
    #[must_use]
    pub fn wait(&self) -> Option<Nanos> {
        between(self.taken, self.sent)
    }

    /// `taken − intended`: the generator's own lateness.
    #[must_use]
    pub fn lag(&self) -> Nanos {
        self.taken.saturating_sub(self.intended)
    }
}

fn between(from: Nanos, to: Nanos) -> Option<Nanos> {
    (from != UNSET && to != UNSET).then(|| to.saturating_sub(from))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_are_those_of_the_definition() {
        let stamps = Stamps { sent: 130, first_byte: 150, last_byte: 190, ..Stamps::new(100, 110) };
        assert_eq!(stamps.service(), Some(60));
        assert_eq!(stamps.response(), Some(90));
        assert_eq!(stamps.ttfb(), Some(20));
        assert_eq!(stamps.wait(), Some(20));
        assert_eq!(stamps.lag(), 10);
    }

    #[test]
    fn what_was_never_sent_has_a_response_time_but_no_service_time() {
        let stamps = Stamps { last_byte: 190, ..Stamps::new(100, 110) };
        assert_eq!((stamps.service(), stamps.response()), (None, Some(90)));
    }
}
