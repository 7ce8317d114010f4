//! Connections: made for a lane, looked after while nobody uses them, ended.

use client::{Connection, Opening as Way, Protocol, Reason, Tunnel};
use net::{Driver, Layer, Nanos, Ready, TlsClient};

use super::Worker;
use super::lane::{State, token};

/// Source addresses tried before "no port left" is believed.
const ADDRESS_TRIES: u32 = 8;

/// What this machine cannot give is asked for more rarely than what a target refused.
const LOCAL_PATIENCE: u64 = 10;

impl<D: Driver> Worker<D> {
    /// Dials for a lane; a failure that is known at once ends what the lane was doing.
    pub(super) fn dial(&mut self, number: u32) {
        let now = self.driver.now();
        let dialled = self.layer_for(number).and_then(|layer| Ok((self.try_dial(number)?, layer)));
        match dialled {
            Ok((socket, layer)) => {
                let lane = &mut self.lanes[number as usize];
                let endpoint = &self.share.prepared.endpoints[usize::from(lane.endpoint)];
                let tunnel = endpoint.tunnel.clone().map(Tunnel::new);
                let connection = Connection::dialled(socket, layer, tunnel, Protocol::Http1, now);
                lane.connection = Some(connection);
                self.sockets += 1;
            }
            Err(reason) => self.dial_failed(number, reason, now),
        }
    }

    /// What the lane's connection speaks beneath its requests.
    fn layer_for(&self, number: u32) -> Result<Option<Box<dyn Layer>>, Reason> {
        let endpoint = usize::from(self.lanes[number as usize].endpoint);
        let session = self.tls[endpoint].as_ref().map(TlsClient::session).transpose();
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
        match connection.advance(&mut self.driver, event, &mut self.scratch) {
            Ok(Way::Pending) => {}
            Ok(Way::Again) => self.read_next_turn(number, event.closed),
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
        let Some(connection) = &lane.connection else { return };
        if lane.state == State::Opening {
            let (connect, tls) = connection.opening_times(now);
            let request = lane.request;
            let times = &mut self.tally(request, false).accepted;
            times.connect.record(connect);
            if let Some(tls) = tls {
                times.tls.record(tls);
            }
            self.opening.dial_ended();
            self.released.push_back((number, now));
            if event.readable || event.closed {
                // What came with the handshake raises no second event.
                self.read_next_turn(number, event.closed);
            }
            self.open_more(now, false);
        } else {
            connection.stamp_opening(&mut lane.exchange.stamps, now);
            self.send_first(number, event);
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
        self.opening.dial_ended();
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

    /// After a failed dial a closed user stays away for a while; every other lane is free at once.
    pub(super) fn rest_or_free(&mut self, number: u32, since: Nanos, reason: Reason) {
        if !self.crews[usize::from(self.lanes[number as usize].crew)].has_own_lanes() {
            return self.released.push_back((number, since));
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
        connection.close(&mut self.driver);
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
            || (!event.closed && connection.is_quiet(&mut self.driver, &mut self.scratch));
        if is_quiet {
            return;
        }
        self.hang_up(number);
        if self.lanes[number as usize].state == State::Looking {
            self.released.push_back((number, self.driver.now()));
        }
    }
}
