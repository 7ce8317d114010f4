//! What an exchange may take of a worker's time, and what it may leave behind.

use std::sync::Arc;

use crate::support::{READABLE, begin, drive};
use client::{
    Budget, Connection, Exchange, Opening, Outcome, Outline, Protocol, Reason, Scratch, Step,
    Tunnel,
};
use net::{
    Act, Address, Dial, Driver, Layer, LayerError, Nanos, Peer, Ready, Simulated, SimulatedSocket,
};

const ANSWER: &[u8] = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok";

/// Sends these bytes as soon as a connection is there, and the response to each request.
struct Server {
    greeting: Vec<u8>,
}

impl Peer for Server {
    fn dial(&mut self, _: u64, _: Nanos) -> Dial {
        Dial::Greet(0, self.greeting.clone())
    }

    fn receive(&mut self, _: u64, _: &[u8], _: Nanos) -> Vec<(Nanos, Act)> {
        vec![(1, Act::Bytes(ANSWER.to_vec()))]
    }
}

const READY: Ready = Ready { token: 0, readable: true, writable: true, closed: false };

type Socket = SimulatedSocket;

fn connected(
    greeting: Vec<u8>,
    layer: Option<Box<dyn Layer>>,
    tunnel: Option<Tunnel>,
) -> (Simulated<Server>, Connection<Socket>) {
    let mut world = Simulated::new(Server { greeting });
    let to = Address::Ip("127.0.0.1:1".parse().unwrap());
    let socket = world.dial(&to, None, 0).unwrap();
    let connection = Connection::dialled(socket, layer, tunnel, (&Protocol::Http1, 0), 0);
    world.wait(10, &mut Vec::new()).unwrap();
    (world, connection)
}

#[test]
fn a_connection_on_which_a_request_was_cut_short_by_its_answer_is_not_used_again() {
    let request = b"POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 100\r\n\r\n";
    let (mut world, mut connection) = connected(Vec::new(), None, None);
    let mut scratch = Scratch::new(4096);
    connection.advance(&mut world, READY, &mut scratch).unwrap();
    let mut end = |length| {
        let mut exchange = Exchange::new(0, 0, Outline { is_head: false, length });
        let one = (&mut exchange, request.as_slice());
        begin(&mut world, &mut connection, one, &mut scratch);
        world.wait(world.now() + 10, &mut Vec::new()).unwrap();
        let one = (&mut exchange, request.as_slice());
        drive(&mut world, &mut connection, one, &mut scratch, READABLE)
    };
    let ended = |reusable| Err(Outcome { failure: None, status: Some(200), reusable });
    assert_eq!(end(request.len()), ended(true));
    // The body has not been written when the response comes.
    assert_eq!(end(request.len() + 100), ended(false));
}

/// A layer to which whatever comes is an empty record, or a step of an endless handshake.
struct Empty {
    is_open: bool,
    outgoing: Vec<u8>,
}

impl Layer for Empty {
    fn protocol(&self) -> Option<&[u8]> {
        None
    }

    fn is_open(&self) -> bool {
        self.is_open
    }

    fn is_ended(&self) -> bool {
        false
    }

    fn restore(&mut self, _: &mut [u8]) -> usize {
        0
    }

    fn open(&mut self, _: &mut [u8], _: &mut [u8]) -> Result<usize, LayerError> {
        Ok(0)
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

#[test]
fn empty_records_without_end_do_not_delay_other_connections() {
    for is_open in [false, true] {
        let layer = Box::new(Empty { is_open, outgoing: Vec::new() });
        let (mut world, mut connection) = connected(vec![0; 1 << 20], Some(layer), None);
        // Each read takes half of the buffer: there is far more than one turn may take.
        let mut scratch = Scratch::new(1024);
        let way = connection.advance(&mut world, READY, &mut scratch).unwrap();
        if is_open {
            assert_eq!(way, Opening::Open);
            let mut exchange = Exchange::new(0, 0, Outline { is_head: false, length: 0 });
            begin(&mut world, &mut connection, (&mut exchange, &[]), &mut scratch);
            let one = (&mut exchange, &[][..]);
            let step = drive(&mut world, &mut connection, one, &mut scratch, READABLE);
            assert_eq!(step, Ok(Step::Again));
        } else {
            assert_eq!(way, Opening::Again);
        }
        assert_eq!(connection.unread(&world), (1 << 20) - 4 * 512);
    }
}

#[test]
fn a_proxy_that_answers_without_end_is_left() {
    let interim = b"HTTP/1.1 100 Continue\r\n\r\n".repeat(1 << 14);
    let tunnel = Tunnel::new(Arc::from(b"CONNECT h:1 HTTP/1.1\r\n\r\n".as_slice()));
    let (mut world, mut connection) = connected(interim, None, Some(tunnel));
    let mut scratch = Scratch::new(1024);
    let mut ways = (0..1000).map(|_| connection.advance(&mut world, READY, &mut scratch));
    let end = ways.find(|way| *way != Ok(Opening::Again));
    assert_eq!(end, Some(Err(Reason::ConnectProxy)));
}

/// A body without end, so many bytes of it at once.
fn endless_body(kind: &str, bytes: usize) -> Vec<u8> {
    let head = format!("HTTP/1.1 200 OK\r\n{kind}Content-Length: 999999999999\r\n\r\n");
    let mut answer = head.into_bytes();
    answer.resize(answer.len() + bytes, b'x');
    answer
}

/// Reads until there is nothing more, or the exchange ends: then returns how.
fn read_all(
    world: &mut Simulated<Server>,
    connection: &mut Connection<Socket>,
    exchange: &mut Exchange,
    scratch: &mut Scratch,
) -> Option<Outcome> {
    begin(world, connection, (exchange, &[]), scratch);
    loop {
        match drive(world, connection, (exchange, &[]), scratch, READABLE) {
            Ok(Step::Again) => {}
            Ok(Step::Pending) => return None,
            Err(outcome) => return Some(outcome),
        }
    }
}

#[test]
fn all_answers_of_a_worker_together_hold_no_more_memory_than_it_allows() {
    const KIB: usize = 1024;
    assert_eq!(Scratch::new(1).budget.left(), 40 * KIB * KIB);
    for keeps_events in [false, true] {
        let budget = Budget::new(600 * KIB);
        let mut scratch = Scratch { budget, ..Scratch::new(32 * KIB) };
        let (mut kept, mut refused) = (Vec::new(), 0);
        for _ in 0..9 {
            let kind = if keeps_events { "Content-Type: text/event-stream\r\n" } else { "" };
            let greeting = endless_body(kind, 160 * KIB);
            let (mut world, mut connection) = connected(greeting, None, None);
            connection.advance(&mut world, READY, &mut scratch).unwrap();
            let mut exchange = Exchange::new(0, 0, Outline { is_head: false, length: 0 });
            if keeps_events {
                exchange.stream_reader = Some(Box::new(client::StreamReader::detecting()));
            } else {
                exchange.body = Some(Vec::new());
            }
            match read_all(&mut world, &mut connection, &mut exchange, &mut scratch) {
                None => kept.push(exchange),
                Some(outcome) => {
                    assert_eq!(outcome.failure, Some(Reason::ReadNoMemory));
                    exchange.release(&mut scratch.budget);
                    assert!(exchange.body.is_none_or(|body| body.capacity() <= 64 * 1024));
                    refused += 1;
                }
            }
        }
        // Each may hold 64 KiB freely, and six times 96 KiB are within the budget.
        assert_eq!((kept.len(), refused), (6, 3), "{keeps_events}");
        for exchange in &mut kept {
            exchange.release(&mut scratch.budget);
        }
        assert_eq!(scratch.budget.left(), 600 * KIB);
    }
}

/// Answers in pieces, each in a read of its own.
struct Pieces(Vec<(Nanos, Act)>);

impl Peer for Pieces {
    fn dial(&mut self, _: u64, _: Nanos) -> Dial {
        Dial::Accept(0)
    }

    fn receive(&mut self, _: u64, _: &[u8], _: Nanos) -> Vec<(Nanos, Act)> {
        std::mem::take(&mut self.0)
    }
}

/// What a sample has of an answer in these pieces: the last field of its head, and the body.
fn sampled(pieces: &[&[u8]]) -> (Option<Vec<u8>>, Vec<u8>) {
    let acts = pieces.iter().zip(1..).map(|(piece, at)| (at, Act::Bytes(piece.to_vec())));
    let mut world = Simulated::new(Pieces(acts.collect()));
    let to = Address::Ip("127.0.0.1:1".parse().unwrap());
    let socket = world.dial(&to, None, 0).unwrap();
    let mut connection = Connection::dialled(socket, None, None, (&Protocol::Http1, 0), 0);
    let (mut scratch, mut ready) = (Scratch::new(64 * 1024), Vec::new());
    world.wait(10, &mut ready).unwrap();
    connection.advance(&mut world, READY, &mut scratch).unwrap();
    let mut exchange = Exchange::new(0, 0, Outline { is_head: false, length: 1 });
    begin(&mut world, &mut connection, (&mut exchange, b"?"), &mut scratch);
    for _ in pieces {
        world.wait(10, &mut ready).unwrap();
        let one = (&mut exchange, &b"?"[..]);
        if let Err(end) = drive(&mut world, &mut connection, one, &mut scratch, READABLE) {
            assert_eq!((end.status, end.failure), (Some(503), None));
            let (head, body) = exchange.sample(&scratch.buffer);
            return (head.and_then(|head| Some(head.fields.last("last")?.to_vec())), body);
        }
    }
    panic!("the exchange does not end")
}

#[test]
fn a_sample_has_a_long_head_and_the_beginning_of_the_body_for_every_split() {
    let cookie = "x".repeat(9000);
    for length in [600, 20_000] {
        let head = format!(
            "HTTP/1.1 503 Busy\r\nContent-Length: {length}\r\nCookie: {cookie}\r\nLast: 1\r\n\r\n"
        );
        let answer = [head.as_bytes(), &vec![b'b'; length]].concat();
        for cut in [answer.len(), 1, 2000, 5000, head.len(), head.len() + 1, answer.len() - 1] {
            let pieces = [&answer[..cut], &answer[cut..]];
            let pieces = if cut == answer.len() { &pieces[..1] } else { &pieces };
            let (last, body) = sampled(pieces);
            assert_eq!(last.as_deref(), Some(&b"1"[..]), "{length} {cut}");
            assert!(body.len() >= length.min(1024), "{length} {cut}: {}", body.len());
            assert!(body.iter().all(|byte| *byte == b'b'));
        }
    }
}

#[test]
fn the_largest_length_that_a_head_can_announce_is_read() {
    let head = format!("HTTP/1.1 200 OK\r\nContent-Length: {}\r\n\r\n", u64::MAX);
    let (mut world, mut connection) = connected(head.into_bytes(), None, None);
    let mut scratch = Scratch::new(64);
    connection.advance(&mut world, READY, &mut scratch).unwrap();
    let mut exchange = Exchange::new(0, 0, Outline { is_head: false, length: 0 });
    assert_eq!(read_all(&mut world, &mut connection, &mut exchange, &mut scratch), None);
    assert!(exchange.bytes_in > 0);
}

#[test]
fn an_answer_that_pours_lets_others_have_their_turn_after_a_quarter_of_a_mebibyte() {
    let (mut world, mut connection) = connected(endless_body("", 1 << 20), None, None);
    let mut scratch = Scratch::new(64 * 1024);
    connection.advance(&mut world, READY, &mut scratch).unwrap();
    let mut exchange = Exchange::new(0, 0, Outline { is_head: false, length: 0 });
    exchange.body = Some(Vec::new());
    begin(&mut world, &mut connection, (&mut exchange, &[]), &mut scratch);
    let one = (&mut exchange, &[][..]);
    assert_eq!(drive(&mut world, &mut connection, one, &mut scratch, READABLE), Ok(Step::Again));
    assert_eq!(exchange.bytes_in, 256 * 1024);
}

#[test]
fn an_event_without_end_is_too_large_and_leaves_no_memory_behind() {
    let head = "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\ndata: ";
    let greeting = [head.as_bytes(), &vec![b'x'; 17 << 20]].concat();
    let (mut world, mut connection) = connected(greeting, None, None);
    let mut scratch = Scratch::new(4 << 20);
    connection.advance(&mut world, READY, &mut scratch).unwrap();
    let mut exchange = Exchange::new(0, 0, Outline { is_head: false, length: 0 });
    exchange.stream_reader = Some(Box::new(client::StreamReader::new(wire::Dialect::Plain)));
    let end = read_all(&mut world, &mut connection, &mut exchange, &mut scratch);
    assert_eq!(end, None);
    let fault = exchange.stream_reader.as_ref().and_then(|reader| reader.observation().fault);
    assert_eq!(fault, Some(Reason::StreamTooLarge));
    assert_eq!(scratch.budget.left(), client::WORKER_BYTES);
}
