//! The stamps of one exchange, and the durations between them.

use net::Nanos;

/// The value of a stamp that was not taken.
pub const UNSET: Nanos = Nanos::MAX;

/// The times of an exchange in nanoseconds of the monotonic clock; [`UNSET`] for what did not happen.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Stamps {
    /// When the request was due.
    pub intended: Nanos,
    /// When a worker took it up: began it, or let it wait for a free connection.
    pub taken: Nanos,
    /// The duration of its dial, if there was one.
    pub connect: Nanos,
    /// The duration of the TLS handshake after it, if there was one.
    pub tls: Nanos,
    /// How long it waited because the server allows a connection of HTTP/2 no more streams at once.
    pub stream_wait: Nanos,
    /// How long its body waited for a window of HTTP/2, if it has one.
    pub window_wait: Nanos,
    /// Before the write of its first byte.
    pub sent: Nanos,
    /// After the read with the first byte of the response.
    pub first_byte: Nanos,
    /// After the read with the last byte of the response, or when it failed.
    pub last_byte: Nanos,
}

impl Stamps {
    /// Creates the stamps of an exchange that begins.
    #[must_use]
    pub fn new(intended: Nanos, taken: Nanos) -> Self {
        let unset = UNSET;
        Self {
            intended,
            taken,
            connect: unset,
            tls: unset,
            stream_wait: unset,
            window_wait: unset,
            sent: unset,
            first_byte: unset,
            last_byte: unset,
        }
    }

    /// Returns the service time, `last_byte − sent`.
    #[must_use]
    pub fn service(&self) -> Option<Nanos> {
        between(self.sent, self.last_byte)
    }

    /// Returns the response time, `last_byte − intended`.
    #[must_use]
    pub fn response(&self) -> Option<Nanos> {
        between(self.intended, self.last_byte)
    }

    /// Returns the time to the first byte, `first_byte − sent`.
    #[must_use]
    pub fn ttfb(&self) -> Option<Nanos> {
        between(self.sent, self.first_byte)
    }

    /// Returns the queue wait, `sent − taken`: the wait for a connection, and the dial.
    #[must_use]
    pub fn wait(&self) -> Option<Nanos> {
        between(self.taken, self.sent)
    }

    /// Returns the scheduling lag, `taken − intended`: the lateness of the load generator.
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
