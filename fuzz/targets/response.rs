//! Answers: whole or in pieces, they are the same answer, or wrong in the same way.

#![no_main]

use fuzz::cuts::cut;
use libfuzzer_sys::fuzz_target;
use wire::{Heads, Progress, Response, WireError};

fuzz_target!(|data: &[u8]| {
    for to_head_request in [false, true] {
        let whole = read(&[data], to_head_request);
        let pieces = read(&cut(data), to_head_request);
        assert_eq!(whole, pieces);
    }
});

/// How far the answer is after its bytes and after the end of the stream, and its body.
type Outcome = (Result<(Progress, Progress), WireError>, Vec<u8>);

fn read(pieces: &[&[u8]], to_head_request: bool) -> Outcome {
    let (mut response, mut body) = (Response::new(to_head_request), Vec::new());
    let (mut heads, mut last) = (Heads::default(), Progress::More);
    for piece in pieces {
        match response.feed(piece, &mut heads, &mut body) {
            Ok(progress) => last = progress,
            Err(error) => return (Err(error), body),
        }
    }
    assert!(last == Progress::More || response.discardable() == 0);
    (Ok((last, response.end_of_stream())), body)
}
