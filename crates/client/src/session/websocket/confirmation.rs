//! Whether the server has read all messages, where these have no answers.

use net::Nanos;
use wire::websocket::ControlPayload;

/// How many pings torr sends, each after the pong before it. The first pong shows that the server has
/// received all messages. Many servers read no more before they have processed most of what they received:
/// then the second pong shows that they have.
const PINGS: u8 = 2;

/// A server that answers each message may have some left after the last pong. torr waits until the server has
/// sent nothing for this time, at most [`LONGEST_WAIT_NS`] after the last pong. It is longer than most servers
/// take for a message.
const QUIET_NS: Nanos = 100_000_000;

/// The longest wait for quiet: some servers send news all the time.
const LONGEST_WAIT_NS: Nanos = 1_000_000_000;

/// Whether the server has read all messages.
#[derive(Debug, Default)]
pub(super) struct ReadConfirmation {
    progress: ConfirmationProgress,
    /// How often the server was asked in vain, because another message followed.
    round: u8,
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

    /// Returns whether the last pong has come.
    pub(super) fn is_answered(&self) -> bool {
        matches!(self.progress, ConfirmationProgress::Answered(_))
    }

    /// Returns whether the server has read all messages, and has had the time to process them.
    pub(super) fn is_given(&self, now: Nanos) -> bool {
        let ConfirmationProgress::Answered(at) = self.progress else { return false };
        let quiet_at = at.max(self.latest_message) + QUIET_NS;
        now >= quiet_at.min(at + LONGEST_WAIT_NS)
    }

    /// Takes note that another message follows.
    #[inline]
    pub(super) fn forget(&mut self) {
        if self.is_asked() {
            self.progress = ConfirmationProgress::Unasked;
            self.round = self.round.wrapping_add(1);
        }
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
        let ConfirmationProgress::Asked(left) = self.progress else { return None };
        // Servers may send pongs without a ping (RFC 6455, 5.5.3), and answer an earlier one late.
        if payload.as_bytes() != [self.round, left] {
            return None;
        }
        if left > 1 {
            return self.ping(left - 1);
        }
        self.progress = ConfirmationProgress::Answered(at);
        None
    }

    /// Takes note of a message of the server, which may answer one of torr's.
    pub(super) fn note_message(&mut self, at: Nanos) {
        self.latest_message = at;
    }

    fn ping(&mut self, left: u8) -> Option<ControlPayload> {
        self.progress = ConfirmationProgress::Asked(left);
        ControlPayload::new(&[self.round, left])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: Nanos = 1_000_000;

    fn pong(confirmation: &mut ReadConfirmation, payload: &[u8], at: Nanos) -> Option<Vec<u8>> {
        let ping = confirmation.take_pong(&ControlPayload::new(payload).unwrap(), at);
        ping.map(|payload| payload.as_bytes().to_vec())
    }

    #[test]
    fn the_server_has_read_all_after_two_pongs_and_some_quiet() {
        let mut confirmation = ReadConfirmation::default();
        assert!(!confirmation.is_asked() && !confirmation.is_given(Nanos::MAX));
        assert_eq!(pong(&mut confirmation, &[0, 2], 0), None);
        assert!(!confirmation.is_asked());
        assert_eq!(confirmation.ask().unwrap().as_bytes(), [0, 2]);
        for other in [&[][..], &[0, 1], &[1, 2], &[0, 2, 2], b"heartbeat"] {
            assert_eq!(pong(&mut confirmation, other, 0), None);
        }
        assert_eq!(pong(&mut confirmation, &[0, 2], 10 * MS), Some(vec![0, 1]));
        assert!(confirmation.is_asked() && !confirmation.is_given(Nanos::MAX));
        assert_eq!(pong(&mut confirmation, &[0, 1], 20 * MS), None);
        assert!(confirmation.is_answered());
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

    #[test]
    fn a_message_that_follows_is_to_be_confirmed_too() {
        let mut confirmation = ReadConfirmation::default();
        confirmation.ask();
        confirmation.forget();
        assert!(!confirmation.is_asked());
        assert_eq!(confirmation.ask().unwrap().as_bytes(), [1, 2]);
        // A late pong of the first round.
        assert_eq!(pong(&mut confirmation, &[0, 2], 10 * MS), None);
        assert_eq!(pong(&mut confirmation, &[1, 2], 10 * MS), Some(vec![1, 1]));
        pong(&mut confirmation, &[1, 1], 10 * MS);
        assert!(confirmation.is_answered());
        confirmation.forget();
        assert!(!confirmation.is_answered() && !confirmation.is_given(Nanos::MAX));
    }
}
