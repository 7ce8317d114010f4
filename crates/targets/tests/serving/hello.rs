//! The hello target, over plain sockets.

use crate::common::{
    Ending, GET, HEAD, HELLO, connect, ending, exchange, start, wait_for_requests,
};

const HELLO_HEAD: &str =
    "HTTP/1.1 200 OK\r\ncontent-type: text/plain\r\ncontent-length: 11\r\n\r\n";

#[test]
fn says_hello_again_and_again_on_one_connection() {
    let target = start(r#"{"kind":"hello"}"#);
    let mut stream = connect(&target);
    for _ in 0..3 {
        assert_eq!(exchange(&mut stream, GET, HELLO.len()), HELLO);
    }
    assert_eq!(ending(&mut stream, Ending::Open), Ending::Open);
    target.stop().unwrap();
    let counts = target.counts();
    assert_eq!((counts.connections, counts.requests, counts.answered), (1, 3, 3));
    assert_eq!(counts.bytes_out, 3 * HELLO.len() as u64);
    assert!(counts.faults.is_empty());
}

#[test]
fn says_it_in_json() {
    let expected = "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\n\
        content-length: 15\r\n\r\n{\"status\":\"ok\"}";
    let target = start(r#"{"kind":"hello","json":true}"#);
    assert_eq!(exchange(&mut connect(&target), GET, expected.len()), expected);
}

#[test]
fn gives_head_the_head_only() {
    let target = start(r#"{"kind":"hello"}"#);
    let mut stream = connect(&target);
    assert_eq!(exchange(&mut stream, HEAD, HELLO_HEAD.len()), HELLO_HEAD);
    assert_eq!(exchange(&mut stream, GET, HELLO.len()), HELLO);
    target.stop().unwrap();
    assert_eq!(target.counts().answered, 2);
}

#[test]
fn answers_pipelined_requests_one_by_one() {
    let target = start(r#"{"kind":"hello"}"#);
    let (request, expected) = (GET.repeat(20), HELLO.repeat(20));
    assert_eq!(exchange(&mut connect(&target), &request, expected.len()), expected);
    target.stop().unwrap();
    let counts = target.counts();
    assert_eq!((counts.requests, counts.answered), (20, 20));
    assert_eq!(counts.bytes_out, expected.len() as u64);
}

#[test]
fn reads_bodies_of_both_framings_to_their_end() {
    let target = start(r#"{"kind":"hello"}"#);
    let mut stream = connect(&target);
    let mut sized = b"POST / HTTP/1.1\r\nhost: x\r\ncontent-length: 100000\r\n\r\n".to_vec();
    sized.resize(sized.len() + 100_000, b'x');
    let chunked = b"PUT / HTTP/1.1\r\nhost: x\r\ntransfer-encoding: chunked\r\n\r\n\
        3\r\nabc\r\na\r\n0123456789\r\n0\r\n\r\n";
    assert_eq!(exchange(&mut stream, &sized, HELLO.len()), HELLO);
    assert_eq!(exchange(&mut stream, chunked, HELLO.len()), HELLO);
    assert_eq!(exchange(&mut stream, GET, HELLO.len()), HELLO);
    target.stop().unwrap();
    assert_eq!((target.counts().requests, target.counts().answered), (3, 3));
}

#[test]
fn does_not_count_a_request_whose_body_is_cut_off() {
    let target = start(r#"{"kind":"hello"}"#);
    let mut stream = connect(&target);
    exchange(&mut stream, b"POST / HTTP/1.1\r\nhost: x\r\ncontent-length: 9\r\n\r\nabc", 0);
    stream.shutdown(std::net::Shutdown::Write).unwrap();
    let _ = ending(&mut stream, Ending::Closed);
    target.stop().unwrap();
    let counts = target.counts();
    assert_eq!((counts.connections, counts.requests, counts.answered), (1, 0, 0));
}

#[test]
fn counts_the_request_of_a_client_that_leaves_at_once() {
    let target = start(r#"{"kind":"hello"}"#);
    for _ in 0..20 {
        exchange(&mut connect(&target), GET, 0);
    }
    exchange(&mut connect(&target), GET, HELLO.len());
    wait_for_requests(&target, 21);
    target.stop().unwrap();
    assert_eq!((target.counts().connections, target.counts().requests), (21, 21));
}

#[test]
fn closes_when_asked_to() {
    let target = start(r#"{"kind":"hello"}"#);
    let mut stream = connect(&target);
    let expected = HELLO.replace("content-length", "connection: close\r\ncontent-length");
    let request = b"GET / HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n";
    assert_eq!(exchange(&mut stream, request, expected.len()), expected);
    assert_eq!(ending(&mut stream, Ending::Closed), Ending::Closed);
}

#[test]
fn listens_on_ipv6() {
    let target = start(r#"{"kind":"hello","host":"::1"}"#);
    assert!(target.addr().is_ipv6());
    assert_eq!(exchange(&mut connect(&target), GET, HELLO.len()), HELLO);
}

#[test]
fn many_threads_share_a_port_and_their_counts_add_up() {
    let target = start(r#"{"kind":"hello","threads":3}"#);
    for _ in 0..30 {
        assert_eq!(exchange(&mut connect(&target), GET, HELLO.len()), HELLO);
    }
    target.stop().unwrap();
    let counts = target.counts();
    assert_eq!((counts.connections, counts.requests, counts.answered), (30, 30, 30));
}
