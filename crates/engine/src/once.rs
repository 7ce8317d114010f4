//! One request, sent once, with request and answer: for inspection, not for measuring.

use std::net::IpAddr;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use client::{
    Budget, Connection, Exchange, Opening, Outcome, Reason, Scratch, Stamps, Step, Tunnel, UNSET,
};
use net::{Address, Driver, Epoll, Nanos, Ready};
use serde_json::{Value, json};
use wire::{Fields, ResponseHead, latin1};

use crate::negotiate::negotiated;
use crate::plan::Plan;
use crate::prepare::stream_observer::StreamObserver;
use crate::prepare::variables::{Draw, Filling, RowCells};
use crate::prepare::{Endpoint, Prepared, PreparedRequest, RequestText, prepare};
use crate::random::SplitMix;
use crate::refusal::StartError;

/// Larger answers fail.
const MAX_BYTES: u64 = 16 * 1024 * 1024;

/// One read; TLS uses a half of it for each side, which has room for the longest message of a
/// handshake.
const BUFFER_BYTES: usize = 256 * 1024;

/// Sends the request of the plan's first group exactly once; the message says why it cannot start.
pub fn once(plan: &Plan) -> Result<Value, StartError> {
    let plan = &*negotiated(plan)?;
    let prepared = prepare(plan).map_err(StartError::Plan)?;
    let single = SingleRequest::first(plan, &prepared)
        .ok_or_else(|| StartError::Plan("the plan has no group".into()))?;
    let mut driver =
        Epoll::new().map_err(|error| StartError::Machine(format!("epoll: {error}")))?;
    let now = driver.now();
    let mut exchange = Exchange::new(now, now, single.request.outline(&single.text));
    single.request.set_up(&mut exchange);
    exchange.keeps_head = true;
    exchange.body.get_or_insert_default();
    // The size of the response is limited by `MAX_BYTES`.
    let mut scratch = Scratch { budget: Budget::new(usize::MAX), ..Scratch::new(BUFFER_BYTES) };
    let deadline = now.saturating_add(single.request.timeout_ns);
    let (mut outcome, mut address) = (None, None);
    for to in &single.endpoint.addresses {
        address = Some(to);
        let ended = drive(&mut driver, &mut exchange, &single, to, &mut scratch, deadline);
        let ended = outcome.insert(ended);
        let is_opened = exchange.stamps.sent != UNSET;
        if is_opened || !ended.failure.is_some_and(Reason::is_worth_another_address) {
            break;
        }
    }
    let (Some(outcome), Some(address)) = (outcome, address) else {
        return Err(StartError::Plan("the host has no address".into()));
    };
    Ok(to_json(&single, &mut exchange, &scratch.buffer, outcome, address))
}

/// The one request, joined, and where it goes.
struct SingleRequest<'a> {
    request: &'a PreparedRequest,
    endpoint: &'a Endpoint,
    text: Vec<u8>,
    /// The number of captured values: a missing one is a failure.
    captured: usize,
    /// Where it leaves from, if the user says so.
    from: Option<IpAddr>,
    /// For everything random that the protocol sends.
    seed: u64,
}

impl<'a> SingleRequest<'a> {
    fn first(plan: &Plan, prepared: &'a Prepared) -> Option<Self> {
        let (request, group) = (prepared.requests.first()?, prepared.groups.first()?);
        let endpoint = &prepared.endpoints[usize::from(request.endpoint)];
        let mut text = Vec::new();
        if let RequestText::Joined(template, variables) = &request.text {
            let rows = group.rows.as_deref().map(RowCells::Table);
            let draw = Draw::default();
            let (random, unique) = (&mut SplitMix::new(1), &mut SplitMix::of_this_moment());
            let mut values = Filling { variables, rows, draw, captured: &[], random, unique };
            template.join(&mut values, &mut text, &mut Vec::new());
        }
        let from = plan.transport.source_addresses.first().copied();
        let seed = SplitMix::of_this_moment().next();
        Some(Self { request, endpoint, text, captured: group.captures, from, seed })
    }

    fn bytes(&self) -> &[u8] {
        self.request.bytes(&self.text)
    }
}

fn drive<D: Driver>(
    driver: &mut D,
    exchange: &mut Exchange,
    single: &SingleRequest<'_>,
    to: &Address,
    scratch: &mut Scratch,
    deadline: Nanos,
) -> Outcome {
    let layer = match single.endpoint.tls.as_ref().map(net::TlsClient::session).transpose() {
        Ok(layer) => layer,
        Err(error) => return exchange.end(driver.now(), error.fault.into()),
    };
    let dialled = match driver.dial(to, single.from, 0) {
        Ok(socket) => socket,
        Err(error) => return exchange.end(driver.now(), Reason::of_dial(&error)),
    };
    let tunnel = single.endpoint.tunnel.clone().map(Tunnel::new);
    let now = driver.now();
    let mut connection =
        Connection::dialled(dialled, layer, tunnel, (&single.endpoint.protocol, single.seed), now);
    let outcome = exchange_over(&mut connection, driver, exchange, single, scratch, deadline);
    connection.close(driver);
    outcome
}

/// Opens a connection, and runs the exchange on it.
fn exchange_over<D: Driver>(
    connection: &mut Connection<D::Socket>,
    driver: &mut D,
    exchange: &mut Exchange,
    single: &SingleRequest<'_>,
    scratch: &mut Scratch,
    deadline: Nanos,
) -> Outcome {
    let mut ready = Vec::new();
    let mut reason = None;
    while reason.is_none() && driver.now() < deadline {
        let still_until = single.request.still_until(exchange, deadline);
        let message_at = message_due_at(exchange);
        if driver.wait(still_until.min(message_at).min(deadline), &mut ready).is_err() {
            break;
        }
        let now = driver.now();
        let is_idle = ready.is_empty() && still_until < deadline && now >= still_until;
        reason = is_idle.then_some(Reason::TimeoutIdle);
        if now >= message_at {
            connection.release_message(0, now, &mut (&mut *exchange, single.bytes()));
            ready.push(Ready { token: 0, readable: false, writable: true, closed: false });
        }
        for event in ready.drain(..) {
            let end = turn(driver, exchange, connection, single, event, scratch, deadline);
            if exchange.bytes_in > MAX_BYTES {
                return exchange.end(driver.now(), Reason::ReadTooLarge);
            }
            if let Some(outcome) = end {
                return outcome;
            }
        }
    }
    exchange.time_out(driver.now(), connection.overdue().or(reason))
}

/// Returns when the next message of a gRPC call is due, if messages are paced.
fn message_due_at(exchange: &Exchange) -> Nanos {
    let call = exchange.grpc_call.as_ref();
    call.and_then(|call| call.due_at(exchange.stamps.sent)).unwrap_or(Nanos::MAX)
}

/// Handles an event; returns how the exchange ended, if it did.
fn turn<D: Driver>(
    driver: &mut D,
    exchange: &mut Exchange,
    connection: &mut Connection<D::Socket>,
    single: &SingleRequest<'_>,
    event: Ready,
    scratch: &mut Scratch,
    deadline: Nanos,
) -> Option<Outcome> {
    let mut event = event;
    if !connection.is_open() {
        let mut opening = connection.advance(driver, event, scratch);
        while opening == Ok(Opening::Again) && driver.now() < deadline {
            opening = connection.advance(driver, event, scratch);
        }
        match opening {
            Ok(Opening::Pending | Opening::Again) => return None,
            Ok(Opening::Open) => connection.stamp_opening(&mut exchange.stamps, driver.now()),
            Err(reason) => return Some(exchange.end(driver.now(), reason)),
        }
        connection.begin(0, &mut (&mut *exchange, single.bytes()));
        event.writable = true;
    }
    // There are no other connections that wait for their turn.
    loop {
        let step = connection.drive(driver, event, &mut (&mut *exchange, single.bytes()), scratch);
        if let Some(ended) = scratch.ended.pop() {
            return Some(ended.outcome);
        }
        event.writable = connection.has_outgoing();
        let is_over = step == Step::Pending && !event.writable;
        if is_over || exchange.bytes_in > MAX_BYTES {
            return None;
        }
        if driver.now() >= deadline {
            return Some(exchange.time_out(driver.now(), None));
        }
    }
}

fn to_json(
    single: &SingleRequest<'_>,
    exchange: &mut Exchange,
    buffer: &[u8],
    outcome: Outcome,
    address: &Address,
) -> Value {
    let stamps: Stamps = exchange.stamps;
    let mut values = vec![Vec::new(); single.captured];
    let failure = match outcome.failure {
        None => single.request.judge(outcome.status, exchange, &mut values, &mut 0).err(),
        failed if outcome.status.is_some_and(|status| single.request.accepts(status)) => {
            StreamObserver::first_fault(exchange).or(failed)
        }
        failed => failed,
    };
    // Bytes that are no head are shown as they are.
    let is_headless = exchange.response_head.is_none();
    let is_sent = exchange.bytes_out() > 0;
    let request = single.endpoint.protocol.readable(single.bytes(), single.seed, is_sent);
    let milliseconds = |nanos: Option<Nanos>| {
        #[allow(clippy::cast_precision_loss)]
        nanos.map(|nanos| nanos as f64 / 1e6)
    };
    json!({
        "request": STANDARD.encode(request),
        "head": exchange.response_head.as_deref().map(head_to_json),
        "trailers": fields_to_json(exchange.trailers.as_deref()),
        "body": STANDARD.encode(exchange.body.as_deref().unwrap_or_default()),
        "excerpt": STANDARD.encode(if is_headless { exchange.excerpt(buffer) } else { &[] }),
        "class": failure.map_or("ok", |reason| reason.class().name()),
        "reason": reason_name(failure, outcome.status),
        "detail": failure.map_or("", Reason::text),
        "status": outcome.status,
        "address": address.to_string(),
        "connect_ms": milliseconds(Some(stamps.connect).filter(|time| *time != UNSET)),
        "tls_ms": milliseconds(Some(stamps.tls).filter(|time| *time != UNSET)),
        "ttfb_ms": milliseconds(stamps.ttfb()),
        "service_ms": milliseconds(stamps.service()),
    })
}

fn head_to_json(head: &ResponseHead) -> Value {
    let version = match head.version {
        10 => "1.0",
        11 => "1.1",
        _ => "2",
    };
    json!({
        "version": version,
        "status": head.status,
        "reason": latin1(&head.reason),
        "fields": fields_to_json(Some(&head.fields)),
    })
}

fn fields_to_json(fields: Option<&Fields>) -> Value {
    let fields = fields.into_iter().flat_map(Fields::iter);
    fields.map(|(name, value)| json!([name, latin1(value)])).collect()
}

fn reason_name(failure: Option<Reason>, status: Option<u16>) -> Option<String> {
    match (failure?, status) {
        (Reason::Status, Some(status)) => Some(format!("status.{status}")),
        (reason, _) => Some(reason.name().to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use net::{Act, Dial, Peer, Simulated};
    use wire::http2::{Flags, FrameHead, FrameKind};

    use super::*;
    use crate::plan::{Closed, HttpVersion, Pace, RequestPlan, Source, Stop};

    const PIECE: usize = 128 * 1024;

    /// Answers with a body of that many pieces, one a millisecond.
    struct Dripping(u64);

    impl Peer for Dripping {
        fn dial(&mut self, _: u64, _: Nanos) -> Dial {
            Dial::Accept(0)
        }

        fn receive(&mut self, _: u64, _: &[u8], _: Nanos) -> Vec<(Nanos, Act)> {
            let length = PIECE as u64 * self.0;
            let head = format!("HTTP/1.1 200 OK\r\nContent-Length: {length}\r\n\r\n");
            let pieces = (1..=self.0).map(|at| (at * 1_000_000, Act::Bytes(vec![b'x'; PIECE])));
            std::iter::once((0, Act::Bytes(head.into_bytes()))).chain(pieces).collect()
        }
    }

    fn answered(pieces: u64) -> (Outcome, Exchange) {
        let request = RequestPlan::get("http://127.0.0.1:80/");
        let stop = Stop::Requests { requests: 1 };
        let plan = Plan::new(Pace::Closed(Closed::new(1)), Source::One { request }, stop);
        let prepared = prepare(&plan).unwrap();
        let single = SingleRequest::first(&plan, &prepared).unwrap();
        let mut exchange = Exchange::new(0, 0, single.request.outline(&single.text));
        exchange.body = Some(Vec::new());
        let mut scratch = Scratch { budget: Budget::new(usize::MAX), ..Scratch::new(BUFFER_BYTES) };
        let mut driver = Simulated::new(Dripping(pieces));
        let to = &single.endpoint.addresses[0];
        let outcome = drive(&mut driver, &mut exchange, &single, to, &mut scratch, 30_000_000_000);
        (outcome, exchange)
    }

    /// Says nothing, and keeps what it receives.
    struct Listening(Vec<u8>);

    impl Peer for Listening {
        fn dial(&mut self, _: u64, _: Nanos) -> Dial {
            Dial::Accept(0)
        }

        fn receive(&mut self, _: u64, bytes: &[u8], _: Nanos) -> Vec<(Nanos, Act)> {
            self.0.extend_from_slice(bytes);
            Vec::new()
        }
    }

    #[test]
    fn the_server_learns_that_the_connection_ends() {
        let request = RequestPlan::get("http://127.0.0.1:80/");
        let stop = Stop::Requests { requests: 1 };
        let mut plan = Plan::new(Pace::Closed(Closed::new(1)), Source::One { request }, stop);
        plan.transport.http = HttpVersion::TwoPlain;
        let prepared = prepare(&plan).unwrap();
        let single = SingleRequest::first(&plan, &prepared).unwrap();
        let mut exchange = Exchange::new(0, 0, single.request.outline(&single.text));
        let mut scratch = Scratch::new(BUFFER_BYTES);
        let mut driver = Simulated::new(Listening(Vec::new()));
        let to = &single.endpoint.addresses[0];
        let outcome = drive(&mut driver, &mut exchange, &single, to, &mut scratch, 1_000_000_000);
        assert_eq!(outcome.failure, Some(Reason::TimeoutFirstByte));
        let received = driver.peer.0;
        let mut frame = Vec::new();
        let (kind, flags) = (FrameKind::GoAway, Flags::NONE);
        FrameHead { length: 8, kind, flags, stream: 0 }.write(&mut frame);
        frame.extend_from_slice(&[0; 8]);
        assert!(received.ends_with(&frame), "{received:?}");
    }

    #[test]
    fn an_answer_that_comes_in_pieces_is_left_once_it_is_larger_than_what_is_kept() {
        let (outcome, exchange) = answered(300);
        assert_eq!(outcome.failure, Some(Reason::ReadTooLarge));
        assert!(exchange.bytes_in <= MAX_BYTES + PIECE as u64, "{}", exchange.bytes_in);
        let (outcome, exchange) = answered(100);
        assert_eq!((outcome.failure, outcome.status), (None, Some(200)));
        assert!(exchange.bytes_in > 100 * PIECE as u64);
    }
}
