//! What was received before a connection broke, and what was sent before a socket was full.

use std::sync::Arc;

use crate::support::{READABLE, WRITABLE};
use client::{
    Connection, Ended, Exchange, MessageMatching, Opening, Outline, Protocol, Reason, Scratch,
    Slots, WebSocketOptions,
};
use net::{
    Act, Address, Dial, Driver, Layer, LayerError, Nanos, Peer, Ready, Simulated, SimulatedSocket,
};
use wire::websocket::{HandshakeRequest, accept_value};
use wire::{RequestParts, RequestTemplate};

const BOTH: Ready = Ready { readable: true, ..WRITABLE };

fn template(body: Option<&[u8]>) -> RequestTemplate {
    let (method, scheme, authority, target, fields) = ("GET", "http", "h", "/", &[][..]);
    let parts = RequestParts { method, scheme, authority, target, fields, body };
    RequestTemplate::plain(&parts).unwrap()
}

/// The exchanges of a connection, which send the same request.
struct Exchanges {
    all: Vec<Exchange>,
    request: Box<[u8]>,
}

impl Exchanges {
    fn new(count: usize, request: Box<[u8]>) -> Self {
        let outline = Outline { is_head: false, length: 0 };
        Self { all: (0..count).map(|_| Exchange::new(0, 0, outline)).collect(), request }
    }
}

impl Slots for Exchanges {
    fn slot(&mut self, slot: u16) -> (&mut Exchange, &[u8]) {
        (&mut self.all[usize::from(slot)], &self.request)
    }
}

/// A connection to a server, once it is open.
struct World<P> {
    driver: Simulated<P>,
    connection: Connection<SimulatedSocket>,
    exchanges: Exchanges,
    scratch: Scratch,
}

impl<P: Peer> World<P> {
    fn new(
        peer: P,
        protocol: &Protocol,
        layer: Option<Box<dyn Layer>>,
        body: Option<&[u8]>,
    ) -> Self {
        let mut driver = Simulated::new(peer);
        let socket = driver.dial(&Address::Ip("127.0.0.1:1".parse().unwrap()), None, 0).unwrap();
        let mut connection = Connection::dialled(socket, layer, None, (protocol, 1), 0);
        let mut scratch = Scratch::new(4096);
        while !connection.is_open() {
            driver.wait(100, &mut Vec::new()).unwrap();
            let opening = connection.advance(&mut driver, BOTH, &mut scratch).unwrap();
            assert!(matches!(opening, Opening::Open | Opening::Pending));
        }
        let request = protocol.encode(&template(body), wire::Http1Options::default());
        let exchanges = Exchanges::new(2, request.fixed().unwrap());
        Self { driver, connection, exchanges, scratch }
    }

    /// Lets time pass, without an event for the connection.
    fn wait(&mut self, nanos: Nanos) {
        let until = self.driver.now() + nanos;
        while self.driver.now() < until {
            self.driver.wait(until, &mut Vec::new()).unwrap();
        }
    }

    /// Handles an event; returns slots and reasons of the exchanges that ended.
    fn drive(&mut self, event: Ready) -> Vec<(u16, Option<Reason>)> {
        let _ =
            self.connection.drive(&mut self.driver, event, &mut self.exchanges, &mut self.scratch);
        let ended = self.scratch.ended.drain(..);
        ended.map(|Ended { slot, outcome }| (slot, outcome.failure)).collect()
    }

    fn begin(&mut self, slot: u16) -> Vec<(u16, Option<Reason>)> {
        self.connection.begin(slot, &mut self.exchanges);
        self.drive(WRITABLE)
    }
}

/// A server of HTTP/2 that answers the first request, and resets the connection.
struct Resetting {
    has_answered: bool,
}

impl Peer for Resetting {
    fn dial(&mut self, _: u64, _: Nanos) -> Dial {
        // Settings without any.
        Dial::Greet(1, vec![0, 0, 0, 4, 0, 0, 0, 0, 0])
    }

    fn receive(&mut self, _: u64, _: &[u8], _: Nanos) -> Vec<(Nanos, Act)> {
        if std::mem::replace(&mut self.has_answered, true) {
            return Vec::new();
        }
        // HEADERS that end stream 1: status 200.
        let answer = vec![0, 0, 1, 1, 5, 0, 0, 0, 1, 0x88];
        vec![(10, Act::Bytes(answer)), (20, Act::Reset)]
    }
}

#[test]
fn a_response_that_was_received_before_a_failed_send_is_complete() {
    let server = Resetting { has_answered: false };
    let mut world = World::new(server, &Protocol::Http2(2), None, None);
    assert_eq!(world.begin(0), []);
    assert_eq!(world.drive(READABLE), []);
    // The response and the reset are there, and the worker has not heard of them.
    world.wait(100);
    let reset = Some(Reason::WriteReset);
    assert_eq!(world.begin(1), [(0, None), (1, reset)]);
}

/// A server of HTTP/1.1 that refuses a request before it has read all of it.
struct Refusing(Vec<(Nanos, Act)>);

impl Peer for Refusing {
    fn dial(&mut self, _: u64, _: Nanos) -> Dial {
        Dial::Accept(1)
    }

    fn receive(&mut self, _: u64, _: &[u8], _: Nanos) -> Vec<(Nanos, Act)> {
        std::mem::take(&mut self.0)
    }
}

/// How a request ends whose second half is sent after these acts of the server.
fn end_of_a_refused_request(acts: &[Act], event: Ready) -> (Option<u16>, Option<Reason>) {
    let acts = acts.iter().zip(10..).map(|(act, at)| (at, act.clone())).collect();
    let mut world = World::new(Refusing(acts), &Protocol::Http1, None, Some(b"hello"));
    let length = world.exchanges.request.len();
    world.exchanges.all[0] = Exchange::new(0, 0, Outline { is_head: false, length });
    world.driver.send_limit = length / 2;
    // The first send fills the socket until the server has acted.
    world.driver.send_cost_ns = 1;
    let now = world.driver.now();
    world.driver.full = (now + 1, now + 50);
    assert_eq!(world.begin(0), []);
    world.wait(100);
    let _ =
        world.connection.drive(&mut world.driver, event, &mut world.exchanges, &mut world.scratch);
    let [Ended { outcome, .. }] = world.scratch.ended[..] else { panic!("it goes on") };
    assert!(!outcome.reusable);
    (outcome.status, outcome.failure)
}

#[test]
fn a_refusal_that_was_received_before_a_failed_send_is_the_outcome() {
    let bytes = |text: &str| Act::Bytes(text.into());
    let whole = bytes("HTTP/1.1 413 Too Large\r\nContent-Length: 2\r\n\r\nno");
    let to_the_end = bytes("HTTP/1.1 413 Too Large\r\nConnection: close\r\n\r\nno");
    let (reset, closed) = (Some(Reason::WriteReset), Some(Reason::WriteClosed));
    let in_body = Some(Reason::ReadResetInBody);
    let table: [(&[Act], _); 5] = [
        (&[whole, Act::Reset], (Some(413), None)),
        (&[Act::Reset], (None, reset)),
        (&[Act::Close, Act::Reset], (None, closed)),
        // Only a close says that the body is complete.
        (&[to_the_end.clone(), Act::Reset], (Some(413), in_body)),
        (&[to_the_end, Act::Close, Act::Reset], (Some(413), None)),
    ];
    for (acts, end) in table {
        for event in [WRITABLE, BOTH, Ready { closed: true, ..BOTH }] {
            assert_eq!(end_of_a_refused_request(acts, event), end, "{acts:?} {event:?}");
        }
    }
}

/// A layer that encrypts nothing; its handshake is over.
struct Clear {
    outgoing: Vec<u8>,
}

impl Layer for Clear {
    fn protocol(&self) -> Option<&[u8]> {
        None
    }

    fn is_open(&self) -> bool {
        true
    }

    fn is_ended(&self) -> bool {
        false
    }

    fn restore(&mut self, _: &mut [u8]) -> usize {
        0
    }

    fn open(&mut self, cipher: &mut [u8], plain: &mut [u8]) -> Result<usize, LayerError> {
        plain[..cipher.len()].copy_from_slice(cipher);
        Ok(cipher.len())
    }

    fn seal(&mut self, plain: &[u8]) -> Result<(), LayerError> {
        self.outgoing.extend_from_slice(plain);
        Ok(())
    }

    fn end(&mut self) {}

    fn outgoing(&mut self) -> &mut Vec<u8> {
        &mut self.outgoing
    }
}

/// A server of WebSocket that reads messages.
struct Reading {
    received: Vec<u8>,
}

impl Peer for Reading {
    fn dial(&mut self, _: u64, _: Nanos) -> Dial {
        Dial::Accept(1)
    }

    fn receive(&mut self, _: u64, bytes: &[u8], _: Nanos) -> Vec<(Nanos, Act)> {
        let before = self.received.len();
        self.received.extend_from_slice(bytes);
        if before > 0 {
            return Vec::new();
        }
        let request = String::from_utf8(bytes.to_vec()).unwrap();
        let key = request.split("Sec-WebSocket-Key: ").nth(1).unwrap().trim_end();
        let accept = accept_value(key.as_bytes());
        let response = format!(
            "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\
             Sec-WebSocket-Accept: {accept}\r\n\r\n"
        );
        vec![(1, Act::Bytes(response.into_bytes()))]
    }
}

#[test]
fn a_message_without_an_answer_is_complete_when_the_socket_has_accepted_all_of_it() {
    let handshake = HandshakeRequest::new("h", "/chat", &[]).unwrap();
    let (slots, matching, is_binary) = (2, MessageMatching::None, true);
    let options = WebSocketOptions { slots, matching, is_binary, handshake };
    let protocol = Protocol::WebSocket(Arc::new(options));
    for layer in [None, Some(Box::new(Clear { outgoing: Vec::new() }) as Box<dyn Layer>)] {
        let server = Reading { received: Vec::new() };
        let mut world = World::new(server, &protocol, layer, Some(b"hello"));
        assert_eq!(world.drive(WRITABLE), []);
        world.wait(10);
        assert_eq!(world.drive(READABLE), []);
        let (now, before) = (world.driver.now(), world.driver.peer.received.len());
        world.driver.full = (now, now + 50);
        assert_eq!(world.begin(0), []);
        assert_eq!(world.driver.peer.received.len(), before);
        world.wait(60);
        assert_eq!(world.drive(WRITABLE), [(0, None)]);
        assert_eq!(world.driver.peer.received.len(), before + 2 + 4 + 5);
    }
}
