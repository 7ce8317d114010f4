//! Preparing a plan for workers: requests, endpoints and data, once before the run.

mod endpoint;
mod json_size;
pub(crate) mod observe;
mod request;
pub(crate) mod rows;
pub(crate) mod stream_observer;
pub(crate) mod variables;

use std::collections::HashMap;
use std::net::{IpAddr, UdpSocket};
use std::sync::Arc;

use net::{Address, Nanos};

use crate::plan::{Group, Plan, RequestPlan, Source};
pub use endpoint::Endpoint;
use endpoint::EndpointKey;
pub use request::PreparedRequest;
use request::RequestContext;
pub(crate) use request::RequestText;
use rows::Rows;

/// The maximum number of rows; requests beyond it share the last one.
const MAX_ROWS: usize = 200;

/// The name of the row that requests share.
pub const OTHERS: &str = "(other)";

/// A prepared plan, which workers share and do not change.
#[derive(Debug, Clone)]
pub struct Prepared {
    /// Every request of every group.
    pub requests: Vec<PreparedRequest>,
    /// The names of the rows of all tables; the last is `(other)` where there are too many.
    pub rows: Vec<String>,
    /// Requests that share the row `(other)`.
    pub pooled: usize,
    /// Their endpoints.
    pub endpoints: Vec<Endpoint>,
    pub(crate) groups: Vec<PreparedGroup>,
}

/// The requests and data of one group.
#[derive(Debug, Clone)]
pub(crate) struct PreparedGroup {
    /// The number of its first request; the others follow it.
    pub(crate) first: u16,
    pub(crate) count: u16,
    pub(crate) rows: Option<Arc<Rows>>,
    /// The number of captured values of each user.
    pub(crate) captures: usize,
}

/// Prepares a plan; the error says what is wrong with it.
pub fn prepare(plan: &Plan) -> Result<Prepared, String> {
    check_sources(&plan.transport.source_addresses)?;
    let mut keys: Vec<EndpointKey> = Vec::new();
    let mut prepared =
        Prepared { requests: vec![], rows: vec![], pooled: 0, endpoints: vec![], groups: vec![] };
    for group in &plan.groups {
        prepared.add(group, plan, &mut keys)?;
    }
    prepared.assign_rows();
    Ok(prepared)
}

/// Returns the endpoints of a plan, each with its scheme, host and port.
pub(crate) fn endpoints(plan: &Plan) -> Result<Vec<(String, Endpoint)>, String> {
    let mut keys: Vec<EndpointKey> = Vec::new();
    let mut found = Vec::new();
    for request in plan.groups.iter().flat_map(|group| group.source.requests()) {
        let (key, ..) = EndpointKey::of(request, &plan.transport)?;
        if !keys.contains(&key) {
            found.push((key.to_string(), named_endpoint(&key, request, plan)?));
            keys.push(key);
        }
    }
    Ok(found)
}

fn named_endpoint(
    key: &EndpointKey,
    request: &RequestPlan,
    plan: &Plan,
) -> Result<Endpoint, String> {
    key.endpoint(&plan.transport).map_err(|error| format!("URL {:?}: {error}", request.url))
}

impl Prepared {
    /// Returns all addresses of all endpoints.
    #[must_use]
    pub fn addresses(&self) -> Vec<Address> {
        self.endpoints.iter().flat_map(|endpoint| endpoint.addresses.iter().cloned()).collect()
    }

    /// Returns the longest timeout.
    #[must_use]
    pub fn timeout_ns(&self) -> Nanos {
        self.requests.iter().map(|request| request.timeout_ns).max().unwrap_or(0)
    }

    /// Returns whether bodies of responses are stored until they are complete.
    #[must_use]
    pub fn keeps_answers(&self) -> bool {
        self.requests.iter().any(PreparedRequest::keeps_answers)
    }

    /// Returns for each row whether its responses are streams.
    #[must_use]
    pub fn streams(&self) -> Vec<bool> {
        let mut streams = vec![false; self.rows.len()];
        for request in self.requests.iter().filter(|request| request.stream.is_some()) {
            streams[usize::from(request.row)] = true;
        }
        streams
    }

    /// Assigns a row to each name; names beyond the maximum share the last row.
    fn assign_rows(&mut self) {
        let mut numbers: HashMap<String, usize> = HashMap::new();
        for request in &self.requests {
            let next = numbers.len();
            numbers.entry(request.name.clone()).or_insert(next);
        }
        let own = if numbers.len() > MAX_ROWS { MAX_ROWS - 1 } else { numbers.len() };
        // The smaller of two numbers, one of which is 200 at most, fits 16 bits.
        self.requests
            .iter_mut()
            .for_each(|request| request.row = own.min(numbers[&request.name]) as u16);
        let mut names: Vec<_> = numbers.into_iter().filter(|(_, number)| *number < own).collect();
        names.sort_by_key(|(_, number)| *number);
        self.rows = names.into_iter().map(|(name, _)| name).collect();
        self.pooled = self.requests.iter().filter(|one| usize::from(one.row) == own).count();
        if self.pooled > 0 {
            self.rows.push(OTHERS.into());
        }
    }

    fn add(
        &mut self,
        group: &Group,
        plan: &Plan,
        keys: &mut Vec<EndpointKey>,
    ) -> Result<(), String> {
        let rows = group.data.as_ref().map(Rows::of).transpose()?;
        let captures = captured_names(&group.source);
        let context =
            RequestContext { transport: &plan.transport, rows: rows.as_ref(), captures: &captures };
        let first = number(self.requests.len())?;
        for request in group.source.requests() {
            let (key, ..) = EndpointKey::of(request, &plan.transport)?;
            let known = keys.iter().position(|known| *known == key);
            if known.is_none() {
                self.endpoints.push(named_endpoint(&key, request, plan)?);
                keys.push(key);
            }
            let endpoint = number(known.unwrap_or(keys.len() - 1))?;
            self.requests.push(PreparedRequest::new(request, endpoint, &context)?);
        }
        let of_group = &self.requests[usize::from(first)..];
        let protocol =
            |request: &PreparedRequest| &self.endpoints[usize::from(request.endpoint)].protocol;
        let is_same = |one, two| std::mem::discriminant(one) == std::mem::discriminant(two);
        if !of_group.windows(2).all(|pair| is_same(protocol(&pair[0]), protocol(&pair[1]))) {
            return Err("the requests of a group use different protocols".into());
        }
        self.groups.push(PreparedGroup {
            first,
            count: number(self.requests.len())? - first,
            rows: rows.map(Arc::new),
            captures: captures.len(),
        });
        Ok(())
    }
}

fn number(count: usize) -> Result<u16, String> {
    u16::try_from(count).map_err(|_| "there are more than 65,535 requests".into())
}

fn captured_names(source: &Source) -> Vec<String> {
    let mut names: Vec<String> = Vec::new();
    for request in source.requests() {
        let captured = request.captures.iter().map(|capture| &capture.name);
        for name in captured.chain(request.remember.as_ref().map(|remember| &remember.name)) {
            if !names.contains(name) {
                names.push(name.clone());
            }
        }
    }
    names
}

/// Refuses addresses that are not this machine's: nothing could leave from there.
fn check_sources(addresses: &[IpAddr]) -> Result<(), String> {
    addresses.iter().try_for_each(|address| {
        let bound = UdpSocket::bind((*address, 0));
        bound.map(drop).map_err(|error| format!("source address {address}: {error}"))
    })
}

#[cfg(test)]
mod tests {
    use client::Protocol;
    use wire::websocket::HandshakeKey;

    use super::*;
    use crate::plan::tests::plan;
    use crate::plan::{Closed, Pace, Proxy, RequestPlan};

    fn prepared(change: impl FnOnce(&mut RequestPlan)) -> Result<Prepared, String> {
        let mut plan = plan(Pace::Closed(Closed::new(1)));
        let Source::One { request } = &mut plan.groups[0].source else { unreachable!() };
        change(request);
        prepare(&plan)
    }

    fn text(prepared: &Prepared) -> String {
        String::from_utf8_lossy(prepared.requests[0].bytes(b"")).into_owned()
    }

    #[test]
    fn writes_host_path_and_body_of_the_plan() {
        let one = prepared(|request| {
            request.url = "http://user:secret@127.0.0.1:8080?q=1#top".into();
            request.method = "POST".into();
            request.body = Some("aGk=".into());
        })
        .unwrap();
        assert_eq!(
            text(&one),
            "POST /?q=1 HTTP/1.1\r\nHost: 127.0.0.1:8080\r\nContent-Length: 2\r\n\r\nhi"
        );
        let address: std::net::SocketAddr = "127.0.0.1:8080".parse().unwrap();
        assert_eq!(one.addresses(), [Address::Ip(address)]);
    }

    #[test]
    fn accepts_the_statuses_of_the_plan() {
        let one =
            prepared(|request| request.accept_statuses = vec![(200, 299), (404, 404)]).unwrap();
        assert_eq!(
            [200, 299, 300, 404].map(|status| one.requests[0].accepts(status)),
            [true, true, false, true]
        );
    }

    #[test]
    fn names_what_cannot_be_sent() {
        let table = [("http://", "URL"), ("ftp://h/", "only http"), ("nope", "only http")];
        for (url, message) in table {
            let error = prepared(|request| request.url = url.into()).unwrap_err();
            assert!(error.contains(message) && error.contains(url), "{error}");
        }
        assert!(prepared(|request| request.headers = vec![("A".into(), "b\nc".into())]).is_err());
        let unknown = prepared(|request| {
            request.url = "http://127.0.0.1/{{nobody}}".into();
            request.template = true;
        });
        assert!(unknown.unwrap_err().contains("{{nobody}} is unknown"));
    }

    #[test]
    fn requests_of_one_place_share_an_endpoint() {
        let mut plan = plan(Pace::Closed(Closed::new(2)));
        let urls = ["http://localhost:1/a", "http://127.0.0.1:2/b", "http://LOCALHOST:1/c?d"];
        let requests = urls.iter().map(|url| RequestPlan::get(url)).collect();
        plan.groups[0].source = Source::Turn { requests };
        let prepared = prepare(&plan).unwrap();
        let numbers: Vec<_> = prepared.requests.iter().map(|request| request.endpoint).collect();
        assert_eq!((numbers, prepared.endpoints.len()), (vec![0, 1, 0], 2));
    }

    #[test]
    fn beyond_two_hundred_rows_the_rest_is_pooled() {
        let rows = |count: usize| {
            let mut plan = plan(Pace::Closed(Closed::new(2)));
            let request = |number| RequestPlan {
                name: format!("GET /{number}"),
                ..RequestPlan::get("http://127.0.0.1:1/")
            };
            let requests = (0..count).map(request).collect();
            plan.groups[0].source = Source::Turn { requests };
            let prepared = prepare(&plan).unwrap();
            let last = prepared.requests.last().unwrap().row;
            (prepared.rows.len(), last, prepared.rows.last().cloned().unwrap())
        };
        assert_eq!(rows(200), (200, 199, "GET /199".into()));
        assert_eq!(rows(201), (200, 199, OTHERS.into()));
        assert_eq!(rows(999), (200, 199, OTHERS.into()));
    }

    #[test]
    fn requests_of_one_name_share_a_row() {
        let mut plan = plan(Pace::Closed(Closed::new(2)));
        let request = |name: &str| RequestPlan {
            name: name.into(),
            ..RequestPlan::get("http://127.0.0.1:1/")
        };
        plan.groups[0].source = Source::Turn { requests: ["a", "b", "a"].map(request).to_vec() };
        let prepared = prepare(&plan).unwrap();
        let rows: Vec<_> = prepared.requests.iter().map(|request| request.row).collect();
        assert_eq!((rows, prepared.rows), (vec![0, 1, 0], vec!["a".to_owned(), "b".to_owned()]));
    }

    /// Prepares messages to these URLs, each with one header.
    fn messages(sent: &[(&str, &str)]) -> Result<Prepared, String> {
        let mut plan = plan(Pace::Closed(Closed::new(2)));
        let request = |(url, value): &(&str, &str)| RequestPlan {
            headers: vec![("x-user".into(), (*value).into())],
            body: Some("aGk=".into()),
            template: true,
            ..RequestPlan::get(url)
        };
        let requests = sent.iter().map(request).collect();
        plan.groups[0].source = Source::Turn { requests };
        plan.transport.streams = 3;
        prepare(&plan)
    }

    #[test]
    fn messages_share_an_endpoint_if_path_and_headers_are_the_same() {
        let (a, b) = ("ws://127.0.0.1:1/a", "ws://127.0.0.1:1/b");
        let prepared = messages(&[(a, "x"), (b, "x"), (a, "x"), (a, "y")]).unwrap();
        let numbers: Vec<_> = prepared.requests.iter().map(|request| request.endpoint).collect();
        assert_eq!(numbers, [0, 1, 0, 2]);
        assert_eq!(prepared.requests[0].bytes(b""), b"Thi");
        let Protocol::WebSocket(options) = &prepared.endpoints[1].protocol else { unreachable!() };
        assert_eq!((options.slots, options.is_binary), (3, false));
        assert!(options.handshake.bytes(&HandshakeKey::new([0; 16])).starts_with(b"GET /b "));
    }

    #[test]
    fn a_connection_of_messages_has_no_values_and_no_other_protocol_beside_it() {
        for sent in [("ws://127.0.0.1:1/{{seq}}", "x"), ("ws://127.0.0.1:1/", "{{seq}}")] {
            let error = messages(&[sent]).unwrap_err();
            assert!(error.contains("have no values"), "{error}");
        }
        let both = messages(&[("ws://127.0.0.1:1/", "x"), ("http://127.0.0.1:1/", "x")]);
        assert!(both.unwrap_err().contains("different protocols"));
    }

    #[test]
    fn a_proxy_gets_the_whole_url_or_a_request_for_a_tunnel() {
        let through = |url: &str| {
            let mut plan = plan(Pace::Closed(Closed::new(1)));
            plan.groups[0].source = Source::One { request: RequestPlan::get(url) };
            let authorization = Some("Basic eDp5".to_owned());
            plan.transport.proxy =
                Some(Proxy { host: "127.0.0.1".into(), port: 3128, authorization });
            prepare(&plan).unwrap()
        };
        let plain = through("http://target.test/a?b");
        assert_eq!(
            text(&plain),
            "GET http://target.test/a?b HTTP/1.1\r\nHost: target.test\r\nProxy-Authorization: Basic eDp5\r\n\r\n"
        );
        let secure = through("https://target.test/a");
        assert_eq!(text(&secure), "GET /a HTTP/1.1\r\nHost: target.test\r\n\r\n");
        let tunnel = secure.endpoints[0].tunnel.clone().unwrap();
        assert_eq!(
            String::from_utf8_lossy(&tunnel),
            "CONNECT target.test:443 HTTP/1.1\r\nHost: target.test:443\r\nProxy-Authorization: Basic eDp5\r\n\r\n"
        );
        assert!(plain.endpoints[0].tunnel.is_none());
        // A handshake of WebSocket goes through a tunnel, even without TLS.
        let messages = through("ws://target.test/a");
        assert!(
            messages.endpoints[0].tunnel.as_ref().unwrap().starts_with(b"CONNECT target.test:80 ")
        );
    }
}
