//! One connection: a byte channel with a protocol session on it, and the one place that moves
//! exchanges over it.

use std::io::{self, ErrorKind};

use net::{Driver, Layer, Nanos, Ready};

use crate::byte_channel::ByteChannel;
use crate::session::{ProtocolSession, Received, Session, Slots, with_session};
use crate::{
    Exchange, Multiplexing, Opening, Outcome, Protocol, Reason, Scratch, Stamps, Tunnel, UNSET,
};

/// Reads in one call, before other connections get their turn.
const MAX_READS: u32 = 16;

/// Bytes read in one call, before other connections get their turn: reading, decrypting and checking
/// them takes about as long as a short request.
const MAX_READ_BYTES: usize = 256 * 1024;

/// What a connection needs next.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Step {
    /// The next event of its socket.
    Pending,
    /// Another call soon: there may be unread bytes, for which no event will come.
    Again,
}

/// One connection.
pub struct Connection<S> {
    channel: ByteChannel<S>,
    session: Session,
    /// The time at which its dial was started.
    dialled_at: Nanos,
    /// Whether the socket accepts no more bytes until an event says so.
    is_full: bool,
    /// Since when it cannot send what it has to send, if it carries several exchanges; else [`UNSET`].
    stalled_since: Nanos,
    /// How long it could not, and since when that is counted.
    stalled_ns: Nanos,
    counted_from: Nanos,
    /// Exchanges that ended with a complete response.
    pub served: u32,
}

impl<S> Connection<S> {
    /// Creates a connection whose dial was started at `now`; the seed is for everything random that its
    /// protocol sends.
    pub fn dialled(
        socket: S,
        layer: Option<Box<dyn Layer>>,
        tunnel: Option<Tunnel>,
        (protocol, seed): (&Protocol, u64),
        now: Nanos,
    ) -> Self {
        let channel = ByteChannel::new(socket, layer, tunnel);
        Self {
            channel,
            session: Session::new(protocol, seed),
            dialled_at: now,
            is_full: false,
            stalled_since: UNSET,
            stalled_ns: 0,
            counted_from: UNSET,
            served: 0,
        }
    }

    /// Returns whether exchanges may begin.
    pub fn is_open(&self) -> bool {
        self.channel.is_open()
    }

    /// Returns whether TCP is established; the handshake of TLS may still be under way.
    pub fn is_connected(&self) -> bool {
        self.channel.is_connected()
    }

    /// Returns the reason of a timeout before requests can be sent; `None` once they can.
    pub fn overdue(&self) -> Option<Reason> {
        let is_in_handshake =
            matches!(&self.session, Session::WebSocket(session) if session.is_opening());
        match (self.is_open(), self.is_connected()) {
            (true, _) => is_in_handshake.then_some(Reason::TimeoutWebSocketHandshake),
            (false, true) => Some(Reason::TimeoutTls),
            (false, false) => Some(Reason::TimeoutConnect),
        }
    }

    /// Returns whether the exchange in a slot waits for a stream of HTTP/2, which the server does not allow.
    pub fn waits_for_stream(&self, slot: u16) -> bool {
        matches!(&self.session, Session::Http2(session) if session.waits_for_stream(slot))
    }

    /// Returns whether exchanges are running on it.
    pub fn is_active(&self) -> bool {
        with_session!(&self.session, session => session.is_active())
    }

    /// Continues to open the connection.
    pub fn advance<D: Driver<Socket = S>>(
        &mut self,
        driver: &mut D,
        ready: Ready,
        scratch: &mut Scratch,
    ) -> Result<Opening, Reason> {
        let opening = self.channel.advance(driver, ready, &mut scratch.buffer)?;
        let is_http2 = matches!(self.session, Session::Http2(_));
        if is_http2 && opening == Opening::Open && !self.channel.may_be_http2() {
            return Err(Reason::TlsNothingInCommon);
        }
        if is_http2 && opening == Opening::Open {
            self.counted_from = driver.now();
        }
        Ok(opening)
    }

    /// Returns the protocol that the server has chosen in the handshake of TLS (ALPN), if it has.
    pub fn chosen_protocol(&self) -> Option<&[u8]> {
        self.channel.chosen_protocol()
    }

    /// Returns how long the dial took, and the TLS handshake if there was one; the connection became
    /// open at `now`.
    pub fn opening_times(&self, now: Nanos) -> (Nanos, Option<Nanos>) {
        let connected_at = self.channel.connected_at();
        let tls = (!self.channel.is_plain()).then(|| now.saturating_sub(connected_at));
        (connected_at.saturating_sub(self.dialled_at), tls)
    }

    /// Records in the stamps of an exchange that this connection was opened for it, at `now`.
    pub fn stamp_opening(&self, stamps: &mut Stamps, now: Nanos) {
        let (connect, tls) = self.opening_times(now);
        (stamps.connect, stamps.tls) = (connect, tls.unwrap_or(UNSET));
    }

    /// Begins an exchange in a free slot; [`Self::drive`] sends its request.
    #[inline]
    pub fn begin(&mut self, slot: u16, slots: &mut impl Slots) {
        let (exchange, request) = slots.slot(slot);
        with_session!(&mut self.session, session => session.begin(slot, exchange, request));
    }

    /// Handles an event of the open connection: sends and receives for all its exchanges.
    /// `scratch.ended` has those that ended.
    ///
    /// An empty socket raises an event for its next bytes, but not if its end has been announced
    /// already (`event.closed`).
    #[inline]
    pub fn drive<D: Driver<Socket = S>>(
        &mut self,
        driver: &mut D,
        event: Ready,
        slots: &mut impl Slots,
        scratch: &mut Scratch,
    ) -> Step {
        let first = scratch.ended.len();
        let (channel, is_reused) = (&mut self.channel, self.served > 0);
        let is_full = &mut self.is_full;
        let step = match &mut self.session {
            Session::Http1(session) => {
                move_bytes(channel, session, driver, event, slots, scratch, (is_full, is_reused))
            }
            Session::Http2(session) => {
                let session = &mut **session;
                let state = (&mut *is_full, is_reused);
                let step = move_bytes(channel, session, driver, event, slots, scratch, state);
                let is_stalled = *is_full || session.is_window_used_up();
                if is_stalled != (self.stalled_since != UNSET) {
                    self.note_stall(is_stalled, driver.now());
                }
                step
            }
            Session::WebSocket(session) => {
                let (session, state) = (&mut **session, (is_full, is_reused));
                move_bytes(channel, session, driver, event, slots, scratch, state)
            }
            #[cfg(any(test, feature = "line-protocol"))]
            Session::Lines(session) => {
                move_bytes(channel, session, driver, event, slots, scratch, (is_full, is_reused))
            }
        };
        if event.closed || self.channel.is_ended() {
            let ended = scratch.ended.iter_mut().skip(first);
            ended.for_each(|ended| ended.outcome.reusable = false);
        }
        step
    }

    /// Lets the next message of the gRPC call in a slot be sent; [`Self::drive`] sends it.
    pub fn release_message(&mut self, slot: u16, now: Nanos, slots: &mut impl Slots) {
        if let Session::Http2(session) = &mut self.session {
            session.release_message(slot, now, slots);
        }
    }

    /// Sets the number of the next stream of HTTP/2, for tests.
    #[cfg(any(test, feature = "line-protocol"))]
    pub fn skip_to_stream(&mut self, stream: u32) {
        if let Session::Http2(session) = &mut self.session {
            session.skip_to(stream);
        }
    }

    /// Takes note that it is `now`: an exchange that begins next waits from then on.
    pub fn note_time(&mut self, now: Nanos) {
        if let Session::Http2(session) = &mut self.session {
            session.note_time(now);
        }
    }

    /// Takes note that it can send no more, or again.
    fn note_stall(&mut self, is_stalled: bool, now: Nanos) {
        if is_stalled {
            self.stalled_since = now;
        } else {
            self.stalled_ns += now.saturating_sub(self.stalled_since);
            self.stalled_since = UNSET;
        }
    }

    /// Returns what it did since the last call, or since it was opened; `None` if it is not open, or
    /// carries one exchange at a time.
    pub fn take_multiplexing(&mut self, now: Nanos) -> Option<Multiplexing> {
        let Session::Http2(session) = &mut self.session else { return None };
        let counts = session.take_multiplexing();
        let open_ns = now.saturating_sub(std::mem::replace(&mut self.counted_from, now));
        if self.stalled_since != UNSET {
            self.note_stall(false, now);
            self.note_stall(true, now);
        }
        let stalled_ns = std::mem::take(&mut self.stalled_ns);
        self.is_open().then_some(Multiplexing { stalled_ns, open_ns, ..counts })
    }

    /// Cancels the exchange in a slot; returns whether the connection can carry others afterwards.
    pub fn cancel(&mut self, slot: u16, now: Nanos, slots: &mut impl Slots) -> bool {
        with_session!(&mut self.session, session => session.cancel(slot, now, slots))
    }

    /// Returns whether it can carry exchanges that have not begun.
    pub fn accepts(&self) -> bool {
        with_session!(&self.session, session => session.accepts())
    }

    /// Returns whether the socket accepts no more bytes until an event says so.
    pub fn is_full(&self) -> bool {
        self.is_full
    }

    /// Returns whether there is something to send for which no event will come.
    pub fn has_outgoing(&self) -> bool {
        !self.is_full && with_session!(&self.session, session => session.has_outgoing())
    }

    /// Returns whether its events matter while no exchange is running.
    pub fn runs_idle(&self) -> bool {
        with_session!(&self.session, session => session.runs_idle())
    }

    /// Returns whether a connection without exchanges is still open, and nothing was received.
    pub fn is_quiet<D: Driver<Socket = S>>(
        &mut self,
        driver: &mut D,
        scratch: &mut Scratch,
    ) -> bool {
        let read = self.channel.recv(driver, &mut scratch.buffer);
        read.is_err_and(|error| error.kind() == ErrorKind::WouldBlock)
    }

    /// Returns the number of unread bytes in the socket, as they were received.
    pub fn unread<D: Driver<Socket = S>>(&self, driver: &D) -> u64 {
        self.channel.unread(driver)
    }

    /// Returns how long messages could be sent, and whether the server has ended it; `None` if its
    /// protocol is not WebSocket, or its handshake is not complete.
    pub fn lifetime(&self, now: Nanos) -> Option<(Nanos, bool)> {
        let Session::WebSocket(session) = &self.session else { return None };
        Some((session.lifetime(now)?, session.is_ended_by_server()))
    }

    /// Returns what a refused WebSocket handshake returned, if no exchange waited for it, and how it
    /// ended; only once.
    pub fn take_refusal(&mut self) -> Option<(Exchange, Outcome)> {
        let Session::WebSocket(session) = &mut self.session else { return None };
        session.take_refusal()
    }

    /// Asks the server to confirm that it has read all messages, if it is WebSocket and these have no
    /// answers; returns whether it has. There may be something to send then.
    pub fn request_confirmation(&mut self, now: Nanos) -> bool {
        match &mut self.session {
            Session::WebSocket(session) => session.request_confirmation(now),
            _ => true,
        }
    }

    /// Leaves the end of the connection to the server, if it is to confirm that it has read all messages.
    /// Returns whether the server is to end it. Events matter until then, and there is something to send.
    pub fn begin_close(&mut self, now: Nanos) -> bool {
        let Session::WebSocket(session) = &mut self.session else { return false };
        self.channel.is_open() && session.begin_close(now)
    }

    /// Returns whether the server is to end the connection.
    pub fn awaits_server_end(&self) -> bool {
        matches!(&self.session, Session::WebSocket(session) if session.awaits_server_end())
    }

    /// Returns whether the server has not confirmed that it has read all messages, which have no answers.
    pub fn is_unconfirmed(&self) -> bool {
        matches!(&self.session, Session::WebSocket(session) if session.is_unconfirmed())
    }

    /// Announces the end, if HTTP/2, WebSocket or TLS is used and the socket accepts it. Dropping the
    /// connection closes it.
    pub fn close<D: Driver<Socket = S>>(&mut self, driver: &mut D) {
        let farewell = match &mut self.session {
            _ if !self.channel.is_open() || self.is_full => &[],
            Session::Http2(session) => session.farewell(),
            Session::WebSocket(session) => session.farewell(),
            _ => &[],
        };
        if !farewell.is_empty() {
            // The connection is closed in any case.
            let _ = self.channel.send(driver, farewell);
        }
        self.channel.close(driver);
        if self.runs_idle() && self.channel.is_open() {
            self.channel.drain(driver);
        }
    }
}

/// Sends and receives what an event allows.
#[inline]
fn move_bytes<D: Driver>(
    channel: &mut ByteChannel<D::Socket>,
    session: &mut impl ProtocolSession,
    driver: &mut D,
    event: Ready,
    slots: &mut impl Slots,
    scratch: &mut Scratch,
    (is_full, is_reused): (&mut bool, bool),
) -> Step {
    let first = scratch.ended.len();
    let sent = if event.writable { send(channel, session, driver, slots, is_full) } else { Ok(()) };
    if session.has_written() && channel.is_flushed() {
        session.end_written(driver.now(), slots, &mut scratch.ended);
    }
    let failed = sent.as_ref().err().map(|(_, error)| error.kind());
    // What was received before a failed send says how exchanges ended, of which some may be complete.
    let step = if event.readable || failed.is_some() {
        receive(channel, session, driver, slots, scratch, (event.closed, is_reused, failed))
    } else {
        Step::Pending
    };
    if let Err((at, error)) = sent {
        // A response that was received before the error takes precedence.
        scratch.ended.iter_mut().skip(first).for_each(|ended| ended.outcome.reusable = false);
        session.broken(at, is_reused, &error, slots, &mut scratch.ended);
    }
    if session.reads_on() {
        return step;
    }
    if session.has_outgoing() {
        // The reason of the end. The connection is closed before its next event, and an error of this
        // send changes nothing.
        let _ = send(channel, session, driver, slots, is_full);
    }
    Step::Pending
}

/// Sends as many outgoing bytes of a session as the socket accepts.
#[inline]
fn send<D: Driver>(
    channel: &mut ByteChannel<D::Socket>,
    session: &mut impl ProtocolSession,
    driver: &mut D,
    slots: &mut impl Slots,
    is_full: &mut bool,
) -> Result<(), (Nanos, io::Error)> {
    *is_full = false;
    loop {
        let bytes = session.outgoing(slots);
        if bytes.is_empty() {
            break;
        }
        let at = driver.now();
        match channel.send(driver, bytes) {
            Ok(count) => session.sent(count, at, slots),
            Err(error) if error.kind() == ErrorKind::WouldBlock => {
                *is_full = true;
                return Ok(());
            }
            Err(error) => return Err((at, error)),
        }
    }
    *is_full = !channel.flush(driver).map_err(|error| (driver.now(), error))?;
    Ok(())
}

/// Receives what the socket has, within the limits of one call. After a failed send, only a close (a broken
/// pipe) is an end of the stream: the end after a reset says nothing about a body.
#[inline]
fn receive<D: Driver>(
    channel: &mut ByteChannel<D::Socket>,
    session: &mut impl ProtocolSession,
    driver: &mut D,
    slots: &mut impl Slots,
    scratch: &mut Scratch,
    (is_closed, is_reused, failed): (bool, bool, Option<ErrorKind>),
) -> Step {
    let mut count = 0;
    for _ in 0..MAX_READS {
        let next = session.next_read(slots, channel.is_plain(), scratch.buffer.len());
        let buffer = &mut scratch.buffer[..next.room];
        let is_discarded = next.discardable > 0;
        let read = if is_discarded {
            channel.discard(driver, buffer)
        } else {
            channel.recv(driver, buffer)
        };
        let length = match read {
            Ok(0) if failed.is_some_and(|kind| kind != ErrorKind::BrokenPipe) => {
                return Step::Pending;
            }
            Ok(0) => {
                let at = driver.now();
                session.end_of_stream(at, is_reused, slots, &mut scratch.ended);
                return Step::Pending;
            }
            Ok(length) => length,
            Err(error) if error.kind() == ErrorKind::WouldBlock => return Step::Pending,
            Err(error) if error.kind() == ErrorKind::Interrupted => return Step::Again,
            Err(_) if failed.is_some() => return Step::Pending,
            Err(error) => {
                let at = driver.now();
                session.broken(at, is_reused, &error, slots, &mut scratch.ended);
                return Step::Pending;
            }
        };
        let at = driver.now();
        let is_late = scratch.is_late(at);
        let Scratch { buffer, heads, budget, ended, messages, .. } = scratch;
        let bytes = if is_discarded { &[] } else { &buffer[..length] };
        let received = Received { bytes, at, is_late, heads, budget, ended, messages };
        if is_discarded {
            session.discarded(length, received, slots);
        } else {
            session.feed(received, slots);
        }
        count += length;
        if !session.reads_on() || (channel.is_drained() && !is_closed && failed.is_none()) {
            return Step::Pending;
        }
        if count >= MAX_READ_BYTES {
            break;
        }
    }
    Step::Again
}
