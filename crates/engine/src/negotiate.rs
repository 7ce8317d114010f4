//! Asks servers which version of HTTP they speak, before the load (`--http auto`).

use std::borrow::Cow;
use std::io;

use client::{Connection, Opening, Reason, Scratch, Tunnel};
use net::{Address, Alpn, Driver, Epoll, Nanos};

use crate::plan::{HttpVersion, Plan};
use crate::prepare::{Endpoint, endpoints};
use crate::refusal::StartError;

/// The longest time for all handshakes with one server, unless requests may take less.
const LIMIT_NS: Nanos = 10_000_000_000;

/// A message of a handshake is at most 64 KiB long, and half of the buffer is for ciphertext.
const BUFFER_BYTES: usize = 256 * 1024;

/// Returns the plan with the version of HTTP that its servers choose, if it leaves that to them. Each
/// server gets one connection, which carries no request. Without TLS there is no choice: it is HTTP/1.1.
pub(crate) fn negotiated(plan: &Plan) -> Result<Cow<'_, Plan>, StartError> {
    if plan.transport.http != HttpVersion::Auto {
        return Ok(Cow::Borrowed(plan));
    }
    let requests = plan.groups.iter().flat_map(|group| group.source.requests());
    let timeout = requests.map(|request| request.timeout_ns).max().unwrap_or(LIMIT_NS);
    let mut driver =
        Epoll::new().map_err(|error| StartError::Machine(format!("epoll: {error}")))?;
    let mut chosen: Option<(String, HttpVersion)> = None;
    for (server, endpoint) in endpoints(plan).map_err(StartError::Plan)? {
        let version = version_of(&mut driver, &endpoint, timeout.min(LIMIT_NS))
            .map_err(|reason| StartError::Unanswered(server.clone(), reason))?;
        match &chosen {
            Some((other, known)) if *known != version => {
                return Err(StartError::Plan(format!(
                    "--http auto: {other} speaks HTTP/{}, and {server} HTTP/{}: give --http 1.1",
                    known.name(),
                    version.name()
                )));
            }
            _ => chosen = Some((server, version)),
        }
    }
    let mut plan = plan.clone();
    plan.transport.is_negotiated = true;
    plan.transport.http = chosen.map_or(HttpVersion::One, |(_, version)| version);
    if plan.transport.http == HttpVersion::One {
        plan.transport.streams = 1;
    }
    Ok(Cow::Owned(plan))
}

/// Returns what one of the addresses of a server chooses.
fn version_of(
    driver: &mut impl Driver,
    endpoint: &Endpoint,
    limit: Nanos,
) -> Result<HttpVersion, Reason> {
    if endpoint.tls.is_none() {
        return Ok(HttpVersion::One);
    }
    let until = driver.now() + limit;
    let mut why = Reason::ConnectOther;
    for (address, left) in endpoint.addresses.iter().zip((1..=endpoint.addresses.len()).rev()) {
        // One that does not answer leaves the others their share of the time.
        let now = driver.now();
        let share = until.saturating_sub(now) / left as Nanos;
        match chosen_at(driver, endpoint, address, now + share) {
            Ok(version) => return Ok(version),
            Err(reason) => why = reason,
        }
    }
    Err(why)
}

fn chosen_at<D: Driver>(
    driver: &mut D,
    endpoint: &Endpoint,
    address: &Address,
    until: Nanos,
) -> Result<HttpVersion, Reason> {
    let layer = endpoint.tls.as_ref().map(net::TlsClient::session).transpose();
    let layer = layer.map_err(|error| Reason::from(error.fault))?;
    let of_dial = |error: io::Error| Reason::of_dial(&error);
    let socket = driver.dial(address, None, 0).map_err(of_dial)?;
    let tunnel = endpoint.tunnel.clone().map(Tunnel::new);
    let now = driver.now();
    let mut connection = Connection::dialled(socket, layer, tunnel, (&endpoint.protocol, 0), now);
    let (mut ready, mut scratch) = (Vec::new(), Scratch::new(BUFFER_BYTES));
    while driver.now() < until {
        driver.wait(until, &mut ready).map_err(of_dial)?;
        for event in ready.drain(..) {
            let mut opening = Opening::Again;
            while opening == Opening::Again && driver.now() < until {
                opening = connection.advance(driver, event, &mut scratch)?;
            }
            if opening == Opening::Open {
                let is_http2 = connection.chosen_protocol() == Some(Alpn::HTTP2);
                connection.close(driver);
                return Ok(if is_http2 { HttpVersion::Two } else { HttpVersion::One });
            }
        }
    }
    Err(connection.overdue().unwrap_or(Reason::TimeoutTls))
}

#[cfg(test)]
mod tests {
    use net::{Act, Dial, Peer, Simulated, TlsClient, TlsOptions};

    use super::*;

    /// A server none of whose addresses answers; the times of the dials.
    struct Silent(Vec<Nanos>);

    impl Peer for Silent {
        fn dial(&mut self, _: u64, now: Nanos) -> Dial {
            self.0.push(now);
            Dial::Silent
        }

        fn receive(&mut self, _: u64, _: &[u8], _: Nanos) -> Vec<(Nanos, Act)> {
            Vec::new()
        }
    }

    #[test]
    fn an_address_that_is_silent_leaves_the_others_their_share_of_the_time() {
        let mut world = Simulated::new(Silent(Vec::new()));
        let address = Address::Ip("127.0.0.1:1".parse().unwrap());
        let endpoint = Endpoint {
            addresses: vec![address; 4],
            tls: Some(TlsClient::new("localhost", &TlsOptions::default()).unwrap()),
            protocol: client::Protocol::Http2(1),
            tunnel: None,
        };
        assert_eq!(version_of(&mut world, &endpoint, LIMIT_NS), Err(Reason::TimeoutConnect));
        let share = LIMIT_NS / 4;
        assert_eq!(world.peer.0, [0, share, 2 * share, 3 * share]);
        assert_eq!(world.now(), LIMIT_NS);
    }
}
