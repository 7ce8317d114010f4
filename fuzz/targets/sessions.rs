//! Protocol sessions on a connection: any order of beginnings, bytes, closes, cancellations and events,
//! and any split. Each exchange ends once, and the session knows which are running. Of responses of HTTP/2
//! whose frames follow the rules, every exchange has the body that was written.

#![no_main]

use std::cell::RefCell;
use std::collections::VecDeque;
use std::io::{self, ErrorKind};
use std::net::IpAddr;
use std::sync::Arc;

use client::{
    Connection, Exchange, MessageMatching, Outline, Protocol, Scratch, Slots, WebSocketOptions,
};
use libfuzzer_sys::fuzz_target;
use net::{Address, Driver, Nanos, Ready, ThreadUsage};
use wire::websocket::{HandshakeRequest, accept_value};
use wire::{RequestParts, RequestTemplate};

const SLOTS: u16 = 3;
const REQUEST: &[u8] = b"GET / HTTP/1.1\r\nHost: h\r\n\r\n";

/// One socket, whose other side is the input.
#[derive(Default)]
struct World {
    now: Nanos,
    /// Bytes that one write accepts.
    room: usize,
    received: RefCell<VecDeque<u8>>,
    end: Option<ErrorKind>,
    is_closed: bool,
}

impl World {
    fn take(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let mut received = self.received.borrow_mut();
        if received.is_empty() {
            return match self.end {
                Some(kind) => Err(kind.into()),
                None if self.is_closed => Ok(0),
                None => Err(ErrorKind::WouldBlock.into()),
            };
        }
        let length = buffer.len().min(received.len());
        buffer[..length].iter_mut().zip(received.drain(..length)).for_each(|(to, byte)| *to = byte);
        Ok(length)
    }
}

impl Driver for World {
    type Socket = ();

    fn now(&self) -> Nanos {
        self.now
    }

    fn usage(&self) -> ThreadUsage {
        ThreadUsage::default()
    }

    fn dial(&mut self, _: &Address, _: Option<IpAddr>, _: u64) -> io::Result<()> {
        Ok(())
    }

    fn error(&mut self, (): &()) -> Option<io::Error> {
        self.end.map(io::Error::from)
    }

    fn send(&mut self, (): &(), bytes: &[u8]) -> io::Result<usize> {
        match (self.end, self.room.min(bytes.len())) {
            (Some(kind), _) => Err(kind.into()),
            (None, 0) => Err(ErrorKind::WouldBlock.into()),
            (None, length) => {
                self.room -= length;
                Ok(length)
            }
        }
    }

    fn recv(&mut self, (): &(), buffer: &mut [u8]) -> io::Result<usize> {
        self.take(buffer)
    }

    fn discard(&mut self, (): &(), scratch: &mut [u8]) -> io::Result<usize> {
        self.take(scratch)
    }

    fn unread(&self, (): &()) -> u64 {
        self.received.borrow().len() as u64
    }

    fn wait(&mut self, _: Nanos, _: &mut Vec<Ready>) -> io::Result<()> {
        Ok(())
    }
}

/// Exchanges, and the request of each.
struct Exchanges(Vec<Exchange>, Vec<u8>);

impl Slots for Exchanges {
    fn slot(&mut self, slot: u16) -> (&mut Exchange, &[u8]) {
        (&mut self.0[usize::from(slot)], &self.1)
    }
}

fn play(protocol: Protocol, mut input: &[u8]) {
    let count = usize::from(protocol.slots());
    let is_http2 = matches!(protocol, Protocol::Http2(_));
    let request = match protocol {
        Protocol::Http2(_) => request_of_http2(),
        Protocol::WebSocket(_) => b"T{\"id\": 1}".to_vec(),
        _ => REQUEST.to_vec(),
    };
    let outline = Outline { is_head: false, length: request.len() };
    let mut world = World::default();
    let mut scratch = Scratch::new(64);
    let mut connection = Connection::dialled((), None, None, (&protocol, 0), 0);
    let ready = Ready { token: 0, readable: false, writable: true, closed: false };
    assert!(connection.advance(&mut world, ready, &mut scratch).is_ok() && connection.is_open());
    if matches!(protocol, Protocol::WebSocket(_)) {
        world.received.borrow_mut().extend(switched(&protocol));
    }
    let new = |_| Exchange::new(0, 0, outline);
    let mut exchanges = Exchanges((0..count).map(new).collect(), request);
    let mut running = vec![false; count];
    while let [operation, rest @ ..] = input {
        input = rest;
        world.now += 1;
        let slot = usize::from(operation >> 4) % count;
        let place = u16::try_from(slot).expect("a slot of few");
        match operation & 15 {
            0 | 1 if !running[slot] && connection.accepts() => {
                exchanges.0[slot].restart(world.now, world.now, outline);
                running[slot] = true;
                connection.begin(place, &mut exchanges);
            }
            2 if running[slot] => {
                running[slot] = false;
                if !connection.cancel(place, world.now, &mut exchanges) {
                    return;
                }
            }
            3 => world.end = Some([ErrorKind::ConnectionReset, ErrorKind::BrokenPipe][slot % 2]),
            4 => world.is_closed = true,
            5 => world.room += slot * 16 + 1,
            6..=11 => {
                let length = input.len().min(usize::from(operation >> 4) + 1);
                let (bytes, rest) = input.split_at(length);
                let mut received = world.received.borrow_mut();
                if let (true, 9.., [kind, flags, stream, payload @ ..]) =
                    (is_http2, operation & 15, bytes)
                {
                    received.extend(frame(*kind, *flags, *stream, payload));
                } else {
                    received.extend(bytes);
                }
                input = rest;
            }
            kind => {
                let event = Ready {
                    token: 0,
                    readable: kind & 1 == 1,
                    writable: kind & 2 == 2,
                    closed: world.is_closed || world.end.is_some(),
                };
                let _ = connection.drive(&mut world, event, &mut exchanges, &mut scratch);
                for ended in scratch.ended.drain(..) {
                    let was_running = std::mem::take(&mut running[usize::from(ended.slot)]);
                    assert!(was_running, "an exchange ended twice");
                    // A stream of HTTP/2 can end before its connection does.
                    assert!(is_http2 || !(ended.outcome.reusable && event.closed));
                }
            }
        }
        assert_eq!(connection.is_active(), running.contains(&true));
    }
}

/// Returns a request with a body, whose bytes need permission.
fn request_of_http2() -> Vec<u8> {
    let (method, scheme, authority, target) = ("POST", "http", "h", "/");
    let (fields, body) = (&[][..], Some(&[7; 70_000][..]));
    let parts = RequestParts { method, scheme, authority, target, fields, body };
    let template = RequestTemplate::plain(&parts).expect("a plain request");
    template.to_http2().fixed().expect("no template").into_vec()
}

/// Returns a protocol of messages.
fn messages(matching: MessageMatching) -> Protocol {
    let handshake = HandshakeRequest::new("h", "/", &[]).expect("a plain request");
    let options = WebSocketOptions { slots: SLOTS, matching, is_binary: false, handshake };
    Protocol::WebSocket(Arc::new(options))
}

/// Returns the response to the handshake of a connection with the seed 0.
fn switched(protocol: &Protocol) -> Vec<u8> {
    let request = String::from_utf8(protocol.readable(b"", 0)).expect("a plain request");
    let key = request.split("Sec-WebSocket-Key: ").nth(1).expect("a key").trim_end();
    let head = "HTTP/1.1 101 X\r\nUpgrade: websocket\r\nConnection: upgrade";
    let accept = accept_value(key.as_bytes());
    format!("{head}\r\nSec-WebSocket-Accept: {accept}\r\n\r\n").into_bytes()
}

/// Returns a frame of HTTP/2, on one of the first streams.
fn frame(kind: u8, flags: u8, stream: u8, payload: &[u8]) -> Vec<u8> {
    let head = [0, 0, payload.len() as u8, kind % 11, flags, 0, 0, 0, stream % 8];
    [&head, payload].concat()
}

/// Responses of HTTP/2, written in frames that the input chooses.
#[derive(Default)]
struct Responses {
    bytes: Vec<u8>,
    bodies: [Vec<u8>; SLOTS as usize],
    has_head: [bool; SLOTS as usize],
    has_ended: [bool; SLOTS as usize],
}

const DATA: u8 = 0;
const HEADERS: u8 = 1;
const CONTINUATION: u8 = 9;
const END_STREAM: u8 = 1;
const END_HEADERS: u8 = 4;
const PADDED: u8 = 8;

impl Responses {
    fn add(&mut self, kind: u8, flags: u8, slot: usize, payload: &[u8]) {
        self.bytes.extend(frame(kind, flags, slot as u8 * 2 + 1, payload));
    }

    /// Adds the head of a response, in one frame or in two.
    fn head(&mut self, slot: usize, is_divided: bool) {
        if std::mem::replace(&mut self.has_head[slot], true) {
            return;
        }
        if is_divided {
            self.add(HEADERS, 0, slot, &[]);
            self.add(CONTINUATION, END_HEADERS, slot, &[0x88]);
        } else {
            self.add(HEADERS, END_HEADERS, slot, &[0x88]);
        }
    }

    fn data(&mut self, slot: usize, piece: &[u8], flags: u8, padding: u8) {
        let mut payload = piece.to_vec();
        if flags & PADDED != 0 {
            payload.insert(0, padding);
            payload.extend(vec![0; padding.into()]);
        }
        self.add(DATA, flags, slot, &payload);
        self.bodies[slot].extend_from_slice(piece);
        self.has_ended[slot] |= flags & END_STREAM != 0;
    }

    fn trailers(&mut self, slot: usize) {
        self.add(HEADERS, END_HEADERS | END_STREAM, slot, b"\0\x01t\x01v");
        self.has_ended[slot] = true;
    }

    /// Adds a frame that no exchange has.
    fn other(&mut self, kind: u8) {
        let (kind, payload): (u8, &[u8]) =
            [(6, &b"question"[..]), (4, &[]), (10, b"?")][kind as usize % 3];
        self.bytes.extend([&[0, 0, payload.len() as u8, kind, 0, 0, 0, 0, 0], payload].concat());
    }

    fn of(mut input: &[u8]) -> Self {
        let mut all = Self::default();
        while let [choice, number, rest @ ..] = input {
            let slot = usize::from(choice % 4);
            let (piece, after) = rest.split_at(rest.len().min(usize::from(number % 32)));
            input = after;
            if slot == usize::from(SLOTS) || all.has_ended[slot] {
                all.other(*number);
                continue;
            }
            all.head(slot, choice & 4 != 0);
            match choice >> 3 & 7 {
                0 => all.trailers(slot),
                kind => {
                    let end = if kind == 1 { END_STREAM } else { 0 };
                    let padded = if choice & 64 != 0 { PADDED } else { 0 };
                    all.data(slot, piece, end | padded, number >> 5);
                }
            }
        }
        for slot in 0..usize::from(SLOTS) {
            if !all.has_ended[slot] {
                all.head(slot, false);
                all.data(slot, b"", END_STREAM, 0);
            }
        }
        all
    }
}

/// Reads responses in pieces whose lengths are bytes of the input.
fn responses_are_read_as_written(input: &[u8]) {
    let responses = Responses::of(input);
    let (method, scheme, authority, target) = ("GET", "http", "h", "/");
    let parts = RequestParts { method, scheme, authority, target, fields: &[], body: None };
    let template = RequestTemplate::plain(&parts).expect("a plain request");
    let request = template.to_http2().fixed().expect("no template").into_vec();
    let outline = Outline { is_head: false, length: request.len() };
    let mut world = World { room: usize::MAX, ..World::default() };
    let mut scratch = Scratch::new(64);
    let mut connection = Connection::dialled((), None, None, (&Protocol::Http2(SLOTS), 0), 0);
    let both = Ready { token: 0, readable: true, writable: true, closed: false };
    assert!(connection.advance(&mut world, both, &mut scratch).is_ok());
    let new = |_| {
        let mut exchange = Exchange::new(0, 0, outline);
        exchange.body = Some(Vec::new());
        exchange
    };
    let mut exchanges = Exchanges((0..SLOTS).map(new).collect(), request);
    (0..SLOTS).for_each(|slot| connection.begin(slot, &mut exchanges));
    let settings = [0, 0, 0, 4, 0, 0, 0, 0, 0];
    world.received.borrow_mut().extend(settings);
    let mut drive = |world: &mut World| {
        let _ = connection.drive(world, both, &mut exchanges, &mut scratch);
        let _ = connection.drive(world, both, &mut exchanges, &mut scratch);
    };
    drive(&mut world);
    let mut rest = &responses.bytes[..];
    for length in input.iter().cycle().chain([&255]) {
        let (piece, after) = rest.split_at(rest.len().min(usize::from(*length) + 1));
        world.received.borrow_mut().extend(piece);
        drive(&mut world);
        rest = after;
        if rest.is_empty() {
            break;
        }
    }
    assert!(rest.is_empty() && world.received.borrow().is_empty());
    let mut ended: Vec<_> = scratch.ended.drain(..).collect();
    ended.sort_by_key(|ended| ended.slot);
    assert_eq!(ended.iter().map(|ended| ended.slot).collect::<Vec<_>>(), [0, 1, 2]);
    for (ended, body) in ended.iter().zip(&responses.bodies) {
        assert_eq!((ended.outcome.failure, ended.outcome.status), (None, Some(200)));
        let exchange = &exchanges.0[usize::from(ended.slot)];
        assert_eq!(exchange.body.as_ref(), Some(body));
    }
}

fuzz_target!(|data: &[u8]| {
    responses_are_read_as_written(data);
    play(Protocol::Http1, data);
    play(Protocol::Lines(SLOTS), data);
    play(Protocol::Http2(SLOTS), data);
    let ways = [MessageMatching::Order, MessageMatching::Id("id".into()), MessageMatching::None];
    for matching in ways {
        play(messages(matching), data);
    }
});
