//! The connections of a worker: opened, counted, closed.

use std::ops::Range;

use client::{Connection, Multiplexing, Protocol, Reason, Tunnel};
use net::{Address, Driver, Layer, Nanos, SourceAddresses, TlsClient};

use super::routes::Routes;
use crate::measure::report::Connections;
use crate::measure::timeline::add_multiplexing;
use crate::measure::websocket::WebSocketTally;
use crate::prepare::{Endpoint, Prepared};
use crate::random::mix;

/// Source addresses that are tried before the machine counts as out of ports.
const MAX_SOURCE_TRIES: u32 = 8;

/// The most connections of one entry that carry no new exchanges: of more, the last exchange ends before
/// another connection is opened.
const MAX_LEAVING: usize = 4;

/// The same for connections that the server is to end. If it is slower than that many connections, torr does
/// not wait for it.
const MAX_CLOSING: usize = 64;

/// How often the connections that the server is to end are looked at, at the end of a load.
const LOOK_EVERY_NS: Nanos = 10_000_000;

/// A connection that carries no new exchanges: some on it have not ended, or the server is to end it.
struct LeavingConnection<S> {
    /// The number of its dial.
    generation: u32,
    connection: Connection<S>,
    /// Whether it counts as open: the server is not to end it.
    is_counted: bool,
}

/// One connection and its slots. It is opened again whenever it was closed.
pub(super) struct ConnectionEntry<S> {
    pub(super) connection: Option<Connection<S>>,
    /// Connections before it that carry no new exchanges.
    leaving: Vec<LeavingConnection<S>>,
    /// The number of its first slot; the others follow.
    first_slot: u32,
    slot_count: u16,
    /// The number of the endpoint to which it leads.
    pub(super) endpoint: u16,
    /// The address of the endpoint that was dialled last.
    pub(super) route: u16,
    /// The number of its dials, so that events of earlier sockets are recognised.
    pub(super) generation: u32,
    /// Whether it counts as open.
    is_counted: bool,
    /// Whether this machine lacked ports or descriptors for its latest dial.
    is_short: bool,
    /// Whether it is closed as soon as the exchanges on it have ended.
    pub(super) is_closing: bool,
    /// Whether the worker has deferred reading: an exchange does not time out before its bytes are read.
    pub(super) is_deferred: bool,
    /// Whether its protocol carries several exchanges at once, even if the plan allows one.
    multiplexes: bool,
    /// Whether it is listed to be sent what waits at the end of the turn.
    pub(super) is_unflushed: bool,
}

impl<S> ConnectionEntry<S> {
    pub(super) fn new(
        first_slot: u32,
        slot_count: u16,
        endpoint: u16,
        protocol: &Protocol,
    ) -> Self {
        Self {
            connection: None,
            leaving: Vec::new(),
            first_slot,
            slot_count,
            endpoint,
            route: 0,
            generation: 0,
            is_counted: false,
            is_short: false,
            is_closing: false,
            is_deferred: false,
            multiplexes: protocol.multiplexes(),
            is_unflushed: false,
        }
    }

    /// Returns the numbers of its slots.
    pub(super) fn slots(&self) -> Range<usize> {
        let first = self.first_slot as usize;
        first..first + usize::from(self.slot_count)
    }

    /// Returns the number of its first slot.
    pub(super) fn first_slot(&self) -> u32 {
        self.first_slot
    }

    /// Returns whether its protocol carries several exchanges at once.
    pub(super) fn is_shared(&self) -> bool {
        self.multiplexes
    }

    /// Returns one of its connections by the number of its dial.
    #[inline]
    pub(super) fn of_generation(&mut self, generation: u32) -> Option<&mut Connection<S>> {
        if generation == self.generation {
            return self.connection.as_mut();
        }
        let mut leaving = self.leaving.iter_mut();
        leaving.find(|it| it.generation == generation).map(|it| &mut it.connection)
    }

    /// Returns the number of the dial of a connection that has something to send.
    pub(super) fn with_outgoing(&self) -> Option<u32> {
        let current = self.connection.iter().map(|connection| (self.generation, connection));
        let leaving = self.leaving.iter().map(|it| (it.generation, &it.connection));
        let mut open = current.chain(leaving).filter(|(_, connection)| connection.is_open());
        open.find(|(_, connection)| connection.has_outgoing()).map(|(generation, _)| generation)
    }

    /// Lets a connection carry no new exchanges; another can take its place.
    fn set_aside(&mut self, connection: Connection<S>) {
        let (generation, is_counted) = (self.generation, !connection.awaits_server_end());
        self.leaving.reserve_exact(1);
        self.leaving.push(LeavingConnection { generation, connection, is_counted });
        self.is_counted = false;
        // Its exchanges are not those of the next connection.
        self.generation = self.generation.wrapping_add(1);
    }

    /// Returns whether it has more than one slot.
    pub(super) fn has_others(&self) -> bool {
        self.slot_count > 1
    }

    /// Returns whether exchanges may begin now.
    pub(super) fn is_open(&self) -> bool {
        self.connection.as_ref().is_some_and(Connection::is_open) && !self.is_closing
    }
}

/// All connections of a worker, and where they lead.
pub(super) struct ConnectionTable<S> {
    pub(super) entries: Vec<ConnectionEntry<S>>,
    /// The numbers of the connections that send at the end of the turn.
    pub(super) unflushed: Vec<u32>,
    /// The addresses of each endpoint.
    pub(super) routes: Vec<Routes>,
    /// The TLS client of each endpoint that has one, with sessions of this worker alone.
    tls: Vec<Option<TlsClient>>,
    sources: SourceAddresses,
    /// Sockets, and how many the worker may have at once.
    sockets: u64,
    max_sockets: u64,
    /// How many of them the server is to end.
    closing: u64,
    /// When these are looked at next.
    look_at: Nanos,
    /// The counts for reports.
    pub(super) counts: Connections,
    /// What connections of several exchanges did, if there are some, that were closed in this interval.
    multiplexing: Option<Multiplexing>,
    /// Whether any connection may be of HTTP/2.
    has_http2: bool,
    /// Whether any connection may have messages without answers.
    has_one_way: bool,
    /// What connections of WebSocket did that ended in this interval, if there are some.
    pub(super) websocket: Option<Box<WebSocketTally>>,
    /// For everything random that connections send.
    seed: u64,
}

impl<S> ConnectionTable<S> {
    pub(super) fn new(
        entries: Vec<ConnectionEntry<S>>,
        prepared: &Prepared,
        (worker, seed): (u32, u64),
        sources: SourceAddresses,
        max_sockets: u64,
    ) -> Self {
        let endpoints = &prepared.endpoints;
        let own_tls = |endpoint: &Endpoint| endpoint.tls.as_ref().map(TlsClient::apart);
        let routes = endpoints.iter().map(|endpoint| Routes::new(&endpoint.addresses, worker));
        let asked = entries.len() as u64;
        let mut protocols = endpoints.iter().map(|endpoint| &endpoint.protocol);
        let has_websocket =
            protocols.clone().any(|protocol| matches!(protocol, Protocol::WebSocket(_)));
        let has_one_way = protocols.clone().any(Protocol::is_one_way);
        Self {
            entries,
            unflushed: Vec::new(),
            routes: routes.collect(),
            tls: endpoints.iter().map(own_tls).collect(),
            sources,
            sockets: 0,
            max_sockets,
            closing: 0,
            look_at: 0,
            counts: Connections { asked, ..Connections::default() },
            multiplexing: None,
            has_http2: protocols.any(|protocol| matches!(protocol, Protocol::Http2(_))),
            has_one_way,
            websocket: has_websocket.then(Box::default),
            seed,
        }
    }

    pub(super) fn get(&self, number: u32) -> &ConnectionEntry<S> {
        &self.entries[number as usize]
    }

    pub(super) fn get_mut(&mut self, number: u32) -> &mut ConnectionEntry<S> {
        &mut self.entries[number as usize]
    }

    /// Returns the number of the connection to which an event belongs, and that of its dial; `None` for
    /// an earlier socket.
    #[inline]
    pub(super) fn of_token(&mut self, token: u64) -> Option<(u32, u32)> {
        // Both halves of a token have 32 bits.
        let (number, generation) = (token as u32, (token >> 32) as u32);
        let entry = self.entries.get_mut(number as usize)?;
        entry.of_generation(generation).map(|_| (number, generation))
    }

    /// Returns the token of the events of a connection.
    pub(super) fn token(number: u32, generation: u32) -> u64 {
        u64::from(generation) << 32 | u64::from(number)
    }

    /// Lets a connection carry no new exchanges, so that another can take its place; returns whether
    /// there is room for another.
    pub(super) fn leave(&mut self, number: u32) -> bool {
        let has_socket = self.sockets < self.max_sockets;
        let entry = self.get_mut(number);
        let has_room = has_socket && entry.leaving.len() < MAX_LEAVING;
        entry.is_closing = !has_room;
        if has_room && let Some(connection) = entry.connection.take() {
            entry.set_aside(connection);
        }
        has_room
    }

    /// Closes a connection that carries no new exchanges.
    pub(super) fn close_leaving<D: Driver<Socket = S>>(
        &mut self,
        number: u32,
        generation: u32,
        driver: &mut D,
    ) {
        let entry = &mut self.entries[number as usize];
        let place = entry.leaving.iter().position(|it| it.generation == generation);
        let Some(place) = place else { return };
        let LeavingConnection { mut connection, is_counted, .. } = entry.leaving.swap_remove(place);
        add_multiplexing(&mut self.multiplexing, connection.take_multiplexing(driver.now()));
        self.counts.open -= u64::from(is_counted);
        self.closing -= u64::from(!is_counted);
        self.end(connection, driver);
    }

    /// Starts to open a connection to an endpoint.
    pub(super) fn dial<D: Driver<Socket = S>>(
        &mut self,
        number: u32,
        driver: &mut D,
        endpoint: &Endpoint,
    ) -> Result<(), Reason> {
        let now = driver.now();
        let layer = self.layer_for(number)?;
        let socket = self.try_dial(number, driver)?;
        let tunnel = endpoint.tunnel.clone().map(Tunnel::new);
        let seed = mix(self.seed, Self::token(number, self.get(number).generation));
        let protocol = (&endpoint.protocol, seed);
        let connection = Connection::dialled(socket, layer, tunnel, protocol, now);
        self.get_mut(number).connection = Some(connection);
        self.sockets += 1;
        Ok(())
    }

    /// Closes a connection, if it is open or being opened. If the server is to end it, that is announced,
    /// and another can take its place.
    pub(super) fn close<D: Driver<Socket = S>>(&mut self, number: u32, driver: &mut D) {
        let entry = &mut self.entries[number as usize];
        let Some(mut connection) = entry.connection.take() else { return };
        if entry.multiplexes {
            add_multiplexing(&mut self.multiplexing, connection.take_multiplexing(driver.now()));
        }
        (entry.is_closing, entry.is_deferred) = (false, false);
        self.counts.open -= u64::from(std::mem::take(&mut entry.is_counted));
        // Those of all entries together must not take the sockets that others need.
        let has_room = entry.leaving.len() < MAX_CLOSING
            && self.closing < self.max_sockets.saturating_sub(self.counts.asked);
        if has_room && connection.begin_close(driver.now()) {
            return self.set_aside(number, connection);
        }
        self.end(connection, driver);
    }

    /// Leaves a connection to the server, which is to end it.
    fn set_aside(&mut self, number: u32, connection: Connection<S>) {
        self.get_mut(number).set_aside(connection);
        self.closing += 1;
        self.flush_later(number);
    }

    /// Closes a connection that belongs to no entry any more.
    fn end<D: Driver<Socket = S>>(&mut self, mut connection: Connection<S>, driver: &mut D) {
        self.sockets -= 1;
        self.end_websocket(&connection, driver.now());
        self.counts.unconfirmed += u64::from(connection.is_unconfirmed());
        connection.close(driver);
    }

    /// Asks servers to confirm that they have read all one-way messages, while no more begin. With `closes`,
    /// leaves the connections whose servers have to them; returns whether the servers have ended all of these.
    pub(super) fn confirm_one_way<D: Driver<Socket = S>>(
        &mut self,
        driver: &mut D,
        closes: bool,
    ) -> bool {
        let now = driver.now();
        if !self.has_one_way {
            return true;
        }
        if now < self.look_at {
            return false;
        }
        self.look_at = now + LOOK_EVERY_NS;
        let mut waiting = 0;
        for number in 0..self.entries.len() as u32 {
            let entry = self.get_mut(number);
            let Some(connection) = &mut entry.connection else { continue };
            if !connection.request_confirmation(now) {
                waiting += 1;
                if connection.has_outgoing() {
                    self.flush_later(number);
                }
            } else if closes
                && connection.begin_close(now)
                && let Some(connection) = entry.connection.take()
            {
                let was_counted = std::mem::take(&mut entry.is_counted);
                self.counts.open -= u64::from(was_counted);
                self.set_aside(number, connection);
            }
        }
        self.counts.awaited = waiting + self.closing;
        self.counts.awaited == 0
    }

    /// Lets a connection send at the end of the turn.
    pub(super) fn flush_later(&mut self, connection: u32) {
        let entry = self.get_mut(connection);
        if entry.is_shared() && !std::mem::replace(&mut entry.is_unflushed, true) {
            self.unflushed.push(connection);
        }
    }

    /// Closes all connections, also those that carry no new exchanges.
    pub(super) fn close_all<D: Driver<Socket = S>>(&mut self, driver: &mut D) {
        for number in 0..self.entries.len() as u32 {
            self.close(number, driver);
            while let Some(leaving) = self.get(number).leaving.first() {
                self.close_leaving(number, leaving.generation, driver);
            }
        }
    }

    /// Counts the end of a connection, if it is one of WebSocket.
    fn end_websocket(&mut self, connection: &Connection<S>, now: Nanos) {
        if let Some(tally) = &mut self.websocket
            && let Some((lifetime, by_server)) = connection.lifetime(now)
        {
            tally.ended(lifetime, by_server);
        }
    }

    /// Returns what connections of several exchanges did since the last call, if there are some.
    pub(super) fn take_multiplexing(&mut self, now: Nanos) -> Option<Multiplexing> {
        let mut sum = self.multiplexing.take();
        if !self.has_http2 {
            return sum;
        }
        for entry in self.entries.iter_mut().filter(|entry| entry.multiplexes) {
            let leaving = entry.leaving.iter_mut().map(|it| &mut it.connection);
            for connection in entry.connection.iter_mut().chain(leaving) {
                add_multiplexing(&mut sum, connection.take_multiplexing(now));
            }
        }
        sum
    }

    /// Counts a connection that has just become open.
    pub(super) fn opened(&mut self, number: u32) {
        self.counts.opened += 1;
        self.counts.open += 1;
        self.counts.open_max = self.counts.open_max.max(self.counts.open);
        self.mark_short(number, false);
        let entry = &mut self.entries[number as usize];
        entry.is_counted = true;
        self.routes[usize::from(entry.endpoint)].ended(entry.route, true);
    }

    /// Counts a failed dial.
    pub(super) fn dial_failed(&mut self, number: u32, reason: Reason) {
        self.counts.local.count(reason);
        self.mark_short(number, reason.is_local());
        let entry = &self.entries[number as usize];
        if !reason.is_local() {
            self.routes[usize::from(entry.endpoint)].ended(entry.route, false);
        }
    }

    /// Returns the address that a connection dialled last.
    pub(super) fn address(&self, number: u32) -> &Address {
        let entry = self.get(number);
        self.routes[usize::from(entry.endpoint)].address(entry.route)
    }

    /// Returns whether another address is worth a dial after this failure. Each is tried at most once:
    /// an address that was open before may refuse for good now.
    pub(super) fn has_alternative(&self, number: u32, reason: Reason) -> bool {
        let entry = self.get(number);
        let routes = &self.routes[usize::from(entry.endpoint)];
        reason.is_worth_another_address()
            && routes.has_alternative()
            && entry.generation < routes.len()
    }

    /// Counts the connections for which this machine, not the target, lacks something.
    fn mark_short(&mut self, number: u32, is_short: bool) {
        let entry = &mut self.entries[number as usize];
        let was_short = std::mem::replace(&mut entry.is_short, is_short);
        self.counts.short += u64::from(is_short);
        self.counts.short -= u64::from(was_short);
        self.counts.short_max = self.counts.short_max.max(self.counts.short);
    }

    fn layer_for(&self, number: u32) -> Result<Option<Box<dyn Layer>>, Reason> {
        let endpoint = usize::from(self.get(number).endpoint);
        let session = self.tls[endpoint].as_ref().map(TlsClient::session).transpose();
        session.map_err(|error| error.fault.into())
    }

    fn try_dial<D: Driver<Socket = S>>(
        &mut self,
        number: u32,
        driver: &mut D,
    ) -> Result<S, Reason> {
        // Files must stay writable: some descriptors are never used for connections.
        if self.sockets >= self.max_sockets {
            return Err(Reason::ConnectNoDescriptor);
        }
        let entry = &mut self.entries[number as usize];
        entry.generation = entry.generation.wrapping_add(1);
        let token = Self::token(number, entry.generation);
        let (to, route) = self.routes[usize::from(entry.endpoint)].next();
        entry.route = route;
        let mut failure = Reason::ConnectOther;
        for _ in 0..MAX_SOURCE_TRIES {
            let from = self.sources.next(to);
            match driver.dial(to, from, token) {
                Ok(socket) => return Ok(socket),
                Err(error) => failure = Reason::of_dial(&error),
            }
            if failure != Reason::ConnectNoPort {
                break;
            }
            self.sources.skip();
        }
        Err(failure)
    }
}

#[cfg(test)]
mod tests {
    use net::{Act, Dial, Nanos, Peer, Ready, Simulated, SimulatedSocket};

    use super::*;
    use crate::plan::tests::plan;
    use crate::plan::{Closed, Pace};
    use crate::prepare::prepare;

    /// Accepts every connection after a nanosecond.
    struct Accepting;

    impl Peer for Accepting {
        fn dial(&mut self, _: u64, _: Nanos) -> Dial {
            Dial::Accept(1)
        }

        fn receive(&mut self, _: u64, _: &[u8], _: Nanos) -> Vec<(Nanos, Act)> {
            Vec::new()
        }
    }

    fn table(max_sockets: u64) -> (ConnectionTable<SimulatedSocket>, Prepared) {
        let prepared = prepare(&plan(Pace::Closed(Closed::new(2)))).unwrap();
        let entries =
            (0..2).map(|slot| ConnectionEntry::new(slot, 1, 0, &Protocol::Http1)).collect();
        let sources = SourceAddresses::default();
        (ConnectionTable::new(entries, &prepared, (0, 1), sources, max_sockets), prepared)
    }

    #[test]
    fn no_more_sockets_are_opened_than_allowed_and_each_is_counted_until_it_is_closed() {
        let ((mut table, prepared), mut driver) = (table(1), Simulated::new(Accepting));
        let endpoint = &prepared.endpoints[0];
        assert_eq!(table.dial(0, &mut driver, endpoint), Ok(()));
        assert_eq!(table.dial(1, &mut driver, endpoint), Err(Reason::ConnectNoDescriptor));
        table.dial_failed(1, Reason::ConnectNoDescriptor);
        assert_eq!((table.counts.short, table.counts.local.sum()), (1, 1));
        table.opened(0);
        assert_eq!((table.counts.open, table.counts.opened), (1, 1));
        table.close(0, &mut driver);
        table.close(0, &mut driver);
        assert_eq!((table.counts.open, table.dial(1, &mut driver, endpoint)), (0, Ok(())));
        table.opened(1);
        assert_eq!((table.counts.short, table.counts.short_max, table.counts.opened), (0, 1, 2));
    }

    #[test]
    fn events_of_an_earlier_socket_belong_to_no_connection() {
        let ((mut table, prepared), mut driver) = (table(2), Simulated::new(Accepting));
        table.dial(1, &mut driver, &prepared.endpoints[0]).unwrap();
        let mut ready: Vec<Ready> = Vec::new();
        driver.wait(10, &mut ready).unwrap();
        let token = ready[0].token;
        assert_eq!(table.of_token(token), Some((1, 1)));
        assert_eq!(ConnectionTable::<SimulatedSocket>::token(1, 1), token);
        table.close(1, &mut driver);
        assert_eq!(table.of_token(token), None);
        table.dial(1, &mut driver, &prepared.endpoints[0]).unwrap();
        assert_eq!(table.of_token(token), None);
    }
}
