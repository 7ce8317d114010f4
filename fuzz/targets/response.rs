//! Answers: whole or in pieces, they are the same answer, or wrong in the same way.

#![no_main]

use std::sync::Arc;

use fuzz::cuts::cut;
use libfuzzer_sys::fuzz_target;
use wire::{Fields, Head, Heads, Progress, Response, ResponseHead, ResponseSink, WireError};

fuzz_target!(|data: &[u8]| {
    for to_head_request in [false, true] {
        let whole = read(&[data], to_head_request);
        let pieces = read(&cut(data), to_head_request);
        assert_eq!(whole, pieces);
    }
});

/// The parts of a response.
#[derive(Debug, Default, PartialEq)]
struct Parts {
    head: Option<Arc<ResponseHead>>,
    body: Vec<u8>,
    trailers: Option<Fields>,
}

impl ResponseSink for Parts {
    fn head(&mut self, head: &Head, raw: &[u8], heads: &mut Heads) {
        assert!(self.head.is_none());
        self.head = heads.response_head(raw);
        assert_eq!(self.head.as_ref().map(|full| full.status), Some(head.status));
    }

    fn body(&mut self, piece: &[u8]) {
        assert!(self.head.is_some() && self.trailers.is_none());
        self.body.extend_from_slice(piece);
    }

    fn wants_trailers(&self) -> bool {
        true
    }

    fn trailers(&mut self, trailers: Fields) {
        assert!(self.trailers.is_none());
        self.trailers = Some(trailers);
    }
}

/// How far the response is after its bytes and after the end of the stream, and its parts.
type Outcome = (Result<(Progress, Progress), WireError>, Parts);

fn read(pieces: &[&[u8]], to_head_request: bool) -> Outcome {
    let (mut response, mut parts) = (Response::new(to_head_request), Parts::default());
    let (mut heads, mut last) = (Heads::default(), Progress::More);
    for piece in pieces {
        match response.feed(piece, &mut heads, &mut parts) {
            Ok(progress) => last = progress,
            Err(error) => return (Err(error), parts),
        }
    }
    assert!(last == Progress::More || response.discardable() == 0);
    (Ok((last, response.end_of_stream())), parts)
}
