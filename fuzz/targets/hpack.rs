//! Blocks of fields of HTTP/2: any bytes, and what torr encodes. The crate `loona-hpack` is the judge: what
//! torr reads, it reads alike, and what it refuses, torr refuses.

#![no_main]

use libfuzzer_sys::fuzz_target;
use loona_hpack::decoder::DecoderError;
use wire::hpack::{Decoder, Encoder, Indexing};

type Fields = Vec<(Vec<u8>, Vec<u8>)>;

/// Splits the input into blocks: a byte gives the length of each.
fn blocks(mut input: &[u8]) -> Vec<&[u8]> {
    let mut blocks = Vec::new();
    while let [length, rest @ ..] = input {
        let (block, rest) = rest.split_at(rest.len().min(usize::from(*length)));
        blocks.push(block);
        input = rest;
    }
    blocks
}

fn decodes_as_the_judge(input: &[u8]) {
    let (mut own, mut judge) = (Decoder::default(), loona_hpack::Decoder::new());
    for block in blocks(input) {
        let mut fields = Fields::new();
        let decoded =
            own.decode(block, |name, value, _| fields.push((name.to_vec(), value.to_vec())));
        if decoded.is_err() {
            return; // The connection ends.
        }
        match judge.decode(block) {
            // It refuses them, and RFC 7541 does not.
            Err(DecoderError::SizeUpdateAtEnd) => return,
            judged => assert_eq!(judged, Ok(fields)),
        }
    }
}

/// Encodes fields whose names and values are parts of the input, and changes of the table between blocks.
fn is_decoded_by_both(input: &[u8]) {
    let (mut encoder, mut own, mut judge) =
        (Encoder::default(), Decoder::default(), loona_hpack::Decoder::new());
    let blocks = blocks(input).into_iter().filter(|block| !block.is_empty());
    for (number, block) in blocks.enumerate() {
        if let (1, [size, ..]) = (number % 3, block) {
            encoder.set_table_bytes(usize::from(*size) * 17);
        }
        let mut bytes = Vec::new();
        encoder.begin(&mut bytes);
        let mut fields = Fields::new();
        for part in block.chunks(9) {
            let (name, value) = part.split_at(part.len() / 2);
            let indexing = if part[0] & 1 == 0 { Indexing::Kept } else { Indexing::NotKept };
            encoder.field(name, value, indexing, &mut bytes);
            fields.push((name.to_vec(), value.to_vec()));
        }
        let mut decoded = Fields::new();
        let read = own.decode(&bytes, |name, value, _| {
            decoded.push((name.to_vec(), value.to_vec()));
        });
        assert!(read.is_ok());
        assert_eq!(decoded, fields);
        assert_eq!(judge.decode(&bytes), Ok(fields));
    }
}

fuzz_target!(|data: &[u8]| {
    decodes_as_the_judge(data);
    is_decoded_by_both(data);
});
