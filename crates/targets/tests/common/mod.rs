//! A client of raw bytes: it sends them, and returns the received ones.
#![allow(dead_code, reason = "each test binary uses its part")]
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test may fail")]

use std::io::{ErrorKind, Read, Write};
use std::net::TcpStream;
use std::time::{Duration, Instant};

use targets::{Spec, Target};

pub(crate) const GET: &[u8] = b"GET / HTTP/1.1\r\nhost: x\r\n\r\n";
pub(crate) const HEAD: &[u8] = b"HEAD / HTTP/1.1\r\nhost: x\r\n\r\n";
pub(crate) const HELLO: &str =
    "HTTP/1.1 200 OK\r\ncontent-type: text/plain\r\ncontent-length: 11\r\n\r\nHello world";

/// What has to come, comes within this time on any machine.
const PATIENCE: Duration = Duration::from_secs(10);
/// What has not come in this time is taken for not coming.
const SILENCE: Duration = Duration::from_millis(60);

/// How a connection is after what was expected has been read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Ending {
    Open,
    Closed,
    Reset,
}

pub(crate) fn start(spec: &str) -> Target {
    let spec: Spec = serde_json::from_str(spec).unwrap();
    Target::start(spec).unwrap()
}

pub(crate) fn connect(target: &Target) -> TcpStream {
    let stream = TcpStream::connect(target.addr()).unwrap();
    stream.set_read_timeout(Some(PATIENCE)).unwrap();
    stream
}

/// Sends a request and reads as many bytes as are expected.
pub(crate) fn exchange(stream: &mut TcpStream, request: &[u8], expected: usize) -> String {
    stream.write_all(request).unwrap();
    read(stream, expected)
}

pub(crate) fn read(stream: &mut TcpStream, expected: usize) -> String {
    let mut bytes = vec![0; expected];
    stream.read_exact(&mut bytes).unwrap();
    String::from_utf8_lossy(&bytes).into_owned()
}

/// Waits until the target has counted so many requests.
pub(crate) fn wait_for_requests(target: &Target, requests: u64) {
    let limit = Instant::now() + 3 * PATIENCE;
    while target.counts().requests < requests {
        assert!(Instant::now() < limit, "{} of {requests}", target.counts().requests);
        std::thread::yield_now();
    }
}

/// Fails when there are more bytes.
pub(crate) fn ending(stream: &mut TcpStream, expected: Ending) -> Ending {
    let patience = if expected == Ending::Open { SILENCE } else { PATIENCE };
    stream.set_read_timeout(Some(patience)).unwrap();
    match stream.read(&mut [0]) {
        Ok(0) => Ending::Closed,
        Ok(_) => panic!("more bytes than expected"),
        Err(error) if error.kind() == ErrorKind::ConnectionReset => Ending::Reset,
        Err(error) if error.kind() == ErrorKind::WouldBlock => Ending::Open,
        Err(error) => panic!("{error}"),
    }
}
