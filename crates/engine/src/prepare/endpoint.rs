//! Endpoints: addresses, TLS, protocol and proxy.

use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;

use client::{MessageMatching, Protocol, WebSocketOptions};
use net::{Address, Alpn, TlsClient, TlsOptions};
use wire::websocket::HandshakeRequest;
use wire::{Http1Options, RequestParts};

use crate::plan::{HttpVersion, Matching, Proxy, RequestPlan, Tls, Transport};

/// The end of connections; requests of one endpoint share connections.
#[derive(Debug, Clone)]
pub struct Endpoint {
    /// The addresses, which connections use in turn.
    pub addresses: Vec<Address>,
    /// The TLS client, for TLS.
    pub tls: Option<TlsClient>,
    /// The protocol of its connections.
    pub protocol: Protocol,
    /// The CONNECT request to the proxy, for TLS through a proxy.
    pub tunnel: Option<Arc<[u8]>>,
}

/// The parts of a URL, and of the plan, that requests of one endpoint have in common.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct EndpointKey {
    pub(super) is_secure: bool,
    pub(super) protocol: Protocol,
    pub(super) host: String,
    pub(super) port: u16,
    unix_socket: Option<PathBuf>,
}

impl fmt::Display for EndpointKey {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        let scheme = match (&self.protocol, self.is_secure) {
            (Protocol::WebSocket(_), true) => "wss",
            (Protocol::WebSocket(_), false) => "ws",
            (_, true) => "https",
            (_, false) => "http",
        };
        write!(to, "{scheme}://{}:{}", self.host, self.port)
    }
}

/// Slots of a connection that uses the protocol of tests.
#[cfg(feature = "line-protocol")]
const LINE_SLOTS: u16 = 4;

impl EndpointKey {
    /// Returns the key of a request, and the rest of its URL: authority and target.
    pub(super) fn of(
        plan: &RequestPlan,
        transport: &Transport,
    ) -> Result<(Self, String, String), String> {
        let wrong = |text: &str| format!("URL {:?}: {text}", plan.url);
        let (scheme, rest) = plan.url.split_once("://").unwrap_or(("", &plan.url));
        let scheme = scheme.to_ascii_lowercase();
        let (is_secure, mut protocol) = match scheme.as_str() {
            "http" => (false, protocol_of(transport)),
            "https" => (true, protocol_of(transport)),
            // The rest of the URL belongs to the handshake, and so to the protocol.
            "ws" => (false, Protocol::Http1),
            "wss" => (true, Protocol::Http1),
            #[cfg(feature = "line-protocol")]
            "lines" => (false, Protocol::Lines(LINE_SLOTS)),
            _ => return Err(wrong("only http://, https://, ws:// and wss:// can be fired at")),
        };
        let end = rest.find(['/', '?', '#']).unwrap_or(rest.len());
        let (authority, target) = rest.split_at(end);
        let authority = authority.rsplit('@').next().unwrap_or(authority);
        let uri: http::uri::Authority =
            authority.parse().map_err(|error: http::uri::InvalidUri| wrong(&error.to_string()))?;
        if uri.host().is_empty() {
            return Err(wrong("has no host"));
        }
        let port = uri.port_u16().unwrap_or(if is_secure { 443 } else { 80 });
        // Python takes hosts that differ in case for the same, too.
        let (host, unix_socket) = (uri.host().to_ascii_lowercase(), plan.unix_socket.clone());
        let target = if plan.template { without_fragment(target) } else { before_hash(target) };
        // A query may stand right behind the host, but not in a request line.
        let slash = if target.starts_with('/') { "" } else { "/" };
        let target = format!("{slash}{target}");
        if scheme.starts_with("ws") {
            let options =
                websocket_of(plan, transport, authority, &target).map_err(|it| wrong(&it))?;
            protocol = Protocol::WebSocket(Arc::new(options));
        }
        let key = Self { is_secure, protocol, host, port, unix_socket };
        Ok((key, authority.to_owned(), target))
    }

    /// Returns whether requests have their whole URL as target, for a proxy without TLS.
    pub(super) fn is_absolute(&self, transport: &Transport) -> bool {
        transport.proxy.is_some() && !self.is_tunnelled()
    }

    /// Returns whether a proxy is asked for a tunnel (RFC 6455, 4.1).
    fn is_tunnelled(&self) -> bool {
        self.is_secure || matches!(self.protocol, Protocol::WebSocket(_))
    }

    pub(super) fn endpoint(&self, transport: &Transport) -> Result<Endpoint, String> {
        let alpn = match transport.http {
            HttpVersion::One => Alpn::Http1,
            HttpVersion::Two | HttpVersion::TwoPlain => Alpn::Http2,
            HttpVersion::Auto => Alpn::Either,
        };
        let is_websocket = matches!(self.protocol, Protocol::WebSocket(_));
        let alpn = if is_websocket { Alpn::Http1 } else { alpn };
        let options = TlsOptions { protocol: alpn, ..options(&transport.tls) };
        let tls = self.is_secure.then(|| TlsClient::new(&self.host, &options));
        let tls = tls.transpose()?;
        let protocol = self.protocol.clone();
        if let Some(path) = &self.unix_socket {
            let addresses = vec![Address::Unix(path.as_path().into())];
            return Ok(Endpoint { addresses, tls, protocol, tunnel: None });
        }
        let (host, port) = match &transport.proxy {
            Some(proxy) => (proxy.host.as_str(), proxy.port),
            None => (self.host.as_str(), self.port),
        };
        let addresses = net::resolve(host, port)
            .map_err(|error| format!("cannot resolve {host:?}: {error}"))?;
        let tunnel = transport.proxy.as_ref().filter(|_| self.is_tunnelled());
        let tunnel = tunnel.map(|proxy| self.connect_request(proxy)).transpose()?;
        let addresses = addresses.into_iter().map(Address::Ip).collect();
        Ok(Endpoint { addresses, tls, protocol, tunnel })
    }

    fn connect_request(&self, proxy: &Proxy) -> Result<Arc<[u8]>, String> {
        let authority = format!("{}:{}", self.host, self.port);
        let authorization = proxy.authorization.clone();
        let fields = authorization.map(|value| ("Proxy-Authorization".to_owned(), value));
        let parts = RequestParts {
            method: "CONNECT",
            scheme: "http",
            authority: &authority,
            target: &authority,
            fields: fields.as_slice(),
            body: None,
        };
        let encoded = parts.to_http1(Http1Options::default());
        encoded.map(Into::into).map_err(|error| error.to_string())
    }
}

fn options(tls: &Tls) -> TlsOptions {
    let identity = tls.certificate.clone().map(|certificate| {
        let key = tls.key.clone().unwrap_or_else(|| certificate.clone());
        (certificate, key)
    });
    let (insecure, ca, resumption) = (tls.insecure, tls.ca.clone(), tls.resumption);
    TlsOptions { insecure, ca, identity, resumption, ..TlsOptions::default() }
}

fn protocol_of(transport: &Transport) -> Protocol {
    match transport.http {
        HttpVersion::One | HttpVersion::Auto => Protocol::Http1,
        HttpVersion::Two | HttpVersion::TwoPlain => Protocol::Http2(transport.streams),
    }
}

/// Returns how messages are sent to the target of a request: the connection is asked for with the fields of
/// the request.
fn websocket_of(
    plan: &RequestPlan,
    transport: &Transport,
    authority: &str,
    target: &str,
) -> Result<WebSocketOptions, String> {
    let mut texts = plan.headers.iter().map(|(_, value)| value.as_str()).chain([target]);
    if plan.template && texts.any(|text| text.contains("{{")) {
        return Err("path and headers of a WebSocket connection have no values".into());
    }
    let matching = match &transport.websocket.matching {
        Matching::Order => MessageMatching::Order,
        Matching::Id { key } => MessageMatching::Id(key.clone()),
        Matching::None => MessageMatching::None,
    };
    let handshake = HandshakeRequest::new(authority, target, &plan.headers);
    let handshake = handshake.map_err(|error| error.to_string())?;
    let (slots, is_binary) = (transport.streams, transport.websocket.binary);
    Ok(WebSocketOptions { slots, matching, is_binary, handshake })
}

fn before_hash(target: &str) -> &str {
    target.split('#').next().unwrap_or_default()
}

/// A `#` within `{{…}}` is the template's.
fn without_fragment(template: &str) -> &str {
    let mut from = 0;
    loop {
        let rest = &template[from..];
        let (hash, opening) = (rest.find('#'), rest.find("{{"));
        match (hash, opening) {
            (None, _) => return template,
            (Some(hash), Some(opening)) if opening < hash => {
                let Some(length) = rest[opening..].find("}}") else { return template };
                from += opening + length + 2;
            }
            (Some(hash), _) => return &template[..from + hash],
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fragment_is_cut_off_and_a_template_is_not() {
        let table = [
            ("/a#b", "/a"),
            ("/a", "/a"),
            (r##"/{{row["#"]}}/x#y"##, r##"/{{row["#"]}}/x"##),
            ("/#{{seq}}", "/"),
            ("/{{seq#", "/{{seq#"),
        ];
        for (target, expected) in table {
            assert_eq!(without_fragment(target), expected);
        }
    }
}
