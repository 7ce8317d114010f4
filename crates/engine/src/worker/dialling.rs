//! Connections: the first ones before the window, later ones when a lane needs them.

use client::{Connection, Opening as Way, Reason, Tunnel, UNSET};
use net::{Driver, Layer, Nanos, Ready};

use super::lane::{State, token};
use super::{Alarm, Worker};

/// First dials under way at once: fewer than the shortest usual accept queue.
const DIALS_AT_ONCE: u32 = 256;

/// After this time without an end, another batch may start: a slow target must not hold up all.
const DIAL_BATCH_NS: Nanos = 50_000_000;

/// Source addresses tried before "no port left" is believed.
const ADDRESS_TRIES: u32 = 8;

/// What this machine cannot give is asked for more rarely than what a target refused.
const LOCAL_PATIENCE: u64 = 10;

/// The progress of the first dials.
#[derive(Debug, Default)]
pub(super) struct Opening {
    next: u32,
    credit: u32,
    /// First dials that have not ended.
    pending: u32,
    is_started: bool,
    /// Whether this worker has told the gate that it is ready.
    pub(super) has_arrived: bool,
}

impl Opening {
    /// Whether every connection is open or has failed once.
    pub(super) fn is_over(&self) -> bool {
        self.is_started && self.pending == 0
    }
}

impl<D: Driver> Worker<D> {
    /// The first turn: arrivals are set up, and connections begin to open.
    pub(super) fn start(&mut self) {
        let now = self.driver.now();
        self.start_arrivals();
        self.opening.is_started = true;
        // Users who come and go bring their connections along.
        let comes_later = self.crews.iter().any(|crew| crew.ramp.is_some());
        if self.share.plan.transport.keepalive && !comes_later {
            self.opening.pending = self.lanes.len() as u32;
            self.open_more(now, true);
        } else {
            self.released.extend((0..self.lanes.len() as u32).map(|lane| (lane, now)));
        }
    }

    /// Starts first dials, as many as may be under way.
    pub(super) fn open_more(&mut self, now: Nanos, new_batch: bool) {
        if new_batch {
            self.opening.credit = DIALS_AT_ONCE;
        }
        while self.opening.credit > 0 && self.next_dial_at() <= now {
            let lane = self.opening.next;
            self.opening.next += 1;
            self.opening.credit -= 1;
            self.lanes[lane as usize].state = State::Opening;
            self.watch(lane, now.saturating_add(self.timeout_of(lane)));
            self.dial(lane);
        }
        if new_batch && (self.opening.next as usize) < self.lanes.len() {
            let again = self.next_dial_at().max(now + 1);
            let is_paced = self.share.plan.transport.connections_per_second.is_some();
            self.alarms.set(if is_paced { again } else { now + DIAL_BATCH_NS }, Alarm::Opening);
        }
    }

    /// When the next first dial may start; never, when all have.
    fn next_dial_at(&self) -> Nanos {
        let next = self.opening.next;
        match self.share.plan.transport.connections_per_second {
            _ if next as usize >= self.lanes.len() => Nanos::MAX,
            None => 0,
            Some(rate) => self.window.run_start + (f64::from(next) / rate * 1e9).ceil() as Nanos,
        }
    }

    /// Dials for a lane; a failure that is known at once ends what the lane was doing.
    pub(super) fn dial(&mut self, number: u32) {
        let now = self.driver.now();
        let dialled = self.layer_for(number).and_then(|layer| Ok((self.try_dial(number)?, layer)));
        match dialled {
            Ok((socket, layer)) => {
                let lane = &mut self.lanes[number as usize];
                lane.dialled_at = now;
                let endpoint = &self.share.prepared.endpoints[usize::from(lane.endpoint)];
                let tunnel = endpoint.tunnel.clone().map(Tunnel::new);
                lane.connection = Some(Connection::dialled(socket, layer).through(tunnel));
                self.sockets += 1;
            }
            Err(reason) => self.dial_failed(number, reason, now),
        }
    }

    /// What the lane's connection speaks beneath its requests.
    fn layer_for(&self, number: u32) -> Result<Option<Box<dyn Layer>>, Reason> {
        let endpoint = usize::from(self.lanes[number as usize].endpoint);
        let endpoint = &self.share.prepared.endpoints[endpoint];
        let session = endpoint.tls.as_ref().map(net::TlsClient::session).transpose();
        session.map_err(|error| error.fault.into())
    }

    fn try_dial(&mut self, number: u32) -> Result<D::Socket, Reason> {
        // Files must stay writable: some descriptors are never used for connections.
        if self.sockets >= self.share.socket_budget {
            return Err(Reason::ConnectNoDescriptor);
        }
        let lane = &mut self.lanes[number as usize];
        lane.generation = lane.generation.wrapping_add(1);
        let token = token(number, lane.generation);
        let (to, route) = self.routes[usize::from(lane.endpoint)].next();
        lane.route = route;
        let mut failure = Reason::ConnectOther;
        for _ in 0..ADDRESS_TRIES {
            let from = self.share.sources.next(to);
            match self.driver.dial(to, from, token) {
                Ok(socket) => return Ok(socket),
                Err(error) => failure = Reason::of_dial(&error),
            }
            if failure != Reason::ConnectNoPort {
                break;
            }
            self.share.sources.skip();
        }
        Err(failure)
    }

    /// An event of a connection that is not open yet.
    pub(super) fn advance(&mut self, number: u32, event: Ready) {
        let now = self.driver.now();
        let lane = &mut self.lanes[number as usize];
        let Some(connection) = &mut lane.connection else {
            return;
        };
        match connection.advance(&mut self.driver, event, &mut self.scratch.buffer) {
            Ok(Way::Pending) => {}
            Ok(Way::Open) => self.opened(number, now, event),
            Err(reason) => {
                self.hang_up(number);
                self.dial_failed(number, reason, now);
                self.open_more(now, false);
            }
        }
    }

    fn opened(&mut self, number: u32, now: Nanos, event: Ready) {
        self.connections.opened += 1;
        self.connections.open += 1;
        self.connections.open_max = self.connections.open_max.max(self.connections.open);
        self.mark_short(number, false);
        let lane = &mut self.lanes[number as usize];
        lane.is_counted = true;
        self.routes[usize::from(lane.endpoint)].ended(lane.route, true);
        let (connect, tls) = lane.opening_times(now);
        if lane.state == State::Opening {
            let request = lane.request;
            let times = &mut self.tally(request, false).accepted;
            times.connect.record(connect);
            if let Some(tls) = tls {
                times.tls.record(tls);
            }
            self.opening_ended();
            self.released.push((number, now));
            if event.readable || event.closed {
                // What came with the handshake raises no second event.
                self.unread.push((number, event.closed));
            }
            self.open_more(now, false);
        } else {
            lane.exchange.stamps.connect = connect;
            lane.exchange.stamps.tls = tls.unwrap_or(UNSET);
            self.progress(number, Ready { writable: true, ..event });
        }
    }

    pub(super) fn dial_failed(&mut self, number: u32, reason: Reason, now: Nanos) {
        self.connections.local.count(reason);
        self.mark_short(number, reason.is_local());
        let lane = &mut self.lanes[number as usize];
        let routes = &mut self.routes[usize::from(lane.endpoint)];
        if !reason.is_local() {
            routes.ended(lane.route, false);
        }
        let outcome = lane.exchange.end(now, reason);
        if lane.state == State::Busy {
            return self.finish(number, outcome);
        }
        // A first dial is nobody's attempt: it is not counted, but its failure can be looked at.
        let to = routes.address(lane.route);
        // Each address once at most: one that was open before may be refusing for good now.
        let has_alternative = !reason.is_local()
            // A silent address has cost a whole timeout already.
            && reason != Reason::TimeoutConnect
            && routes.has_alternative()
            && lane.generation < routes.len();
        self.journal.sample(&outcome, None, &[], now, Some(to));
        if has_alternative {
            self.watch(number, now.saturating_add(self.timeout_of(number)));
            return self.dial(number);
        }
        self.opening_ended();
        self.rest_or_free(number, now, reason);
    }

    /// Counts the lanes that this machine, not the target, leaves without a connection.
    fn mark_short(&mut self, number: u32, is_short: bool) {
        let lane = &mut self.lanes[number as usize];
        let was_short = std::mem::replace(&mut lane.is_short, is_short);
        self.connections.short += u64::from(is_short);
        self.connections.short -= u64::from(was_short);
        self.connections.short_max = self.connections.short_max.max(self.connections.short);
    }

    /// A first dial has ended, well or not: the next may start.
    fn opening_ended(&mut self) {
        self.opening.pending -= 1;
        self.opening.credit = (self.opening.credit + 1).min(DIALS_AT_ONCE);
    }

    /// After a failed dial a closed user stays away for a while; every other lane is free at once.
    pub(super) fn rest_or_free(&mut self, number: u32, since: Nanos, reason: Reason) {
        if !self.crews[usize::from(self.lanes[number as usize].crew)].has_own_lanes() {
            return self.released.push((number, since));
        }
        let rest = self.rest_after(reason);
        // It rests instead of thinking.
        self.lanes[number as usize].is_thoughtful = false;
        self.lanes[number as usize].state = State::Resting;
        self.watch(number, since.saturating_add(rest));
    }

    /// How long a user stays away after a dial that failed so.
    pub(super) fn rest_after(&self, reason: Reason) -> Nanos {
        let patience = if reason.is_local() { LOCAL_PATIENCE } else { 1 };
        self.share.plan.retry_delay_ns.saturating_mul(patience)
    }

    /// Closes the connection of a lane, if it has one.
    pub(super) fn hang_up(&mut self, number: u32) {
        let lane = &mut self.lanes[number as usize];
        let Some(mut connection) = lane.connection.take() else {
            return;
        };
        connection.end(&mut self.driver);
        self.connections.open -= u64::from(std::mem::take(&mut lane.is_counted));
        self.sockets -= 1;
    }

    /// An event on a connection that nobody uses: closed is normal, bytes are not, nothing is
    /// left over from a read that was faster than its event.
    pub(super) fn look_for_end(&mut self, number: u32, event: Ready) {
        let lane = &mut self.lanes[number as usize];
        let Some(connection) = &mut lane.connection else {
            return;
        };
        let is_quiet = !event.readable
            || (!event.closed
                && connection
                    .recv(&mut self.driver, &mut self.scratch.buffer)
                    .is_err_and(|error| error.kind() == std::io::ErrorKind::WouldBlock));
        if is_quiet {
            return;
        }
        self.hang_up(number);
        if self.lanes[number as usize].state == State::Looking {
            self.released.push((number, self.driver.now()));
        }
    }
}
