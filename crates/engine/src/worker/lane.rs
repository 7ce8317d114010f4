//! A lane: one connection's place, with the exchange that uses it. Made once, used for the whole run.

use client::{Connection, Exchange, Outline, UNSET};
use net::Nanos;

use super::crew::NOBODY;

/// What a lane is doing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum State {
    /// Nothing; its connection may be open.
    Idle,
    /// Its first dial, before anything is sent.
    Opening,
    /// A closed user waits until its deadline after a failed dial.
    Resting,
    /// An exchange, perhaps still dialling.
    Busy,
    /// Answered on a connection that the server may be about to close; nobody knows yet.
    Looking,
}

/// One lane.
pub(super) struct Lane<S> {
    pub(super) state: State,
    pub(super) crew: u16,
    /// The request of its exchange.
    pub(super) request: u16,
    /// Whose exchange it is, within the crew.
    pub(super) user: u32,
    /// The joined text of its request, where that has places.
    pub(super) text: Vec<u8>,
    /// Where its connection goes: the number of an endpoint.
    pub(super) endpoint: u16,
    /// When its user leaves, where users come and go.
    pub(super) leaves_at: Nanos,
    /// Whether the exchange belongs to the measured window.
    pub(super) measured: bool,
    /// Whether its user thinks before the next request.
    pub(super) is_thoughtful: bool,
    pub(super) connection: Option<Connection<S>>,
    /// Whether its connection is counted as open.
    pub(super) is_counted: bool,
    /// Grows with each connection, so that events of an earlier one are known as stale.
    pub(super) generation: u32,
    pub(super) exchange: Exchange,
    /// Which address of its target it dialled last.
    pub(super) route: u16,
    /// Whether this machine had nothing left for its latest dial.
    pub(super) is_short: bool,
    /// Whether its request waited for this lane, or any other, to be free.
    pub(super) is_waited_for: bool,
    /// Whether the worker has put off reading what came: its time is not up before that is read.
    pub(super) is_put_off: bool,
    /// When its exchange has taken too long.
    pub(super) gives_up_at: Nanos,
    /// When something must happen to this lane; what, says its state.
    pub(super) deadline: Nanos,
}

impl<S> Lane<S> {
    /// A lane for requests of this crew; the first that it dials for is `request`.
    pub(super) fn new(crew: u16, request: u16, endpoint: u16) -> Self {
        Self {
            state: State::Idle,
            crew,
            request,
            user: NOBODY,
            text: Vec::new(),
            endpoint,
            leaves_at: 0,
            measured: false,
            is_thoughtful: false,
            connection: None,
            is_counted: false,
            generation: 0,
            exchange: Exchange::new(UNSET, UNSET, Outline { is_head: false, length: 0 }),
            route: 0,
            is_short: false,
            is_waited_for: false,
            is_put_off: false,
            gives_up_at: UNSET,
            deadline: UNSET,
        }
    }

    /// Whether its connection can take a request now.
    pub(super) fn is_open(&self) -> bool {
        self.connection.as_ref().is_some_and(Connection::is_open)
    }
}

/// The token of a lane's present connection.
pub(super) fn token(lane: u32, generation: u32) -> u64 {
    u64::from(generation) << 32 | u64::from(lane)
}

/// Lane and generation of a token.
#[allow(clippy::cast_possible_truncation)]
pub(super) fn parts(token: u64) -> (u32, u32) {
    (token as u32, (token >> 32) as u32)
}
