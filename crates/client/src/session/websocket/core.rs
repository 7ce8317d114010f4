//! The state of a connection without the reader of frames: which slots wait for what.

use std::collections::VecDeque;
use std::sync::Arc;

use net::Nanos;
use wire::websocket::{
    CloseCode, CloseFrame, ControlPayload, MessagePiece, MessageRequest, WebSocketError,
    WebSocketEvent, message_id,
};
use wire::{Framing, Head, ResponseSink as _};

use super::confirmation::ReadConfirmation;
use super::opening::{HandshakeRefusal, OpeningHandshake};
use super::options::{MessageMatching, WebSocketOptions};
use super::outgoing::{FrameOwner, KeyGenerator, OutgoingFrames};
use crate::budget::Budget;
use crate::session::{Ended, Slots};
use crate::{Exchange, MessageCounts, Outcome, Outline, Reason, UNSET};

/// The status of exchanges on a connection whose handshake was accepted.
const SWITCHED: u16 = 101;

/// The frame with which torr ends a connection.
const NORMAL_END: CloseFrame<'static> = CloseFrame { code: Some(CloseCode::NORMAL), reason: "" };

/// The head of the response to the handshake, as the exchanges that follow have it.
const SWITCHED_HEAD: Head =
    Head { status: SWITCHED, framing: Framing::None, keepalive: true, is_event_stream: false };

/// The state of a connection, without the reader of frames.
#[derive(Debug)]
pub(super) struct MessageCore {
    options: Arc<WebSocketOptions>,
    progress: ConnectionProgress,
    pub(super) out: OutgoingFrames,
    slots: Vec<MessageSlot>,
    /// The slots that are not free.
    active: u16,
    /// Slots whose exchanges wait for the end of the handshake.
    waiting: VecDeque<u16>,
    /// Slots whose messages were sent, the oldest first; none for a message whose exchange was cancelled.
    unanswered: VecDeque<Option<u16>>,
    /// Slots whose messages are complete, because they were written.
    written: Vec<u16>,
    receiving: Receiving,
    /// The beginning of a message whose exchange is known at its end, how many bytes it has with its
    /// frames, and when the first were received.
    collected: Vec<u8>,
    collected_bytes: usize,
    collected_from: Nanos,
    /// The latest ping without an answer; the answer to the latest is one to all (RFC 6455, 5.5.3).
    ping: Option<ControlPayload>,
    /// Whether an answer to an earlier ping waits to be sent.
    has_unsent_pong: bool,
    /// When the handshake was complete.
    pub(super) opened_at: Nanos,
    /// Whether a message was sent.
    has_messages: bool,
    confirmation: ReadConfirmation,
    /// Since when the server is to end the connection.
    closing_since: Nanos,
    /// Whether the server has ended it since.
    is_closed: bool,
    pub(super) is_ended_by_server: bool,
    /// What a refused handshake returned, if no exchange waited for it, and how it ended.
    pub(super) refusal: Option<Box<(Exchange, Outcome)>>,
}

/// How far a connection has come.
#[derive(Debug)]
enum ConnectionProgress {
    Opening(Box<OpeningHandshake>),
    Open,
    /// The server is to end the connection: torr has sent a Close frame, or does so after the last pong.
    Closing,
    /// Nothing is received any more.
    Over,
}

/// The message of a slot.
#[derive(Debug, Default)]
struct MessageSlot {
    phase: MessagePhase,
    /// Its ID, if answers have one.
    id: Vec<u8>,
}

/// How far a message has come.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
enum MessagePhase {
    /// There is no message.
    #[default]
    Free,
    /// It waits for the end of the handshake.
    Waiting,
    /// It is being written.
    Writing,
    /// It was written.
    Written,
    /// Its answer is being received.
    Answer,
}

/// Whose the message is that is being received.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Receiving {
    Nobody,
    Slot(u16),
    /// It is collected until its ID is known.
    Collected,
}

/// What received bytes may use and change.
pub(super) struct MessageTurn<'a, S> {
    pub(super) at: Nanos,
    pub(super) is_late: bool,
    pub(super) budget: &'a mut Budget,
    pub(super) ended: &'a mut Vec<Ended>,
    pub(super) messages: &'a mut MessageCounts,
    pub(super) slots: &'a mut S,
}

impl MessageCore {
    pub(super) fn new(options: Arc<WebSocketOptions>, seed: u64) -> Self {
        let mut keys = KeyGenerator::new(seed);
        let opening = OpeningHandshake::new(keys.next_16());
        let mut out = OutgoingFrames::new(keys);
        out.add(&opening.request(&options.handshake));
        Self {
            slots: (0..options.slots).map(|_| MessageSlot::default()).collect(),
            options,
            progress: ConnectionProgress::Opening(Box::new(opening)),
            out,
            active: 0,
            waiting: VecDeque::new(),
            unanswered: VecDeque::new(),
            written: Vec::new(),
            receiving: Receiving::Nobody,
            collected: Vec::new(),
            collected_bytes: 0,
            collected_from: UNSET,
            ping: None,
            has_unsent_pong: false,
            opened_at: UNSET,
            has_messages: false,
            confirmation: ReadConfirmation::default(),
            closing_since: UNSET,
            is_closed: false,
            is_ended_by_server: false,
            refusal: None,
        }
    }

    pub(super) fn is_opening(&self) -> bool {
        matches!(self.progress, ConnectionProgress::Opening(_))
    }

    pub(super) fn is_open(&self) -> bool {
        matches!(self.progress, ConnectionProgress::Open)
    }

    pub(super) fn is_closing(&self) -> bool {
        matches!(self.progress, ConnectionProgress::Closing)
    }

    pub(super) fn is_over(&self) -> bool {
        matches!(self.progress, ConnectionProgress::Over)
    }

    pub(super) fn is_active(&self) -> bool {
        self.active > 0
    }

    pub(super) fn has_outgoing(&self) -> bool {
        !self.out.bytes().is_empty() || self.ping.is_some()
    }

    /// Begins the exchange of a slot.
    pub(super) fn begin(&mut self, slot: u16, exchange: &mut Exchange, request: &[u8]) {
        self.active += 1;
        if self.is_open() {
            return self.write(slot, exchange, request);
        }
        self.slot(slot).phase = MessagePhase::Waiting;
        self.waiting.push_back(slot);
        exchange.is_taken_when_sent = false;
    }

    /// Writes the message of a slot into the buffer.
    fn write(&mut self, slot: u16, exchange: &mut Exchange, request: &[u8]) {
        self.confirmation.forget();
        let message = MessageRequest::read(request);
        exchange.set_to_write(self.out.add_message(slot, message));
        let state = &mut self.slots[usize::from(slot)];
        state.phase = MessagePhase::Writing;
        if let MessageMatching::Id(key) = &self.options.matching {
            state.id.clear();
            state.id.extend_from_slice(message_id(message.payload, key).unwrap_or_default());
        }
    }

    /// Answers the latest ping, once the answer before it was sent: the buffer does not grow with the
    /// pings of a server that reads nothing.
    pub(super) fn answer_ping(&mut self) {
        if !self.has_unsent_pong
            && let Some(payload) = self.ping.take()
        {
            self.has_unsent_pong = true;
            self.out.add_pong(&payload);
        }
    }

    /// Takes note that the first bytes of the buffer were sent.
    pub(super) fn sent(&mut self, count: usize, at: Nanos, slots: &mut impl Slots) {
        let Self {
            out,
            slots: states,
            options,
            unanswered,
            written,
            has_unsent_pong,
            has_messages,
            ..
        } = self;
        out.sent(count, |owner, count, is_last| match owner {
            FrameOwner::Connection => {}
            FrameOwner::Pong => *has_unsent_pong &= !is_last,
            FrameOwner::Slot(slot) => {
                *has_messages = true;
                slots.slot(slot).0.note_sent(count, at);
                if is_last {
                    states[usize::from(slot)].phase = MessagePhase::Written;
                    match options.matching {
                        MessageMatching::None => written.push(slot),
                        _ => unanswered.push_back(Some(slot)),
                    }
                }
            }
            FrameOwner::Nobody if is_last && options.matching == MessageMatching::Order => {
                unanswered.push_back(None);
            }
            FrameOwner::Nobody => {}
        });
    }

    pub(super) fn has_written(&self) -> bool {
        !self.written.is_empty()
    }

    /// Ends the exchanges that are complete because their messages were written, at `now`.
    pub(super) fn end_written(
        &mut self,
        now: Nanos,
        slots: &mut impl Slots,
        ended: &mut Vec<Ended>,
    ) {
        while let Some(slot) = self.written.pop() {
            self.free(slot);
            let (exchange, _) = slots.slot(slot);
            exchange.note_received(0, now);
            ended.push(Ended { slot, outcome: exchange.complete(SWITCHED, true) });
        }
    }

    /// Takes bytes of the response to the handshake; what follows it remains in `rest`.
    pub(super) fn shake_hands(&mut self, rest: &mut &[u8], turn: &mut MessageTurn<'_, impl Slots>) {
        let ConnectionProgress::Opening(opening) = &mut self.progress else { return };
        let received = *rest;
        let head = match opening.take(rest, &self.options.handshake) {
            Ok(None) => return,
            Ok(Some(head)) => Arc::new(head),
            Err(refusal) => return self.refuse(refusal, received, rest, turn),
        };
        self.progress = ConnectionProgress::Open;
        self.opened_at = turn.at;
        while let Some(slot) = self.waiting.pop_front() {
            let (exchange, request) = turn.slots.slot(slot);
            if exchange.keeps_head {
                exchange.response_head = Some(Arc::clone(&head));
            }
            self.write(slot, exchange, request);
        }
    }

    /// Ends the connection, because its handshake failed.
    fn refuse(
        &mut self,
        HandshakeRefusal { reason, head }: HandshakeRefusal,
        received: &[u8],
        rest: &[u8],
        turn: &mut MessageTurn<'_, impl Slots>,
    ) {
        self.is_ended_by_server = true;
        let (at, head) = (turn.at, head.map(Arc::new));
        let status = head.as_ref().map(|head| head.status);
        let end = |exchange: &mut Exchange| {
            exchange.note_received(received.len(), at);
            if head.is_some() {
                exchange.response_head.clone_from(&head);
                exchange.keep_body_excerpt(rest);
                exchange.sink(at, false).body(rest);
            } else {
                exchange.keep_excerpt(received, None);
            }
            Outcome { status, ..exchange.end(at, reason) }
        };
        if !self.is_active() {
            let mut exchange = Exchange::new(at, at, Outline { is_head: false, length: 0 });
            let outcome = end(&mut exchange);
            self.refusal = Some(Box::new((exchange, outcome)));
        }
        self.end_all(turn.slots, turn.ended, end);
    }

    /// Takes what the reader has found in so many bytes.
    pub(super) fn take(
        &mut self,
        event: WebSocketEvent<'_>,
        count: usize,
        turn: &mut MessageTurn<'_, impl Slots>,
    ) {
        match event {
            WebSocketEvent::Message(piece) => self.take_piece(&piece, count, turn),
            WebSocketEvent::Ping(payload) => {
                turn.messages.pings += 1;
                // Nothing follows a Close frame.
                self.ping = (!self.has_announced_end()).then_some(*payload);
            }
            WebSocketEvent::Pong(payload) => self.take_pong(payload, turn.at),
            WebSocketEvent::Close(_) if self.is_closing() => self.end_closing(),
            WebSocketEvent::Close(frame) => self.closed(frame, turn),
        }
    }

    fn take_piece(
        &mut self,
        piece: &MessagePiece<'_>,
        count: usize,
        turn: &mut MessageTurn<'_, impl Slots>,
    ) {
        if piece.is_first {
            self.receiving = self.receiver_of(piece);
        }
        match self.receiving {
            Receiving::Nobody => {
                turn.messages.unmatched += u64::from(piece.is_last);
                self.confirmation.note_message(turn.at);
            }
            Receiving::Slot(slot) => self.deliver(slot, piece, count, turn),
            Receiving::Collected => self.collect(piece, count, turn),
        }
    }

    /// Keeps a piece of a message until its ID is known.
    fn collect(
        &mut self,
        piece: &MessagePiece<'_>,
        count: usize,
        turn: &mut MessageTurn<'_, impl Slots>,
    ) {
        if piece.is_first {
            (self.collected_bytes, self.collected_from) = (0, turn.at);
        }
        self.collected.extend_from_slice(piece.payload);
        self.collected_bytes += count;
        if !piece.is_last {
            return;
        }
        let mut payload = std::mem::take(&mut self.collected);
        let whole = MessagePiece { payload: &payload, is_first: true, ..*piece };
        if let Receiving::Slot(slot) = self.receiver_of(&whole) {
            turn.slots.slot(slot).0.note_received(0, self.collected_from);
            self.deliver(slot, &whole, self.collected_bytes, turn);
        } else {
            turn.messages.unmatched += 1;
        }
        payload.clear();
        self.collected = payload;
    }

    /// Returns whose the message is that begins with a piece.
    fn receiver_of(&mut self, piece: &MessagePiece<'_>) -> Receiving {
        let place = match &self.options.matching {
            MessageMatching::None => None,
            MessageMatching::Order => Some(0),
            MessageMatching::Id(_) if !piece.is_last => return Receiving::Collected,
            MessageMatching::Id(key) => message_id(piece.payload, key).and_then(|id| {
                let is_id = |slot: &u16| self.slots[usize::from(*slot)].id == id;
                self.unanswered.iter().position(|slot| slot.as_ref().is_some_and(is_id))
            }),
        };
        match place.and_then(|place| self.unanswered.remove(place)).flatten() {
            Some(slot) => {
                self.slot(slot).phase = MessagePhase::Answer;
                Receiving::Slot(slot)
            }
            None => Receiving::Nobody,
        }
    }

    /// Passes a piece of an answer to its exchange.
    fn deliver(
        &mut self,
        slot: u16,
        piece: &MessagePiece<'_>,
        count: usize,
        turn: &mut MessageTurn<'_, impl Slots>,
    ) {
        let (exchange, _) = turn.slots.slot(slot);
        exchange.note_received(count, turn.at);
        if piece.is_first {
            exchange.set_head(Some(SWITCHED_HEAD));
        }
        let is_looked_at = exchange.is_looked_at();
        if is_looked_at {
            exchange.sink(turn.at, turn.is_late).body(piece.payload);
        }
        // A complete answer fails only if it is checked.
        if is_looked_at || !piece.is_last {
            exchange.keep_body_excerpt(piece.payload);
        }
        let outcome = if !exchange.draw(turn.budget) {
            exchange.end(turn.at, Reason::ReadNoMemory)
        } else if piece.is_last {
            exchange.complete(SWITCHED, true)
        } else {
            return;
        };
        self.receiving = Receiving::Nobody;
        self.free(slot);
        turn.ended.push(Ended { slot, outcome });
    }

    /// Takes a Close frame: it is answered, and the connection ends.
    fn closed(&mut self, frame: CloseFrame<'_>, turn: &mut MessageTurn<'_, impl Slots>) {
        self.is_ended_by_server = true;
        let (at, reason) = (turn.at, Reason::of_websocket_close(frame.code));
        self.close(CloseFrame { code: frame.code, reason: "" });
        self.end_all(turn.slots, turn.ended, |exchange| {
            let reason = if exchange.is_written() { reason } else { Reason::WriteClosed };
            exchange.end(at, reason)
        });
    }

    /// Ends the connection, because the server broke the protocol.
    pub(super) fn fail(&mut self, error: WebSocketError, turn: &mut MessageTurn<'_, impl Slots>) {
        let (at, reason) = (turn.at, Reason::from(error));
        self.close(CloseFrame { code: Some(error.close_code()), reason: "" });
        self.end_all(turn.slots, turn.ended, |exchange| exchange.end(at, reason));
    }

    /// Ends the connection with a Close frame, if it is open.
    pub(super) fn leave(&mut self) {
        if (self.is_open() || self.is_closing()) && !self.has_announced_end() {
            self.close(NORMAL_END);
        }
        if !self.is_opening() {
            self.progress = ConnectionProgress::Over;
        }
    }

    /// Asks the server to confirm that it has read all messages, if these have no answers that show it.
    /// Returns whether it has, and has had the time to process them; true if there is nothing to confirm.
    pub(super) fn request_confirmation(&mut self, now: Nanos) -> bool {
        if !self.needs_confirmation() || !self.is_open() {
            return true;
        }
        if !self.is_active() {
            self.ask();
        }
        self.confirmation.is_given(now)
    }

    /// Returns whether messages were sent that have no answers.
    fn needs_confirmation(&self) -> bool {
        self.has_messages && self.options.matching == MessageMatching::None
    }

    /// Sends the first ping, unless it was sent.
    fn ask(&mut self) {
        if !self.confirmation.is_asked()
            && let Some(payload) = self.confirmation.ask()
        {
            self.out.add_ping(&payload);
        }
    }

    fn take_pong(&mut self, payload: &ControlPayload, at: Nanos) {
        if let Some(payload) = self.confirmation.take_pong(payload, at) {
            self.out.add_ping(&payload);
        } else if self.is_closing() && self.confirmation.is_answered() {
            self.close(NORMAL_END);
        }
    }

    /// Leaves the end of the connection to the server, if messages have no answers: torr sends a Close frame
    /// once the server has confirmed that it has read them. Returns whether the server is to end it.
    pub(super) fn begin_close(&mut self, now: Nanos) -> bool {
        if self.needs_confirmation() && self.is_open() && !self.is_active() {
            self.progress = ConnectionProgress::Closing;
            self.closing_since = now;
            if self.confirmation.is_answered() {
                self.close(NORMAL_END);
            } else {
                self.ask();
            }
        }
        self.is_closing()
    }

    /// Returns whether a Close frame was added, and the server is to end the connection.
    fn has_announced_end(&self) -> bool {
        self.is_closing() && self.confirmation.is_answered()
    }

    /// Takes note that the server ends the connection, if it was to do so.
    pub(super) fn end_closing(&mut self) {
        if self.is_closing() {
            self.progress = ConnectionProgress::Over;
            self.is_closed = true;
        }
    }

    /// Takes note that the server has not ended it: it broke.
    pub(super) fn break_closing(&mut self) {
        self.is_closed = false;
        if self.is_closing() {
            self.progress = ConnectionProgress::Over;
        }
    }

    /// Returns whether the server has not confirmed that it has read all messages, which have no answers.
    pub(super) fn is_unconfirmed(&self) -> bool {
        self.needs_confirmation() && !self.confirmation.is_answered() && !self.is_closed
    }

    /// Returns for how long messages could be sent, if they could at all; `now` is the end.
    pub(super) fn lifetime(&self, now: Nanos) -> Option<Nanos> {
        let end = if self.closing_since == UNSET { now } else { self.closing_since };
        (self.opened_at != UNSET).then(|| end.saturating_sub(self.opened_at))
    }

    fn close(&mut self, frame: CloseFrame<'_>) {
        self.ping = None;
        if let Some(payload) = frame.payload() {
            self.out.add_close(&payload);
        }
    }

    /// Ends all exchanges, because the connection was closed or broke.
    pub(super) fn lost(
        &mut self,
        slots: &mut impl Slots,
        ended: &mut Vec<Ended>,
        end: impl Fn(&mut Exchange) -> Outcome,
    ) {
        if !self.is_over() {
            self.is_ended_by_server = true;
        }
        let handshake = match &self.progress {
            ConnectionProgress::Opening(opening) => Some(opening.has_begun()),
            _ => None,
        };
        self.end_all(slots, ended, |exchange| {
            let mut outcome = end(exchange);
            if let (Some(has_begun), Some(reason)) = (handshake, &mut outcome.failure) {
                *reason = in_handshake(*reason, has_begun);
            }
            outcome
        });
    }

    /// Ends all exchanges, and the connection.
    fn end_all(
        &mut self,
        slots: &mut impl Slots,
        ended: &mut Vec<Ended>,
        end: impl Fn(&mut Exchange) -> Outcome,
    ) {
        self.progress = ConnectionProgress::Over;
        for (slot, state) in (0..).zip(&mut self.slots) {
            if std::mem::take(&mut state.phase) != MessagePhase::Free {
                // What was not sent may be sent with the last frame.
                self.out.disown(slot);
                ended.push(Ended { slot, outcome: end(slots.slot(slot).0) });
            }
        }
        self.active = 0;
        self.written.clear();
    }

    /// Cancels the exchange of a slot; returns whether the connection can carry others afterwards.
    pub(super) fn cancel(&mut self, slot: u16) -> bool {
        match self.slot(slot).phase {
            MessagePhase::Free => return !self.is_over(),
            MessagePhase::Waiting => self.waiting.retain(|waiting| *waiting != slot),
            MessagePhase::Writing => self.out.withdraw(slot),
            MessagePhase::Written => {
                let place = self.unanswered.iter().position(|of| *of == Some(slot));
                match place {
                    Some(place) if self.options.matching == MessageMatching::Order => {
                        self.unanswered[place] = None;
                    }
                    Some(place) => _ = self.unanswered.remove(place),
                    None => self.written.retain(|written| *written != slot),
                }
            }
            MessagePhase::Answer => self.receiving = Receiving::Nobody,
        }
        self.free(slot);
        // A late answer would be taken for the next one, unless it has an ID.
        self.is_open() && self.options.matching != MessageMatching::Order
    }

    fn free(&mut self, slot: u16) {
        self.slot(slot).phase = MessagePhase::Free;
        self.active -= 1;
    }

    fn slot(&mut self, slot: u16) -> &mut MessageSlot {
        &mut self.slots[usize::from(slot)]
    }
}

/// Returns the reason of an exchange whose connection ended in the handshake: its own message could not be
/// sent.
fn in_handshake(reason: Reason, has_begun: bool) -> Reason {
    match (reason, has_begun) {
        (Reason::WriteReset, true) => Reason::ReadResetInHead,
        (Reason::WriteReset, false) => Reason::ReadReset,
        (Reason::WriteClosed, true) => Reason::ReadClosedInHead,
        (Reason::WriteClosed, false) => Reason::ReadClosed,
        (Reason::TimeoutQueue, _) => Reason::TimeoutWebSocketHandshake,
        _ => reason,
    }
}
