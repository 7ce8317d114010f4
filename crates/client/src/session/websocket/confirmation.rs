//! Whether the server has read all messages, where these have no answers.

use net::Nanos;
use wire::websocket::ControlPayload;

/// Pings that ask. The answer to the first says that the server has received all messages; it may read no
/// more before it has processed most of what it has received. The second shows that.
const PINGS: u8 = 2;

/// A server that answers each message nevertheless does so after the last pong, too: until nothing has come
/// for this time, or for the other one at most.
const QUIET_NS: Nanos = 100_000_000;
const LONGEST_UNQUIET_NS: Nanos = 1_000_000_000;

/// Whether the server has read all messages.
#[derive(Debug, Default)]
pub(super) struct ReadConfirmation {
    progress: ConfirmationProgress,
    /// When the latest message of the server came; 0 if there was none.
    latest_message: Nanos,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
enum ConfirmationProgress {
    #[default]
    Unasked,
    /// A ping was sent; so many have no answer, with this one.
    Asked(u8),
    /// The last pong came, at this time.
    Answered(Nanos),
}

impl ReadConfirmation {
    /// Returns whether the server was asked.
    pub(super) fn is_asked(&self) -> bool {
        self.progress != ConfirmationProgress::Unasked
    }

    /// Returns whether the server has read all messages, and has had the time to process them.
    pub(super) fn is_given(&self, now: Nanos) -> bool {
        let ConfirmationProgress::Answered(at) = self.progress else { return false };
        let quiet_at = at.max(self.latest_message) + QUIET_NS;
        now >= quiet_at.min(at + LONGEST_UNQUIET_NS)
    }

    /// Asks the server: returns the payload of a ping.
    pub(super) fn ask(&mut self) -> Option<ControlPayload> {
        self.ping(PINGS)
    }

    /// Takes note of a pong; returns the payload of the next ping, if there is one.
    pub(super) fn take_pong(
        &mut self,
        payload: &ControlPayload,
        at: Nanos,
    ) -> Option<ControlPayload> {
        match self.progress {
            ConfirmationProgress::Asked(1) if payload.as_bytes() == [1] => {
                self.progress = ConfirmationProgress::Answered(at);
                None
            }
            ConfirmationProgress::Asked(left) if payload.as_bytes() == [left] => {
                self.ping(left - 1)
            }
            // Servers may send pongs without a ping (RFC 6455, 5.5.3).
            _ => None,
        }
    }

    /// Takes note of a message of the server, which may answer one of torr's.
    pub(super) fn note_message(&mut self, at: Nanos) {
        self.latest_message = at;
    }

    fn ping(&mut self, left: u8) -> Option<ControlPayload> {
        self.progress = ConfirmationProgress::Asked(left);
        ControlPayload::new(&[left])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: Nanos = 1_000_000;

    fn pong(confirmation: &mut ReadConfirmation, payload: &[u8], at: Nanos) -> Option<u8> {
        let ping = confirmation.take_pong(&ControlPayload::new(payload).unwrap(), at);
        ping.map(|payload| payload.as_bytes()[0])
    }

    #[test]
    fn the_server_has_read_all_after_two_pongs_and_some_quiet() {
        let mut confirmation = ReadConfirmation::default();
        assert!(!confirmation.is_asked() && !confirmation.is_given(Nanos::MAX));
        assert_eq!(pong(&mut confirmation, &[2], 0), None);
        assert!(!confirmation.is_asked());
        assert_eq!(confirmation.ask().unwrap().as_bytes(), [2]);
        for other in [&[][..], &[1], &[2, 2], b"heartbeat"] {
            assert_eq!(pong(&mut confirmation, other, 0), None);
        }
        assert_eq!(pong(&mut confirmation, &[2], 10 * MS), Some(1));
        assert!(confirmation.is_asked() && !confirmation.is_given(Nanos::MAX));
        assert_eq!(pong(&mut confirmation, &[1], 20 * MS), None);
        let is_given = |confirmation: &ReadConfirmation, ms: Nanos| {
            (confirmation.is_given(ms * MS - 1), confirmation.is_given(ms * MS))
        };
        assert_eq!(is_given(&confirmation, 120), (false, true));
        confirmation.note_message(90 * MS);
        assert_eq!(is_given(&confirmation, 190), (false, true));
        // A server that sends messages all the time is not waited for.
        confirmation.note_message(980 * MS);
        assert_eq!(is_given(&confirmation, 1020), (false, true));
    }
}
