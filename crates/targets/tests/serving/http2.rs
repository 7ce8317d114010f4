//! Targets over HTTP/2 with prior knowledge, over plain sockets (RFC 9113).

use std::io::{Read, Write};
use std::net::TcpStream;

use crate::common::{GET, HELLO, connect, exchange, start, wait_for_requests};
use targets::{Fault, FaultVersion};

const PREFACE: &[u8] = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";
const DATA: u8 = 0;
const HEADERS: u8 = 1;
const RST_STREAM: u8 = 3;
const SETTINGS: u8 = 4;
const PUSH_PROMISE: u8 = 5;
const PING: u8 = 6;
const GOAWAY: u8 = 7;
const WINDOW_UPDATE: u8 = 8;
const CONTINUATION: u8 = 9;
const UNKNOWN: u8 = 0xfe;
const END_STREAM: u8 = 1;
const END_HEADERS: u8 = 4;
/// `:scheme: http`, `:path: /` and `:authority: x` after `:method` (RFC 7541, appendix A).
const REST_OF_HEAD: [u8; 5] = [0x86, 0x84, 0x41, 1, b'x'];
const METHOD_GET: u8 = 0x82;

fn frame(kind: u8, flags: u8, stream: u32, payload: &[u8]) -> Vec<u8> {
    let length = u32::try_from(payload.len()).unwrap().to_be_bytes();
    let mut bytes = vec![length[1], length[2], length[3], kind, flags];
    bytes.extend_from_slice(&stream.to_be_bytes());
    bytes.extend_from_slice(payload);
    bytes
}

fn request(stream: u32) -> Vec<u8> {
    let head = [&[METHOD_GET], REST_OF_HEAD.as_slice()].concat();
    frame(HEADERS, END_STREAM | END_HEADERS, stream, &head)
}

fn hello() -> Vec<u8> {
    [PREFACE, &frame(SETTINGS, 0, 0, &[])].concat()
}

/// Reads the next frame: its type, its flags, its stream and its payload.
fn next(socket: &mut TcpStream) -> (u8, u8, u32, Vec<u8>) {
    let mut head = [0; 9];
    socket.read_exact(&mut head).unwrap();
    let [high, middle, low, kind, flags, stream @ ..] = head;
    let mut payload =
        vec![0; usize::from(high) << 16 | usize::from(middle) << 8 | usize::from(low)];
    socket.read_exact(&mut payload).unwrap();
    (kind, flags, u32::from_be_bytes(stream), payload)
}

/// Reads until so many responses have ended, and returns their streams and the bytes of all bodies.
fn responses(socket: &mut TcpStream, count: usize) -> (Vec<u32>, Vec<u8>) {
    let (mut ended, mut body) = (Vec::new(), Vec::new());
    while ended.len() < count {
        let (kind, flags, stream, payload) = next(socket);
        if kind == DATA {
            body.extend_from_slice(&payload);
        }
        if matches!(kind, DATA | HEADERS) && flags & END_STREAM != 0 {
            ended.push(stream);
        }
    }
    ended.sort_unstable();
    (ended, body)
}

#[test]
fn many_requests_of_a_connection_are_answered_and_counted() {
    let target = start(r#"{"kind":"hello"}"#);
    let mut socket = connect(&target);
    let requests: Vec<u8> = (0..50).flat_map(|number| request(2 * number + 1)).collect();
    socket.write_all(&[hello(), requests].concat()).unwrap();
    let (streams, body) = responses(&mut socket, 50);
    assert_eq!(streams, (0..50).map(|number| 2 * number + 1).collect::<Vec<_>>());
    assert_eq!(body, b"Hello world".repeat(50));
    target.stop().unwrap();
    let counts = target.counts();
    assert_eq!((counts.connections, counts.requests, counts.answered), (1, 50, 50));
}

#[test]
fn a_body_of_a_request_is_read_before_the_response() {
    let target = start(r#"{"kind":"hello"}"#);
    let mut socket = connect(&target);
    let head = [&[0x83], REST_OF_HEAD.as_slice()].concat(); // `:method: POST`
    let open = frame(HEADERS, END_HEADERS, 1, &head);
    socket.write_all(&[hello(), open, frame(DATA, 0, 1, b"half")].concat()).unwrap();
    socket.write_all(&request(3)).unwrap();
    assert_eq!(responses(&mut socket, 1).0, [3]);
    assert_eq!(target.counts().requests, 1);
    socket.write_all(&frame(DATA, END_STREAM, 1, b"whole")).unwrap();
    assert_eq!(responses(&mut socket, 1).0, [1]);
    target.stop().unwrap();
    assert_eq!((target.counts().requests, target.counts().answered), (2, 2));
}

#[test]
fn a_response_that_flow_control_holds_back_is_not_counted_as_answered() {
    const SIZE: usize = 100_000;
    const WINDOW: usize = 65_535;
    let target = start(r#"{"kind":"bytes","size":100000}"#);
    let mut socket = connect(&target);
    socket.write_all(&[hello(), request(1)].concat()).unwrap();
    let mut received = 0;
    while received < WINDOW {
        let (kind, _, _, payload) = next(&mut socket);
        received += if kind == DATA { payload.len() } else { 0 };
    }
    assert_eq!(received, WINDOW);
    wait_for_requests(&target, 1);
    assert_eq!(target.counts().answered, 0);
    let more = u32::try_from(SIZE).unwrap().to_be_bytes();
    let updates = [0, 1].map(|stream| frame(WINDOW_UPDATE, 0, stream, &more));
    socket.write_all(&updates.concat()).unwrap();
    assert_eq!(responses(&mut socket, 1).1.len(), SIZE - WINDOW);
    target.stop().unwrap();
    assert_eq!(target.counts().answered, 1);
}

#[test]
fn delays_of_one_connection_are_served_at_once() {
    let spec = r#"{"kind":"delay","delay":{"kind":"constant","ns":50000000}}"#;
    let target = start(spec);
    let mut socket = connect(&target);
    let requests: Vec<u8> = (0..40).flat_map(|number| request(2 * number + 1)).collect();
    socket.write_all(&[hello(), requests].concat()).unwrap();
    responses(&mut socket, 1);
    assert_eq!(target.counts().requests, 40, "all were read before the first delay was over");
    responses(&mut socket, 39);
    target.stop().unwrap();
    assert_eq!(target.counts().answered, 40);
}

/// The frames with which the target meets one request: their types and streams.
fn meets(fault: Fault) -> Vec<(u8, u32)> {
    const RESPONSE: [(u8, u32); 2] = [(HEADERS, 1), (DATA, 1)];
    let response = |before: &[(u8, u32)]| [before, &RESPONSE].concat();
    match fault {
        Fault::H2Refused | Fault::H2Cancel => vec![(RST_STREAM, 1)],
        Fault::H2Reset => vec![(HEADERS, 1), (RST_STREAM, 1)],
        Fault::H2GoAway => response(&[(GOAWAY, 0)]),
        Fault::H2GoAwayError => vec![(GOAWAY, 0)],
        Fault::H2Closed | Fault::H2HalfBody => response(&[]),
        Fault::H2BadHead | Fault::H2HeadBomb => vec![(HEADERS, 1)],
        Fault::H2Continuations => vec![(HEADERS, 1), (CONTINUATION, 1), (CONTINUATION, 1)],
        Fault::H2Pings => vec![(PING, 0); 5],
        Fault::H2Settings => vec![(SETTINGS, 0); 5],
        Fault::H2Resets => vec![(RST_STREAM, 1_003), (RST_STREAM, 1_005)],
        Fault::H2ResetFlood => vec![(RST_STREAM, 1); 1_000],
        Fault::H2Push => vec![(PUSH_PROMISE, 1)],
        Fault::H2BadFrame => vec![(DATA, 0)],
        Fault::H2Overflow => vec![(WINDOW_UPDATE, 0); 2],
        Fault::H2Frames => vec![(UNKNOWN, 1), (HEADERS, 1), (HEADERS, 1), (CONTINUATION, 1)],
        Fault::H2Changes => response(&[(SETTINGS, 0), (SETTINGS, 0)]),
        _ => vec![],
    }
}

fn faults() -> impl Iterator<Item = Fault> {
    let faults = Fault::ALL.iter().filter(|fault| fault.version() == FaultVersion::Http2);
    assert!(faults.clone().count() > 10, "the table of faults has few of HTTP/2");
    faults.copied()
}

#[test]
fn each_fault_begins_as_it_says_and_is_counted() {
    for fault in faults() {
        let name = fault.name();
        let target = start(&format!(r#"{{"kind":"faulty","fault":"{name}","share":1.0}}"#));
        let mut socket = connect(&target);
        let body = fault == Fault::H2ZeroWindow;
        let open = frame(HEADERS, END_HEADERS, 1, &[METHOD_GET, 0x86, 0x84]);
        socket.write_all(&[hello(), if body { open } else { request(1) }].concat()).unwrap();
        for expected in [vec![(SETTINGS, 0), (SETTINGS, 0)], meets(fault)].concat() {
            let (kind, _, stream, _) = next(&mut socket);
            assert_eq!((kind, stream), expected, "{name}");
        }
        wait_for_requests(&target, u64::from(!body));
        while target.counts().faults[name] == 0 {
            std::thread::yield_now();
        }
        target.stop().unwrap();
        let counts = target.counts();
        assert_eq!(counts.requests, u64::from(!body), "{name}");
        assert_eq!(counts.answered, u64::from(fault.answers()), "{name}");
    }
}

#[test]
fn who_is_spared_is_answered_over_both_versions() {
    for fault in faults() {
        let name = fault.name();
        let target = start(&format!(r#"{{"kind":"faulty","fault":"{name}","share":0.0}}"#));
        let mut socket = connect(&target);
        socket.write_all(&[hello(), request(1), request(3)].concat()).unwrap();
        assert_eq!(responses(&mut socket, 2), (vec![1, 3], b"Hello worldHello world".to_vec()));
        assert_eq!(exchange(&mut connect(&target), GET, HELLO.len()), HELLO);
        target.stop().unwrap();
        let counts = target.counts();
        assert_eq!((counts.requests, counts.answered, counts.faults[name]), (3, 3, 0));
    }
}

#[test]
fn a_client_of_http1_does_not_meet_a_fault_of_http2() {
    let target = start(r#"{"kind":"faulty","fault":"h2_refused","share":1.0}"#);
    assert_eq!(exchange(&mut connect(&target), GET, HELLO.len()), HELLO);
    target.stop().unwrap();
    assert_eq!((target.counts().answered, target.counts().faults["h2_refused"]), (1, 0));
}

#[test]
fn a_preface_that_comes_in_pieces_is_understood() {
    let target = start(r#"{"kind":"faulty","fault":"h2_refused","share":0.0}"#);
    let mut socket = connect(&target);
    for byte in hello().chunks(1) {
        socket.write_all(byte).unwrap();
    }
    socket.write_all(&request(1)).unwrap();
    assert_eq!(responses(&mut socket, 1).0, [1]);
}
