//! The examples of RFC 7541, and fields that are encoded and decoded again.

use wire::hpack::{Decoded, Decoder, Encoder, HpackError, Indexing};

type Field = (String, String);

fn bytes(hex: &str) -> Vec<u8> {
    let digits: Vec<u8> = hex.bytes().filter(u8::is_ascii_hexdigit).collect();
    let pairs = digits.chunks(2).map(|pair| std::str::from_utf8(pair).unwrap());
    pairs.map(|pair| u8::from_str_radix(pair, 16).unwrap()).collect()
}

fn decode(decoder: &mut Decoder, block: &[u8]) -> Result<Vec<Field>, HpackError> {
    let mut fields = Vec::new();
    let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).unwrap();
    decoder.decode(block, |name, value, _| fields.push((text(name), text(value))))?;
    Ok(fields)
}

fn fields(pairs: &[(&str, &str)]) -> Vec<Field> {
    pairs.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect()
}

const FIRST: &[(&str, &str)] =
    &[(":method", "GET"), (":scheme", "http"), (":path", "/"), (":authority", "www.example.com")];

#[test]
fn requests_of_the_examples_are_decoded_with_and_without_huffman() {
    // C.3 and C.4.
    let second = [FIRST, &[("cache-control", "no-cache")]].concat();
    let third = [
        (":method", "GET"),
        (":scheme", "https"),
        (":path", "/index.html"),
        (":authority", "www.example.com"),
        ("custom-key", "custom-value"),
    ];
    let sequences = [
        [
            "828684410f7777772e6578616d706c652e636f6d",
            "828684be58086e6f2d6361636865",
            "828785bf400a637573746f6d2d6b65790c637573746f6d2d76616c7565",
        ],
        [
            "828684418cf1e3c2e5f23a6ba0ab90f4ff",
            "828684be5886a8eb10649cbf",
            "828785bf408825a849e95ba97d7f8925a849e95bb8e8b4bf",
        ],
    ];
    for sequence in sequences {
        let mut decoder = Decoder::default();
        for (block, expected) in sequence.iter().zip([FIRST, &second, &third]) {
            assert_eq!(decode(&mut decoder, &bytes(block)), Ok(fields(expected)));
        }
    }
}

#[test]
fn responses_of_the_examples_make_older_fields_leave_the_table() {
    // C.6, whose table has 256 bytes.
    let date = "Mon, 21 Oct 2013 20:13:21 GMT";
    let later = "Mon, 21 Oct 2013 20:13:22 GMT";
    let url = "https://www.example.com";
    let cookie = "foo=ASDJKHQKBZXOQWEOPIUAXQWEOIU; max-age=3600; version=1";
    let with = |status, date, more: &[(&'static str, &'static str)]| {
        let all = [(":status", status), ("cache-control", "private"), ("date", date)];
        let mut all = fields(&[&all[..], &[("location", url)]].concat());
        all.extend(fields(more));
        all
    };
    let mut decoder = Decoder::default();
    // Tells the decoder of the size.
    let blocks = [
        "3fe101 488264025885aec3771a4b6196d07abe941054d444a8200595040b8166e082a62d1bff6e919d29ad171863c78f0b97c8e9ae82ae43d3",
        "4883640effc1c0bf",
        "88c16196d07abe941054d444a8200595040b8166e084a62d1bffc05a839bd9ab77ad94e7821dd7f2e6c7b335dfdfcd5b3960d5af27087f3672c1ab270fb5291f9587316065c003ed4ee5b1063d5007",
    ];
    let expected = [
        with("302", date, &[]),
        with("307", date, &[]),
        with("200", later, &[("content-encoding", "gzip"), ("set-cookie", cookie)]),
    ];
    for (block, expected) in blocks.iter().zip(expected) {
        assert_eq!(decode(&mut decoder, &bytes(block)), Ok(expected));
    }
}

#[test]
fn a_block_says_how_it_used_the_table() {
    let mut decoder = Decoder::default();
    let mut decoded = |hex: &str| decoder.decode(&bytes(hex), |_, _, _| {}).unwrap();
    assert_eq!(decoded("88"), Decoded::default());
    assert_eq!(decoded("480332 3030"), Decoded { inserted: 1, ..Decoded::default() });
    assert_eq!(decoded("be"), Decoded { uses_table: true, ..Decoded::default() });
    assert_eq!(decoded("2088"), Decoded { resizes_table: true, ..Decoded::default() });
}

#[test]
fn blocks_that_break_the_rules_are_refused() {
    let table = [
        "80",               // Index 0.
        "be",               // Beyond the table.
        "ff",               // A cut integer.
        "4001",             // A cut name.
        "00016102",         // A cut value.
        "8820",             // A new size behind a field.
        "3fe21f",           // A table of 4,097 bytes.
        "0001618100",       // Wrong padding.
        "7fffffffff7f0130", // An index that is too large.
    ];
    for hex in table {
        assert_eq!(decode(&mut Decoder::default(), &bytes(hex)), Err(HpackError), "{hex}");
    }
}

/// A small generator of numbers, the same in every run.
struct Numbers(u64);

impl Numbers {
    fn below(&mut self, most: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        (self.0 >> 33) % most
    }
}

#[test]
fn any_fields_are_decoded_as_they_were_encoded_whatever_the_table() {
    let mut numbers = Numbers(7);
    let mut out = Vec::new();
    for _ in 0..60 {
        let (mut encoder, mut decoder) = (Encoder::default(), Decoder::default());
        for _ in 0..100 {
            for _ in 0..numbers.below(3) {
                encoder.set_table_bytes(numbers.below(6_000) as usize * numbers.below(2) as usize);
            }
            let mut expected = Vec::new();
            out.clear();
            encoder.begin(&mut out);
            for _ in 0..numbers.below(8) {
                let names = [":path", "content-type", "x-own", "accept", "x-other"];
                let name = names[numbers.below(5) as usize];
                let value = "v".repeat(numbers.below(9) as usize) + &numbers.below(5).to_string();
                let kept = [Indexing::Kept, Indexing::NotKept][numbers.below(2) as usize];
                encoder.field(name.as_bytes(), value.as_bytes(), kept, &mut out);
                expected.push((name.to_owned(), value));
            }
            assert_eq!(decode(&mut decoder, &out), Ok(expected));
        }
    }
}

#[test]
fn a_field_that_is_kept_takes_one_byte_from_the_second_time_on() {
    let (mut encoder, mut out) = (Encoder::default(), Vec::new());
    let mut encoded = |kept| {
        out.clear();
        encoder.field(b"x-own", b"value", kept, &mut out);
        out.len()
    };
    assert_eq!(encoded(Indexing::NotKept), 13);
    assert_eq!(encoded(Indexing::Kept), 13);
    assert_eq!(encoded(Indexing::Kept), 1);
    assert_eq!(encoded(Indexing::NotKept), 1);
}

#[test]
fn a_field_does_not_make_another_leave_the_table() {
    let (mut encoder, mut out) = (Encoder::default(), Vec::new());
    let large = [b'x'; 3_000];
    encoder.field(b"first", &large, Indexing::Kept, &mut out);
    let generation = encoder.generation();
    encoder.field(b"second", &large, Indexing::Kept, &mut out);
    assert_eq!(encoder.generation(), generation);
    out.clear();
    encoder.field(b"first", &large, Indexing::Kept, &mut out);
    assert_eq!(out.len(), 1);
}
