//! Receiving: what each kind of frame changes.

use wire::http2::{
    BlockError, ErrorCode, FRAME_HEAD_BYTES, Flags, FrameHead, FrameKind, Setting, settings,
};
use wire::{Framing, Head, MAX_HEAD_BYTES, MAX_INTERIM_ANSWERS, ResponseSink, WireError};

use super::core::{Core, MAX_UNSENT_ANSWERS, OWN_WINDOW, Turn};
use super::frame_reader::FramePiece;
use super::streams::{Owner, StreamPhase};
use crate::session::{Ended, Slots};
use crate::{Exchange, Reason};

/// The largest window.
const MAX_WINDOW: u32 = (1 << 31) - 1;

/// The longest frame that a server may allow.
const MAX_FRAME_LIMIT: u32 = (1 << 24) - 1;

/// Frames of one block of fields at most: more carry nothing.
const MAX_BLOCK_FRAMES: u32 = 64;

/// A block of fields whose end is to come.
#[derive(Debug)]
pub(super) struct FieldBlock {
    stream: u32,
    ends_stream: bool,
    bytes: Vec<u8>,
    frames: u32,
}

type FrameResult = Result<(), ErrorCode>;

impl Core {
    /// Takes a part of the received bytes; the error is one of the connection.
    #[inline]
    pub(super) fn take(
        &mut self,
        piece: FramePiece<'_>,
        turn: &mut Turn<'_, impl Slots>,
    ) -> FrameResult {
        match piece {
            FramePiece::Data(head, bytes, end) => self.data(head, bytes, end, turn),
            FramePiece::DataHead(head) => {
                self.check_order(head)?;
                self.data_head(head, turn)
            }
            FramePiece::Frame(head, payload) => {
                self.check_order(head)?;
                self.frame(head, payload, turn)
            }
        }
    }

    /// Checks that a frame may come now: settings first, and nothing within a block of fields.
    fn check_order(&mut self, head: FrameHead) -> FrameResult {
        let is_settings = head.kind == FrameKind::Settings && !head.flags.has(Flags::ACK);
        let is_expected = match &self.block {
            Some(block) => head.kind == FrameKind::Continuation && head.stream == block.stream,
            None => head.kind != FrameKind::Continuation,
        };
        if !(self.is_greeted || is_settings) || !is_expected {
            return Err(ErrorCode::PROTOCOL_ERROR);
        }
        self.is_greeted = true;
        Ok(())
    }

    fn frame(
        &mut self,
        head: FrameHead,
        payload: &[u8],
        turn: &mut Turn<'_, impl Slots>,
    ) -> FrameResult {
        let is_of_connection =
            matches!(head.kind, FrameKind::Settings | FrameKind::Ping | FrameKind::GoAway);
        let is_either = matches!(head.kind, FrameKind::WindowUpdate | FrameKind::Other(_));
        if !is_either && is_of_connection != (head.stream == 0) {
            return Err(ErrorCode::PROTOCOL_ERROR);
        }
        match head.kind {
            FrameKind::Headers => self.headers(head, payload, turn),
            FrameKind::Continuation => self.continuation(head, payload, turn),
            FrameKind::ResetStream => self.reset(head.stream, payload, turn),
            FrameKind::Settings => self.settings(head.flags, payload, turn),
            FrameKind::Ping => self.ping(head.flags, payload),
            FrameKind::GoAway => self.going_away(payload, turn),
            FrameKind::WindowUpdate => self.window_update(head.stream, payload, turn),
            FrameKind::Priority if payload.len() != 5 => Err(ErrorCode::FRAME_SIZE_ERROR),
            FrameKind::Priority | FrameKind::Other(_) => Ok(()),
            // Pushes are disabled; DATA comes in another way.
            FrameKind::PushPromise | FrameKind::Data => Err(ErrorCode::PROTOCOL_ERROR),
        }
    }

    /// Takes the head of a DATA frame: its payload, with its padding, uses windows.
    fn data_head(&mut self, head: FrameHead, turn: &mut Turn<'_, impl Slots>) -> FrameResult {
        // A frame has 16 KiB at most.
        let length = head.length as u32;
        self.consumed += length;
        if self.consumed > OWN_WINDOW {
            return Err(ErrorCode::FLOW_CONTROL_ERROR);
        }
        if self.consumed > OWN_WINDOW / 2 {
            self.out.add_window(0, self.consumed);
            self.consumed = 0;
        }
        let slot = match self.streams.owner(head.stream) {
            Owner::Slot(slot) => slot,
            Owner::Cancelled => return Ok(()),
            Owner::Ended => return Err(ErrorCode::STREAM_CLOSED),
            Owner::Idle => return Err(ErrorCode::PROTOCOL_ERROR),
        };
        turn.slots.slot(slot).0.note_received(FRAME_HEAD_BYTES, turn.at);
        let state = self.streams.state(slot);
        if state.phase != StreamPhase::Body {
            self.stream_error(slot, ErrorCode::PROTOCOL_ERROR, Reason::ProtocolH2Frame, turn);
            return Ok(());
        }
        state.consumed += length;
        if state.consumed > OWN_WINDOW {
            let code = ErrorCode::FLOW_CONTROL_ERROR;
            self.stream_error(slot, code, Reason::ProtocolH2FlowControl, turn);
        } else if state.consumed > OWN_WINDOW / 2 && !head.flags.has(Flags::END_STREAM) {
            let count = std::mem::take(&mut state.consumed);
            self.out.add_window(head.stream, count);
        }
        Ok(())
    }

    fn data(
        &mut self,
        head: FrameHead,
        bytes: &[u8],
        end: Option<usize>,
        turn: &mut Turn<'_, impl Slots>,
    ) -> FrameResult {
        let Owner::Slot(slot) = self.streams.owner(head.stream) else { return Ok(()) };
        let (exchange, _) = turn.slots.slot(slot);
        exchange.note_received(bytes.len() + end.unwrap_or(0), turn.at);
        let state = self.streams.state(slot);
        if let Some(left) = &mut state.left {
            let Some(after) = left.checked_sub(bytes.len() as u64) else {
                let reason = Reason::ProtocolExtraBytes;
                self.stream_error(slot, ErrorCode::PROTOCOL_ERROR, reason, turn);
                return Ok(());
            };
            *left = after;
        }
        let is_looked_at = exchange.is_looked_at();
        if is_looked_at {
            exchange.sink(turn.at, turn.is_late).body(bytes);
            if !exchange.draw(turn.budget) {
                self.stream_error(slot, ErrorCode::CANCEL, Reason::ReadNoMemory, turn);
                return Ok(());
            }
        }
        if is_looked_at || !is_good(exchange) {
            exchange.keep_body_excerpt(bytes);
        }
        let answers = exchange.grpc_call.as_mut().map_or(0, |call| call.take_answers());
        for _ in 0..answers {
            self.release_message(slot, turn.slots);
        }
        if end.is_some() && head.flags.has(Flags::END_STREAM) {
            self.end_of_response(slot, turn);
        }
        Ok(())
    }

    fn headers(
        &mut self,
        head: FrameHead,
        payload: &[u8],
        turn: &mut Turn<'_, impl Slots>,
    ) -> FrameResult {
        let (mut fragment, mut padding) = (payload, 0);
        if head.flags.has(Flags::PADDED) {
            let (first, rest) = fragment.split_first().ok_or(ErrorCode::FRAME_SIZE_ERROR)?;
            (padding, fragment) = (usize::from(*first), rest);
        }
        if head.flags.has(Flags::PRIORITY) {
            let (_, rest) = fragment.split_at_checked(5).ok_or(ErrorCode::FRAME_SIZE_ERROR)?;
            fragment = rest;
        }
        let length = fragment.len().checked_sub(padding).ok_or(ErrorCode::PROTOCOL_ERROR)?;
        let fragment = &fragment[..length];
        self.note_frame(head, turn);
        let ends_stream = head.flags.has(Flags::END_STREAM);
        if head.flags.has(Flags::END_HEADERS) {
            return self.fields(head.stream, ends_stream, fragment, turn);
        }
        let bytes = fragment.to_vec();
        self.block = Some(FieldBlock { stream: head.stream, ends_stream, bytes, frames: 1 });
        Ok(())
    }

    fn continuation(
        &mut self,
        head: FrameHead,
        payload: &[u8],
        turn: &mut Turn<'_, impl Slots>,
    ) -> FrameResult {
        self.note_frame(head, turn);
        let Some(mut block) = self.block.take() else { return Err(ErrorCode::PROTOCOL_ERROR) };
        block.bytes.extend_from_slice(payload);
        block.frames += 1;
        if block.bytes.len() > MAX_HEAD_BYTES || block.frames > MAX_BLOCK_FRAMES {
            return Err(ErrorCode::ENHANCE_YOUR_CALM);
        }
        if head.flags.has(Flags::END_HEADERS) {
            return self.fields(block.stream, block.ends_stream, &block.bytes, turn);
        }
        self.block = Some(block);
        Ok(())
    }

    /// Counts a frame of fields as received by its exchange.
    fn note_frame(&self, head: FrameHead, turn: &mut Turn<'_, impl Slots>) {
        if let Owner::Slot(slot) = self.streams.owner(head.stream) {
            let count = FRAME_HEAD_BYTES + head.length;
            turn.slots.slot(slot).0.note_received(count, turn.at);
        }
    }

    /// Takes a whole block of fields: a head, or trailers.
    fn fields(
        &mut self,
        stream: u32,
        ends_stream: bool,
        block: &[u8],
        turn: &mut Turn<'_, impl Slots>,
    ) -> FrameResult {
        let slot = match self.streams.owner(stream) {
            Owner::Slot(slot) => slot,
            // Blocks change the table, whosever they are.
            Owner::Cancelled => {
                return match self.response_heads.trailers(block) {
                    Err(BlockError::Compression) => Err(ErrorCode::COMPRESSION_ERROR),
                    Ok(_) | Err(BlockError::Malformed(_)) => Ok(()),
                };
            }
            Owner::Ended => return Err(ErrorCode::STREAM_CLOSED),
            Owner::Idle => return Err(ErrorCode::PROTOCOL_ERROR),
        };
        let (exchange, _) = turn.slots.slot(slot);
        let result = if self.streams.state(slot).phase == StreamPhase::Head {
            let needs_fields = |status: u16| exchange.is_looked_at() || !is_success(status);
            let read = self.response_heads.head(block, needs_fields);
            read.map(|(head, full)| self.response_head(slot, ends_stream, head, full, turn))
        } else {
            let read = self.response_heads.trailers(block);
            read.map(|trailers| {
                let (exchange, _) = turn.slots.slot(slot);
                if exchange.keeps_head && !trailers.is_empty() {
                    exchange.trailers = Some(trailers);
                }
                self.end_by_trailers(slot, ends_stream, turn);
            })
        };
        match result {
            Ok(()) => Ok(()),
            Err(BlockError::Compression) => Err(ErrorCode::COMPRESSION_ERROR),
            Err(BlockError::Malformed(error)) => {
                self.stream_error(slot, ErrorCode::PROTOCOL_ERROR, error.into(), turn);
                Ok(())
            }
        }
    }

    fn response_head(
        &mut self,
        slot: u16,
        ends_stream: bool,
        head: Head,
        full: Option<std::sync::Arc<wire::ResponseHead>>,
        turn: &mut Turn<'_, impl Slots>,
    ) {
        let state = self.streams.state(slot);
        if head.status < 200 {
            state.interim += 1;
            let error = if ends_stream || head.status == 101 {
                WireError::BadHead
            } else if state.interim > MAX_INTERIM_ANSWERS {
                WireError::TooManyInterim
            } else {
                return;
            };
            return self.stream_error(slot, ErrorCode::PROTOCOL_ERROR, error.into(), turn);
        }
        let (exchange, _) = turn.slots.slot(slot);
        let has_no_body = exchange.is_head() || matches!(head.status, 204 | 304);
        state.phase = StreamPhase::Body;
        state.left = match head.framing {
            _ if has_no_body => Some(0),
            Framing::Length(length) => Some(length),
            _ => None,
        };
        exchange.set_head(Some(head));
        exchange.sink(turn.at, turn.is_late).read_head(&head, full);
        if !exchange.draw(turn.budget) {
            self.stream_error(slot, ErrorCode::CANCEL, Reason::ReadNoMemory, turn);
        } else if ends_stream {
            self.end_of_response(slot, turn);
        }
    }

    fn end_by_trailers(&mut self, slot: u16, ends_stream: bool, turn: &mut Turn<'_, impl Slots>) {
        if ends_stream {
            self.end_of_response(slot, turn);
        } else {
            self.stream_error(slot, ErrorCode::PROTOCOL_ERROR, Reason::ProtocolH2Frame, turn);
        }
    }

    /// Ends an exchange whose response has ended.
    fn end_of_response(&mut self, slot: u16, turn: &mut Turn<'_, impl Slots>) {
        let state = *self.streams.state(slot);
        if state.left.is_some_and(|left| left > 0) {
            let reason = Reason::ProtocolBadContentLength;
            return self.stream_error(slot, ErrorCode::PROTOCOL_ERROR, reason, turn);
        }
        if state.unsent > 0 {
            // The server does not need the rest of the request.
            self.cancel(slot, ErrorCode::CANCEL, turn.slots);
        } else {
            self.streams.end(slot);
        }
        let (exchange, _) = turn.slots.slot(slot);
        let status = exchange.head().map_or(0, |head| head.status);
        turn.ended.push(Ended { slot, outcome: exchange.complete(status, true) });
    }

    fn reset(
        &mut self,
        stream: u32,
        payload: &[u8],
        turn: &mut Turn<'_, impl Slots>,
    ) -> FrameResult {
        let code = payload.try_into().map_err(|_| ErrorCode::FRAME_SIZE_ERROR)?;
        let code = u32::from_be_bytes(code);
        match self.streams.owner(stream) {
            Owner::Slot(slot) => {
                turn.slots.slot(slot).0.note_received(FRAME_HEAD_BYTES + payload.len(), turn.at);
                self.fail_slot(slot, Reason::of_stream_reset(code), turn);
                Ok(())
            }
            Owner::Cancelled | Owner::Ended => Ok(()),
            Owner::Idle => Err(ErrorCode::PROTOCOL_ERROR),
        }
    }

    fn settings(
        &mut self,
        flags: Flags,
        payload: &[u8],
        turn: &mut Turn<'_, impl Slots>,
    ) -> FrameResult {
        if flags.has(Flags::ACK) {
            return if payload.is_empty() { Ok(()) } else { Err(ErrorCode::FRAME_SIZE_ERROR) };
        }
        if !payload.len().is_multiple_of(6) {
            return Err(ErrorCode::FRAME_SIZE_ERROR);
        }
        let mut max_streams = None;
        for setting in settings(payload) {
            match setting {
                Setting::HeaderTableBytes(most) => {
                    self.request_heads.set_table_bytes(most as usize);
                    self.peer.table_bytes = most;
                }
                Setting::MaxHeaderListBytes(most) => self.peer.max_header_list = Some(most),
                Setting::EnablePush(0) | Setting::Other => {}
                Setting::EnablePush(_) => return Err(ErrorCode::PROTOCOL_ERROR),
                Setting::MaxConcurrentStreams(most) => max_streams = Some(most),
                Setting::InitialWindowBytes(bytes) => self.set_first_window(bytes, turn)?,
                Setting::MaxFrameBytes(bytes) => self.set_max_frame(bytes)?,
            }
        }
        if let Some(most) = max_streams {
            self.peer.max_streams = most;
        } else if !self.has_settings {
            self.peer.max_streams = u32::MAX;
        }
        let is_first = !std::mem::replace(&mut self.has_settings, true);
        if is_first || self.streams.active_count() > self.limit() as usize {
            self.streams.start_waits(self.latest);
            for slot in self.streams.waiting() {
                turn.slots.slot(*slot).0.is_taken_when_sent = false;
            }
        }
        self.answer(FrameKind::Settings, &[])
    }

    fn set_first_window(&mut self, bytes: u32, turn: &mut Turn<'_, impl Slots>) -> FrameResult {
        if bytes > MAX_WINDOW {
            return Err(ErrorCode::FLOW_CONTROL_ERROR);
        }
        let change = i64::from(bytes) - self.peer.first_window;
        self.peer.first_window = bytes.into();
        if !self.streams.add_to_windows(change) {
            return Err(ErrorCode::FLOW_CONTROL_ERROR);
        }
        if change > 0 {
            for slot in self.streams.active() {
                self.unblock(slot, turn.slots);
            }
        }
        Ok(())
    }

    fn set_max_frame(&mut self, bytes: u32) -> FrameResult {
        if !(wire::http2::MAX_FRAME_BYTES as u32..=MAX_FRAME_LIMIT).contains(&bytes) {
            return Err(ErrorCode::PROTOCOL_ERROR);
        }
        self.peer.max_frame = bytes as usize;
        Ok(())
    }

    fn ping(&mut self, flags: Flags, payload: &[u8]) -> FrameResult {
        match (payload.len(), flags.has(Flags::ACK)) {
            (8, true) => Ok(()),
            (8, false) => self.answer(FrameKind::Ping, payload),
            _ => Err(ErrorCode::FRAME_SIZE_ERROR),
        }
    }

    /// Answers a frame of the connection with an acknowledgement.
    fn answer(&mut self, kind: FrameKind, payload: &[u8]) -> FrameResult {
        if self.out.of_connection() > MAX_UNSENT_ANSWERS {
            return Err(ErrorCode::ENHANCE_YOUR_CALM);
        }
        let head = FrameHead { length: payload.len(), kind, flags: Flags::ACK, stream: 0 };
        self.out.add_frame(head, payload);
        Ok(())
    }

    fn going_away(&mut self, payload: &[u8], turn: &mut Turn<'_, impl Slots>) -> FrameResult {
        let Some([last, code]) = payload.as_chunks::<4>().0.first_chunk() else {
            return Err(ErrorCode::FRAME_SIZE_ERROR);
        };
        let last = u32::from_be_bytes(*last) & MAX_WINDOW;
        self.go_away(last, ErrorCode(u32::from_be_bytes(*code)), turn);
        Ok(())
    }

    fn window_update(
        &mut self,
        stream: u32,
        payload: &[u8],
        turn: &mut Turn<'_, impl Slots>,
    ) -> FrameResult {
        let count = payload.try_into().map_err(|_| ErrorCode::FRAME_SIZE_ERROR)?;
        let count = i64::from(u32::from_be_bytes(count) & MAX_WINDOW);
        if stream == 0 {
            self.send_window += count;
            if count == 0 {
                return Err(ErrorCode::PROTOCOL_ERROR);
            }
            if self.send_window > i64::from(MAX_WINDOW) {
                return Err(ErrorCode::FLOW_CONTROL_ERROR);
            }
            self.unblock_all(turn.slots);
            return Ok(());
        }
        let slot = match self.streams.owner(stream) {
            Owner::Slot(slot) => slot,
            Owner::Cancelled | Owner::Ended => return Ok(()),
            Owner::Idle => return Err(ErrorCode::PROTOCOL_ERROR),
        };
        let state = self.streams.state(slot);
        state.send_window += count;
        let problem = if count == 0 {
            Some((ErrorCode::PROTOCOL_ERROR, Reason::ProtocolH2Frame))
        } else if state.send_window > i64::from(MAX_WINDOW) {
            Some((ErrorCode::FLOW_CONTROL_ERROR, Reason::ProtocolH2FlowControl))
        } else {
            None
        };
        match problem {
            Some((code, reason)) => self.stream_error(slot, code, reason, turn),
            None => self.unblock(slot, turn.slots),
        }
        Ok(())
    }
}

/// Returns whether the head of the response has a status of success.
fn is_good(exchange: &Exchange) -> bool {
    exchange.head().is_some_and(|head| is_success(head.status))
}

fn is_success(status: u16) -> bool {
    (200..300).contains(&status)
}
