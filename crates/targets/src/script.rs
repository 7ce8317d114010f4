//! The bytes of each fault: a few steps, decided before the first.

use std::io::Write;
use std::sync::LazyLock;
use std::time::Duration;

use crate::hello::{TEXT, TEXT_TYPE};
use crate::step::{FaultStep, POUR, POUR_BYTES};
use crate::{Fault, http2_script, random};

/// The pause before a reset, in which the client reads the bytes before it.
const BEFORE_RESET: Duration = Duration::from_millis(20);
const DRIP: Duration = Duration::from_millis(100);
const SLOW: Duration = Duration::from_secs(1);
const HUGE_BYTES: usize = 1 << 20;
const GARBAGE_BYTES: u64 = 64;
const BOMB_BYTES: usize = 32 << 20;

/// The response without a fault: the same bytes as those of the hello target.
pub(crate) fn hello(head_only: bool) -> Vec<FaultStep> {
    vec![FaultStep::Send(message("200 OK", TEXT, head_only))]
}

/// Returns the steps for request `number`. If they do not end with silence, close or reset, the connection
/// stays open for the next request.
pub(crate) fn of(fault: Fault, head_only: bool, number: u64) -> Vec<FaultStep> {
    use FaultStep::{Close, Drip, Pause, Pour, Reset, Send, Silence};
    let ok = message("200 OK", TEXT, head_only);
    let half_head = || Send(b"HTTP/1.1 200 OK\r\ncontent-type: text/pl".to_vec());
    let half_body = || Send(with_header("content-length: 11\r\n", "Hello"));
    match fault {
        Fault::ResetBefore => vec![Reset],
        Fault::ResetInHead => vec![half_head(), Pause(BEFORE_RESET), Reset],
        Fault::ResetInBody => vec![half_body(), Pause(BEFORE_RESET), Reset],
        Fault::SlowLoris => {
            let head = with_header("content-length: 1000000000\r\n", "");
            vec![Drip(head, DRIP), Pour(b"a".to_vec(), DRIP)]
        }
        Fault::ClosedBefore | Fault::ClosedOnReuse => vec![Close],
        Fault::ClosedInHead => vec![half_head(), Close],
        Fault::ClosedEarly => vec![half_body(), Close],
        Fault::CloseAfter => vec![Send(ok), Close],
        Fault::LengthTooLong => {
            vec![Send(with_header("content-length: 1000\r\n", TEXT)), Silence]
        }
        Fault::LengthTooShort => vec![Send(with_header("content-length: 5\r\n", TEXT))],
        Fault::BadLength => vec![Send(with_header("content-length: banana\r\n", TEXT))],
        Fault::TwoLengths => {
            vec![Send(with_header("content-length: 11\r\ncontent-length: 12\r\n", TEXT))]
        }
        Fault::BadChunk => vec![Send(chunked("zz\r\nHello world\r\n0\r\n\r\n"))],
        Fault::BadChunkEnd => vec![Send(chunked("b\r\nHello worldXX0\r\n\r\n"))],
        Fault::Garbage => vec![Send(garbage(number)), Close],
        Fault::Http2Only => vec![Send(http2_script::refusal()), Close],
        Fault::HugeHead => vec![Send(with_header(&filler(HUGE_BYTES), ""))],
        Fault::EndlessHead => {
            vec![Send(b"HTTP/1.1 200 OK\r\n".to_vec()), Pour(filler(POUR_BYTES).into(), POUR)]
        }
        Fault::SlowHead => {
            vec![Send(b"HTTP/1.1 200 OK\r\nx-slow: ".to_vec()), Pour(b"a".to_vec(), SLOW)]
        }
        Fault::EndlessInterim => {
            let interim = "HTTP/1.1 102 Processing\r\n\r\n";
            vec![Pour(interim.repeat(POUR_BYTES / interim.len()).into(), POUR)]
        }
        Fault::EndlessBody => vec![Send(chunked("")), Pour(chunk(POUR_BYTES), POUR)],
        Fault::EndlessLine => {
            let head = "content-type: text/event-stream\r\ntransfer-encoding: chunked\r\n";
            let head = format!("HTTP/1.1 200 OK\r\n{head}\r\n6\r\ndata: \r\n");
            vec![Send(head.into()), Pour(chunk(POUR_BYTES), POUR)]
        }
        Fault::GzipBomb => vec![Send(gzip_bomb(head_only))],
        Fault::Status503 => {
            vec![Send(message("503 Service Unavailable", "Service Unavailable", head_only))]
        }
        // No request ever reaches a target that does not accept.
        Fault::Hang | Fault::NoAccept => vec![Silence],
        Fault::CloseDelimited => {
            let body = if head_only { "" } else { TEXT };
            let head = format!("HTTP/1.0 200 OK\r\ncontent-type: {TEXT_TYPE}\r\n\r\n");
            vec![Send((head + body).into()), Close]
        }
        Fault::Interim100 => {
            let hints = b"HTTP/1.1 103 Early Hints\r\nlink: </style.css>; rel=preload\r\n\r\n";
            vec![Send([hints.as_slice(), &ok].concat())]
        }
        Fault::NoContent => vec![Send(b"HTTP/1.1 204 No Content\r\n\r\n".to_vec())],
        Fault::NotModified => {
            vec![Send(b"HTTP/1.1 304 Not Modified\r\ncontent-length: 11\r\n\r\n".to_vec())]
        }
        // Faults of HTTP/2 are not met over HTTP/1.1.
        _ => vec![Send(ok)],
    }
}

/// Returns a correct response.
fn message(status: &str, body: &str, head_only: bool) -> Vec<u8> {
    let length = body.len();
    let body = if head_only { "" } else { body };
    format!(
        "HTTP/1.1 {status}\r\ncontent-type: {TEXT_TYPE}\r\ncontent-length: {length}\r\n\r\n{body}"
    )
    .into()
}

/// Returns a response with these header lines, right or wrong.
fn with_header(lines: &str, body: &str) -> Vec<u8> {
    format!("HTTP/1.1 200 OK\r\ncontent-type: {TEXT_TYPE}\r\n{lines}\r\n{body}").into()
}

fn chunked(body: &str) -> Vec<u8> {
    with_header("transfer-encoding: chunked\r\n", body)
}

fn chunk(bytes: usize) -> Vec<u8> {
    format!("{bytes:x}\r\n{}\r\n", "a".repeat(bytes)).into()
}

/// Returns header lines of at least so many bytes.
fn filler(bytes: usize) -> String {
    let line = format!("x-filler: {}\r\n", "a".repeat(988));
    line.repeat(bytes.div_ceil(line.len()))
}

/// Returns bytes whose first is no ASCII, so that they are never the start of a response.
fn garbage(number: u64) -> Vec<u8> {
    let byte = |lane| random::bits(number, lane, 0).to_le_bytes()[0];
    (0..GARBAGE_BYTES).map(|lane| if lane == 0 { byte(lane) | 0x80 } else { byte(lane) }).collect()
}

/// Returns a response whose body is a thousand times larger when it is decompressed.
fn gzip_bomb(head_only: bool) -> Vec<u8> {
    static BODY: LazyLock<Vec<u8>> = LazyLock::new(|| {
        let mut packed = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::best());
        // Writing to memory does not fail.
        let _ = packed.write_all(&vec![b'a'; BOMB_BYTES]);
        packed.finish().unwrap_or_default()
    });
    let length = BODY.len();
    let head = format!("content-encoding: gzip\r\ncontent-length: {length}\r\n");
    let mut answer = with_header(&head, "");
    if !head_only {
        answer.extend_from_slice(&BODY);
    }
    answer
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_fault_does_something_and_ends_or_stays_usable() {
        for &fault in Fault::ALL {
            let steps = of(fault, false, 1);
            assert!(!steps.is_empty(), "{}", fault.name());
            let sends = steps.iter().filter(|step| matches!(step, FaultStep::Send(_))).count();
            assert!(!fault.answers() || sends == 1, "{}: a response is one send", fault.name());
        }
    }

    #[test]
    fn a_legal_answer_to_head_has_no_body() {
        for &fault in Fault::ALL.iter().filter(|fault| fault.answers()) {
            let FaultStep::Send(bytes) = &of(fault, true, 1)[0] else { panic!("{}", fault.name()) };
            assert!(bytes.ends_with(b"\r\n\r\n"), "{}", fault.name());
        }
    }
}
