//! Each fault of the faulty target, as a client on a plain socket meets it.

use std::io::{ErrorKind, Write};
use std::net::TcpStream;
use std::time::Duration;

use crate::common::{Ending, GET, HEAD, HELLO, connect, ending, exchange, read, start};
use targets::{Fault, FaultVersion, Target, TargetCounts};

const UNAVAILABLE: &str = "HTTP/1.1 503 Service Unavailable\r\ncontent-type: text/plain\r\n\
    content-length: 19\r\n\r\nService Unavailable";

/// What comes back for one GET, and how the connection is then.
enum Meets {
    /// Exactly these bytes.
    Exactly(String, Ending),
    /// So many bytes that look like this, then the ending.
    Like(usize, fn(&str) -> bool, Ending),
    /// At least so many bytes, and then more for ever.
    Endless(usize, fn(&str) -> bool),
    /// A test of its own.
    Elsewhere,
}

fn meets(fault: Fault) -> Meets {
    use Ending::{Closed, Open, Reset};
    use Meets::{Elsewhere, Endless, Exactly, Like};
    let exactly = |text: &str, ending| Exactly(text.to_owned(), ending);
    let with = |lines: &str, body: &str, ending| {
        let head = format!("HTTP/1.1 200 OK\r\ncontent-type: text/plain\r\n{lines}\r\n");
        Exactly(head + body, ending)
    };
    match fault {
        Fault::ResetBefore => exactly("", Reset),
        Fault::ResetInHead => exactly("HTTP/1.1 200 OK\r\ncontent-type: text/pl", Reset),
        Fault::ResetInBody => with("content-length: 11\r\n", "Hello", Reset),
        Fault::SlowLoris => Endless(4, |text| text == "HTTP"),
        Fault::ClosedBefore => exactly("", Closed),
        Fault::ClosedInHead => exactly("HTTP/1.1 200 OK\r\ncontent-type: text/pl", Closed),
        Fault::ClosedEarly => with("content-length: 11\r\n", "Hello", Closed),
        Fault::ClosedOnReuse | Fault::NoAccept | Fault::GzipBomb => Elsewhere,
        Fault::CloseAfter => exactly(HELLO, Closed),
        Fault::LengthTooLong => with("content-length: 1000\r\n", "Hello world", Open),
        Fault::LengthTooShort => with("content-length: 5\r\n", "Hello world", Open),
        Fault::BadLength => with("content-length: banana\r\n", "Hello world", Open),
        Fault::TwoLengths => {
            with("content-length: 11\r\ncontent-length: 12\r\n", "Hello world", Open)
        }
        Fault::BadChunk => {
            with("transfer-encoding: chunked\r\n", "zz\r\nHello world\r\n0\r\n\r\n", Open)
        }
        Fault::BadChunkEnd => {
            with("transfer-encoding: chunked\r\n", "b\r\nHello worldXX0\r\n\r\n", Open)
        }
        Fault::Garbage => Like(64, |text| !text.starts_with('H'), Closed),
        Fault::Http2Only => Exactly(
            "\0\0\0\u{4}\0\0\0\0\0\0\0\u{8}\u{7}\0\0\0\0\0\0\0\0\0\0\0\0\u{1}".to_owned(),
            Closed,
        ),
        Fault::HugeHead => Like(43 + 1_049 * 1_000 + 2, is_huge_head, Open),
        Fault::SlowHead => Endless(18, |text| !text.contains("\r\n\r\n")),
        Fault::EndlessInterim => {
            Endless(30_000, |text| text.starts_with("HTTP/1.1 102 Processing\r\n\r\nHTTP/1.1 102"))
        }
        Fault::EndlessHead => Endless(30_000, |text| !text.contains("\r\n\r\n")),
        Fault::EndlessBody => Endless(30_000, |text| text.contains("\r\n\r\n2710\r\naaaa")),
        Fault::EndlessLine => {
            Endless(30_000, |text| text.contains("\r\n\r\n6\r\ndata: \r\n2710\r\naaaa"))
        }
        Fault::Status503 => exactly(UNAVAILABLE, Open),
        Fault::Hang => exactly("", Open),
        Fault::CloseDelimited => {
            exactly("HTTP/1.0 200 OK\r\ncontent-type: text/plain\r\n\r\nHello world", Closed)
        }
        Fault::Interim100 => {
            let hints = "HTTP/1.1 103 Early Hints\r\nlink: </style.css>; rel=preload\r\n\r\n";
            exactly(&format!("{hints}{HELLO}"), Open)
        }
        Fault::NoContent => exactly("HTTP/1.1 204 No Content\r\n\r\n", Open),
        Fault::NotModified => {
            exactly("HTTP/1.1 304 Not Modified\r\ncontent-length: 11\r\n\r\n", Open)
        }
        // Those of HTTP/2, gRPC and WebSocket.
        _ if fault.version() != FaultVersion::Http1 => Elsewhere,
        _ => unreachable!("{} is not in this table", fault.name()),
    }
}

#[test]
fn each_fault_is_met_to_the_byte_and_counted() {
    for &fault in Fault::ALL {
        let target = faulty(fault, 1.0);
        let bytes = match meets(fault) {
            Meets::Elsewhere => continue,
            Meets::Exactly(expected, end) => {
                let text = one(&target, expected.len(), Some((fault, end)));
                assert_eq!(text, expected, "{}", fault.name());
                expected.len()
            }
            Meets::Like(length, like, end) => {
                let text = one(&target, length, Some((fault, end)));
                assert!(like(&text), "{}", fault.name());
                length
            }
            Meets::Endless(length, like) => {
                let text = one(&target, length, None);
                assert!(like(&text), "{}: {text:.100}", fault.name());
                length
            }
        };
        target.stop().unwrap();
        let counts = target.counts();
        assert_eq!(counts.connections, 1, "{}", fault.name());
        assert_eq!(counts.requests, 1, "{}", fault.name());
        assert_eq!(counts.answered, u64::from(fault.answers()), "{}", fault.name());
        assert_eq!(faults(&counts, fault), 1, "{}", fault.name());
        match meets(fault) {
            Meets::Endless(..) => assert!(counts.bytes_out >= bytes as u64),
            _ => assert_eq!(counts.bytes_out, bytes as u64, "{}", fault.name()),
        }
    }
}

#[test]
fn who_is_spared_gets_hello() {
    for &fault in Fault::ALL.iter().filter(|&&fault| fault != Fault::NoAccept) {
        let target = faulty(fault, 0.0);
        let mut stream = connect(&target);
        for _ in 0..2 {
            assert_eq!(exchange(&mut stream, GET, HELLO.len()), HELLO, "{}", fault.name());
        }
        target.stop().unwrap();
        let counts = target.counts();
        assert_eq!((counts.requests, counts.answered), (2, 2));
        assert_eq!(counts.faults.into_iter().collect::<Vec<_>>(), [(fault.name(), 0)]);
    }
}

#[test]
fn the_seed_decides_which_requests_have_the_fault() {
    let unlucky = |seed: u64| {
        let target = start(&format!(
            r#"{{"kind":"faulty","fault":"no_content","share":0.25,"seed":{seed}}}"#
        ));
        let mut stream = connect(&target);
        // Both kinds of response begin with 27 bytes that tell them apart.
        let met: Vec<bool> = (0..200)
            .map(|_| {
                let start = exchange(&mut stream, GET, 27);
                let met = start.contains("204");
                read(&mut stream, if met { 0 } else { HELLO.len() - 27 });
                met
            })
            .collect();
        target.stop().unwrap();
        let met_count = met.iter().filter(|&&met| met).count();
        assert_eq!(faults(&target.counts(), Fault::NoContent), met_count as u64);
        assert_eq!(target.counts().answered, 200);
        assert!((30..70).contains(&met_count), "{met_count} of 200 is no quarter");
        met
    };
    assert_eq!(unlucky(1), unlucky(1));
    assert_ne!(unlucky(1), unlucky(2));
}

#[test]
fn closed_on_reuse_answers_once_and_closes_at_the_next_request() {
    let target = faulty(Fault::ClosedOnReuse, 1.0);
    for _ in 0..2 {
        let mut stream = connect(&target);
        assert_eq!(exchange(&mut stream, GET, HELLO.len()), HELLO);
        assert_eq!(ending(&mut stream, Ending::Open), Ending::Open);
        stream.write_all(GET).unwrap();
        assert_eq!(ending(&mut stream, Ending::Closed), Ending::Closed);
    }
    target.stop().unwrap();
    let counts = target.counts();
    assert_eq!((counts.connections, counts.requests, counts.answered), (2, 4, 2));
    assert_eq!(faults(&counts, Fault::ClosedOnReuse), 2);
}

#[test]
fn no_accept_lets_connects_hang() {
    // With an address of its own, no other process takes the port when it is free again.
    let target = start(r#"{"kind":"faulty","fault":"no_accept","host":"127.0.0.83"}"#);
    for _ in 0..2 {
        let error = TcpStream::connect_timeout(&target.addr(), Duration::from_millis(150));
        assert_eq!(error.unwrap_err().kind(), ErrorKind::TimedOut);
    }
    let none = TargetCounts { faults: [("no_accept", 0)].into(), ..TargetCounts::default() };
    assert_eq!(target.counts(), none);
    target.stop().unwrap();
    let error = TcpStream::connect(target.addr()).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::ConnectionRefused);
}

#[test]
fn a_fault_that_leaves_the_connection_open_is_met_again_on_it() {
    let target = faulty(Fault::LengthTooShort, 1.0);
    let mut stream = connect(&target);
    let length = HELLO.len() - 1; // "5" instead of "11"
    for _ in 0..3 {
        assert!(exchange(&mut stream, GET, length).ends_with("Hello world"));
    }
    target.stop().unwrap();
    assert_eq!(faults(&target.counts(), Fault::LengthTooShort), 3);
}

#[test]
fn bodies_are_read_before_the_fault() {
    let target = faulty(Fault::Status503, 1.0);
    let mut stream = connect(&target);
    let sized = b"POST / HTTP/1.1\r\ncontent-length: 5\r\n\r\nhello";
    let chunked = b"POST / HTTP/1.1\r\ntransfer-encoding: chunked\r\n\r\n1\r\na\r\n0\r\n\r\n";
    for request in [sized.as_slice(), chunked] {
        assert_eq!(exchange(&mut stream, request, UNAVAILABLE.len()), UNAVAILABLE);
    }
    assert_eq!(ending(&mut stream, Ending::Open), Ending::Open);
}

#[test]
fn head_gets_no_body_from_a_legal_answer() {
    let target = faulty(Fault::Status503, 1.0);
    let head = UNAVAILABLE.trim_end_matches("Service Unavailable");
    let mut stream = connect(&target);
    for _ in 0..2 {
        assert_eq!(exchange(&mut stream, HEAD, head.len()), head);
    }
    assert_eq!(ending(&mut stream, Ending::Open), Ending::Open);
}

#[test]
fn nonsense_is_closed_and_not_counted() {
    let target = faulty(Fault::Status503, 1.0);
    let mut stream = connect(&target);
    exchange(&mut stream, b"nonsense\r\n\r\n", 0);
    assert_ne!(ending(&mut stream, Ending::Closed), Ending::Open);
    target.stop().unwrap();
    assert_eq!((target.counts().connections, target.counts().requests), (1, 0));
}

fn faulty(fault: Fault, share: f64) -> Target {
    start(&format!(r#"{{"kind":"faulty","fault":"{}","share":{share}}}"#, fault.name()))
}

/// One GET on a connection of its own.
fn one(target: &Target, length: usize, end: Option<(Fault, Ending)>) -> String {
    let mut stream = connect(target);
    let text = exchange(&mut stream, GET, length);
    if let Some((fault, expected)) = end {
        assert_eq!(ending(&mut stream, expected), expected, "{}", fault.name());
    }
    text
}

fn is_huge_head(text: &str) -> bool {
    text.starts_with("HTTP/1.1 200 OK\r\n") && text.find("\r\n\r\n") == Some(text.len() - 4)
}

fn faults(counts: &TargetCounts, fault: Fault) -> u64 {
    counts.faults[fault.name()]
}
