//! Limits at their exact values, and small promises that everything above relies on.

use std::collections::BTreeSet;

use wire::{
    Chunked, Dialect, Framing, Head, Heads, Http1Options, Kind, MAX_EVENT_BYTES, MAX_HEAD_BYTES,
    MAX_INTERIM_BYTES, Progress, RequestParts, Response, Sse, WireError,
};

/// A head of exactly so many bytes.
fn head_of(bytes: usize) -> Vec<u8> {
    let start = "HTTP/1.1 200 OK\r\nContent-Length: 0\r\nX: ";
    let filler = "y".repeat(bytes - start.len() - 4);
    format!("{start}{filler}\r\n\r\n").into_bytes()
}

#[test]
fn a_head_may_have_as_many_bytes_as_the_limit_and_not_one_more() {
    let whole = head_of(MAX_HEAD_BYTES);
    assert_eq!(Head::parse(&whole, false).unwrap().unwrap().1, MAX_HEAD_BYTES);
    let larger = head_of(MAX_HEAD_BYTES + 1);
    assert_eq!(Head::parse(&larger, false), Err(WireError::HeadTooLarge));
    // The same while the end has not come.
    let open = head_of(MAX_HEAD_BYTES + 4);
    assert_eq!(Head::parse(&open[..MAX_HEAD_BYTES], false), Ok(None));
    assert_eq!(Head::parse(&open[..=MAX_HEAD_BYTES], false), Err(WireError::HeadTooLarge));
}

#[test]
fn interim_heads_may_have_as_many_bytes_as_the_limit_and_not_one_more() {
    let interim = |bytes: usize| {
        let start = "HTTP/1.1 103 Early\r\nX: ";
        format!("{start}{}\r\n\r\n", "y".repeat(bytes - start.len() - 4)).into_bytes()
    };
    for (bytes, expected) in
        [(MAX_INTERIM_BYTES, Ok(Progress::More)), (MAX_INTERIM_BYTES + 1, Err(()))]
    {
        let (mut response, mut heads) = (Response::new(false), Heads::default());
        let half = bytes / 2;
        assert_eq!(response.feed(&interim(half), &mut heads, &mut ()), Ok(Progress::More));
        let fed = response.feed(&interim(bytes - half), &mut heads, &mut ());
        assert_eq!(fed.map_err(drop), expected, "{bytes}");
    }
}

#[test]
fn extensions_of_chunks_may_have_as_many_bytes_as_the_limit_and_not_one_more() {
    for (bytes, is_ok) in [(MAX_HEAD_BYTES, true), (MAX_HEAD_BYTES + 1, false)] {
        let body = format!("1;{}\r\nx\r\n0\r\n\r\n", "e".repeat(bytes));
        let mut decoder = Chunked::default();
        assert_eq!(decoder.feed(body.as_bytes(), |_| (), |_| ()).is_ok(), is_ok, "{bytes}");
        assert_eq!(decoder.is_done(), is_ok);
    }
}

#[test]
fn the_size_of_a_chunk_has_the_base_sixteen() {
    let mut body = Vec::new();
    let text = [b"1a\r\n".as_slice(), &[b'x'; 26], b"\r\n0\r\n\r\n"].concat();
    let used =
        Chunked::default().feed(&text, |piece| body.extend_from_slice(piece), |_| ()).unwrap();
    assert_eq!((used, body.len()), (text.len(), 26));
}

#[test]
fn an_event_may_have_as_many_bytes_as_the_limit() {
    assert_eq!(MAX_EVENT_BYTES, 16 << 20);
    let mut sse = Sse::default();
    assert!(sse.feed(&vec![b'x'; MAX_EVENT_BYTES / 2], |_| ()).is_ok());
    assert_eq!(sse.held_bytes(), MAX_EVENT_BYTES / 2);
    let mut sse = Sse::default();
    assert!(sse.feed(b"event: name\ndata: one\ndata: two\nid", |_| ()).is_ok());
    assert_eq!(sse.held_bytes(), "name".len() + "one\ntwo".len() + "id".len());
    // Two lines of data are joined with a line feed.
    for (second, is_ok) in [(MAX_EVENT_BYTES / 2 - 1, true), (MAX_EVENT_BYTES / 2, false)] {
        let (mut sse, mut lengths) = (Sse::default(), Vec::new());
        let lines = [MAX_EVENT_BYTES / 2, second]
            .map(|length| [b"data:", vec![b'x'; length].as_slice(), b"\n"].concat());
        let result = sse.feed(&[lines.concat().as_slice(), b"\n"].concat(), |event| {
            lengths.push(event.data.map_or(0, <[u8]>::len))
        });
        let expected = if is_ok { vec![MAX_EVENT_BYTES] } else { Vec::new() };
        assert_eq!((result.is_ok(), lengths), (is_ok, expected));
    }
}

#[test]
fn answers_with_some_statuses_have_no_body_whatever_their_head_says() {
    for (status, framing) in [
        (100, Framing::None),
        (199, Framing::None),
        (200, Framing::Length(5)),
        (201, Framing::Length(5)),
        (204, Framing::None),
        (304, Framing::None),
        (305, Framing::Length(5)),
    ] {
        let text = format!("HTTP/1.1 {status} X\r\nContent-Length: 5\r\n\r\n");
        let (head, _) = Head::parse(text.as_bytes(), false).unwrap().unwrap();
        assert_eq!(head.framing, framing, "{status}");
        let (head, _) = Head::parse(text.as_bytes(), true).unwrap().unwrap();
        assert_eq!(head.framing, Framing::None, "{status} to HEAD");
    }
}

#[test]
fn only_the_first_frame_of_http_2_is_taken_for_one() {
    let settings = [0, 0, 18, 4, 0, 0, 0, 0, 0];
    assert_eq!(Head::parse(&settings, false), Err(WireError::Http2));
    for at in [0, 5, 8] {
        let mut other = settings;
        other[at] = 1;
        assert_eq!(Head::parse(&other, false), Err(WireError::NotHttp), "{at}");
    }
}

#[test]
fn a_response_has_its_head_once_it_is_complete() {
    let (mut response, mut heads) = (Response::new(false), Heads::default());
    response.feed(b"HTTP/1.1 200 O", &mut heads, &mut ()).unwrap();
    assert_eq!(response.head(), None);
    response.feed(b"K\r\nContent-Length: 1\r\n\r\n", &mut heads, &mut ()).unwrap();
    assert_eq!(response.head().map(|head| head.status), Some(200));
}

#[test]
fn a_request_announces_its_body_unless_a_field_of_the_user_does() {
    let encoded = |method: &str, fields: &[(&str, &str)]| {
        let fields: Vec<_> =
            fields.iter().map(|(name, value)| ((*name).into(), (*value).into())).collect();
        let parts = RequestParts {
            method,
            scheme: "http",
            authority: "h",
            target: "/",
            fields: &fields,
            body: Some(b"xy"),
        };
        let request = parts.to_http1(Http1Options::default()).unwrap();
        String::from_utf8(request.into()).unwrap()
    };
    let announced = |text: &str| text.contains("Content-Length: 2");
    assert!(announced(&encoded("PUT", &[])));
    assert!(!announced(&encoded("PUT", &[("content-length", "9")])));
    assert!(!announced(&encoded("PUT", &[("Transfer-Encoding", "chunked")])));
}

#[test]
fn names_and_texts_are_there_and_differ() {
    let kinds: BTreeSet<_> = Kind::ALL.iter().map(|kind| kind.name()).collect();
    assert_eq!((kinds.len(), kinds.contains("tool_call")), (Kind::ALL.len(), true));
    assert!(kinds.iter().all(|name| !name.is_empty()));
    let texts = [WireError::Http2, WireError::NotHttp, WireError::BadHead, WireError::BadChunk]
        .map(|error| error.to_string());
    assert!(texts.iter().all(|text| text.len() > 5), "{texts:?}");
    assert_eq!(BTreeSet::from(texts).len(), 4);
    let ends =
        [Dialect::Openai, Dialect::Dify, Dialect::Anthropic, Dialect::Plain].map(Dialect::has_end);
    assert_eq!(ends, [true, true, true, false]);
}
