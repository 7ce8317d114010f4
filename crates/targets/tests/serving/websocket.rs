//! The echo server of WebSocket, over plain sockets (RFC 6455).

use std::io::{Read, Write};

use crate::common::{connect, exchange, start};
use wire::websocket::{
    CloseCode, CloseFrame, ControlPayload, Masking, MessageKind, OutgoingFrame, WebSocketEvent,
    WebSocketReader,
};

const KEY: &str = "dGhlIHNhbXBsZSBub25jZQ==";

/// Shakes hands with the target, and sends these frames in the same write.
fn talk(target: &targets::Target, frames: &[OutgoingFrame<'_>]) -> std::net::TcpStream {
    let mut socket = connect(target);
    let fields = "upgrade: websocket\r\nconnection: upgrade\r\nsec-websocket-version: 13";
    let head =
        format!("GET /chat HTTP/1.1\r\nhost: x\r\n{fields}\r\nSec-WebSocket-Key: {KEY}\r\n\r\n");
    let mut bytes = head.into_bytes();
    frames.iter().for_each(|frame| frame.write_masked([1, 2, 3, 4], &mut bytes));
    socket.write_all(&bytes).unwrap();
    let mut head = Vec::new();
    while !head.ends_with(b"\r\n\r\n") {
        let mut byte = [0];
        socket.read_exact(&mut byte).unwrap();
        head.push(byte[0]);
    }
    let head = String::from_utf8(head).unwrap();
    assert!(head.starts_with("HTTP/1.1 101 "), "{head}");
    assert!(head.contains("sec-websocket-accept: s3pPLMBiTxaQ9kYGzzhZRbK+xOo=\r\n"), "{head}");
    socket
}

/// Reads so many events, or all until the target closes.
fn events(socket: &mut std::net::TcpStream, most: usize) -> Vec<String> {
    let (mut reader, mut seen) = (WebSocketReader::new(Masking::Forbidden, 1 << 20), Vec::new());
    while seen.len() < most {
        let mut buffer = [0; 4096];
        let count = socket.read(&mut buffer).unwrap();
        if count == 0 {
            break;
        }
        let mut rest = &buffer[..count];
        while let Some(event) = reader.next(&mut rest).unwrap() {
            seen.push(match event {
                WebSocketEvent::Message(piece) => {
                    format!("{:?} {}", piece.kind, String::from_utf8_lossy(piece.payload))
                }
                WebSocketEvent::Close(frame) => format!("close {:?}", frame.code.map(|it| it.0)),
                WebSocketEvent::Ping(_) => "ping".to_owned(),
                WebSocketEvent::Pong(payload) => {
                    format!("pong {}", String::from_utf8_lossy(payload.as_bytes()))
                }
            });
        }
    }
    seen
}

#[test]
fn messages_come_back_as_they_were_and_are_counted() {
    let target = start(r#"{"kind":"ws"}"#);
    let ping = ControlPayload::new(b"p").unwrap();
    let close = CloseFrame { code: Some(CloseCode(4001)), reason: "over" }.payload().unwrap();
    let frames = [
        OutgoingFrame::message(MessageKind::Text, "größer".as_bytes()),
        OutgoingFrame::fragment(Some(MessageKind::Binary), b"a", false),
        OutgoingFrame::ping(&ping),
        OutgoingFrame::fragment(None, b"b", true),
        OutgoingFrame::close(&close),
    ];
    let seen = events(&mut talk(&target, &frames), usize::MAX);
    assert_eq!(seen, ["Text größer", "pong p", "Binary ab", "close Some(4001)"]);
    target.stop().unwrap();
    let counts = target.counts();
    assert_eq!((counts.connections, counts.requests, counts.answered), (1, 2, 2));
}

#[test]
fn a_client_that_breaks_the_protocol_learns_why_the_connection_ends() {
    let target = start(r#"{"kind":"ws"}"#);
    let frames = [OutgoingFrame::message(MessageKind::Text, b"\xff")];
    assert_eq!(events(&mut talk(&target, &frames), usize::MAX), ["close Some(1007)"]);
    assert_eq!(target.counts().requests, 0);
}

#[test]
fn messages_are_pushed_and_requests_without_a_handshake_are_refused() {
    let target = start(r#"{"kind":"ws","push_every_ns":1000000}"#);
    // More of them may come at once.
    assert_eq!(events(&mut talk(&target, &[]), 3)[..3], ["Text news"; 3]);
    let refusal =
        "HTTP/1.1 426 Upgrade Required\r\nupgrade: websocket\r\ncontent-length: 0\r\n\r\n";
    let mut socket = connect(&target);
    for _ in 0..2 {
        assert_eq!(exchange(&mut socket, crate::common::GET, refusal.len()), refusal);
    }
    assert_eq!(target.counts().requests, 2);
    assert!(
        targets::Target::start(serde_json::from_str(r#"{"kind":"ws","push_every_ns":0}"#).unwrap())
            .is_err()
    );
}
