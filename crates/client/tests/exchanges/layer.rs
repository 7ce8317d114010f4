//! An exchange through a secure layer: a handshake, ciphertext both ways, on a simulated network.

use crate::support::{begin, drive};
use client::{Connection, Exchange, Opening, Outcome, Outline, Protocol, Reason, Scratch};
use net::{Act, Dial, Driver, Layer, LayerError, LayerFault, Nanos, Peer, Ready, Simulated};
use wire::{Http1Options, RequestParts};

const KEY: u8 = 0x5a;
const HELLO: &[u8] = b"hello, let us talk";
const WELCOME: &[u8] = b"welcome";
/// As long as a whole number of blocks.
const ANSWER: &[u8] = b"HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\nhello!";
/// The layer's word that nothing more will come.
const END: u8 = 0;

fn scramble(bytes: &[u8]) -> Vec<u8> {
    bytes.iter().map(|byte| byte ^ KEY).collect()
}

/// Ciphertext comes in blocks of this size; less than one is left for later.
const BLOCK: usize = 4;

/// A layer with a handshake of one round trip and a cipher that only a test may use.
struct Xor {
    outgoing: Vec<u8>,
    greeting: Vec<u8>,
    kept: Vec<u8>,
    is_open: bool,
    is_ended: bool,
}

impl Xor {
    fn boxed() -> Box<dyn Layer> {
        let (greeting, kept) = (Vec::new(), Vec::new());
        let outgoing = HELLO.to_vec();
        Box::new(Self { outgoing, greeting, kept, is_open: false, is_ended: false })
    }

    /// Takes what belongs to the handshake, and gives its length.
    fn greet(&mut self, cipher: &[u8]) -> Result<usize, LayerError> {
        let length = cipher.len().min(WELCOME.len() - self.greeting.len());
        self.greeting.extend_from_slice(&cipher[..length]);
        if !WELCOME.starts_with(&self.greeting) {
            let text = "no welcome".into();
            return Err(LayerError { fault: LayerFault::Refused, text });
        }
        self.is_open = self.greeting.len() == WELCOME.len();
        Ok(length)
    }
}

impl Layer for Xor {
    fn protocol(&self) -> Option<&[u8]> {
        None
    }

    fn is_open(&self) -> bool {
        self.is_open
    }

    fn is_ended(&self) -> bool {
        self.is_ended
    }

    fn restore(&mut self, cipher: &mut [u8]) -> usize {
        cipher[..self.kept.len()].copy_from_slice(&self.kept);
        self.kept.len()
    }

    fn open(&mut self, cipher: &mut [u8], plain: &mut [u8]) -> Result<usize, LayerError> {
        let from = if self.is_open { 0 } else { self.greet(cipher)? };
        let cipher = &mut cipher[from..];
        let whole = cipher.len() / BLOCK * BLOCK;
        self.kept = cipher[whole..].to_vec();
        let opened = scramble(&cipher[..whole]);
        let end = opened.iter().position(|byte| *byte == END).unwrap_or(opened.len());
        self.is_ended = end < opened.len();
        plain[..end].copy_from_slice(&opened[..end]);
        Ok(end)
    }

    fn seal(&mut self, plain: &[u8]) -> Result<(), LayerError> {
        self.outgoing.extend(scramble(plain));
        Ok(())
    }

    fn end(&mut self) {
        self.outgoing.push(END ^ KEY);
    }

    fn outgoing(&mut self) -> &mut Vec<u8> {
        &mut self.outgoing
    }
}

/// The other side: welcomes, then answers scrambled in pieces of that size.
struct Server {
    seen: Vec<u8>,
    welcome: Vec<u8>,
    answer: &'static [u8],
    piece: usize,
}

impl Server {
    fn answering(answer: &'static [u8], piece: usize) -> Self {
        Self { seen: Vec::new(), welcome: WELCOME.to_vec(), answer, piece }
    }
}

impl Peer for Server {
    fn dial(&mut self, _: u64, _: Nanos) -> Dial {
        Dial::Accept(1)
    }

    fn receive(&mut self, _: u64, bytes: &[u8], _: Nanos) -> Vec<(Nanos, Act)> {
        self.seen.extend_from_slice(bytes);
        if self.seen == HELLO {
            return vec![(5, Act::Bytes(self.welcome.clone()))];
        }
        if self.seen.len() < HELLO.len()
            || !scramble(&self.seen[HELLO.len()..]).ends_with(b"\r\n\r\n")
        {
            return Vec::new();
        }
        let pieces = scramble(self.answer);
        pieces
            .chunks(self.piece)
            .zip(1..)
            .map(|(piece, at)| (at * 10, Act::Bytes(piece.to_vec())))
            .collect()
    }
}

fn request() -> Box<[u8]> {
    let parts = RequestParts {
        method: "GET",
        scheme: "http",
        authority: "h",
        target: "/",
        fields: &[],
        body: None,
    };
    parts.to_http1(Http1Options::default()).unwrap()
}

/// Drives one exchange to its end, or gives the reason why the connection never opened.
fn exchange(world: &mut Simulated<Server>, buffer: usize) -> Result<(Outcome, Exchange), Reason> {
    let (request, mut scratch, mut ready) = (request(), Scratch::new(buffer), Vec::<Ready>::new());
    let socket = world.dial(&net::Address::Ip("127.0.0.1:1".parse().unwrap()), None, 0).unwrap();
    let mut connection =
        Connection::dialled(socket, Some(Xor::boxed()), None, (&Protocol::Http1, 0), 0);
    let mut exchange = Exchange::new(0, 0, Outline { is_head: false, length: request.len() });
    for _ in 0..1000 {
        world.wait(1_000_000, &mut ready).unwrap();
        for event in std::mem::take(&mut ready) {
            let was_open = connection.is_open();
            if !was_open && connection.advance(world, event, &mut scratch)? == Opening::Pending {
                continue;
            }
            let one = (&mut exchange, &*request);
            if !was_open {
                begin(world, &mut connection, one, &mut scratch);
            } else if let Err(outcome) = drive(
                world,
                &mut connection,
                one,
                &mut scratch,
                Ready { readable: true, writable: true, ..event },
            ) {
                connection.close(world);
                return Ok((outcome, exchange));
            }
        }
    }
    panic!("the exchange does not end")
}

#[test]
fn an_exchange_through_a_layer_is_the_same_for_every_split_of_its_bytes() {
    for piece in 1..=ANSWER.len() {
        for (buffer, send_limit) in [(4096, usize::MAX), (16, usize::MAX), (64, 3)] {
            let mut world = Simulated::new(Server::answering(ANSWER, piece));
            world.send_limit = send_limit;
            let (outcome, exchange) = exchange(&mut world, buffer).unwrap();
            assert_eq!((outcome.failure, outcome.status), (None, Some(200)));
            assert_eq!(exchange.bytes_in, ANSWER.len() as u64);
            // Dial 1, welcome 5: the request goes out at 6, a piece comes each 10 later. The first
            // byte is there when the first block is whole.
            let first = 10 * BLOCK.div_ceil(piece) as Nanos;
            assert_eq!((exchange.stamps.sent, exchange.stamps.ttfb()), (6, Some(first)));
            if send_limit == usize::MAX {
                assert_eq!(world.peer.seen.last(), Some(&(END ^ KEY)), "the layer says goodbye");
            }
        }
    }
}

#[test]
fn the_layers_word_of_the_end_ends_a_body_without_a_length() {
    const ENDLESS: &[u8] = b"HTTP/1.1 200 OK\r\n\r\nto the end\0\0\0";
    for piece in 1..=ENDLESS.len() {
        let mut world = Simulated::new(Server::answering(ENDLESS, piece));
        let (outcome, exchange) = exchange(&mut world, 64).unwrap();
        assert_eq!((outcome.failure, outcome.status), (None, Some(200)), "{piece}");
        assert_eq!((exchange.bytes_in, outcome.reusable), (29, false), "{piece}");
    }
}

#[test]
fn a_connection_that_the_layer_ended_with_the_response_is_not_used_again() {
    let ended: &[u8] = b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello\0\0";
    for (answer, is_reusable) in [(ANSWER, true), (ended, false)] {
        let mut world = Simulated::new(Server::answering(answer, 1000));
        let (outcome, _) = exchange(&mut world, 4096).unwrap();
        assert_eq!((outcome.failure, outcome.reusable), (None, is_reusable));
    }
}

#[test]
fn a_handshake_that_fails_is_a_failure_of_the_layer() {
    let server = Server { welcome: b"go away".to_vec(), ..Server::answering(ANSWER, 1) };
    let failed = exchange(&mut Simulated::new(server), 4096);
    assert_eq!(failed.err(), Some(Reason::TlsRefused));
}

#[test]
fn plaintext_that_comes_with_the_end_of_the_handshake_is_read_first() {
    for early in (0..ANSWER.len()).step_by(BLOCK) {
        for buffer in [4096, 16] {
            let (first, rest) = ANSWER.split_at(early);
            let welcome = [WELCOME, &scramble(first)].concat();
            let server = Server { welcome, ..Server::answering(rest, 1000) };
            let (outcome, exchange) = exchange(&mut Simulated::new(server), buffer).unwrap();
            assert_eq!((outcome.failure, outcome.status), (None, Some(200)), "{early} {buffer}");
            assert_eq!(exchange.bytes_in, ANSWER.len() as u64);
        }
    }
}
