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
mod message_id;
mod message_request;
mod opcode;
mod outgoing;
mod reader;
mod utf8;

pub use close::{CloseCode, CloseFrame};
pub use control::{ControlPayload, MAX_CONTROL_BYTES};
pub use error::WebSocketError;
pub use handshake::{HandshakeError, HandshakeKey, HandshakeRequest, accept_value, check_response};
pub use masking::MaskingKey;
pub use message_id::message_id;
pub use message_request::MessageRequest;
pub use opcode::MessageKind;
pub use outgoing::OutgoingFrame;
pub use reader::{Masking, MessagePiece, WebSocketEvent, WebSocketReader};
