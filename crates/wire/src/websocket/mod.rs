//! The bytes of WebSocket (RFC 6455): the opening handshake, frames that are sent, and a reader of
//! received frames.
//!
//! Extensions are not offered, so frames are never compressed and their reserved bits are 0. The caller
//! gives the random bytes: for the key of a handshake, and for the masking key of each frame.

mod close;
mod control;
mod error;
mod handshake;
mod masking;
mod opcode;
mod outgoing;
mod reader;
mod utf8;

pub use close::{CloseCode, CloseFrame};
pub use control::{ControlPayload, MAX_CONTROL_BYTES};
pub use error::WebSocketError;
pub use handshake::{HandshakeError, HandshakeKey, accept_value, check_response, request_fields};
pub use masking::MaskingKey;
pub use opcode::MessageKind;
pub use outgoing::OutgoingFrame;
pub use reader::{Masking, MessagePiece, WebSocketEvent, WebSocketReader};
