//! The frames of each fault of HTTP/2: a few steps, decided before the first.
//!
//! Heads are HPACK without Huffman's code and without the dynamic table, unless that is the fault.

use crate::Fault;
use crate::frames::{
    CONTINUATION, DATA, END_HEADERS, END_STREAM, GOAWAY, HEADERS, PADDED, PING, PUSH_PROMISE,
    RST_STREAM, SETTINGS, WINDOW_UPDATE, frame,
};
use crate::hello::{TEXT, TEXT_TYPE};
use crate::step::{FaultStep, POUR};

// Error codes (RFC 9113, 7).
pub(crate) const NO_ERROR: u32 = 0;
const INTERNAL_ERROR: u32 = 2;
const REFUSED_STREAM: u32 = 7;
const CANCEL: u32 = 8;
const ENHANCE_YOUR_CALM: u32 = 11;

// Settings (RFC 9113, 6.5.2).
const HEADER_TABLE_SIZE: u16 = 1;
const MAX_CONCURRENT_STREAMS: u16 = 3;
const INITIAL_WINDOW_SIZE: u16 = 4;
const MAX_FRAME_SIZE: u16 = 5;

/// `:status: 200`, an entry of the static table.
pub(crate) const STATUS_200: u8 = 0x88;
const CONTENT_LENGTH: u8 = 28;
pub(crate) const CONTENT_TYPE: u8 = 31;
/// The first entry of the dynamic table, as an indexed field.
const FIRST_DYNAMIC: u8 = 0x80 | 62;
const LARGEST_FRAME: usize = 16_384;
/// So many bytes in each pause are 10 MB/s.
const FLOOD_BYTES: usize = 100_000;
/// RST_STREAM frames for one request.
const FLOOD_RESETS: usize = 1_000;
/// The value that the head bomb repeats; with its name it fits into the dynamic table.
const BOMB_VALUE_BYTES: usize = 4_000;
/// An unknown type of frame, which clients ignore.
const UNKNOWN: u8 = 0xfe;

/// Returns the settings with which a target with this fault begins.
pub(crate) fn settings(fault: Fault) -> Vec<u8> {
    let zero = (fault == Fault::H2ZeroWindow).then_some((INITIAL_WINDOW_SIZE, 0));
    settings_of(&zero.into_iter().collect::<Vec<_>>())
}

/// The response without a fault.
pub(crate) fn hello(stream: u32) -> Vec<u8> {
    [head(stream, TEXT.len()), frame(DATA, END_STREAM, stream, TEXT.as_bytes())].concat()
}

/// Returns the steps for request `number`, on its stream.
pub(crate) fn of(fault: Fault, stream: u32, number: u64) -> Vec<FaultStep> {
    use FaultStep::{Close, Pour, Send};
    match fault {
        Fault::H2Refused => vec![Send(reset(stream, REFUSED_STREAM))],
        Fault::H2Reset => vec![Send([head(stream, 11), reset(stream, INTERNAL_ERROR)].concat())],
        Fault::H2Cancel => vec![Send(reset(stream, CANCEL))],
        Fault::H2GoAway => {
            vec![Send([goaway(stream, NO_ERROR), hello(stream)].concat())]
        }
        Fault::H2GoAwayError => vec![Send(goaway(stream, ENHANCE_YOUR_CALM)), Close],
        Fault::H2Closed => {
            vec![Send([head(stream, 11), frame(DATA, 0, stream, b"Hello")].concat()), Close]
        }
        Fault::H2HalfBody => {
            vec![Send([head(stream, 11), frame(DATA, END_STREAM, stream, b"Hello")].concat())]
        }
        Fault::H2BadHead => {
            // An entry that the dynamic table does not have.
            let bytes = frame(HEADERS, END_HEADERS | END_STREAM, stream, &[0xff, 0xff, 0x7f]);
            vec![Send(bytes), Close]
        }
        Fault::H2HeadBomb => vec![Send(head_bomb(stream))],
        Fault::H2Continuations => {
            let open = frame(HEADERS, 0, stream, &[STATUS_200]);
            let field = [literal(0, b"x-filler"), text(&[b'a'; 900])].concat();
            let more = frame(CONTINUATION, 0, stream, &field.repeat(10));
            vec![Send(open), Pour(more, POUR)]
        }
        Fault::H2Pings => {
            let ping = frame(PING, 0, 0, &number.to_be_bytes());
            vec![Pour(ping.repeat(FLOOD_BYTES / ping.len()), POUR)]
        }
        Fault::H2Settings => {
            let empty = settings_of(&[]);
            let changes = [flip_flop(), empty.repeat(FLOOD_BYTES / empty.len())].concat();
            vec![Pour(changes, POUR)]
        }
        Fault::H2Resets => {
            let resets = (1..=100).map(|after| reset(stream + 1_000 + 2 * after, CANCEL));
            vec![Send(resets.collect::<Vec<_>>().concat()), Close]
        }
        Fault::H2ResetFlood => vec![Send(reset(stream, CANCEL).repeat(FLOOD_RESETS))],
        Fault::H2Push => {
            let promised = [2_u32.to_be_bytes().as_slice(), &[0x82, 0x86, 0x84]].concat();
            vec![Send(frame(PUSH_PROMISE, END_HEADERS, stream, &promised)), Close]
        }
        Fault::H2BadFrame => vec![Send(frame(DATA, 0, 0, b"Hello")), Close],
        Fault::H2Overflow => {
            let most = i32::MAX.to_be_bytes();
            vec![Send(frame(WINDOW_UPDATE, 0, 0, &most).repeat(2)), Close]
        }
        Fault::H2Frames => vec![Send(unusual_response(stream))],
        Fault::H2Changes => vec![Send([flip_flop(), hello(stream)].concat())],
        // A hanging stream, a body without a window; faults of HTTP/1.1 have no steps here.
        _ => Vec::new(),
    }
}

/// Returns the frames that refuse a client of another version of HTTP.
pub(crate) fn refusal() -> Vec<u8> {
    const PROTOCOL_ERROR: u32 = 1;
    [settings_of(&[]), goaway(0, PROTOCOL_ERROR)].concat()
}

/// Returns permission to send so many bytes more, for a stream or (0) for the connection.
pub(crate) fn window(stream: u32, bytes: u32) -> Vec<u8> {
    frame(WINDOW_UPDATE, 0, stream, &bytes.to_be_bytes())
}

fn settings_of(pairs: &[(u16, u32)]) -> Vec<u8> {
    let payload: Vec<u8> = pairs
        .iter()
        .flat_map(|(name, value)| [name.to_be_bytes().as_slice(), &value.to_be_bytes()].concat())
        .collect();
    frame(SETTINGS, 0, 0, &payload)
}

/// Returns settings that a client must apply one after the other, and that end as they began.
fn flip_flop() -> Vec<u8> {
    let small = [(HEADER_TABLE_SIZE, 0), (INITIAL_WINDOW_SIZE, 1), (MAX_CONCURRENT_STREAMS, 1)];
    let large = [
        (HEADER_TABLE_SIZE, 4_096),
        (INITIAL_WINDOW_SIZE, 65_535),
        (MAX_CONCURRENT_STREAMS, 1_000),
        (MAX_FRAME_SIZE, 16_384),
    ];
    [settings_of(&small), settings_of(&large)].concat()
}

fn reset(stream: u32, code: u32) -> Vec<u8> {
    frame(RST_STREAM, 0, stream, &code.to_be_bytes())
}

fn goaway(last_stream: u32, code: u32) -> Vec<u8> {
    frame(GOAWAY, 0, 0, &[last_stream.to_be_bytes(), code.to_be_bytes()].concat())
}

/// Returns the head of a response with a body of so many bytes.
fn head(stream: u32, length: usize) -> Vec<u8> {
    frame(HEADERS, END_HEADERS, stream, &fields(length))
}

fn fields(length: usize) -> Vec<u8> {
    let kind = [literal(CONTENT_TYPE, b""), text(TEXT_TYPE.as_bytes())].concat();
    let length = [literal(CONTENT_LENGTH, b""), text(length.to_string().as_bytes())].concat();
    [vec![STATUS_200], kind, length].concat()
}

/// Returns the beginning of a literal field without indexing, whose name is an entry of the static table, or
/// (0) a text; the value follows (RFC 7541, 6.2.2).
pub(crate) fn literal(entry: u8, name: &[u8]) -> Vec<u8> {
    match entry {
        0 => [vec![0], text(name)].concat(),
        1..15 => vec![entry],
        _ => vec![15, entry - 15],
    }
}

/// Returns a text without Huffman's code (RFC 7541, 5.2).
pub(crate) fn text(bytes: &[u8]) -> Vec<u8> {
    let mut out = Vec::new();
    let mut rest = bytes.len();
    if rest < 127 {
        out.push(rest as u8);
    } else {
        out.push(127);
        rest -= 127;
        while rest >= 128 {
            out.push((rest % 128) as u8 | 128);
            rest /= 128;
        }
        out.push(rest as u8);
    }
    out.extend_from_slice(bytes);
    out
}

/// Returns a head that adds a large field to the dynamic table, and repeats it in a byte each.
fn head_bomb(stream: u32) -> Vec<u8> {
    let added = [vec![0x40], text(b"x-bomb"), text(&[b'a'; BOMB_VALUE_BYTES])].concat();
    let mut block = [vec![STATUS_200], added].concat();
    block.resize(LARGEST_FRAME, FIRST_DYNAMIC);
    frame(HEADERS, END_HEADERS | END_STREAM, stream, &block)
}

/// Returns a legal response that uses what few servers use.
fn unusual_response(stream: u32) -> Vec<u8> {
    let unknown = frame(UNKNOWN, 0xff, stream, b"whatever");
    // `:status` with the value 103, an interim response.
    let hints = frame(HEADERS, END_HEADERS, stream, &[literal(8, b""), text(b"103")].concat());
    let fields = fields(TEXT.len());
    let (start, rest) = fields.split_at(1);
    let padded_head = [vec![3], start.to_vec(), vec![0; 3]].concat();
    let trailers = [literal(0, b"x-checksum"), text(b"none")].concat();
    [
        unknown.clone(),
        hints,
        frame(HEADERS, PADDED, stream, &padded_head),
        frame(CONTINUATION, 0, stream, &rest[..2]),
        frame(CONTINUATION, END_HEADERS, stream, &rest[2..]),
        frame(PING, 0, 0, b"question"),
        frame(DATA, PADDED, stream, &[vec![2], b"Hello ".to_vec(), vec![0; 2]].concat()),
        frame(DATA, 0, stream, b""),
        unknown,
        frame(DATA, PADDED, stream, &[vec![0], b"world".to_vec()].concat()),
        frame(HEADERS, END_HEADERS | END_STREAM, stream, &trailers),
    ]
    .concat()
}
