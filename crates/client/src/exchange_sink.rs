//! What an exchange keeps of its response as it is received.

use std::sync::Arc;

use net::Nanos;
use wire::{Fields, Head, Heads, ResponseHead, ResponseSink};

use crate::{GrpcCall, StreamReader};

/// The parts of an exchange that the bytes of its response change.
pub(crate) struct ExchangeSink<'a> {
    pub(crate) keeps_head: bool,
    pub(crate) response_head: &'a mut Option<Arc<ResponseHead>>,
    pub(crate) trailers: &'a mut Option<Arc<Fields>>,
    pub(crate) body: &'a mut Option<Vec<u8>>,
    /// The maximum number of body bytes to keep.
    pub(crate) body_limit: usize,
    /// Whether the body is longer.
    pub(crate) is_body_cut: &'a mut bool,
    pub(crate) stream_reader: &'a mut Option<Box<StreamReader>>,
    pub(crate) grpc_call: &'a mut Option<Box<GrpcCall>>,
    pub(crate) at: Nanos,
    pub(crate) is_late: bool,
}

impl ExchangeSink<'_> {
    /// Receives the final head, which was read already; `full` has all its fields if they are needed.
    pub(crate) fn read_head(&mut self, head: &Head, full: Option<Arc<ResponseHead>>) {
        self.look_at(head);
        *self.response_head = full;
    }

    fn look_at(&mut self, head: &Head) {
        let detects_dialect =
            self.stream_reader.as_ref().is_some_and(|reader| reader.detects_dialect());
        if !head.is_event_stream && detects_dialect {
            *self.stream_reader = None;
        }
    }
}

impl ResponseSink for ExchangeSink<'_> {
    fn head(&mut self, head: &Head, raw: &[u8], heads: &mut Heads) {
        self.look_at(head);
        if self.keeps_head {
            *self.response_head = heads.response_head(raw);
        }
    }

    fn body(&mut self, piece: &[u8]) {
        if let Some(body) = self.body {
            let room = self.body_limit.saturating_sub(body.len());
            *self.is_body_cut |= piece.len() > room;
            body.extend_from_slice(&piece[..piece.len().min(room)]);
        }
        let (at, is_late) = (self.at, self.is_late);
        match (self.grpc_call.as_mut(), self.stream_reader.as_mut()) {
            (Some(call), mut reader) => call.take(piece, at, || {
                if let Some(reader) = &mut reader {
                    reader.take_message(at, is_late);
                }
            }),
            (None, Some(reader)) => reader.take(piece, at, is_late),
            (None, None) => {}
        }
    }

    fn wants_trailers(&self) -> bool {
        self.keeps_head
    }

    fn trailers(&mut self, trailers: Fields) {
        *self.trailers = Some(Arc::new(trailers));
    }
}
