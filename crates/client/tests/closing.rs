//! The end of a connection, on real sockets.

#![allow(clippy::unwrap_used)] // A test that cannot go on may panic.

use std::io::{Read, Write};
use std::net::TcpListener;

use client::{Connection, Opening, Protocol, Scratch};
use net::{Address, Driver, Epoll};

/// PING (RFC 9113, 6.7), which torr would have to answer.
const PING: &[u8] = b"\0\0\x08\x06\0\0\0\0\0question";
/// GOAWAY without an error: nothing was processed.
const GOAWAY: &[u8] = b"\0\0\x08\x07\0\0\0\0\0\0\0\0\0\0\0\0\0";

#[test]
fn a_server_of_http2_hears_the_end_although_torr_has_not_read_all_that_it_sent() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let mut driver = Epoll::new().unwrap();
    let socket = driver.dial(&Address::Ip(listener.local_addr().unwrap()), None, 1).unwrap();
    let now = driver.now();
    let protocol = (&Protocol::Http2(1), 0);
    let mut connection = Connection::dialled(socket, None, None, protocol, now);
    let (mut scratch, mut ready) = (Scratch::new(64), Vec::new());
    while !connection.is_open() {
        driver.wait(driver.now() + 1_000_000_000, &mut ready).unwrap();
        for event in &ready {
            let opening = connection.advance(&mut driver, *event, &mut scratch);
            assert!(matches!(opening, Ok(Opening::Open | Opening::Pending)));
        }
    }
    let (mut server, _) = listener.accept().unwrap();
    let pings = PING.repeat(5_000);
    server.write_all(&pings).unwrap();
    while connection.unread(&driver) < pings.len() as u64 {
        std::thread::yield_now();
    }
    connection.close(&mut driver);
    drop(connection);
    let mut received = Vec::new();
    server.read_to_end(&mut received).unwrap();
    assert!(received.ends_with(GOAWAY));
}
