//! How the connections of an endpoint begin, and how their answers find their messages.

use wire::websocket::HandshakeRequest;

/// The properties of the connections of an endpoint that speaks WebSocket.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WebSocketOptions {
    /// The most messages of a connection that wait for their answers at once.
    pub slots: u16,
    /// How an answer finds its message.
    pub matching: MessageMatching,
    /// Whether all messages are binary; otherwise those that are UTF-8 are texts.
    pub is_binary: bool,
    /// The request of the opening handshake.
    pub handshake: HandshakeRequest,
}

/// How an answer finds its message.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum MessageMatching {
    /// It belongs to the oldest message without an answer.
    Order,
    /// The value of this key of their JSON objects is the same.
    Id(String),
    /// There are no answers: a message is complete when it was written.
    None,
}
