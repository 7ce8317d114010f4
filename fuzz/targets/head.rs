//! Heads: what is remembered equals what is parsed, and both mean what a reader by the RFC says.

#![no_main]

use libfuzzer_sys::fuzz_target;
use wire::{Head, Heads};

fuzz_target!(|data: &[u8]| {
    // The first half is an earlier answer, which may have left something behind.
    let (before, now) = data.split_at(data.len() / 2);
    for to_head_request in [false, true] {
        let mut heads = Heads::default();
        for bytes in [before, data, now, data] {
            let parsed = Head::parse(bytes, to_head_request);
            assert_eq!(heads.parse(bytes, to_head_request), parsed);
            let said = fuzz::head::read(bytes, to_head_request);
            assert_eq!(parsed.ok().flatten(), said);
        }
    }
});
