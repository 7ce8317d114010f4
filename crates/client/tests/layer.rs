//! An exchange through a secure layer: a handshake, ciphertext both ways, on a simulated network.

#![allow(clippy::unwrap_used, clippy::panic)] // A test that cannot go on may panic.

use client::{Connection, Exchange, Layer, LayerError, Opening, Outcome, Reason, Step};
use net::{Act, Dial, Driver, Nanos, Peer, Ready, Simulated};
use wire::{Request, RequestParts};

const KEY: u8 = 0x5a;
const HELLO: &[u8] = b"hello, let us talk";
const WELCOME: &[u8] = b"welcome";
const ANSWER: &[u8] = b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello";

fn scramble(bytes: &[u8]) -> Vec<u8> {
    bytes.iter().map(|byte| byte ^ KEY).collect()
}

/// A layer with a handshake of one round trip and a cipher that only a test may use.
struct Xor {
    outgoing: Vec<u8>,
    greeting: Vec<u8>,
    plain: Vec<u8>,
    is_open: bool,
}

impl Xor {
    fn boxed() -> Box<dyn Layer> {
        let outgoing = HELLO.to_vec();
        Box::new(Self { outgoing, greeting: Vec::new(), plain: Vec::new(), is_open: false })
    }
}

impl Layer for Xor {
    fn is_open(&self) -> bool {
        self.is_open
    }

    fn take_in(&mut self, cipher: &[u8]) -> Result<(), LayerError> {
        if self.is_open {
            self.plain.extend(scramble(cipher));
            return Ok(());
        }
        self.greeting.extend_from_slice(cipher);
        if !WELCOME.starts_with(&self.greeting) && !self.greeting.starts_with(WELCOME) {
            return Err(LayerError("no welcome".into()));
        }
        if self.greeting.len() >= WELCOME.len() {
            self.is_open = true;
            self.plain = scramble(&self.greeting[WELCOME.len()..]);
        }
        Ok(())
    }

    fn read(&mut self, plain: &mut [u8]) -> usize {
        let length = plain.len().min(self.plain.len());
        plain[..length].copy_from_slice(&self.plain[..length]);
        self.plain.drain(..length);
        length
    }

    fn write(&mut self, plain: &[u8]) -> usize {
        self.outgoing.extend(scramble(plain));
        plain.len()
    }

    fn outgoing(&mut self) -> &mut Vec<u8> {
        &mut self.outgoing
    }
}

/// The other side: welcomes, then answers scrambled in pieces of that size.
struct Server {
    seen: Vec<u8>,
    welcome: &'static [u8],
    piece: usize,
}

impl Peer for Server {
    fn dial(&mut self, _: u64, _: Nanos) -> Dial {
        Dial::Accept(1)
    }

    fn receive(&mut self, _: u64, bytes: &[u8], _: Nanos) -> Vec<(Nanos, Act)> {
        self.seen.extend_from_slice(bytes);
        if self.seen == HELLO {
            return vec![(5, Act::Bytes(self.welcome.to_vec()))];
        }
        if self.seen.len() < HELLO.len()
            || !scramble(&self.seen[HELLO.len()..]).ends_with(b"\r\n\r\n")
        {
            return Vec::new();
        }
        let pieces = scramble(ANSWER);
        pieces
            .chunks(self.piece)
            .zip(1..)
            .map(|(piece, at)| (at * 10, Act::Bytes(piece.to_vec())))
            .collect()
    }
}

fn request() -> Request {
    let parts = RequestParts {
        method: "GET",
        target: "/",
        host: "h",
        headers: &[],
        body: None,
        keepalive: true,
    };
    Request::encode(&parts).unwrap()
}

/// Drives one exchange to its end, or gives the reason why the connection never opened.
fn exchange(world: &mut Simulated<Server>, buffer: usize) -> Result<(Outcome, Exchange), Reason> {
    let (request, mut buffer, mut ready) = (request(), vec![0; buffer], Vec::<Ready>::new());
    let socket = world.dial("127.0.0.1:1".parse().unwrap(), None, 0).unwrap();
    let mut connection = Connection::dialled(socket, Some(Xor::boxed()));
    let mut exchange = Exchange::new(0, 0, &request);
    for _ in 0..1000 {
        world.wait(1_000_000, &mut ready).unwrap();
        for event in std::mem::take(&mut ready) {
            let was_open = connection.is_open();
            if !was_open && connection.advance(world, event, &mut buffer)? == Opening::Pending {
                continue;
            }
            let sent = exchange.send(world, &mut connection, &request.bytes);
            assert_eq!(sent, Step::Pending);
            if was_open
                && let Step::Done(outcome) =
                    exchange.receive(world, &mut connection, &mut buffer, event.closed)
            {
                return Ok((outcome, exchange));
            }
        }
    }
    panic!("the exchange does not end")
}

#[test]
fn an_exchange_through_a_layer_is_the_same_for_every_split_of_its_bytes() {
    for piece in 1..=ANSWER.len() {
        for (buffer, send_limit) in [(4096, usize::MAX), (7, usize::MAX), (64, 3)] {
            let server = Server { seen: Vec::new(), welcome: WELCOME, piece };
            let mut world = Simulated::new(server);
            world.send_limit = send_limit;
            let (outcome, exchange) = exchange(&mut world, buffer).unwrap();
            assert_eq!((outcome.failure, outcome.status), (None, Some(200)));
            assert_eq!(exchange.bytes_in, ANSWER.len() as u64);
            // Dial 1, welcome 5: the request goes out at 6, the first piece comes 10 later.
            assert_eq!((exchange.stamps.sent, exchange.stamps.ttfb()), (6, Some(10)));
        }
    }
}

#[test]
fn a_handshake_that_fails_is_a_failure_of_the_layer() {
    let server = Server { seen: Vec::new(), welcome: b"go away", piece: 1 };
    let failed = exchange(&mut Simulated::new(server), 4096);
    assert_eq!(failed.err(), Some(Reason::TlsFailed));
}
