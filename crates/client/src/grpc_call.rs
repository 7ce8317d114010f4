//! A gRPC call: when its messages may be sent, and what was received of those that answer them.

use std::collections::VecDeque;

use net::Nanos;
use wire::grpc::{GrpcMessages, GrpcStatus, first_message};

use crate::{Reason, UNSET};

/// When the messages of a call are sent, after the first.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum MessageSending {
    /// All at once.
    #[default]
    Together,
    /// Each when a message of the response was received.
    Alternate,
    /// Each so long after the one before it.
    Paced(Nanos),
}

/// The messages of one call at a time; buffers are kept for the next.
#[derive(Debug, Default)]
pub struct GrpcCall {
    sending: MessageSending,
    /// Whether messages of the response answer those of the request, one by one.
    is_paired: bool,
    /// Bytes at the end of the request that may not be sent yet.
    held: usize,
    /// The number of messages that may be sent, if they are not sent together.
    released: u64,
    received: GrpcMessages,
    has_bad_prefix: bool,
    /// How many bytes of the body are left from the beginning of each message on that may be sent, and is
    /// not in the buffer of the connection yet.
    begin_at: VecDeque<usize>,
    /// How many bytes of the request precede each message that is in the buffer and has not begun to be
    /// sent.
    buffered: VecDeque<usize>,
    /// When the messages were sent that no message of the response has answered.
    asked: VecDeque<Nanos>,
    round_trips: Vec<Nanos>,
    /// The longest of the call.
    longest_round_trip: Option<Nanos>,
    /// Messages that were received, if each lets the next one be sent, and have not done so yet.
    answers: u64,
}

impl GrpcCall {
    /// Begins another call; with `is_paired`, messages of the response answer those of the request, one by
    /// one.
    pub fn restart(&mut self, sending: MessageSending, is_paired: bool) {
        (self.sending, self.is_paired) = (sending, is_paired);
        (self.held, self.released) = (0, 0);
        self.received.restart();
        (self.has_bad_prefix, self.answers) = (false, 0);
        self.begin_at.clear();
        self.buffered.clear();
        self.asked.clear();
        self.round_trips.clear();
        self.longest_round_trip = None;
    }

    /// Lets only the first message of the request be sent, unless all are sent together.
    pub(crate) fn hold(&mut self, body: &[u8]) {
        if self.sending != MessageSending::Together {
            self.held = body.len();
            self.release(body);
        }
    }

    /// Returns the bytes at the end of the request that may not be sent yet.
    pub(crate) fn held_bytes(&self) -> usize {
        self.held
    }

    /// Lets the next message of the request be sent.
    pub(crate) fn release(&mut self, body: &[u8]) {
        let held = &body[body.len() - self.held..];
        if self.is_paired && !held.is_empty() {
            self.begin_at.push_back(self.held);
        }
        self.held -= first_message(held);
        self.released += 1;
    }

    /// Takes note that `count` bytes of the body are in the buffer of the connection, of which `left` were
    /// left before. Of the request, `length` bytes are known, with the frames of the body so far.
    pub(crate) fn note_buffered(&mut self, left: usize, count: usize, length: usize) {
        while let Some(begin_at) = self.begin_at.front().filter(|at| **at + count > left) {
            self.buffered.push_back(length - begin_at);
            self.begin_at.pop_front();
        }
    }

    /// Returns how many messages may be released because as many were received since the last call.
    pub(crate) fn take_answers(&mut self) -> u64 {
        std::mem::take(&mut self.answers)
    }

    /// Returns when the next message is due, if they are paced; the first was sent at `sent`.
    #[must_use]
    pub fn due_at(&self, sent: Nanos) -> Option<Nanos> {
        let MessageSending::Paced(interval) = self.sending else { return None };
        let is_waiting = self.held > 0 && sent != UNSET;
        is_waiting.then(|| sent.saturating_add(interval.saturating_mul(self.released)))
    }

    /// Takes note of a write that began at `at`, with which `written` bytes of the request are sent.
    pub(crate) fn note_sent(&mut self, written: usize, at: Nanos) {
        while self.buffered.front().is_some_and(|before| *before < written) {
            self.buffered.pop_front();
            self.asked.push_back(at);
        }
    }

    /// Takes a piece of the response, and calls `on_message` for each message that ends in it.
    pub(crate) fn take(&mut self, piece: &[u8], at: Nanos, mut on_message: impl FnMut()) {
        if self.has_bad_prefix {
            return;
        }
        let (asked, round_trips) = (&mut self.asked, &mut self.round_trips);
        let longest = &mut self.longest_round_trip;
        let is_alternate = self.sending == MessageSending::Alternate;
        let answers = &mut self.answers;
        let fed = self.received.feed(piece, || {
            let round_trip = asked.pop_front().map(|sent| at.saturating_sub(sent));
            round_trips.extend(round_trip);
            *longest = round_trip.max(*longest);
            *answers += u64::from(is_alternate);
            on_message();
        });
        self.has_bad_prefix = fed.is_err();
    }

    /// Returns whether anything of the body was received.
    pub(crate) fn has_received(&self) -> bool {
        self.has_bad_prefix || self.received.is_inside_message() || self.received.complete() > 0
    }

    /// Takes the times from messages to those that answered them since the last call.
    pub fn take_round_trips(&mut self) -> std::vec::Drain<'_, Nanos> {
        self.round_trips.drain(..)
    }

    /// Returns the longest time from a message of the call to the one that answered it.
    #[must_use]
    pub fn longest_round_trip(&self) -> Option<Nanos> {
        self.longest_round_trip
    }

    /// Returns why a complete response is no success: its status, or its messages. Without `is_stream`
    /// it has exactly one message.
    #[must_use]
    pub fn fault(&self, status: Option<&[u8]>, is_stream: bool) -> Option<Reason> {
        match GrpcStatus::read(status) {
            GrpcStatus::Error(code) => Some(Reason::of_grpc_status(code)),
            GrpcStatus::Unknown => Some(Reason::GrpcUndefined),
            GrpcStatus::Missing => Some(Reason::GrpcMissing),
            GrpcStatus::Ok if self.has_bad_prefix || self.received.is_inside_message() => {
                Some(Reason::ProtocolGrpcMessage)
            }
            GrpcStatus::Ok => {
                let is_fine = is_stream || self.received.complete() == 1;
                (!is_fine).then_some(Reason::ProtocolGrpcCount)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn message(payload: &[u8]) -> Vec<u8> {
        [&[0], &(payload.len() as u32).to_be_bytes()[..], payload].concat()
    }

    fn begun(sending: MessageSending, body: &[u8]) -> GrpcCall {
        let mut call = GrpcCall::default();
        call.restart(sending, true);
        call.hold(body);
        call
    }

    #[test]
    fn messages_that_alternate_are_released_by_those_that_are_received() {
        let body = [message(b"a"), message(b"bc"), message(b"")].concat();
        let mut call = begun(MessageSending::Alternate, &body);
        assert_eq!(call.held_bytes(), 12);
        // Its head has 50 bytes, each frame of the body 9: what is sent before a message does not begin it.
        call.note_buffered(18, 4, 50 + 9 + 18);
        call.note_sent(59, 90);
        call.note_sent(60, 100);
        call.note_sent(63, 110);
        call.note_buffered(14, 2, 50 + 18 + 18);
        call.note_sent(74, 120);
        assert_eq!(call.take_answers(), 0);
        let mut heard = 0;
        call.take(&message(b"answer")[..7], 140, || heard += 1);
        assert_eq!(call.take_answers(), 0);
        call.take(&message(b"answer")[7..], 150, || heard += 1);
        assert_eq!((call.take_answers(), call.take_answers()), (1, 0));
        call.release(&body);
        assert_eq!((call.held_bytes(), heard), (5, 1));
        call.note_sent(74, 155);
        call.note_buffered(12, 7, 50 + 27 + 18);
        call.note_sent(90, 160);
        // A second one at once answers nothing, but one more may follow.
        call.take(&[message(b"b"), message(b"c")].concat(), 190, || heard += 1);
        assert_eq!(call.take_answers(), 2);
        assert_eq!(call.take_round_trips().collect::<Vec<_>>(), [50, 30]);
        assert_eq!(call.longest_round_trip(), Some(50));
        call.release(&body);
        assert_eq!((call.held_bytes(), heard), (0, 3));
        call.take(&message(b"d"), 200, || heard += 1);
        call.restart(MessageSending::Alternate, true);
        assert_eq!((call.take_answers(), call.longest_round_trip()), (0, None));
    }

    #[test]
    fn messages_that_are_paced_are_due_after_each_other() {
        let body = [message(b"a"), message(b"b"), message(b"c")].concat();
        let mut call = begun(MessageSending::Paced(10), &body);
        assert_eq!(call.due_at(UNSET), None);
        assert_eq!(call.due_at(100), Some(110));
        call.release(&body);
        assert_eq!(call.due_at(100), Some(120));
        call.release(&body);
        assert_eq!((call.due_at(100), call.held_bytes()), (None, 0));
        call.take(&message(b"x"), 1, || {});
        assert_eq!(call.take_answers(), 0);
        let call = begun(MessageSending::Together, &body);
        assert_eq!((call.due_at(100), call.held_bytes()), (None, 0));
    }

    #[test]
    fn a_call_is_a_success_by_its_status_and_its_messages() {
        let one = message(b"one");
        let fault = |body: &[u8], status: Option<&str>, is_stream| {
            let mut call = begun(MessageSending::Together, b"");
            call.take(body, 1, || {});
            call.fault(status.map(str::as_bytes), is_stream)
        };
        let (ok, two) = (Some("0"), one.repeat(2));
        assert_eq!(
            [fault(&one, ok, false), fault(&two, ok, true), fault(b"", ok, true)],
            [None; 3]
        );
        for body in [&b""[..], &two] {
            assert_eq!(fault(body, ok, false), Some(Reason::ProtocolGrpcCount));
        }
        for body in [&one[..6], b"<html>"] {
            assert_eq!(fault(body, ok, true), Some(Reason::ProtocolGrpcMessage));
        }
        for (status, reason) in [
            (Some("5"), Reason::GrpcNotFound),
            (Some("16"), Reason::GrpcUnauthenticated),
            (Some("99"), Reason::GrpcUndefined),
            (None, Reason::GrpcMissing),
        ] {
            assert_eq!(fault(&one, status, false), Some(reason));
        }
    }
}
