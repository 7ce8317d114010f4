//! Over what: a connection's life, where it leaves from, how TLS is spoken.

use serde::{Deserialize, Serialize};

use super::websocket::WebSocketPlan;

/// Over what requests travel.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Transport {
    /// Whether a connection carries more than one exchange.
    pub keepalive: bool,
    /// After so many responses a connection is closed and made anew.
    #[serde(default)]
    pub requests_per_connection: Option<u32>,
    /// First connections are opened at this rate; without it, as fast as they are accepted.
    #[serde(default)]
    pub connections_per_second: Option<f64>,
    /// Where connections leave from, in turn; empty leaves it to torr.
    #[serde(default)]
    pub source_addresses: Vec<std::net::IpAddr>,
    /// Whom to ask to pass requests on.
    #[serde(default)]
    pub proxy: Option<Proxy>,
    /// How `https://` is spoken.
    #[serde(default)]
    pub tls: Tls,
    /// The version of HTTP.
    #[serde(default)]
    pub http: HttpVersion,
    /// The most exchanges that a connection of HTTP/2 or WebSocket carries at once.
    #[serde(default = "one_stream")]
    pub streams: u16,
    /// How long a worker collects requests of HTTP/2 before it sends them together.
    #[serde(default)]
    pub coalesce_ns: u64,
    /// Whether servers have chosen the version of HTTP.
    #[serde(default)]
    pub is_negotiated: bool,
    /// How messages are sent over WebSocket.
    #[serde(default)]
    pub websocket: WebSocketPlan,
}

/// The version of HTTP that requests use.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum HttpVersion {
    /// HTTP/1.1.
    #[default]
    #[serde(rename = "1.1")]
    One,
    /// HTTP/2 over TLS.
    #[serde(rename = "2")]
    Two,
    /// HTTP/2 without TLS, which the server is known to speak.
    #[serde(rename = "2c")]
    TwoPlain,
    /// What servers choose in the handshake of TLS: HTTP/2, or HTTP/1.1. Workers get the chosen one.
    #[serde(rename = "auto")]
    Auto,
}

impl HttpVersion {
    /// Its name in plans and results.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::One => "1.1",
            Self::Two => "2",
            Self::TwoPlain => "2c",
            Self::Auto => "auto",
        }
    }
}

fn one_stream() -> u16 {
    1
}

/// A server that passes requests on.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Proxy {
    /// Its host.
    pub host: String,
    /// Its port.
    pub port: u16,
    /// The value of `Proxy-Authorization`, where it wants one.
    #[serde(default)]
    pub authorization: Option<String>,
}

impl Default for Transport {
    fn default() -> Self {
        Self {
            keepalive: true,
            requests_per_connection: None,
            connections_per_second: None,
            source_addresses: Vec::new(),
            proxy: None,
            tls: Tls::default(),
            http: HttpVersion::default(),
            streams: one_stream(),
            coalesce_ns: 0,
            is_negotiated: false,
            websocket: WebSocketPlan::default(),
        }
    }
}

/// How `https://` is spoken.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Tls {
    /// Whether any certificate is accepted.
    pub insecure: bool,
    /// A PEM file of the certificates that are trusted instead of the machine's.
    pub ca: Option<std::path::PathBuf>,
    /// A PEM file with the chain that the client shows.
    pub certificate: Option<std::path::PathBuf>,
    /// A PEM file with its private key; where none is given, `certificate` has it too.
    pub key: Option<std::path::PathBuf>,
    /// Whether a connection takes up the session of an earlier one.
    pub resumption: bool,
}

impl Default for Tls {
    fn default() -> Self {
        Self { insecure: false, ca: None, certificate: None, key: None, resumption: true }
    }
}
