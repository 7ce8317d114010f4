//! Frames of WebSocket as a client and a server read them: in any split, at the limits, and with every
//! error.

use wire::websocket::{
    CloseCode, CloseFrame, ControlPayload, Masking, MessageKind, OutgoingFrame, WebSocketError,
    WebSocketEvent, WebSocketReader,
};

const TEXT: MessageKind = MessageKind::Text;
const BINARY: MessageKind = MessageKind::Binary;
const KEY: [u8; 4] = [0x37, 0xfa, 0x21, 0x3d];
const LIMIT: u64 = 1 << 20;

/// A whole message, or a control frame.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Received {
    Message(MessageKind, Vec<u8>),
    Ping(Vec<u8>),
    Pong(Vec<u8>),
    Close(Option<u16>, String),
}

/// Joins the pieces of messages.
struct Receiver {
    reader: WebSocketReader,
    open: Option<(MessageKind, Vec<u8>)>,
    received: Vec<Received>,
}

impl Receiver {
    fn new(masking: Masking, limit: u64) -> Self {
        Self { reader: WebSocketReader::new(masking, limit), open: None, received: Vec::new() }
    }

    fn take(&mut self, mut bytes: &[u8]) -> Result<(), WebSocketError> {
        while let Some(event) = self.reader.next(&mut bytes)? {
            match event {
                WebSocketEvent::Message(piece) => {
                    assert_eq!(piece.is_first, self.open.is_none());
                    let is_some = piece.is_first || piece.is_last || !piece.payload.is_empty();
                    assert!(is_some, "a piece of nothing");
                    let (kind, payload) = self.open.get_or_insert((piece.kind, Vec::new()));
                    assert_eq!(*kind, piece.kind);
                    payload.extend_from_slice(piece.payload);
                    if piece.is_last {
                        let (kind, payload) = self.open.take().unwrap();
                        self.received.push(Received::Message(kind, payload));
                    }
                }
                WebSocketEvent::Ping(payload) => {
                    self.received.push(Received::Ping(payload.as_bytes().to_vec()));
                }
                WebSocketEvent::Pong(payload) => {
                    self.received.push(Received::Pong(payload.as_bytes().to_vec()));
                }
                WebSocketEvent::Close(CloseFrame { code, reason }) => {
                    let code = code.map(|CloseCode(code)| code);
                    self.received.push(Received::Close(code, reason.to_owned()));
                }
            }
        }
        assert!(bytes.is_empty(), "the reader left bytes");
        Ok(())
    }
}

type Outcome = (Vec<Received>, Option<WebSocketError>);

fn read_with(masking: Masking, limit: u64, pieces: &[&[u8]]) -> Outcome {
    let mut receiver = Receiver::new(masking, limit);
    let error = pieces.iter().find_map(|piece| receiver.take(piece).err());
    (receiver.received, error)
}

fn read(bytes: &[u8]) -> Outcome {
    read_with(Masking::Forbidden, LIMIT, &[bytes])
}

fn text(payload: &str) -> Received {
    Received::Message(TEXT, payload.as_bytes().to_vec())
}

/// Writes frames as the peer of a reader sends them.
struct Peer {
    masking: Masking,
    bytes: Vec<u8>,
    /// The number of frames, of which each key is made.
    frames: u8,
}

impl Peer {
    fn new(masking: Masking) -> Self {
        Self { masking, bytes: Vec::new(), frames: 0 }
    }

    fn send(&mut self, frame: OutgoingFrame<'_>) {
        self.frames = self.frames.wrapping_add(1);
        match self.masking {
            Masking::Required => {
                frame.write_masked(KEY.map(|byte| byte ^ self.frames), &mut self.bytes);
            }
            Masking::Forbidden => frame.write_unmasked(&mut self.bytes),
        }
    }
}

#[test]
fn reads_the_examples_of_rfc_6455() {
    assert_eq!(read(b"\x81\x05Hello"), (vec![text("Hello")], None));
    assert_eq!(read(b"\x01\x03Hel\x80\x02lo"), (vec![text("Hello")], None));
    let hello = b"Hello".to_vec();
    assert_eq!(read(b"\x89\x05Hello"), (vec![Received::Ping(hello.clone())], None));
    let read_masked = |first| {
        let head = [first, 0x85, 0x37, 0xfa, 0x21, 0x3d];
        read_with(Masking::Required, LIMIT, &[&head, b"\x7f\x9f\x4d\x51\x58"])
    };
    assert_eq!(read_masked(0x81), (vec![text("Hello")], None));
    assert_eq!(read_masked(0x8a), (vec![Received::Pong(hello)], None));
    for (head, length) in [(&b"\x82\x7e\x01\x00"[..], 256), (b"\x82\x7f\0\0\0\0\0\x01\0\0", 65_536)]
    {
        let payload = vec![7; length];
        let found = read(&[head, &payload].concat());
        assert_eq!(found, (vec![Received::Message(BINARY, payload)], None));
    }
}

/// Returns a stream with frames of every kind, and what it says.
fn stream(masking: Masking) -> (Vec<u8>, Vec<Received>) {
    let mut peer = Peer::new(masking);
    let control = |payload: &[u8]| ControlPayload::new(payload).unwrap();
    let long = vec![0xff; 130];
    peer.send(OutgoingFrame::message(TEXT, "größer".as_bytes()));
    peer.send(OutgoingFrame::fragment(Some(TEXT), b"Hel\xe6", false));
    peer.send(OutgoingFrame::ping(&control(b"ping")));
    peer.send(OutgoingFrame::fragment(None, b"", false));
    peer.send(OutgoingFrame::fragment(None, b"\x97\xa5", false));
    peer.send(OutgoingFrame::pong(&ControlPayload::EMPTY));
    peer.send(OutgoingFrame::fragment(None, b"", true));
    peer.send(OutgoingFrame::fragment(Some(BINARY), b"", false));
    peer.send(OutgoingFrame::fragment(None, &long, true));
    peer.send(OutgoingFrame::message(TEXT, b""));
    let close = CloseFrame { code: Some(CloseCode::NORMAL), reason: "über" };
    peer.send(OutgoingFrame::close(&close.payload().unwrap()));
    let received = vec![
        text("größer"),
        Received::Ping(b"ping".to_vec()),
        Received::Pong(Vec::new()),
        text("Hel日"),
        Received::Message(BINARY, long),
        text(""),
        Received::Close(Some(1000), "über".to_owned()),
    ];
    (peer.bytes, received)
}

#[test]
fn reads_the_same_at_every_pair_of_split_points() {
    for masking in [Masking::Required, Masking::Forbidden] {
        let (bytes, expected) = stream(masking);
        for first in 0..=bytes.len() {
            for second in first..=bytes.len() {
                let pieces = [&bytes[..first], &bytes[first..second], &bytes[second..]];
                let (received, error) = read_with(masking, LIMIT, &pieces);
                assert_eq!(error, None, "{masking:?} at {first}, {second}");
                assert!(received == expected, "{masking:?} at {first}, {second}: {received:?}");
            }
        }
        let singles: Vec<&[u8]> = bytes.iter().map(std::slice::from_ref).collect();
        assert_eq!(read_with(masking, LIMIT, &singles), (expected, None));
    }
}

#[test]
fn every_error_is_named_at_every_pair_of_split_points() {
    use WebSocketError as Error;
    let control = [b"\x89\x7e\x00\x7e".to_vec(), vec![0; 126]].concat();
    let table: &[(&[u8], Error)] = &[
        (b"\x81\x85\x37\xfa\x21\x3d\x7f\x9f\x4d\x51\x58", Error::MaskedFrame),
        (b"\x81\x80\x37\xfa\x21\x3d", Error::MaskedFrame),
        (b"\xc1\x05Hello", Error::ReservedBits), // compressed
        (b"\xa1\x05Hello", Error::ReservedBits),
        (b"\x91\x05Hello", Error::ReservedBits),
        (b"\x01\x03Hel\xc0\x02lo", Error::ReservedBits),
        (b"\x83\x00", Error::ReservedOpcode),
        (b"\x87\x00", Error::ReservedOpcode),
        (b"\x8b\x00", Error::ReservedOpcode),
        (b"\x8f\x00", Error::ReservedOpcode),
        (b"\x09\x00", Error::FragmentedControlFrame),
        (b"\x08\x00", Error::FragmentedControlFrame),
        (&control, Error::ControlFrameTooLong),
        (b"\x8a\x7f\x00\x00\x00\x00\x00\x00\x00\x01x", Error::ControlFrameTooLong),
        (b"\x80\x02lo", Error::UnexpectedContinuation),
        (b"\x00\x02lo", Error::UnexpectedContinuation),
        (b"\x81\x01a\x80\x01b", Error::UnexpectedContinuation),
        (b"\x01\x01a\x81\x01b", Error::MessageInsideMessage),
        (b"\x01\x01a\x89\x00\x02\x01b", Error::MessageInsideMessage),
        (b"\x82\x7e\x00\x7dxyz", Error::LengthNotMinimal),
        (b"\x82\x7f\x00\x00\x00\x00\x00\x00\xff\xffxyz", Error::LengthNotMinimal),
        (b"\x82\x7f\x80\x00\x00\x00\x00\x00\x00\x00xyz", Error::LengthTopBit),
        (b"\x82\x7f\xff\xff\xff\xff\xff\xff\xff\xff", Error::LengthTopBit),
        (b"\x82\x7f\x00\x00\x00\x00\x00\x10\x00\x01x", Error::MessageTooLarge),
        (b"\x82\x7f\x7f\xff\xff\xff\xff\xff\xff\xffx", Error::MessageTooLarge),
        (b"\x81\x02a\xff", Error::TextNotUtf8),
        (b"\x81\x01\xc3", Error::TextNotUtf8),
        (b"\x01\x01\xc3\x80\x00", Error::TextNotUtf8),
        (b"\x01\x01\xc3\x80\x01a", Error::TextNotUtf8),
        (b"\x01\x02\xed\xa0\x00\x01\x80", Error::TextNotUtf8),
        (b"\x88\x01\x03", Error::CloseCodeIncomplete),
        (b"\x88\x02\x03\xe7", Error::CloseCodeForbidden), // 999
        (b"\x88\x02\x03\xec", Error::CloseCodeForbidden), // 1004
        (b"\x88\x02\x03\xed", Error::CloseCodeForbidden), // 1005
        (b"\x88\x02\x03\xee", Error::CloseCodeForbidden), // 1006
        (b"\x88\x02\x03\xf7", Error::CloseCodeForbidden), // 1015
        (b"\x88\x02\x03\xf8", Error::CloseCodeForbidden), // 1016
        (b"\x88\x02\x0b\xb7", Error::CloseCodeForbidden), // 2999
        (b"\x88\x02\x13\x88", Error::CloseCodeForbidden), // 5000
        (b"\x88\x03\x03\xe8\xff", Error::CloseReasonNotUtf8),
        (b"\x88\x03\x03\xe8\xc3", Error::CloseReasonNotUtf8),
        (b"\x88\x00\x81\x01a", Error::BytesAfterClose),
        (b"\x88\x02\x03\xe8\x88\x02\x03\xe8", Error::BytesAfterClose),
    ];
    for (bytes, expected) in table {
        let whole = read(bytes);
        assert_eq!(whole.1, Some(*expected), "{bytes:x?}");
        for first in 0..=bytes.len() {
            for second in first..=bytes.len() {
                let pieces = [&bytes[..first], &bytes[first..second], &bytes[second..]];
                let found = read_with(Masking::Forbidden, LIMIT, &pieces);
                assert_eq!(found, whole, "{bytes:x?} at {first}, {second}");
            }
        }
    }
}

#[test]
fn a_reader_that_is_asked_again_after_an_error_does_not_panic() {
    let streams: [&[u8]; 4] = [b"\xc1", b"\x81\x85", b"\x01\x7e\x03\xe8\xe6\x97a", b"\x88\x00x"];
    for bytes in streams {
        let mut reader = WebSocketReader::new(Masking::Forbidden, LIMIT);
        let mut errors = 0;
        for byte in bytes.iter().chain(&[bytes[0]; 50]) {
            let mut rest = std::slice::from_ref(byte);
            errors += usize::from(reader.next(&mut rest).is_err());
        }
        assert!(errors > 0, "{bytes:x?}");
    }
}

#[test]
fn a_server_refuses_frames_that_are_not_masked() {
    for bytes in [&b"\x81\x05Hello"[..], b"\x89\x00", b"\x82\x7e\x01\x00"] {
        let found = read_with(Masking::Required, LIMIT, &[bytes]);
        assert_eq!(found, (Vec::new(), Some(WebSocketError::UnmaskedFrame)));
    }
    // A masked text is checked as others are.
    let mut bytes = Vec::new();
    OutgoingFrame::message(TEXT, b"a\xff").write_masked(KEY, &mut bytes);
    let found = read_with(Masking::Required, LIMIT, &[&bytes]);
    assert_eq!(found.1, Some(WebSocketError::TextNotUtf8));
}

#[test]
fn errors_have_the_code_that_answers_them_and_a_text_of_their_own() {
    let table = [
        (WebSocketError::TextNotUtf8, 1007),
        (WebSocketError::CloseReasonNotUtf8, 1007),
        (WebSocketError::MessageTooLarge, 1009),
        (WebSocketError::ReservedBits, 1002),
        (WebSocketError::BytesAfterClose, 1002),
    ];
    for (error, code) in table {
        assert_eq!(error.close_code(), CloseCode(code), "{error}");
        assert!(error.close_code().may_be_sent());
    }
}

#[test]
fn the_limit_is_that_of_the_whole_message() {
    let too_large = Some(WebSocketError::MessageTooLarge);
    let read_up_to = |limit, bytes: &[u8]| read_with(Masking::Forbidden, limit, &[bytes]).1;
    assert_eq!(read_up_to(5, b"\x81\x05Hello"), None);
    assert_eq!(read_up_to(4, b"\x81\x05Hello"), too_large);
    assert_eq!(read_up_to(0, b"\x81\x00\x82\x00"), None);
    assert_eq!(read_up_to(0, b"\x82\x01"), too_large);
    let fragments = b"\x01\x03Hel\x89\x05Hello\x00\x00\x80\x02lo";
    assert_eq!(read_up_to(5, &[&fragments[..], fragments].concat()), None);
    assert_eq!(read_up_to(4, fragments), too_large);
    // A control frame is no part of a message.
    assert_eq!(read_up_to(0, b"\x89\x05Hello"), None);
    // The largest length, and one byte more than all that can be counted.
    let largest = b"\x02\x7f\x7f\xff\xff\xff\xff\xff\xff\xff";
    assert_eq!(read_up_to(u64::MAX, largest), None);
    for limit in [125, 126, 127, u64::MAX] {
        let length = limit.min(127) as u8;
        let payload = vec![0; usize::from(length)];
        let mut bytes = Vec::new();
        OutgoingFrame::message(BINARY, &payload).write_unmasked(&mut bytes);
        assert_eq!(read_up_to(limit, &bytes), None);
        assert_eq!(read_up_to(u64::from(length) - 1, &bytes), too_large);
    }
}

#[test]
fn a_message_begins_with_its_head_and_its_pieces_are_the_received_bytes() {
    let mut reader = WebSocketReader::new(Masking::Forbidden, LIMIT);
    let next = |reader: &mut WebSocketReader, mut bytes: &[u8]| {
        let range = bytes.as_ptr_range();
        let event = reader.next(&mut bytes).unwrap();
        let Some(WebSocketEvent::Message(piece)) = event else { return None };
        // No copy: the payload is a part of what was received.
        assert!(piece.payload.is_empty() || range.contains(&piece.payload.as_ptr()));
        Some((piece.payload.len(), piece.is_first, piece.is_last))
    };
    assert_eq!(next(&mut reader, b"\x81"), None);
    assert_eq!(next(&mut reader, b"\x05"), Some((0, true, false)));
    assert_eq!(next(&mut reader, b""), None);
    assert_eq!(next(&mut reader, b"Hel"), Some((3, false, false)));
    assert_eq!(next(&mut reader, b"lo"), Some((2, false, true)));
    assert_eq!(next(&mut reader, b"\x01\x00"), Some((0, true, false)));
    assert_eq!(next(&mut reader, b"\x00\x00\x00\x00"), None);
    assert_eq!(next(&mut reader, b"\x80\x00"), Some((0, false, true)));
    assert_eq!(next(&mut reader, b"\x82\x02ab"), Some((2, true, true)));
}

#[test]
fn a_text_that_cannot_become_utf8_fails_before_it_is_complete() {
    let mut receiver = Receiver::new(Masking::Forbidden, LIMIT);
    receiver.take(b"\x01\x7e\x03\xe8abc\xf4").unwrap();
    assert_eq!(receiver.take(b"\x90"), Err(WebSocketError::TextNotUtf8));
    // Bytes of another kind may have any value.
    let (received, error) = read(b"\x82\x02\xf4\x90\x02\x01\xff\x80\x01\xc0");
    assert_eq!((received.len(), error), (2, None));
}

/// Marsaglia's xorshift: enough to choose with, and the same everywhere.
struct Chooser(u64);

impl Chooser {
    fn below(&mut self, end: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) as usize % end
    }

    fn payload(&mut self, kind: MessageKind) -> Vec<u8> {
        let most = [3, 130, 700, 70_000][self.below(16).saturating_sub(12)];
        let length = self.below(most);
        match kind {
            BINARY => (0..length).map(|_| self.below(256) as u8).collect(),
            TEXT => (0..length / 2)
                .map(|_| ['a', 'é', '日', '𝄞'][self.below(4)])
                .collect::<String>()
                .into_bytes(),
        }
    }
}

/// Sends a message in frames that are cut anywhere, with control frames between them.
fn send(
    message: &[u8],
    kind: MessageKind,
    peer: &mut Peer,
    chooser: &mut Chooser,
) -> Vec<Received> {
    let (mut kind, mut rest, mut between) = (Some(kind), message, Vec::new());
    while chooser.below(3) == 0 {
        let (fragment, after) = rest.split_at(chooser.below(rest.len() + 1));
        peer.send(OutgoingFrame::fragment(kind.take(), fragment, false));
        rest = after;
        let payload = vec![7; chooser.below(126)];
        peer.send(OutgoingFrame::ping(&ControlPayload::new(&payload).unwrap()));
        between.push(Received::Ping(payload));
    }
    peer.send(OutgoingFrame::fragment(kind, rest, true));
    between
}

#[test]
fn messages_are_received_as_they_were_sent_however_they_are_cut() {
    for seed in 1..=400_u64 {
        let chooser = &mut Chooser(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15));
        let masking = [Masking::Required, Masking::Forbidden][chooser.below(2)];
        let (mut peer, mut expected) = (Peer::new(masking), Vec::new());
        for _ in 0..chooser.below(6) {
            let kind = [TEXT, BINARY][chooser.below(2)];
            let message = chooser.payload(kind);
            expected.extend(send(&message, kind, &mut peer, chooser));
            expected.push(Received::Message(kind, message));
        }
        let most = [2, 20, 5_000, 100_000][chooser.below(4)];
        let (mut pieces, mut rest) = (Vec::new(), &peer.bytes[..]);
        while !rest.is_empty() {
            let (piece, after) = rest.split_at(rest.len().min(1 + chooser.below(most)));
            pieces.push(piece);
            rest = after;
        }
        let (received, error) = read_with(masking, LIMIT, &pieces);
        assert_eq!(error, None, "seed {seed}");
        assert!(received == expected, "seed {seed}");
    }
}
