//! Heads: what is remembered equals what is parsed, and both mean what a reader by the RFC says.

#![no_main]

use libfuzzer_sys::fuzz_target;
use wire::{Head, Heads, ResponseHead};

fuzz_target!(|data: &[u8]| {
    // The first half is an earlier answer, which may have left something behind.
    let (before, now) = data.split_at(data.len() / 2);
    for to_head_request in [false, true] {
        let mut heads = Heads::default();
        for bytes in [before, data, now, data] {
            let parsed = Head::parse(bytes, to_head_request);
            assert_eq!(heads.parse(bytes, to_head_request), parsed);
            let said = fuzz::head::read(bytes, to_head_request);
            // With all its fields, it is the same head, wherever it was read.
            let full = ResponseHead::read(bytes);
            let outline = |(head, length): &(ResponseHead, usize)| (head.status, *length);
            if let (Ok(full), Ok(parsed)) = (&full, &parsed) {
                let expected = parsed.map(|(head, length)| (head.status, length));
                assert_eq!(full.as_ref().map(outline), expected);
            }
            if let Ok(Some((full, length))) = full {
                let shared = heads.response_head(&bytes[..length]).expect("it was read before");
                assert_eq!(*shared, full);
            }
            assert_eq!(parsed.ok().flatten(), said);
        }
    }
});
