//! A faulty target over WebSocket: a share of the handshakes, or of the messages, has the fault.

use std::io;
use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;

use wire::websocket::{Masking, OutgoingFrame, WebSocketEvent, WebSocketReader};

use crate::luck::Luck;
use crate::peer::{Ending, RawClient};
use crate::websocket::{MAX_MESSAGE_BYTES, switching};
use crate::websocket_script as script;

/// Serves a connection from its handshake to its end. An error means that the client closed it or broke
/// the protocol.
pub(crate) async fn serve(luck: &Arc<Luck>, peer: &mut RawClient, key: &str) -> io::Result<()> {
    let fault = luck.fault();
    if let Some(steps) = script::of_handshake(fault, key)
        && luck.next().is_some()
    {
        peer.tally.faults.fetch_add(1, Relaxed);
        return take(peer, steps).await.map(drop);
    }
    peer.send(&switching(key)).await?;
    let mut reader = WebSocketReader::new(Masking::Required, MAX_MESSAGE_BYTES);
    let mut message = Vec::new();
    loop {
        let received = peer.read_some().await?;
        if received.is_empty() {
            return Ok(());
        }
        let mut rest = received.as_slice();
        while let Some(event) = reader.next(&mut rest).map_err(io::Error::other)? {
            let answer = match event {
                WebSocketEvent::Message(piece) => {
                    message.extend_from_slice(piece.payload);
                    if !piece.is_last {
                        continue;
                    }
                    peer.tally.requests.fetch_add(1, Relaxed);
                    let mut answer = Vec::new();
                    OutgoingFrame::message(piece.kind, &message).write_unmasked(&mut answer);
                    message.clear();
                    answer
                }
                WebSocketEvent::Close(_) => return peer.end_writing().await,
                WebSocketEvent::Ping(_) | WebSocketEvent::Pong(_) => continue,
            };
            let is_unlucky = script::of_handshake(fault, key).is_none() && luck.next().is_some();
            if is_unlucky {
                peer.tally.faults.fetch_add(1, Relaxed);
            }
            let steps = if is_unlucky { script::of(fault, &answer) } else { script::say(&answer) };
            let ending = take(peer, steps).await?;
            if !is_unlucky || fault.answers() {
                peer.answered();
            }
            if ending == Ending::Over {
                // If unread bytes were left, the kernel would send a reset, and the client might lose
                // frames.
                peer.end_writing().await?;
                return peer.listen_only().await;
            }
        }
    }
}

async fn take(peer: &mut RawClient, steps: Vec<crate::step::FaultStep>) -> io::Result<Ending> {
    for step in steps {
        if peer.take(step).await? == Ending::Over {
            return Ok(Ending::Over);
        }
    }
    Ok(Ending::Open)
}
