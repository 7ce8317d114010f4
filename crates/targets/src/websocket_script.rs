//! The bytes of each fault of WebSocket: a few steps, decided before the first.

use wire::websocket::{
    CloseCode, CloseFrame, ControlPayload, MessageKind, OutgoingFrame, accept_value,
};

use crate::Fault;
use crate::step::{FaultStep, POUR};
use crate::websocket::{close, switching_with};

/// So many bytes in each pause are 10 MB/s.
const FLOOD_BYTES: usize = 100_000;

/// Returns the steps for a handshake with this key; none if the fault is one of messages.
pub(crate) fn of_handshake(fault: Fault, key: &str) -> Option<Vec<FaultStep>> {
    use FaultStep::{Close, Send, Silence};
    let accept = || accept_value(key.as_bytes());
    Some(match fault {
        Fault::WsRefused => {
            let text = "HTTP/1.1 403 Forbidden\r\ncontent-type: text/plain\r\n";
            vec![Send(format!("{text}content-length: 9\r\n\r\nForbidden").into_bytes()), Close]
        }
        Fault::WsNoHandshake => vec![Silence],
        Fault::WsBadAccept => vec![Send(switching_with(&accept_value(b""), "")), Silence],
        Fault::WsExtension => {
            let field = "sec-websocket-extensions: permessage-deflate\r\n";
            vec![Send(switching_with(&accept(), field)), Silence]
        }
        _ => return None,
    })
}

/// Returns the steps of an answer without a fault.
pub(crate) fn say(answer: &[u8]) -> Vec<FaultStep> {
    vec![FaultStep::Send(answer.to_vec())]
}

/// Returns the steps in place of an answer.
pub(crate) fn of(fault: Fault, answer: &[u8]) -> Vec<FaultStep> {
    use FaultStep::{Close, Pour, Send, Silence};
    let half = || answer[..answer.len().div_ceil(2)].to_vec();
    match fault {
        Fault::WsClose => {
            let mut bytes = Vec::new();
            close(&CloseFrame { code: Some(CloseCode(1011)), reason: "" }, &mut bytes);
            vec![Send(bytes), Close]
        }
        Fault::WsDrop => vec![Send(half()), Close],
        Fault::WsHalf => vec![Send(half()), Silence],
        Fault::WsMasked => {
            let mut bytes = Vec::new();
            OutgoingFrame::message(MessageKind::Text, b"Hello")
                .write_masked([1, 2, 3, 4], &mut bytes);
            vec![Send(bytes), Close]
        }
        Fault::WsBadUtf8 => vec![Send(vec![0x81, 2, 0xc3, 0x28]), Close],
        Fault::WsFragment => vec![Send(vec![0x80, 2, b'a', b'b']), Close],
        // The bit that permessage-deflate uses.
        Fault::WsReserved => vec![Send(vec![0xc1, 2, b'a', b'b']), Close],
        Fault::WsHuge => vec![Send(vec![0x82, 127, 0, 0, 1, 0, 0, 0, 0, 0]), Close],
        Fault::WsBadClose => vec![Send(vec![0x88, 2, 0x03, 0xed]), Close], // 1005
        Fault::WsHang => Vec::new(),
        Fault::WsPings => {
            let mut ping = Vec::new();
            let payload = ControlPayload::new(&[7; 100]).unwrap_or(ControlPayload::EMPTY);
            OutgoingFrame::ping(&payload).write_unmasked(&mut ping);
            vec![Pour(ping.repeat(FLOOD_BYTES / ping.len()), POUR)]
        }
        Fault::WsFrames => vec![Send(unusual_answer())],
        // Faults of handshakes, and of HTTP.
        _ => say(answer),
    }
}

/// Returns a legal answer that uses what few servers use.
fn unusual_answer() -> Vec<u8> {
    let mut bytes = Vec::new();
    let ping = ControlPayload::new(b"question").unwrap_or(ControlPayload::EMPTY);
    // A character that begins in one frame and ends in another.
    let (first, second) = "größer".as_bytes().split_at(3);
    for frame in [
        OutgoingFrame::ping(&ping),
        OutgoingFrame::fragment(Some(MessageKind::Text), first, false),
        OutgoingFrame::pong(&ControlPayload::EMPTY),
        OutgoingFrame::fragment(None, b"", false),
        OutgoingFrame::ping(&ping),
        OutgoingFrame::fragment(None, second, true),
    ] {
        frame.write_unmasked(&mut bytes);
    }
    bytes
}
