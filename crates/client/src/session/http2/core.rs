//! What both directions of a connection share: streams, limits, windows, and the end.

use std::collections::VecDeque;

use net::Nanos;
use wire::http2::{
    ErrorCode, Flags, FrameHead, FrameKind, HeadDecoder, MAX_FRAME_BYTES, PREFACE, RequestHeads,
    Setting,
};

use super::outgoing::Outgoing;
use super::receiving::FieldBlock;
use super::streams::{StreamPhase, Streams};
use crate::budget::Budget;
use crate::session::{Ended, Slots};
use crate::{Class, Exchange, Outcome, Reason, ServerLimits, UNSET};

/// The window that every end of a stream and of a connection begins with, before settings.
const FIRST_WINDOW: u32 = 65_535;

/// The size of a table for header compression, before settings.
const FIRST_TABLE_BYTES: u32 = 4096;

/// The windows that this end allows: bodies are read as they come, so that windows need not slow them.
pub(super) const OWN_WINDOW: u32 = 1 << 30;

/// The most bytes of a head that this end allows.
const MAX_HEADER_LIST: u32 = wire::MAX_HEAD_BYTES as u32;

/// Bytes of unsent answers to frames, and other frames of no exchange, beyond which the connection is ended.
pub(super) const MAX_UNSENT_ANSWERS: usize = 256 * 1024;

/// The state of a connection, without the reader of frames.
#[derive(Debug)]
pub(super) struct Core {
    pub(super) out: Outgoing,
    pub(super) streams: Streams,
    pub(super) response_heads: HeadDecoder,
    pub(super) request_heads: RequestHeads,
    pub(super) peer: PeerLimits,
    /// The streams that the plan allows.
    most: u32,
    /// Bytes of bodies that may be sent on the connection.
    pub(super) send_window: i64,
    /// Bytes of bodies that were received and not allowed again.
    pub(super) consumed: u32,
    /// The slots, and their streams, whose bodies can be sent on.
    pub(super) sending: VecDeque<(u16, u32)>,
    /// A block of fields whose end is to come.
    pub(super) block: Option<FieldBlock>,
    /// Whether the server has begun with settings.
    pub(super) is_greeted: bool,
    /// Whether its first settings were taken: before, one stream may be open.
    pub(super) has_settings: bool,
    /// The error code of GOAWAY.
    goaway: Option<ErrorCode>,
    /// Whether nothing is received or sent any more.
    pub(super) is_over: bool,
    /// The time of the latest event.
    pub(super) latest: Nanos,
    /// Streams that were opened since the latest write.
    pub(super) opened: u64,
    /// Writes that began requests, and these requests, since they were last taken.
    pub(super) begun: Begun,
}

/// Writes that began requests.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Begun {
    pub(super) writes: u64,
    pub(super) requests: u64,
}

/// The limits that the server has set.
#[derive(Debug)]
pub(super) struct PeerLimits {
    pub(super) max_streams: u32,
    pub(super) first_window: i64,
    pub(super) max_frame: usize,
    pub(super) table_bytes: u32,
    pub(super) max_header_list: Option<u32>,
}

/// What received bytes may use and change.
pub(super) struct Turn<'a, S> {
    pub(super) at: Nanos,
    pub(super) is_late: bool,
    pub(super) budget: &'a mut Budget,
    pub(super) ended: &'a mut Vec<Ended>,
    pub(super) slots: &'a mut S,
}

impl Core {
    pub(super) fn new(slots: u16) -> Self {
        let first_window = i64::from(FIRST_WINDOW);
        Self {
            out: greeting(),
            streams: Streams::new(slots),
            response_heads: HeadDecoder::default(),
            request_heads: RequestHeads::default(),
            peer: PeerLimits {
                max_streams: 1,
                first_window,
                max_frame: MAX_FRAME_BYTES,
                table_bytes: FIRST_TABLE_BYTES,
                max_header_list: None,
            },
            most: slots.into(),
            send_window: first_window,
            consumed: 0,
            sending: VecDeque::new(),
            block: None,
            is_greeted: false,
            has_settings: false,
            goaway: None,
            is_over: false,
            latest: 0,
            opened: 0,
            begun: Begun::default(),
        }
    }

    /// Returns whether exchanges may begin.
    pub(super) fn accepts(&self) -> bool {
        !self.is_over && self.goaway.is_none() && self.streams.has_numbers()
    }

    /// Returns the most streams that may be open at once.
    pub(super) fn limit(&self) -> u32 {
        self.most.min(self.peer.max_streams)
    }

    /// Returns the limits of the server, once it has sent its settings.
    pub(super) fn server_limits(&self) -> Option<ServerLimits> {
        let PeerLimits { max_streams, first_window, max_frame, table_bytes, max_header_list } =
            self.peer;
        self.has_settings.then_some(ServerLimits {
            streams: Some(max_streams).filter(|most| *most < u32::MAX),
            // Both are settings of 32 bits.
            window_bytes: first_window as u32,
            frame_bytes: max_frame as u32,
            header_table_bytes: table_bytes,
            header_list_bytes: max_header_list,
        })
    }

    /// Begins an exchange: it waits for a stream, perhaps not for long.
    pub(super) fn begin(&mut self, slot: u16, exchange: &mut Exchange, request: &[u8]) {
        self.latest = self.latest.max(exchange.stamps.taken);
        exchange.set_to_write(request.len());
        let before = self.streams.active_count();
        let waited = &mut exchange.stamps.stream_wait;
        *waited = if *waited == UNSET { 0 } else { *waited };
        let mut since = UNSET;
        if before >= self.limit() as usize {
            exchange.is_taken_when_sent = false;
            // Before its first settings the server has not limited anything.
            since = if self.has_settings { self.latest } else { UNSET };
        }
        self.streams.wait(slot, since);
    }

    /// Ends the exchange of a slot before its response is complete.
    pub(super) fn cancel(&mut self, slot: u16, code: ErrorCode, slots: &mut impl Slots) {
        self.end_wait(slot, slots);
        let state = *self.streams.state(slot);
        match state.phase {
            StreamPhase::Free | StreamPhase::Waiting => self.streams.end(slot),
            StreamPhase::Head | StreamPhase::Body => {
                self.out.add_reset(state.stream, code);
                self.streams.cancel(slot);
            }
        }
    }

    /// Ends the exchange of a slot by an error of its stream alone.
    pub(super) fn stream_error(
        &mut self,
        slot: u16,
        code: ErrorCode,
        reason: Reason,
        turn: &mut Turn<'_, impl Slots>,
    ) {
        self.cancel(slot, code, turn.slots);
        self.fail_slot(slot, reason, turn);
    }

    /// Ends the exchange of a slot, whose stream has ended.
    pub(super) fn fail_slot(&mut self, slot: u16, reason: Reason, turn: &mut Turn<'_, impl Slots>) {
        self.end_slot(slot, reason, turn.slots, turn.ended);
    }

    pub(super) fn end_slot(
        &mut self,
        slot: u16,
        reason: Reason,
        slots: &mut impl Slots,
        ended: &mut Vec<Ended>,
    ) {
        self.end_wait(slot, slots);
        self.streams.end(slot);
        let outcome = slots.slot(slot).0.end(self.latest, reason);
        ended.push(Ended { slot, outcome: Outcome { reusable: true, ..outcome } });
    }

    /// Ends the connection by an error, and all exchanges with it.
    pub(super) fn fail(&mut self, code: ErrorCode, turn: &mut Turn<'_, impl Slots>) {
        let reason = if self.is_greeted { reason_of(code) } else { Reason::ProtocolNotHttp2 };
        let at = turn.at;
        self.end_all(turn.slots, turn.ended, |exchange| exchange.end(at, reason));
        self.add_goaway(code);
    }

    /// Appends the last frame of this end.
    pub(super) fn add_goaway(&mut self, code: ErrorCode) {
        self.is_over = true;
        let payload = [[0; 4], code.0.to_be_bytes()].concat();
        let head = FrameHead { length: 8, kind: FrameKind::GoAway, flags: Flags::NONE, stream: 0 };
        self.out.add_frame(head, &payload);
    }

    /// Ends all exchanges, and the connection.
    pub(super) fn end_all(
        &mut self,
        slots: &mut impl Slots,
        ended: &mut Vec<Ended>,
        end: impl Fn(&mut Exchange) -> Outcome,
    ) {
        self.is_over = true;
        let error = self.goaway.filter(|code| *code != ErrorCode::NO_ERROR);
        for slot in self.streams.active() {
            self.end_wait(slot, slots);
            let (exchange, _) = slots.slot(slot);
            let mut outcome = end(exchange);
            if error.is_some() && outcome.failure.is_some_and(|it| it.class() == Class::Read) {
                outcome.failure = Some(Reason::ReadGoAway);
            }
            self.streams.end(slot);
            ended.push(Ended { slot, outcome });
        }
    }

    /// Takes note of GOAWAY: exchanges on later streams were not processed.
    pub(super) fn go_away(&mut self, last: u32, code: ErrorCode, turn: &mut Turn<'_, impl Slots>) {
        self.goaway = Some(code);
        for slot in self.streams.active() {
            let stream = self.streams.state(slot).stream;
            if stream == 0 || stream > last {
                self.end_wait(slot, turn.slots);
                if stream != 0 {
                    // Frames that the server sends on it all the same are ignored.
                    self.streams.cancel(slot);
                }
                self.fail_slot(slot, Reason::ReadUnprocessed, turn);
            }
        }
    }

    /// Returns whether the server allows no stream for the exchange in a slot.
    pub(super) fn waits_for_stream(&self, slot: u16) -> bool {
        self.streams.waiting().contains(&slot) && self.streams.is_blocked(slot)
    }
}

/// Returns what a client sends first: the preface, its settings, and a larger window of the connection.
fn greeting() -> Outgoing {
    let mut out = Outgoing::default();
    out.add(PREFACE);
    let mut payload = Vec::new();
    for setting in [
        Setting::EnablePush(0),
        Setting::InitialWindowBytes(OWN_WINDOW),
        Setting::MaxHeaderListBytes(MAX_HEADER_LIST),
    ] {
        setting.write(&mut payload);
    }
    let head = FrameHead { length: 0, kind: FrameKind::Settings, flags: Flags::NONE, stream: 0 };
    out.add_frame(head, &payload);
    out.add_window(0, OWN_WINDOW - FIRST_WINDOW);
    out
}

/// Returns the reason of exchanges on a connection that this end has ended by an error.
fn reason_of(code: ErrorCode) -> Reason {
    match code {
        ErrorCode::FRAME_SIZE_ERROR => Reason::ProtocolH2FrameSize,
        ErrorCode::FLOW_CONTROL_ERROR => Reason::ProtocolH2FlowControl,
        ErrorCode::STREAM_CLOSED => Reason::ProtocolH2StreamClosed,
        ErrorCode::COMPRESSION_ERROR => Reason::ProtocolH2Compression,
        ErrorCode::ENHANCE_YOUR_CALM => Reason::ProtocolH2Flood,
        _ => Reason::ProtocolH2Frame,
    }
}
