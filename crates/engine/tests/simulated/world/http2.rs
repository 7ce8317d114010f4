//! The side of a server of HTTP/2: requests in, frames out. What is answered is the matter of each test.

use std::collections::BTreeMap;

use wire::hpack::{Decoder, Encoder, Indexing};
use wire::http2::{FRAME_HEAD_BYTES, Flags, FrameHead, FrameKind, PREFACE, Setting};

/// What a server has received, by connection.
#[derive(Default)]
pub struct ServerSide {
    connections: BTreeMap<u64, Received>,
}

#[derive(Default)]
struct Received {
    bytes: Vec<u8>,
    decoder: Decoder,
    /// Requests whose end has not come, by stream.
    open: BTreeMap<u32, Http2Ask>,
}

/// A whole request.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Http2Ask {
    pub stream: u32,
    pub path: String,
    pub body: Vec<u8>,
}

/// Something that a client sent.
#[derive(Debug, PartialEq, Eq)]
pub enum FromClient {
    /// The beginning of a connection.
    Preface,
    Request(Http2Ask),
    /// Bytes of a body.
    Body {
        stream: u32,
        count: u32,
    },
}

impl ServerSide {
    /// Takes bytes of a connection; returns what is complete.
    pub fn take(&mut self, connection: u64, bytes: &[u8]) -> Vec<FromClient> {
        let received = self.connections.entry(connection).or_default();
        received.bytes.extend_from_slice(bytes);
        let mut all = Vec::new();
        if received.bytes.starts_with(PREFACE) {
            received.bytes.drain(..PREFACE.len());
            all.push(FromClient::Preface);
        }
        while let Some(head) = received.next_head() {
            let whole: Vec<u8> = received.bytes.drain(..FRAME_HEAD_BYTES + head.length).collect();
            received.frame(head, &whole[FRAME_HEAD_BYTES..], &mut all);
        }
        all
    }
}

impl Received {
    /// Returns the head of the next frame, if it is complete.
    fn next_head(&self) -> Option<FrameHead> {
        // The preface looks like the head of a very long frame.
        let head = self.bytes.first_chunk::<FRAME_HEAD_BYTES>().map(FrameHead::read)?;
        (self.bytes.len() >= FRAME_HEAD_BYTES + head.length).then_some(head)
    }

    fn frame(&mut self, head: FrameHead, payload: &[u8], all: &mut Vec<FromClient>) {
        match head.kind {
            FrameKind::Headers => {
                let mut path = String::new();
                let decoded = self.decoder.decode(payload, |name, value, _| {
                    if name == b":path" {
                        path = String::from_utf8(value.to_vec()).unwrap();
                    }
                });
                decoded.unwrap();
                let ask = Http2Ask { stream: head.stream, path, body: Vec::new() };
                self.open.insert(head.stream, ask);
            }
            FrameKind::Data => {
                if let Some(ask) = self.open.get_mut(&head.stream) {
                    ask.body.extend_from_slice(payload);
                }
                let count = u32::try_from(head.length).unwrap();
                all.push(FromClient::Body { stream: head.stream, count });
            }
            FrameKind::ResetStream => _ = self.open.remove(&head.stream),
            _ => return,
        }
        if head.flags.has(Flags::END_STREAM)
            && let Some(ask) = self.open.remove(&head.stream)
        {
            all.push(FromClient::Request(ask));
        }
    }
}

pub fn frame(kind: FrameKind, flags: Flags, stream: u32, payload: &[u8]) -> Vec<u8> {
    let mut out = Vec::new();
    FrameHead { length: payload.len(), kind, flags, stream }.write(&mut out);
    out.extend_from_slice(payload);
    out
}

pub fn settings(all: &[Setting]) -> Vec<u8> {
    let mut payload = Vec::new();
    all.iter().for_each(|setting| setting.write(&mut payload));
    frame(FrameKind::Settings, Flags::NONE, 0, &payload)
}

/// The permission to send so many more bytes, on the connection and on a stream.
pub fn windows(stream: u32, count: u32) -> Vec<u8> {
    let one = |stream| frame(FrameKind::WindowUpdate, Flags::NONE, stream, &count.to_be_bytes());
    [one(0), one(stream)].concat()
}

/// A whole response: a head with fields, and a body.
pub fn response(stream: u32, fields: &[(&str, &str)], body: &[u8]) -> Vec<u8> {
    let mut block = Vec::new();
    for (name, value) in fields {
        let (name, value) = (name.as_bytes(), value.as_bytes());
        Encoder::default().field(name, value, Indexing::NotKept, &mut block);
    }
    let head = frame(FrameKind::Headers, Flags::END_HEADERS, stream, &block);
    [head, frame(FrameKind::Data, Flags::END_STREAM, stream, body)].concat()
}
