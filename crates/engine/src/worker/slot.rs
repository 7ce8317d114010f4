//! Slots: one place for an exchange each, made once and used for the whole run.

use client::{Exchange, Outline, Slots, UNSET};
use net::Nanos;

use super::group::NO_USER;
use crate::prepare::PreparedRequest;

/// The state of a slot.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum State {
    /// There is no exchange, and none to begin now.
    Idle,
    /// There is no exchange; the worker gives it its next work soon.
    Free,
    /// Its connection is opened for the first time, before any exchange.
    Connecting,
    /// A closed user waits until its deadline: it thinks, or its dial has failed.
    Resting,
    /// A closed user is not present until its deadline.
    Away,
    /// There is an exchange; its connection may not be open yet.
    Busy,
    /// The exchange has ended; until the deadline the server may close the connection.
    Probing,
}

/// One place for an exchange, on a connection that never changes.
pub(super) struct Slot {
    pub(super) state: State,
    pub(super) group: u16,
    /// The request of its exchange.
    pub(super) request: u16,
    /// The user of the group whose exchange it is.
    pub(super) user: u32,
    /// The number of its connection.
    pub(super) connection: u32,
    /// Its place among the slots of its connection.
    pub(super) place: u16,
    /// Whether its exchange has begun on its connection.
    pub(super) has_begun: bool,
    /// The number of the dial of the connection on which it has.
    pub(super) generation: u32,
    /// Whether the exchange belongs to the measurement window.
    pub(super) measured: bool,
    /// Whether its user thinks before the next request.
    pub(super) thinks_next: bool,
    /// Whether its request waited for any slot to be free.
    pub(super) is_waited_for: bool,
    /// How often its request was sent again.
    pub(super) resends: u8,
    /// The encoded request, if it has variables.
    pub(super) text: Vec<u8>,
    pub(super) exchange: Exchange,
    /// The time at which its user leaves, if users come and go.
    pub(super) leaves_at: Nanos,
    /// The time at which its exchange has taken too long.
    pub(super) times_out_at: Nanos,
    /// The time at which its user gives up.
    pub(super) gives_up_at: Nanos,
    /// The number of texts after which its user gives up.
    pub(super) gives_up_after_texts: u64,
    /// Whether the times to its first texts count.
    pub(super) counts_first_texts: bool,
    /// The planned tokens of prompt and output of its exchange; 0 if nothing is planned.
    pub(super) planned_tokens: [u64; 2],
    /// The time of the next action; the state tells which.
    pub(super) deadline: Nanos,
    /// The end of a pause of its stream that was put off, since there were unread bytes.
    pub(super) put_off: Nanos,
}

impl Slot {
    /// Creates a slot for requests of a group, the first of which is `request`.
    pub(super) fn new(group: u16, request: u16, (connection, place): (u32, u16)) -> Self {
        Self {
            state: State::Idle,
            group,
            request,
            user: NO_USER,
            connection,
            place,
            has_begun: false,
            generation: 0,
            measured: false,
            thinks_next: false,
            is_waited_for: false,
            resends: 0,
            text: Vec::new(),
            exchange: Exchange::new(UNSET, UNSET, Outline { is_head: false, length: 0 }),
            leaves_at: 0,
            times_out_at: UNSET,
            gives_up_at: Nanos::MAX,
            gives_up_after_texts: u64::MAX,
            counts_first_texts: true,
            planned_tokens: [0; 2],
            deadline: UNSET,
            put_off: UNSET,
        }
    }

    /// Returns whether its exchange has begun on the connection with this dial.
    pub(super) fn is_on(&self, generation: u32) -> bool {
        self.has_begun && self.generation == generation
    }

    /// Returns whether its exchange waits for its connection.
    pub(super) fn is_waiting(&self) -> bool {
        self.state == State::Busy && !self.has_begun
    }
}

/// The slots of one connection, with the requests of the plan.
pub(super) struct ConnectionSlots<'a> {
    pub(super) slots: &'a mut [Slot],
    pub(super) requests: &'a [PreparedRequest],
}

impl Slots for ConnectionSlots<'_> {
    #[inline]
    fn slot(&mut self, place: u16) -> (&mut Exchange, &[u8]) {
        let slot = &mut self.slots[usize::from(place)];
        let request = &self.requests[usize::from(slot.request)];
        (&mut slot.exchange, request.bytes(&slot.text))
    }
}
