//! HTTP/2 from a server: any frames, whether they follow the rules or not. The crate `h2` is the judge: a
//! response that it accepts, torr accepts with the same status and body, and what it refuses, torr refuses.

#![no_main]

use std::cell::RefCell;
use std::collections::VecDeque;
use std::future::Future;
use std::io::{self, ErrorKind};
use std::net::IpAddr;
use std::pin::{Pin, pin};
use std::rc::Rc;
use std::task::{Context, Poll, Waker};

use client::{Class, Connection, Exchange, Outline, Protocol, Reason, Scratch, Slots, Step};
use libfuzzer_sys::fuzz_target;
use net::{Address, Driver, Nanos, Ready, ThreadUsage};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use wire::{RequestParts, RequestTemplate};

const STREAMS: usize = 3;

/// Status and body of a response.
type Response = (u16, Vec<u8>);

const DATA: u8 = 0;
const HEADERS: u8 = 1;
const SETTINGS: u8 = 4;
const PUSH_PROMISE: u8 = 5;
const GOAWAY: u8 = 7;
const CONTINUATION: u8 = 9;
const END_STREAM: u8 = 1;
const ACK: u8 = 1;
const END_HEADERS: u8 = 4;

/// Blocks of fields: heads, trailers and wrong ones.
const BLOCKS: [&[u8]; 12] = [
    b"\x88",
    b"\x89",
    b"\x8d",
    b"\x08\x03103",
    b"\x08\x03101",
    b"\x88\x0f\x0d\x015",
    b"\x88\0\x01A\x01v",
    b"\x88\x88",
    b"\0\x01t\x01v",
    b"\0\x01t\x01v\x88",
    b"\x88\0\x0aconnection\x05close",
    b"\x82",
];

fn frame(kind: u8, flags: u8, stream: u32, payload: &[u8]) -> Vec<u8> {
    let length = (payload.len() as u32).to_be_bytes();
    [&length[1..], &[kind, flags], &stream.to_be_bytes(), payload].concat()
}

/// Returns what a server sends: settings, and the frames that the input chooses.
fn frames(mut input: &[u8]) -> Vec<u8> {
    let (mut bytes, mut is_leaving) = (frame(SETTINGS, 0, 0, &[]), false);
    bytes.extend(frame(SETTINGS, ACK, 0, &[]));
    while let [choice, number, rest @ ..] = input {
        let (piece, after) = rest.split_at(rest.len().min(usize::from(number % 16)));
        input = after;
        let stream = [0, 1, 3, 5, 1, 3, 5, 1][usize::from(choice >> 5)];
        let block = BLOCKS[usize::from(number >> 4) % BLOCKS.len()];
        let end = number & END_STREAM;
        bytes.extend(match choice & 31 {
            0..=7 => frame(HEADERS, END_HEADERS | end, stream, block),
            8..=13 => frame(DATA, end, stream, piece),
            // The judge does not wait for the rest of a wrong block.
            14 => frame(HEADERS, end, stream, BLOCKS[0]),
            15 => frame(CONTINUATION, END_HEADERS, stream, &[]),
            // A second GOAWAY and a second acknowledgement are refused by the judge alone.
            kind if kind % 11 == GOAWAY && std::mem::replace(&mut is_leaving, true) => Vec::new(),
            kind => {
                let (flags, payload) = piece.split_first().unwrap_or((&0, &[]));
                match kind % 11 {
                    // In values of fields, the judge refuses more bytes than RFC 9113 does.
                    HEADERS => frame(HEADERS, flags | END_HEADERS, stream, block),
                    CONTINUATION if flags & END_HEADERS == 0 => frame(kind, *flags, stream, &[]),
                    CONTINUATION => frame(kind, *flags, stream, block),
                    // The judge knows a setting of RFC 8441, and refuses some of its values.
                    SETTINGS if payload.chunks(6).any(|setting| setting.starts_with(&[0, 8])) => {
                        Vec::new()
                    }
                    SETTINGS => frame(SETTINGS, flags & !ACK, stream, payload),
                    // The judge ignores it on a stream that has ended.
                    PUSH_PROMISE => frame(PUSH_PROMISE, *flags, 0, payload),
                    kind => frame(kind, *flags, stream, payload),
                }
            }
        });
    }
    bytes
}

/// The socket of the judge: the bytes of a server, which are received when the requests have been sent.
#[derive(Clone)]
struct Server(Rc<RefCell<ServerBytes>>);

struct ServerBytes {
    unread: VecDeque<u8>,
    is_asked: bool,
}

impl AsyncRead for Server {
    fn poll_read(
        self: Pin<&mut Self>,
        _: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let ServerBytes { unread, is_asked } = &mut *self.0.borrow_mut();
        if !*is_asked {
            return Poll::Pending;
        }
        let length = unread.len().min(buffer.remaining());
        unread.drain(..length).for_each(|byte| buffer.put_slice(&[byte]));
        Poll::Ready(Ok(()))
    }
}

impl AsyncWrite for Server {
    fn poll_write(
        self: Pin<&mut Self>,
        _: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        Poll::Ready(Ok(bytes.len()))
    }

    fn poll_flush(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }

    fn poll_shutdown(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }
}

/// Returns the accepted responses, and whether the judge ended the connection for an error in it.
fn by_the_judge(bytes: &[u8]) -> ([Option<Response>; STREAMS], bool) {
    let context = &mut Context::from_waker(Waker::noop());
    let bytes = ServerBytes { unread: bytes.iter().copied().collect(), is_asked: false };
    let server = Server(Rc::new(RefCell::new(bytes)));
    let mut builder = h2::client::Builder::new();
    let handshake = pin!(builder.enable_push(false).handshake::<_, &[u8]>(server.clone()));
    let Poll::Ready(Ok((mut client, mut connection))) = handshake.poll(context) else {
        panic!("a connection begins without its server");
    };
    let responses: Vec<_> = (0..STREAMS)
        .map(|_| {
            let request = http::Request::get("http://h/").body(()).expect("a plain request");
            assert!(matches!(client.poll_ready(context), Poll::Ready(Ok(()))));
            let (response, _) = client.send_request(request, true).expect("a free stream");
            assert!(Pin::new(&mut connection).poll(context).is_pending());
            response
        })
        .collect();
    server.0.borrow_mut().is_asked = true;
    // It ends at the end of the server's bytes at the latest.
    let mut ended = Poll::Pending;
    while ended.is_pending() {
        ended = Pin::new(&mut connection).poll(context);
    }
    let has_refused = matches!(ended, Poll::Ready(Err(error)) if !error.is_io());
    let mut accepted = responses.into_iter().map(|response| {
        let Poll::Ready(Ok(response)) = pin!(response).poll(context) else { return None };
        let (head, mut stream) = response.into_parts();
        let mut body = Vec::new();
        while let Poll::Ready(Some(data)) = stream.poll_data(context) {
            body.extend_from_slice(&data.ok()?);
        }
        let trailers = stream.poll_trailers(context);
        matches!(trailers, Poll::Ready(Ok(_))).then(|| (head.status.as_u16(), body))
    });
    (std::array::from_fn(|_| accepted.next().flatten()), has_refused)
}

/// One socket, whose other side is the input. It accepts all that is written.
#[derive(Default)]
struct World {
    received: RefCell<VecDeque<u8>>,
    is_closed: bool,
}

impl Driver for World {
    type Socket = ();

    fn now(&self) -> Nanos {
        1
    }

    fn usage(&self) -> ThreadUsage {
        ThreadUsage::default()
    }

    fn dial(&mut self, _: &Address, _: Option<IpAddr>, _: u64) -> io::Result<()> {
        Ok(())
    }

    fn error(&mut self, (): &()) -> Option<io::Error> {
        None
    }

    fn send(&mut self, (): &(), bytes: &[u8]) -> io::Result<usize> {
        Ok(bytes.len())
    }

    fn recv(&mut self, (): &(), buffer: &mut [u8]) -> io::Result<usize> {
        let mut received = self.received.borrow_mut();
        if received.is_empty() && !self.is_closed {
            return Err(ErrorKind::WouldBlock.into());
        }
        let length = buffer.len().min(received.len());
        buffer[..length].iter_mut().zip(received.drain(..length)).for_each(|(to, byte)| *to = byte);
        Ok(length)
    }

    fn discard(&mut self, (): &(), scratch: &mut [u8]) -> io::Result<usize> {
        self.recv(&(), scratch)
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

fn by_torr(bytes: &[u8]) -> [Result<Response, Reason>; STREAMS] {
    let (method, scheme, authority, target) = ("GET", "http", "h", "/");
    let parts = RequestParts { method, scheme, authority, target, fields: &[], body: None };
    let template = RequestTemplate::plain(&parts).expect("a plain request");
    let request = template.to_http2().fixed().expect("no template").into_vec();
    let outline = Outline { is_head: false, length: request.len() };
    let (mut world, mut scratch) = (World::default(), Scratch::new(64));
    let protocol = Protocol::Http2(STREAMS as u16);
    let mut connection = Connection::dialled((), None, None, (&protocol, 0), 0);
    let event = Ready { token: 0, readable: true, writable: true, closed: false };
    assert!(connection.advance(&mut world, event, &mut scratch).is_ok());
    let new = |_| {
        let mut exchange = Exchange::new(0, 0, outline);
        exchange.body = Some(Vec::new());
        exchange
    };
    let mut exchanges = Exchanges((0..STREAMS).map(new).collect(), request);
    (0..STREAMS as u16).for_each(|slot| connection.begin(slot, &mut exchanges));
    let (settings, rest) = bytes.split_at(9);
    for (piece, is_closed) in [(settings, false), (&[], false), (rest, false), (&[], true)] {
        world.received.borrow_mut().extend(piece);
        world.is_closed = is_closed;
        let event = Ready { closed: is_closed, ..event };
        let mut step = Step::Again;
        while step == Step::Again {
            step = connection.drive(&mut world, event, &mut exchanges, &mut scratch);
        }
    }
    let mut ended = std::mem::take(&mut scratch.ended);
    ended.sort_by_key(|ended| ended.slot);
    std::array::from_fn(|slot| {
        let outcome = ended[slot].outcome;
        let body = exchanges.0[slot].body.take().unwrap_or_default();
        match outcome.failure {
            Some(reason) => Err(reason),
            None => Ok((outcome.status.expect("every response has one"), body)),
        }
    })
}

fuzz_target!(|data: &[u8]| {
    let bytes = frames(data);
    let (judged, has_judge_refused) = by_the_judge(&bytes);
    let own = by_torr(&bytes);
    let has_refused = own.iter().any(|one| one.as_ref().is_err_and(is_refusal));
    let is_all_accepted = judged.iter().all(Option::is_some);
    for pair in own.into_iter().zip(judged) {
        match pair {
            (Ok(response), Some(judged)) => assert_eq!(response, judged),
            // What ends the connection for the judge may end one stream for torr.
            (Ok(_), None) => assert!(has_judge_refused && has_refused, "{bytes:?}"),
            (Err(reason), Some(_)) => {
                assert!(is_stricter(reason, is_all_accepted), "{reason:?}: {bytes:?}");
            }
            (Err(_), None) => {}
        }
    }
});

fn is_refusal(reason: &Reason) -> bool {
    reason.class() == Class::Protocol
}

/// Returns whether torr may refuse a response for this reason that the judge accepts. The judge accepts more
/// fields, bodies of responses that have none, and frames on streams that have ended. Where it ends one
/// stream, torr may end the connection.
fn is_stricter(reason: Reason, is_all_accepted: bool) -> bool {
    let is_known = matches!(
        reason,
        Reason::ProtocolBadHead | Reason::ProtocolExtraBytes | Reason::ProtocolH2StreamClosed
    );
    is_known || !is_all_accepted && is_refusal(&reason)
}
