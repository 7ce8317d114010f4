//! The opening handshake (RFC 6455, 4): the fields of the request, and the check of the response.

use std::fmt;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

use crate::{Fields, Http1Options, RequestError, RequestParts, ResponseHead};

/// What a server appends to the key before it calculates the accept value (RFC 6455, 1.3).
const GUID: &[u8] = b"258EAFA5-E914-47DA-95CA-C5AB0DC85B11";

/// The key of a handshake: the value of `Sec-WebSocket-Key`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HandshakeKey(String);

impl HandshakeKey {
    /// Creates the key from random bytes, which are used for one connection only.
    #[must_use]
    pub fn new(random: [u8; 16]) -> Self {
        Self(STANDARD.encode(random))
    }

    /// Returns the key as it is sent.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// Returns the value of `Sec-WebSocket-Accept` that belongs to a key.
#[must_use]
pub fn accept_value(key: &[u8]) -> String {
    let mut hash = sha1_smol::Sha1::new();
    hash.update(key);
    hash.update(GUID);
    STANDARD.encode(hash.digest().bytes())
}

/// The request of an opening handshake without its key, which differs between connections: a GET request of
/// HTTP/1.1 without a body.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HandshakeRequest {
    /// The bytes before the value of the key.
    head: Box<[u8]>,
    /// The subprotocols that it offers.
    subprotocols: Vec<String>,
}

impl HandshakeRequest {
    /// Creates the request for a target with fields of its own; one of them may offer subprotocols.
    pub fn new(
        authority: &str,
        target: &str,
        fields: &[(String, String)],
    ) -> Result<Self, RequestError> {
        let field = |name: &str, value: &str| (name.to_owned(), value.to_owned());
        let fixed = [
            field("Upgrade", "websocket"),
            field("Connection", "Upgrade"),
            field("Sec-WebSocket-Version", "13"),
        ];
        let is_offer = |name: &str| name.eq_ignore_ascii_case("sec-websocket-protocol");
        let offers = fields.iter().filter(|(name, _)| is_offer(name));
        let subprotocols = offers.flat_map(|(_, value)| value.split(',')).map(str::trim);
        let subprotocols = subprotocols.filter(|name| !name.is_empty()).map(str::to_owned);
        let fields = [fields, &fixed].concat();
        let (method, scheme, body) = ("GET", "http", None);
        let parts = RequestParts { method, scheme, authority, target, fields: &fields, body };
        let mut head = parts.to_http1(Http1Options::default())?.into_vec();
        // The key takes the place of the empty line.
        head.truncate(head.len() - 2);
        head.extend_from_slice(b"Sec-WebSocket-Key: ");
        Ok(Self { head: head.into(), subprotocols: subprotocols.collect() })
    }

    /// Returns the bytes of the request with a key.
    #[must_use]
    pub fn bytes(&self, key: &HandshakeKey) -> Vec<u8> {
        [&self.head, key.as_str().as_bytes(), b"\r\n\r\n"].concat()
    }

    /// Checks the response to the request with this key.
    pub fn check(&self, response: &ResponseHead, key: &HandshakeKey) -> Result<(), HandshakeError> {
        check_response(response, key, &self.subprotocols).map(drop)
    }
}

/// Why a response does not complete the handshake.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum HandshakeError {
    /// The status is not 101.
    Status(u16),
    /// `Upgrade` is missing, or is not `websocket`.
    Upgrade,
    /// `Connection` is missing, or does not contain `upgrade`.
    Connection,
    /// `Sec-WebSocket-Accept` is missing, or does not belong to the key of the request.
    Accept,
    /// `Sec-WebSocket-Extensions` names an extension; none was offered.
    Extensions,
    /// `Sec-WebSocket-Protocol` is not one of the subprotocols that were offered.
    Subprotocol,
}

impl fmt::Display for HandshakeError {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let problem = match self {
            Self::Status(status) => return write!(out, "the status is {status} and not 101"),
            Self::Upgrade => "the header Upgrade is missing or is not websocket",
            Self::Connection => "the header Connection is missing or does not contain upgrade",
            Self::Accept => {
                "the header Sec-WebSocket-Accept is missing or does not belong to the request's key"
            }
            Self::Extensions => "the server uses a WebSocket extension that was not offered",
            Self::Subprotocol => "the server uses a WebSocket subprotocol that was not offered",
        };
        out.write_str(problem)
    }
}

impl std::error::Error for HandshakeError {}

/// Checks the response to a request with this key and these subprotocols; returns the subprotocol that
/// the server chose. It may choose none.
pub fn check_response<'a>(
    response: &ResponseHead,
    key: &HandshakeKey,
    subprotocols: &'a [String],
) -> Result<Option<&'a str>, HandshakeError> {
    if response.status != 101 {
        return Err(HandshakeError::Status(response.status));
    }
    let values = |name| values_of(&response.fields, name);
    if values("Upgrade").next().is_none()
        || !values("Upgrade").all(|value| value.eq_ignore_ascii_case(b"websocket"))
    {
        return Err(HandshakeError::Upgrade);
    }
    let mut options = values("Connection").flat_map(items_of);
    if !options.any(|option| option.eq_ignore_ascii_case(b"upgrade")) {
        return Err(HandshakeError::Connection);
    }
    let accept = accept_value(key.as_str().as_bytes());
    if !values("Sec-WebSocket-Accept").eq([accept.as_bytes()]) {
        return Err(HandshakeError::Accept);
    }
    let mut extensions = values("Sec-WebSocket-Extensions").flat_map(items_of);
    if extensions.any(|extension| !extension.is_empty()) {
        return Err(HandshakeError::Extensions);
    }
    chosen(values("Sec-WebSocket-Protocol"), subprotocols)
}

/// Returns the subprotocol that the values of `Sec-WebSocket-Protocol` name; there is at most one value.
fn chosen<'a, 'b>(
    mut values: impl Iterator<Item = &'b [u8]>,
    subprotocols: &'a [String],
) -> Result<Option<&'a str>, HandshakeError> {
    let Some(value) = values.next() else { return Ok(None) };
    let offered = subprotocols.iter().find(|name| name.as_bytes() == value);
    match (offered, values.next()) {
        (Some(name), None) => Ok(Some(name)),
        _ => Err(HandshakeError::Subprotocol),
    }
}

fn values_of<'a>(fields: &'a Fields, name: &'a str) -> impl Iterator<Item = &'a [u8]> {
    let fields = fields.iter().filter(move |(known, _)| known.eq_ignore_ascii_case(name));
    fields.map(|(_, value)| value.trim_ascii())
}

/// Returns the items of a list with commas.
fn items_of(value: &[u8]) -> impl Iterator<Item = &[u8]> {
    value.split(|byte| *byte == b',').map(<[u8]>::trim_ascii)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key() -> HandshakeKey {
        HandshakeKey::new(*b"the sample nonce")
    }

    fn check(status: u16, fields: &[(&str, &str)]) -> Result<Option<String>, HandshakeError> {
        let subprotocols = ["chat".to_owned(), "superchat".to_owned()];
        let mut head =
            ResponseHead { version: 11, status, reason: Box::default(), fields: Fields::default() };
        fields.iter().for_each(|(name, value)| head.fields.push(name, value.as_bytes()));
        check_response(&head, &key(), &subprotocols).map(|chosen| chosen.map(str::to_owned))
    }

    const GOOD: [(&str, &str); 3] = [
        ("Upgrade", "websocket"),
        ("Connection", "Upgrade"),
        ("Sec-WebSocket-Accept", "s3pPLMBiTxaQ9kYGzzhZRbK+xOo="),
    ];

    #[test]
    fn follows_the_example_of_rfc_6455() {
        assert_eq!(key().as_str(), "dGhlIHNhbXBsZSBub25jZQ==");
        assert_eq!(accept_value(key().as_str().as_bytes()), GOOD[2].1);
        let own = [("Sec-WebSocket-Protocol".to_owned(), "chat, superchat".to_owned())];
        let request = HandshakeRequest::new("server.example.com", "/chat", &own).unwrap();
        assert_eq!(request.subprotocols, ["chat", "superchat"]);
        let sent = String::from_utf8(request.bytes(&key())).unwrap();
        let expected = [
            "GET /chat HTTP/1.1",
            "Host: server.example.com",
            "Sec-WebSocket-Protocol: chat, superchat",
            "Upgrade: websocket",
            "Connection: Upgrade",
            "Sec-WebSocket-Version: 13",
            "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==",
            "\r\n",
        ];
        assert_eq!(sent, expected.join("\r\n"));
        let without = HandshakeRequest::new("h", "/", &[]).unwrap();
        assert_ne!(request, without);
        assert!(without.subprotocols.is_empty());
        assert!(HandshakeRequest::new("h", "/a b", &[]).is_err());
        let with = |name, value| [&GOOD[..], &[(name, value)]].concat();
        let chosen = check(101, &with("Sec-WebSocket-Protocol", "chat"));
        assert_eq!(chosen, Ok(Some("chat".to_owned())));
        assert_eq!(check(101, &GOOD), Ok(None));
        let (reason, fields) = (Box::default(), Fields::default());
        let head = ResponseHead { version: 11, status: 101, reason, fields };
        let refused = request.check(&head, &key()).unwrap_err();
        assert_eq!(refused, HandshakeError::Upgrade);
        assert_eq!(refused.to_string(), "the header Upgrade is missing or is not websocket");
        assert!(HandshakeError::Status(403).to_string().contains("403"));
    }

    #[test]
    fn upper_and_lower_case_and_lists_are_read_as_http_has_them() {
        let fields = [
            ("UPGRADE", "WebSocket"),
            ("connection", "keep-alive"),
            ("connection", "a, UPGRADE"),
            ("sec-websocket-accept", GOOD[2].1),
            ("Sec-WebSocket-Extensions", " , "),
        ];
        assert_eq!(check(101, &fields), Ok(None));
    }

    #[test]
    fn every_check_that_fails_is_named() {
        use HandshakeError::{Accept, Connection, Extensions, Status, Subprotocol, Upgrade};
        assert_eq!(check(200, &GOOD), Err(Status(200)));
        for (place, error) in [Upgrade, Connection, Accept].into_iter().enumerate() {
            let mut fields = GOOD.to_vec();
            fields.remove(place);
            assert_eq!(check(101, &fields), Err(error));
        }
        let table = [
            ("Upgrade", "h2c", Upgrade),
            ("Upgrade", "websocket2", Upgrade),
            ("Connection", "upgraded", Connection),
            ("Connection", "close", Connection),
            ("Sec-WebSocket-Accept", "S3pPLMBiTxaQ9kYGzzhZRbK+xOo=", Accept),
            ("Sec-WebSocket-Accept", "dGhlIHNhbXBsZSBub25jZQ==", Accept),
            ("Sec-WebSocket-Extensions", "permessage-deflate", Extensions),
            ("Sec-WebSocket-Protocol", "Chat", Subprotocol),
            ("Sec-WebSocket-Protocol", "chat, superchat", Subprotocol),
            ("Sec-WebSocket-Protocol", "", Subprotocol),
        ];
        for (name, value, error) in table {
            let others = GOOD.iter().filter(|field| field.0 != name);
            let fields: Vec<_> = others.copied().chain([(name, value)]).collect();
            assert_eq!(check(101, &fields), Err(error), "{name}: {value}");
        }
    }

    #[test]
    fn accept_value_and_subprotocol_may_come_only_once() {
        let twice = [&GOOD[..], &GOOD[2..]].concat();
        assert_eq!(check(101, &twice), Err(HandshakeError::Accept));
        let chat = ("Sec-WebSocket-Protocol", "chat");
        let twice = [&GOOD[..], &[chat, chat]].concat();
        assert_eq!(check(101, &twice), Err(HandshakeError::Subprotocol));
    }
}
