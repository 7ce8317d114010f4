//! The end of a connection, on real sockets.

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::Arc;

use crate::support::{READABLE, WRITABLE};
use client::{
    Connection, Exchange, MessageMatching, Opening, Outline, Protocol, Scratch, WebSocketOptions,
};
use net::{Address, Driver, Epoll};
use wire::websocket::{
    CloseCode, HandshakeRequest, Masking, WebSocketEvent, WebSocketReader, accept_value,
};

/// PING (RFC 9113, 6.7), which torr would have to answer.
const PING: &[u8] = b"\0\0\x08\x06\0\0\0\0\0question";
/// GOAWAY without an error: nothing was processed.
const GOAWAY: &[u8] = b"\0\0\x08\x07\0\0\0\0\0\0\0\0\0\0\0\0\0";
/// A ping of WebSocket.
const WEBSOCKET_PING: &[u8] = b"\x89\x08question";

/// A connection that is open, and the server's end of it.
struct World {
    driver: Epoll,
    connection: Connection<<Epoll as Driver>::Socket>,
    scratch: Scratch,
    server: TcpStream,
}

impl World {
    fn new(protocol: &Protocol) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let mut driver = Epoll::new().unwrap();
        let socket = driver.dial(&Address::Ip(listener.local_addr().unwrap()), None, 1).unwrap();
        let now = driver.now();
        let mut connection = Connection::dialled(socket, None, None, (protocol, 1), now);
        let (mut scratch, mut ready) = (Scratch::new(4096), Vec::new());
        while !connection.is_open() {
            driver.wait(driver.now() + 1_000_000_000, &mut ready).unwrap();
            for event in &ready {
                let opening = connection.advance(&mut driver, *event, &mut scratch);
                assert!(matches!(opening, Ok(Opening::Open | Opening::Pending)));
            }
        }
        let (server, _) = listener.accept().unwrap();
        Self { driver, connection, scratch, server }
    }

    fn drive(&mut self, event: net::Ready) {
        let mut exchange = Exchange::new(0, 0, Outline { is_head: false, length: 0 });
        let slots = &mut (&mut exchange, &[][..]);
        let _ = self.connection.drive(&mut self.driver, event, slots, &mut self.scratch);
    }

    fn wait_for_unread(&self, count: usize) {
        while self.connection.unread(&self.driver) < count as u64 {
            std::thread::yield_now();
        }
    }

    /// Closes the connection, although it has not read so many bytes of the server; returns what the
    /// server receives.
    fn close_unread(mut self, bytes: &[u8]) -> Vec<u8> {
        self.server.write_all(bytes).unwrap();
        self.wait_for_unread(bytes.len());
        self.connection.close(&mut self.driver);
        drop(self.connection);
        let mut received = Vec::new();
        self.server.read_to_end(&mut received).unwrap();
        received
    }
}

#[test]
fn a_server_of_http2_hears_the_end_although_torr_has_not_read_all_that_it_sent() {
    let received = World::new(&Protocol::Http2(1)).close_unread(&PING.repeat(5_000));
    assert!(received.ends_with(GOAWAY));
}

#[test]
fn a_server_of_websocket_hears_the_end_although_torr_has_not_read_all_that_it_sent() {
    let handshake = HandshakeRequest::new("h", "/", &[]).unwrap();
    let (slots, matching, is_binary) = (1, MessageMatching::None, true);
    let options = WebSocketOptions { slots, matching, is_binary, handshake };
    let mut world = World::new(&Protocol::WebSocket(Arc::new(options)));
    world.drive(WRITABLE);
    let mut request = [0; 4096];
    let length = world.server.read(&mut request).unwrap();
    let request = String::from_utf8(request[..length].to_vec()).unwrap();
    let key = request.split("Sec-WebSocket-Key: ").nth(1).unwrap().trim_end();
    let accept = accept_value(key.as_bytes());
    let response = format!(
        "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\
         Sec-WebSocket-Accept: {accept}\r\n\r\n"
    );
    world.server.write_all(response.as_bytes()).unwrap();
    world.wait_for_unread(response.len());
    world.drive(READABLE);
    let received = world.close_unread(&WEBSOCKET_PING.repeat(5_000));
    let mut reader = WebSocketReader::new(Masking::Required, 1 << 20);
    let event = reader.next(&mut &received[..]).unwrap();
    let Some(WebSocketEvent::Close(frame)) = event else { panic!("{event:?}") };
    assert_eq!(frame.code, Some(CloseCode::NORMAL));
}
