//! The chunked coding: in pieces it is decoded as a plain reader decodes the whole.

#![no_main]

use fuzz::cuts::cut;
use libfuzzer_sys::fuzz_target;
use wire::Chunked;

fuzz_target!(|data: &[u8]| {
    let expected = fuzz::chunked::decode(data);
    for pieces in [vec![data], cut(data)] {
        let (mut decoder, mut body, mut used) = (Chunked::default(), Vec::new(), 0);
        let mut found = Ok(());
        for piece in pieces {
            match decoder.feed(piece, |data| body.extend_from_slice(data), |_| ()) {
                Ok(count) => used += count,
                Err(error) => {
                    found = Err(error);
                    break;
                }
            }
        }
        let found = found.map(|()| decoder.is_done().then_some((body, used)));
        assert_eq!(found, expected);
    }
});
