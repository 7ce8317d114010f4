//! Heads of HTTP/2, with and without the cache, and requests as a server reads them.

use wire::hpack::{Decoder, Encoder, Indexing};
use wire::http2::{BlockError, HeadDecoder, Http2Request, RequestHeads};
use wire::{Framing, RequestParts, RequestTemplate, WireError};

fn block(fields: &[(&str, &str)]) -> Vec<u8> {
    let (mut encoder, mut out) = (Encoder::default(), Vec::new());
    for (name, value) in fields {
        encoder.field(name.as_bytes(), value.as_bytes(), Indexing::NotKept, &mut out);
    }
    out
}

fn fields_of(decoder: &mut Decoder, block: &[u8]) -> Vec<(String, String)> {
    let mut fields = Vec::new();
    let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).unwrap();
    decoder.decode(block, |name, value, _| fields.push((text(name), text(value)))).unwrap();
    fields
}

#[test]
fn a_head_has_status_length_and_kind_of_body() {
    let mut decoder = HeadDecoder::default();
    let all = [(":status", "200"), ("content-length", "5"), ("content-type", "text/event-stream")];
    let (head, full) = decoder.head(&block(&all), |_| false).unwrap();
    assert_eq!((head.status, head.framing, head.keepalive), (200, Framing::Length(5), true));
    assert!(head.is_event_stream && full.is_none());
    let (head, full) = decoder.head(&block(&[(":status", "503"), ("a", "b")]), |_| true).unwrap();
    assert_eq!(head.framing, Framing::Close);
    let full = full.unwrap();
    assert_eq!((full.status, full.fields.last("a")), (503, Some(&b"b"[..])));
    assert_eq!(full.to_text(), "HTTP/2 503\r\na: b");
}

#[test]
fn fields_are_kept_only_for_the_statuses_that_need_them() {
    let mut decoder = HeadDecoder::default();
    let good = block(&[(":status", "200"), ("a", "b")]);
    let needs = |status| status >= 400;
    for _ in 0..3 {
        assert!(decoder.head(&good, needs).unwrap().1.is_none());
    }
    // The cached head has no fields, and they are needed now.
    assert!(decoder.head(&good, |_| true).unwrap().1.is_some());
    assert!(decoder.head(&block(&[(":status", "404")]), needs).unwrap().1.is_some());
}

#[test]
fn heads_that_break_the_rules_are_named() {
    let table: &[(&[(&str, &str)], WireError)] = &[
        (&[], WireError::BadHead),
        (&[("a", "b")], WireError::BadHead),
        (&[("a", "b"), (":status", "200")], WireError::BadHead),
        (&[(":status", "200"), (":status", "200")], WireError::BadHead),
        (&[(":status", "20")], WireError::BadHead),
        (&[(":status", "0200")], WireError::BadHead),
        (&[(":status", "abc")], WireError::BadHead),
        (&[(":status", "200"), (":path", "/")], WireError::BadHead),
        (&[(":status", "200"), ("Upper", "x")], WireError::BadHead),
        (&[(":status", "200"), ("", "x")], WireError::BadHead),
        (&[(":status", "200"), ("a", "b\r\nc: d")], WireError::BadHead),
        (&[(":status", "200"), ("connection", "close")], WireError::BadHead),
        (&[(":status", "200"), ("transfer-encoding", "chunked")], WireError::BadHead),
        (&[(":status", "200"), ("content-length", "x")], WireError::BadContentLength),
        (
            &[(":status", "200"), ("content-length", "1"), ("content-length", "2")],
            WireError::BadContentLength,
        ),
    ];
    for (fields, error) in table {
        let found = HeadDecoder::default().head(&block(fields), |_| true);
        assert_eq!(found, Err(BlockError::Malformed(*error)), "{fields:?}");
    }
    assert_eq!(HeadDecoder::default().head(&[0x80], |_| true), Err(BlockError::Compression));
}

#[test]
fn a_head_that_grows_by_decoding_is_too_large() {
    let mut bytes = Vec::new();
    Encoder::default().field(b"a", &[b'x'; 4_000], Indexing::Kept, &mut bytes);
    let block = [&[0x88], &bytes[..], &[0xbe; 100]].concat();
    let found = HeadDecoder::default().head(&block, |_| true);
    assert_eq!(found, Err(BlockError::Malformed(WireError::HeadTooLarge)));
}

#[test]
fn the_cache_says_what_decoding_says_whatever_came_before() {
    // Literals alone, literals that are inserted (as nginx sends them), and indices of the table.
    let plain = block(&[(":status", "200"), ("a", "1")]);
    let mut inserting = vec![0x88];
    let mut throwaway = Encoder::default();
    throwaway.field(b"date", b"now", Indexing::Kept, &mut inserting);
    throwaway.field(b"x-own", b"2", Indexing::Kept, &mut inserting);
    let blocks = [
        plain,
        inserting.clone(),
        vec![0x88, 0xbe],
        vec![0x88, 0xbf, 0xc0],
        [&[0x20], &inserting[..]].concat(),
        [&[0x3f, 0xe1, 0x1f], &inserting[..]].concat(),
        [&inserting[..], &[0xbe]].concat(),
    ];
    let mut number = 5_u64;
    let (mut cached, mut fresh) = (HeadDecoder::default(), Decoder::default());
    for _ in 0..20_000 {
        number = number.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        let block = &blocks[(number >> 33) as usize % blocks.len()];
        let found = cached.head(block, |_| true);
        let mut expected = Vec::new();
        let decoded = fresh.decode(block, |name, value, _| {
            expected.push((name.to_vec(), value.to_vec()));
        });
        if decoded.is_err() {
            assert_eq!(found, Err(BlockError::Compression));
            (cached, fresh) = (HeadDecoder::default(), Decoder::default());
            continue;
        }
        let full = found.unwrap().1.unwrap();
        let fields: Vec<_> = full
            .fields
            .iter()
            .map(|(name, value)| (name.as_bytes().to_vec(), value.to_vec()))
            .collect();
        assert_eq!(fields, expected[1..]);
    }
}

#[test]
fn trailers_have_fields_and_no_status() {
    let mut decoder = HeadDecoder::default();
    let trailers = decoder.trailers(&block(&[("grpc-status", "0")])).unwrap();
    assert_eq!(trailers.last("grpc-status"), Some(&b"0"[..]));
    let wrong = decoder.trailers(&block(&[(":status", "200")]));
    assert_eq!(wrong, Err(BlockError::Malformed(WireError::BadHead)));
}

fn encoded(target: &str, fields: &[(&str, &str)], body: Option<&[u8]>) -> Vec<u8> {
    let fields: Vec<_> =
        fields.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
    let (scheme, authority) = ("https", "h:1");
    let method = if body.is_some() { "POST" } else { "GET" };
    let parts = RequestParts { method, scheme, authority, target, fields: &fields, body };
    RequestTemplate::plain(&parts).unwrap().to_http2().fixed().unwrap().into_vec()
}

#[test]
fn a_request_has_its_parts_in_order_and_no_field_of_connections() {
    let (mut heads, mut decoder, mut out) =
        (RequestHeads::default(), Decoder::default(), Vec::new());
    let own = [("Host", "other"), ("X-Own", "1"), ("Connection", "close"), ("TE", "trailers")];
    let request = encoded("/a?b", &own, Some(b"\0\x01body"));
    assert_eq!(heads.encode(&request, &mut out), b"\0\x01body");
    assert_eq!(Http2Request::read(&request).body, b"\0\x01body");
    let expected = [
        (":method", "POST"),
        (":scheme", "https"),
        (":authority", "other"),
        (":path", "/a?b"),
        ("x-own", "1"),
        ("te", "trailers"),
        ("content-length", "6"),
    ];
    let text = b"POST /a?b HTTP/2\r\nhost: other\r\nx-own: 1\r\nte: trailers\r\n\
        content-length: 6\r\n\r\n\0\x01body";
    assert_eq!(Http2Request::read(&request).to_text(), text);
    let fields = fields_of(&mut decoder, &out);
    let found: Vec<_> =
        fields.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
    assert_eq!(found, expected);
    let sizes = expected.map(|(name, value)| name.len() + value.len() + 32);
    assert_eq!(heads.largest(), sizes.iter().sum::<usize>());
}

#[test]
fn requests_are_decoded_as_they_were_meant_and_repeated_ones_take_a_byte_a_field() {
    let (mut heads, mut decoder) = (RequestHeads::default(), Decoder::default());
    let requests = [
        encoded("/a", &[("x", "1")], None),
        encoded("/b", &[("x", "1")], None),
        encoded("/a", &[("x", "2")], Some(b"")),
    ];
    let mut sizes = Vec::new();
    for number in [0, 0, 0, 0, 1, 0, 1, 2, 2, 2, 1] {
        let mut out = Vec::new();
        heads.encode(&requests[number], &mut out);
        let fields = fields_of(&mut decoder, &out);
        assert_eq!(fields[3].1, ["/a", "/b", "/a"][number]);
        assert_eq!(fields[4].1, ["1", "1", "2"][number]);
        sizes.push(out.len());
    }
    assert_eq!(sizes[2..4], [5, 5], "{sizes:?}");
    assert_eq!(sizes[9], 6, "{sizes:?}");
}

#[test]
fn a_smaller_table_of_the_server_is_respected() {
    let (mut heads, mut decoder) = (RequestHeads::default(), Decoder::default());
    let request = encoded("/a", &[("x", "1")], None);
    let mut blocks = Vec::new();
    for most in [4_096, 4_096, 0, 0, 50, 100_000, 100_000] {
        heads.set_table_bytes(most);
        let mut out = Vec::new();
        heads.encode(&request, &mut out);
        assert_eq!(fields_of(&mut decoder, &out).len(), 5);
        blocks.push(out);
    }
    assert_eq!(blocks[2][0], 0x20, "the table is emptied first");
    // Nothing of an earlier block is used where the table has no room.
    assert_eq!(fields_of(&mut Decoder::default(), &blocks[3]).len(), 5);
}
