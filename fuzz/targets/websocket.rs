//! Frames of WebSocket, as a client and as a server read them: any bytes, and what torr writes. The crate
//! `tungstenite` is the judge: what torr reads, it reads alike, and what torr refuses, it refuses.
//!
//! They differ where the judge accepts more than RFC 6455 allows, or says less:
//!
//! - It accepts a length that is written in more bytes than it needs (5.2), also that of a control frame.
//! - It returns a Close frame with a code that must not be sent as one with the code 1002, and knows no
//!   code 1014, which IANA has registered since.
//! - It judges a frame when it is complete; torr judges the head when it is complete, and UTF-8 at each
//!   byte. So a frame that torr refuses is completed by zeros before the judge reads it.
//! - After a Close frame it ignores what torr refuses; nothing there is compared.

#![no_main]

use std::io::{self, ErrorKind, Read, Write};

use fuzz::cuts::cut;
use libfuzzer_sys::fuzz_target;
use tungstenite::Message;
use tungstenite::handshake::derive_accept_key;
use tungstenite::protocol::{Role, WebSocket, WebSocketConfig};
use wire::websocket::{
    CloseCode, CloseFrame, ControlPayload, Masking, MessageKind, OutgoingFrame, WebSocketError,
    WebSocketEvent, WebSocketReader, accept_value,
};

/// The limit of messages; the judge applies it to control frames too, so it is above 125.
const MAX_MESSAGE_BYTES: usize = 300;

/// A whole message, or a control frame.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Received {
    Message(MessageKind, Vec<u8>),
    Ping(Vec<u8>),
    Pong(Vec<u8>),
    Close(Option<u16>, String),
}

type Outcome = (Vec<Received>, Option<WebSocketError>);

fn read(masking: Masking, pieces: &[&[u8]]) -> Outcome {
    let mut reader = WebSocketReader::new(masking, MAX_MESSAGE_BYTES as u64);
    let (mut received, mut open) = (Vec::new(), None);
    for mut rest in pieces.iter().copied() {
        loop {
            match reader.next(&mut rest) {
                Ok(Some(WebSocketEvent::Message(piece))) => {
                    assert_eq!(piece.is_first, open.is_none());
                    let (kind, mut payload) = open.take().unwrap_or((piece.kind, Vec::new()));
                    payload.extend_from_slice(piece.payload);
                    if piece.is_last {
                        received.push(Received::Message(kind, payload));
                    } else {
                        open = Some((kind, payload));
                    }
                }
                Ok(Some(WebSocketEvent::Ping(payload))) => {
                    received.push(Received::Ping(payload.as_bytes().to_vec()));
                }
                Ok(Some(WebSocketEvent::Pong(payload))) => {
                    received.push(Received::Pong(payload.as_bytes().to_vec()));
                }
                Ok(Some(WebSocketEvent::Close(CloseFrame { code, reason }))) => {
                    received.push(Received::Close(code.map(|code| code.0), reason.to_owned()));
                }
                Ok(None) => break,
                Err(error) => {
                    // It may be asked again, whatever it answers.
                    for _ in 0..20 {
                        let _ = reader.next(&mut rest);
                    }
                    return (received, Some(error));
                }
            }
        }
        assert!(rest.is_empty(), "bytes are left");
    }
    (received, None)
}

/// A socket that receives the input, and discards what is sent.
struct Input<'a>(&'a [u8]);

impl Read for Input<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.0.is_empty() { Err(ErrorKind::WouldBlock.into()) } else { self.0.read(buffer) }
    }
}

impl Write for Input<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Returns what the judge reads up to a Close frame, and whether it refuses what follows.
fn judge(masking: Masking, bytes: &[u8]) -> (Vec<Received>, bool) {
    let role = match masking {
        Masking::Required => Role::Server,
        Masking::Forbidden => Role::Client,
    };
    let config = WebSocketConfig::default()
        .read_buffer_size(512)
        .max_message_size(Some(MAX_MESSAGE_BYTES))
        .max_frame_size(Some(MAX_MESSAGE_BYTES));
    let mut socket = WebSocket::from_raw_socket(Input(bytes), role, Some(config));
    let mut received = Vec::new();
    loop {
        received.push(match socket.read() {
            Ok(Message::Text(text)) => {
                Received::Message(MessageKind::Text, text.as_bytes().to_vec())
            }
            Ok(Message::Binary(bytes)) => Received::Message(MessageKind::Binary, bytes.to_vec()),
            Ok(Message::Ping(payload)) => Received::Ping(payload.to_vec()),
            Ok(Message::Pong(payload)) => Received::Pong(payload.to_vec()),
            Ok(Message::Close(frame)) => {
                let code = frame.as_ref().map(|frame| frame.code.into());
                let reason = frame.map_or(String::new(), |frame| frame.reason.to_string());
                received.push(Received::Close(code, reason));
                return (received, false);
            }
            Ok(Message::Frame(_)) => unreachable!("it is never read"),
            Err(tungstenite::Error::Io(error)) if error.kind() == ErrorKind::WouldBlock => {
                return (received, false);
            }
            Err(_) => return (received, true),
        });
    }
}

/// Returns what the judge makes of a Close frame that it regards as a violation.
fn violation() -> Received {
    Received::Close(Some(1002), "Protocol violation".to_owned())
}

fn is_read_as_the_judge_reads_it(masking: Masking, bytes: &[u8]) {
    let (mut received, error) = read(masking, &[bytes]);
    assert_eq!(read(masking, &cut(bytes)), (received.clone(), error));
    if let Some(Received::Close(Some(1014), _)) = received.last() {
        received.pop();
        received.push(violation());
    }
    match error {
        None | Some(WebSocketError::BytesAfterClose) => {
            assert_eq!(judge(masking, bytes), (received, false));
        }
        Some(WebSocketError::LengthNotMinimal | WebSocketError::ControlFrameTooLong) => {
            assert!(judge(masking, bytes).0.starts_with(&received));
        }
        Some(error) => {
            let completed = [bytes, &[0; MAX_MESSAGE_BYTES + 14]].concat();
            let (mut judged, is_refused) = judge(masking, &completed);
            let is_forbidden = error == WebSocketError::CloseCodeForbidden;
            if is_forbidden && !is_refused {
                assert_eq!(judged.pop(), Some(violation()));
            }
            assert!(is_refused || is_forbidden, "the judge accepts it: {error:?}");
            assert_eq!(judged, received);
        }
    }
}

/// Writes frames whose payloads are parts of the input.
fn is_read_as_it_was_written(masking: Masking, input: &[u8]) {
    let (mut bytes, mut expected) = (Vec::new(), Vec::new());
    let mut send = |frame: OutgoingFrame<'_>| match masking {
        Masking::Required => frame.write_masked([input[0], 0x9d, 7, bytes.len() as u8], &mut bytes),
        Masking::Forbidden => frame.write_unmasked(&mut bytes),
    };
    for part in input.chunks(90) {
        let (operation, part) = (part[0], &part[1..]);
        let control = ControlPayload::new(part).expect("at most 89 bytes");
        let (kind, message) = match operation & 1 {
            0 => (MessageKind::Binary, part.to_vec()),
            _ => (MessageKind::Text, String::from_utf8_lossy(part).into_owned().into_bytes()),
        };
        match operation >> 1 & 3 {
            0 => send(OutgoingFrame::message(kind, &message)),
            1 => {
                send(OutgoingFrame::ping(&control));
                expected.push(Received::Ping(part.to_vec()));
                continue;
            }
            _ => {
                let (first, second) =
                    message.split_at(usize::from(operation) % (message.len() + 1));
                send(OutgoingFrame::fragment(Some(kind), first, false));
                send(OutgoingFrame::pong(&control));
                expected.push(Received::Pong(part.to_vec()));
                send(OutgoingFrame::fragment(None, second, true));
            }
        }
        expected.push(Received::Message(kind, message));
    }
    let code = 3000 + u16::from(input[0]);
    let frame = CloseFrame { code: Some(CloseCode(code)), reason: "überall" };
    send(OutgoingFrame::close(&frame.payload().expect("a short reason")));
    expected.push(Received::Close(Some(code), frame.reason.to_owned()));
    assert_eq!(read(masking, &cut(&bytes)), (expected.clone(), None));
    assert_eq!(judge(masking, &bytes), (expected, false));
}

fuzz_target!(|data: &[u8]| {
    let [first, bytes @ ..] = data else { return };
    let masking = if first & 1 == 0 { Masking::Forbidden } else { Masking::Required };
    is_read_as_the_judge_reads_it(masking, bytes);
    is_read_as_it_was_written(masking, data);
    assert_eq!(accept_value(data), derive_accept_key(data));
});
