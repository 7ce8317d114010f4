//! From the first listen to the last close.

use std::io::{ErrorKind, Read};
use std::net::TcpStream;

use crate::common::{GET, HELLO, connect, exchange, start, wait_for_requests};
use targets::{Spec, Target};

#[test]
fn nothing_listens_after_stop_and_stopping_again_does_nothing() {
    for threads in [1, 3] {
        // With an address of its own, no other process takes the port when it is free again.
        let host = "127.0.0.84";
        let target = start(&format!(r#"{{"kind":"hello","host":"{host}","threads":{threads}}}"#));
        exchange(&mut connect(&target), GET, HELLO.len());
        target.stop().unwrap();
        target.stop().unwrap();
        let error = TcpStream::connect(target.addr()).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::ConnectionRefused);
        assert_eq!(target.counts().answered, 1, "counts outlive the target");
    }
}

#[test]
fn dropping_stops() {
    let target = start(r#"{"kind":"hello","host":"127.0.0.85"}"#);
    let address = target.addr();
    drop(target);
    assert_eq!(TcpStream::connect(address).unwrap_err().kind(), ErrorKind::ConnectionRefused);
}

#[test]
fn stopping_closes_connections_in_the_middle_of_an_exchange() {
    let target = start(r#"{"kind":"delay","delay":{"kind":"constant","ns":3600000000000}}"#);
    let mut stream = connect(&target);
    exchange(&mut stream, GET, 0);
    wait_for_requests(&target, 1);
    target.stop().unwrap();
    assert_eq!(stream.read(&mut [0]).unwrap(), 0);
    let counts = target.counts();
    assert_eq!((counts.connections, counts.requests, counts.answered), (1, 1, 0));
}

#[test]
fn starts_again_on_the_same_port_at_once() {
    let first = start(r#"{"kind":"hello","host":"127.0.0.86"}"#);
    let port = first.addr().port();
    let mut stream = connect(&first);
    exchange(&mut stream, GET, HELLO.len());
    first.stop().unwrap();
    let second = start(&format!(r#"{{"kind":"hello","host":"127.0.0.86","port":{port}}}"#));
    assert_eq!(exchange(&mut connect(&second), GET, HELLO.len()), HELLO);
}

#[test]
fn a_port_in_use_is_an_error_also_for_many_threads() {
    for (first, second) in [(1, 1), (1, 2), (2, 1), (2, 2)] {
        let target = start(&format!(r#"{{"kind":"hello","threads":{first}}}"#));
        let port = target.addr().port();
        let spec = format!(r#"{{"kind":"hello","port":{port},"threads":{second}}}"#);
        let spec: Spec = serde_json::from_str(&spec).unwrap();
        let error = Target::start(spec).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::AddrInUse);
        assert!(error.to_string().starts_with(&target.addr().to_string()), "{error}");
    }
}

#[test]
fn says_which_host_cannot_be_found() {
    let spec = serde_json::from_str(r#"{"kind":"hello","host":"no such host"}"#).unwrap();
    let error = Target::start(spec).unwrap_err();
    assert!(error.to_string().starts_with("host no such host: "), "{error}");
}
