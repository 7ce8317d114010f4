//! Every kind of response, at every split point, and seeded damage that must never panic.

use std::sync::Arc;

use wire::{
    Fields, Framing, Head, Heads, Progress, Response, ResponseHead, ResponseSink, WireError,
};

/// Feeds the parts; gives status and body of a complete response, `None` for one that needs more.
fn read(parts: &[&[u8]], head_request: bool) -> Result<Option<(u16, Vec<u8>)>, WireError> {
    let (mut response, mut body, mut status) = (Response::new(head_request), Vec::new(), None);
    for part in parts.iter().filter(|part| !part.is_empty()) {
        if let Progress::Done(head) = response.feed(part, &mut Heads::default(), &mut body)? {
            status = Some(head.status);
        }
    }
    Ok(status.map(|status| (status, body)))
}

const ANSWERS: &[(&[u8], bool, u16, &[u8])] = &[
    (b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello", false, 200, b"hello"),
    (b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n2\r\nde\r\n0\r\n\r\n", false, 200, b"abcde"),
    (b"HTTP/1.1 204 No Content\r\nDate: x\r\n\r\n", false, 204, b""),
    (b"HTTP/1.1 304 Not Modified\r\nContent-Length: 99\r\n\r\n", false, 304, b""),
    (b"HTTP/1.1 200 OK\r\nContent-Length: 99\r\n\r\n", true, 200, b""),
    (b"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nLink: a\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok", false, 200, b"ok"),
    (b"HTTP/1.1 503 Busy\r\nContent-Length: 0\r\n\r\n", false, 503, b""),
];

#[test]
fn reads_every_answer_the_same_at_every_pair_of_split_points() {
    for (wire, head_request, status, body) in ANSWERS {
        for first in 0..=wire.len() {
            for second in first..=wire.len() {
                let parts = [&wire[..first], &wire[first..second], &wire[second..]];
                let read = read(&parts, *head_request).unwrap();
                assert_eq!(read, Some((*status, body.to_vec())), "split at {first} and {second}");
            }
        }
    }
}

/// The parts of a response.
#[derive(Debug, Default, PartialEq)]
struct Parts {
    head: Option<Arc<ResponseHead>>,
    body: Vec<u8>,
    trailers: Option<Fields>,
}

impl ResponseSink for Parts {
    fn head(&mut self, _: &Head, raw: &[u8], heads: &mut Heads) {
        self.head = heads.response_head(raw);
    }

    fn body(&mut self, piece: &[u8]) {
        self.body.extend_from_slice(piece);
    }

    fn wants_trailers(&self) -> bool {
        true
    }

    fn trailers(&mut self, trailers: Fields) {
        self.trailers = Some(trailers);
    }
}

fn parts(pieces: &[&[u8]]) -> Parts {
    let (mut response, mut heads) = (Response::new(false), Heads::default());
    let mut parts = Parts::default();
    for piece in pieces {
        response.feed(piece, &mut heads, &mut parts).unwrap();
    }
    parts
}

#[test]
fn head_body_and_trailers_are_the_same_at_every_pair_of_split_points() {
    let wire = b"HTTP/1.1 103 Early Hints\r\nX-A: 0\r\n\r\nHTTP/1.1 200 Fine\r\nX-A: 1\r\n\
        Transfer-Encoding: chunked\r\nx-a:  2 \r\n\r\n2;e\r\nab\r\n0\r\nGrpc-Status: 0\r\nX: y z\r\n\r\n";
    for first in 0..=wire.len() {
        for second in first..=wire.len() {
            let Parts { head, body, trailers } =
                parts(&[&wire[..first], &wire[first..second], &wire[second..]]);
            let (head, trailers) = (head.unwrap(), trailers.unwrap());
            assert_eq!((head.status, &*head.reason), (200, &b"Fine"[..]));
            let fields: Vec<_> = head.fields.iter().collect();
            let expected: [(&str, &[u8]); 3] =
                [("X-A", b"1"), ("Transfer-Encoding", b"chunked"), ("x-a", b"2")];
            assert_eq!((fields.as_slice(), body.as_slice()), (&expected[..], &b"ab"[..]));
            let fields: Vec<_> = trailers.iter().collect();
            assert_eq!(fields, [("Grpc-Status", &b"0"[..]), ("X", b"y z")]);
        }
    }
}

#[test]
fn a_body_without_trailers_has_none_and_wrong_ones_are_skipped() {
    let head = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n";
    let with = |trailers: &[u8]| parts(&[&[head, trailers].concat()]).trailers;
    assert_eq!(with(b"\r\n"), None);
    assert_eq!(with(b"no colon\r\n\r\n"), Some(Fields::default()));
}

#[test]
fn is_not_complete_before_its_last_byte() {
    for (wire, head_request, ..) in ANSWERS {
        for end in 0..wire.len() {
            assert_eq!(read(&[&wire[..end]], *head_request).unwrap(), None, "cut at {end}");
        }
    }
}

#[test]
fn reads_a_close_delimited_body_to_the_end_of_the_stream() {
    let (mut response, mut body) = (Response::new(false), Vec::new());
    for part in [b"HTTP/1.0 200 OK\r\n\r\nab".as_slice(), b"cd"] {
        assert_eq!(response.feed(part, &mut Heads::default(), &mut body), Ok(Progress::More));
    }
    let Progress::Done(head) = response.end_of_stream() else { panic!("not done at the close") };
    assert_eq!(
        (head.framing, head.keepalive, body.as_slice()),
        (Framing::Close, false, b"abcd".as_slice())
    );
}

#[test]
fn a_close_before_the_announced_end_is_not_complete() {
    for cut in [&b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhel"[..], b"HTTP/1.1 20", b""] {
        let mut response = Response::new(false);
        response.feed(cut, &mut Heads::default(), &mut ()).unwrap();
        assert_eq!(response.end_of_stream(), Progress::More);
    }
}

#[test]
fn refuses_bytes_after_the_end_at_every_split_point() {
    for (wire, head_request, ..) in ANSWERS {
        let longer = [wire, b"X".as_slice()].concat();
        assert_eq!(read(&[&longer], *head_request), Err(WireError::ExtraBytes));
        for split in 0..wire.len() {
            let parts = [&longer[..split], &longer[split..]];
            assert_eq!(read(&parts, *head_request), Err(WireError::ExtraBytes), "split at {split}");
        }
    }
}

#[test]
fn names_what_is_wrong_the_same_at_every_split_point() {
    let table: &[(&[u8], WireError)] = &[
        (b"\x00\x00\x12\x04\x00\x00\x00\x00\x00rest", WireError::Http2),
        (b"\x00\x00\x12\x05\x00\x00\x00\x00\x00rest", WireError::NotHttp),
        (b"220 mail.example ESMTP\r\n", WireError::NotHttp),
        (b"HTTP/1.1 abc\r\n\r\n", WireError::BadHead),
        (b"\r\n\nHTTP/1.1 abc\r\n\r\n", WireError::BadHead),
        (b" OK\r\n", WireError::NotHttp),
        (b"\r\rHTTP/1.1 200 OK\r\n", WireError::NotHttp),
    ];
    for (wire, error) in table {
        for split in 0..wire.len() {
            assert_eq!(read(&[&wire[..split], &wire[split..]], false), Err(*error), "at {split}");
        }
    }
}

#[test]
fn discards_a_long_body_without_seeing_it() {
    let mut response = Response::new(false);
    response
        .feed(b"HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\nab", &mut Heads::default(), &mut ())
        .unwrap();
    assert_eq!(response.discardable(), 998);
    assert_eq!(response.discard(900), Progress::More);
    assert!(matches!(response.discard(98), Progress::Done(_)));
}

#[test]
fn an_endless_head_is_refused_in_bounded_memory() {
    let mut response = Response::new(false);
    response.feed(b"HTTP/1.1 200 OK\r\n", &mut Heads::default(), &mut ()).unwrap();
    assert_eq!(response.held_bytes(), 17);
    let line = [b"X-Filler: ".as_slice(), &[b'a'; 1000], b"\r\n"].concat();
    let error = (0..200).find_map(|_| response.feed(&line, &mut Heads::default(), &mut ()).err());
    assert_eq!(error, Some(WireError::HeadTooLarge));
    assert!(response.held_bytes() <= wire::MAX_HEAD_BYTES + 1);
}

#[test]
fn an_interim_head_of_the_full_size_hides_nothing_of_the_final_one_at_any_split() {
    // The end of the interim head, the final head and the body may come in one read that is larger
    // than the room that a head has.
    let filler = "a".repeat(wire::MAX_HEAD_BYTES - 100);
    let interim = format!("HTTP/1.1 103 Early Hints\r\nLink: {filler}\r\n\r\n");
    let last =
        format!("HTTP/1.1 200 OK\r\nX: {}\r\nContent-Length: 5\r\n\r\nhello", "b".repeat(9000));
    let whole = [interim.as_bytes(), last.as_bytes()].concat();
    let ends = (interim.len() - 30)..(interim.len() + 40);
    for split in (0..interim.len()).step_by(4099).chain(ends) {
        let read = read(&[&whole[..split], &whole[split..]], false);
        assert_eq!(read, Ok(Some((200, b"hello".to_vec()))), "split at {split}");
    }
}

#[test]
fn interim_answers_are_passed_over_up_to_a_limit_of_their_own_at_every_split() {
    let interim = b"HTTP/1.1 102 Processing\r\n\r\n";
    let last = b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n";
    let most = wire::MAX_INTERIM_ANSWERS as usize;
    let answer = |count: usize| [interim.repeat(count), last.to_vec()].concat();
    for size in [1, 2, 27, 28, 29, 1000, 1 << 20] {
        let answered = |count| read(&answer(count).chunks(size).collect::<Vec<_>>(), false);
        assert_eq!(answered(most), Ok(Some((200, Vec::new()))), "in pieces of {size}");
        assert_eq!(answered(most + 1), Err(WireError::TooManyInterim), "in pieces of {size}");
    }
}

#[test]
fn large_interim_answers_are_refused_in_bounded_memory() {
    let interim = format!("HTTP/1.1 103 Early Hints\r\nLink: {}\r\n\r\n", "a".repeat(20_000));
    let mut response = Response::new(false);
    let mut feed = || response.feed(interim.as_bytes(), &mut Heads::default(), &mut ());
    assert_eq!([feed(), feed(), feed()], [Ok(Progress::More); 3]);
    assert_eq!(feed(), Err(WireError::TooManyInterim));
}

#[test]
fn damaged_answers_end_in_an_error_or_wait_but_never_panic() {
    let mut seed = 0x9e37_79b9_7f4a_7c15_u64;
    let mut random = move || {
        seed ^= seed << 13;
        seed ^= seed >> 7;
        seed ^= seed << 17;
        usize::try_from(seed >> 33).unwrap()
    };
    for _ in 0..200_000 {
        let (wire, head_request, ..) = ANSWERS[random() % ANSWERS.len()];
        let mut bytes = wire.to_vec();
        for _ in 0..=random() % 3 {
            let at = random() % bytes.len();
            bytes[at] = u8::try_from(random() % 256).unwrap();
        }
        let split = random() % bytes.len();
        let whole = read(&[&bytes], head_request);
        let halves = read(&[&bytes[..split], &bytes[split..]], head_request);
        // Where the damage is seen may depend on the split; whether the response is complete may not.
        assert_eq!(whole.ok(), halves.ok(), "{:?} at {split}", String::from_utf8_lossy(&bytes));
    }
}
