//! The driver of tests: a clock that advances only by waiting, and a peer with a script.
//!
//! Time does not advance while the worker computes, unless the test sets the time of a send or a late
//! wake-up. The same script gives the same run, to the nanosecond.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap, VecDeque};
use std::io;
use std::net::IpAddr;

use crate::{Address, Driver, Nanos, Ready, ThreadUsage};

/// How a dial ends.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Dial {
    /// Established after that time.
    Accept(Nanos),
    /// Established after that time, and these bytes come with it.
    Greet(Nanos, Vec<u8>),
    /// Broken with that errno after that time.
    Fail(Nanos, i32),
    /// Never answered.
    Silent,
    /// The local machine lacks a resource: fails with that errno at once.
    Local(i32),
}

/// An action of the peer on a connection.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Act {
    /// These bytes arrive.
    Bytes(Vec<u8>),
    /// The stream ends.
    Close,
    /// The connection is reset.
    Reset,
}

/// The other side of every connection.
pub trait Peer {
    /// Returns how the dial with this number ends, counted from 0.
    fn dial(&mut self, number: u64, now: Nanos) -> Dial;

    /// Returns the actions after bytes on a connection (numbered by its dial), each with its delay.
    fn receive(&mut self, connection: u64, bytes: &[u8], now: Nanos) -> Vec<(Nanos, Act)>;
}

/// So that worlds with different peers are one type, whose code is compiled once.
impl<P: Peer + ?Sized> Peer for &mut P {
    fn dial(&mut self, number: u64, now: Nanos) -> Dial {
        (**self).dial(number, now)
    }

    fn receive(&mut self, connection: u64, bytes: &[u8], now: Nanos) -> Vec<(Nanos, Act)> {
        (**self).receive(connection, bytes, now)
    }
}

#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Happening {
    Dialled(Option<i32>),
    Drains,
    Arrives(Vec<u8>),
    Closes,
    Resets,
}

#[derive(Debug, Default)]
struct Side {
    token: u64,
    connected: bool,
    inbox: VecDeque<u8>,
    ended: bool,
    broken: Option<i32>,
}

/// A simulated connection; dropping it closes it.
#[derive(Debug, PartialEq, Eq)]
pub struct SimulatedSocket {
    number: u64,
}

/// The simulated world of one worker.
pub struct Simulated<P> {
    /// The other side, which a test may inspect.
    pub peer: P,
    /// The time that each send takes.
    pub send_cost_ns: Nanos,
    /// Late wake-ups: when the clock passes the first time, it advances by the second.
    pub oversleeps: VecDeque<(Nanos, Nanos)>,
    /// The maximum number of bytes of one send.
    pub send_limit: usize,
    /// When waiting begins to fail, as with a broken epoll descriptor.
    pub broken_at: Nanos,
    /// From when to when sockets accept nothing, because their peer does not read.
    pub full: (Nanos, Nanos),
    now: Nanos,
    dials: u64,
    sequence: u64,
    sides: BTreeMap<u64, Side>,
    queue: BinaryHeap<Reverse<(Nanos, u64, u64, Happening)>>,
}

impl<P> Simulated<P> {
    /// Returns the same world with another peer, and the peer that it had.
    pub fn with_peer<Q>(self, peer: Q) -> (Simulated<Q>, P) {
        let Self { send_cost_ns, oversleeps, send_limit, broken_at, full, now, .. } = self;
        let Self { dials, sequence, sides, queue, .. } = self;
        let world = Simulated {
            peer,
            send_cost_ns,
            oversleeps,
            send_limit,
            broken_at,
            full,
            now,
            dials,
            sequence,
            sides,
            queue,
        };
        (world, self.peer)
    }
}

impl<P: Peer> Simulated<P> {
    /// Creates a world at time 0.
    pub fn new(peer: P) -> Self {
        Self {
            peer,
            send_cost_ns: 0,
            oversleeps: VecDeque::new(),
            send_limit: usize::MAX,
            broken_at: Nanos::MAX,
            full: (0, 0),
            now: 0,
            dials: 0,
            sequence: 0,
            sides: BTreeMap::new(),
            queue: BinaryHeap::new(),
        }
    }

    /// Returns the number of dials.
    pub fn dials(&self) -> u64 {
        self.dials
    }

    fn schedule(&mut self, after: Nanos, number: u64, what: Happening) {
        self.sequence += 1;
        self.queue.push(Reverse((self.now.saturating_add(after), self.sequence, number, what)));
    }

    fn side(&mut self, socket: &SimulatedSocket) -> io::Result<&mut Side> {
        self.sides.get_mut(&socket.number).ok_or_else(|| io::Error::from_raw_os_error(libc::EBADF))
    }

    fn move_clock(&mut self, to: Nanos) {
        self.now = self.now.max(to);
        while self.oversleeps.front().is_some_and(|(at, _)| *at <= self.now) {
            let (_, length) = self.oversleeps.pop_front().unwrap_or_default();
            self.now += length;
        }
    }

    fn apply(&mut self, number: u64, what: Happening) -> Option<Ready> {
        let side = self.sides.get_mut(&number)?;
        let mut ready = Ready { token: side.token, readable: true, writable: false, closed: false };
        match what {
            Happening::Dialled(broken) => {
                side.connected = broken.is_none();
                side.broken = broken;
                ready =
                    Ready { readable: false, writable: true, closed: broken.is_some(), ..ready };
            }
            Happening::Drains => ready = Ready { readable: false, writable: true, ..ready },
            Happening::Arrives(bytes) => side.inbox.extend(bytes),
            Happening::Closes => {
                side.ended = true;
                ready.closed = true;
            }
            Happening::Resets => {
                side.broken = Some(if side.ended { libc::EPIPE } else { libc::ECONNRESET });
                ready.closed = true;
            }
        }
        Some(ready)
    }

    fn take(&mut self, socket: &SimulatedSocket, limit: usize) -> io::Result<Vec<u8>> {
        let side = self.side(socket)?;
        // As on Linux, bytes and an end that came before a reset are still read.
        if side.inbox.is_empty() && !side.ended {
            if let Some(errno) = side.broken {
                return Err(io::Error::from_raw_os_error(errno));
            }
            return Err(io::ErrorKind::WouldBlock.into());
        }
        let rest = side.inbox.split_off(limit.min(side.inbox.len()));
        Ok(std::mem::replace(&mut side.inbox, rest).into())
    }
}

impl<P: Peer> Driver for Simulated<P> {
    type Socket = SimulatedSocket;

    fn now(&self) -> Nanos {
        self.now
    }

    fn usage(&self) -> ThreadUsage {
        ThreadUsage::default()
    }

    fn dial(&mut self, _: &Address, _: Option<IpAddr>, token: u64) -> io::Result<SimulatedSocket> {
        let number = self.dials;
        self.dials += 1;
        match self.peer.dial(number, self.now) {
            Dial::Local(errno) => return Err(io::Error::from_raw_os_error(errno)),
            Dial::Accept(after) => self.schedule(after, number, Happening::Dialled(None)),
            Dial::Greet(after, bytes) => {
                self.schedule(after, number, Happening::Dialled(None));
                self.schedule(after, number, Happening::Arrives(bytes));
            }
            Dial::Fail(after, errno) => {
                self.schedule(after, number, Happening::Dialled(Some(errno)))
            }
            Dial::Silent => {}
        }
        // A number dialled anew replaces nothing: numbers only grow. Sides of dropped sockets stay
        // until the end of the test, and what happens to them is not reported to a newer token.
        self.sides.insert(number, Side { token, ..Side::default() });
        Ok(SimulatedSocket { number })
    }

    fn error(&mut self, socket: &SimulatedSocket) -> Option<io::Error> {
        self.side(socket).ok()?.broken.map(io::Error::from_raw_os_error)
    }

    fn send(&mut self, socket: &SimulatedSocket, bytes: &[u8]) -> io::Result<usize> {
        let side = self.side(socket)?;
        if let Some(errno) = side.broken {
            return Err(io::Error::from_raw_os_error(errno));
        }
        if !side.connected {
            return Err(io::ErrorKind::WouldBlock.into());
        }
        let (from, to) = self.full;
        if (from..to).contains(&self.now) {
            self.schedule(to - self.now, socket.number, Happening::Drains);
            return Err(io::ErrorKind::WouldBlock.into());
        }
        let length = bytes.len().min(self.send_limit);
        for (after, act) in self.peer.receive(socket.number, &bytes[..length], self.now) {
            let what = match act {
                Act::Bytes(bytes) => Happening::Arrives(bytes),
                Act::Close => Happening::Closes,
                Act::Reset => Happening::Resets,
            };
            self.schedule(after, socket.number, what);
        }
        self.move_clock(self.now + self.send_cost_ns);
        Ok(length)
    }

    fn recv(&mut self, socket: &SimulatedSocket, buffer: &mut [u8]) -> io::Result<usize> {
        let bytes = self.take(socket, buffer.len())?;
        buffer[..bytes.len()].copy_from_slice(&bytes);
        Ok(bytes.len())
    }

    fn discard(&mut self, socket: &SimulatedSocket, scratch: &mut [u8]) -> io::Result<usize> {
        Ok(self.take(socket, scratch.len())?.len())
    }

    fn unread(&self, socket: &SimulatedSocket) -> u64 {
        // What was received while the worker computed stays in the queue until it waits again.
        let came = self.queue.iter().map(|Reverse((at, _, number, what))| match what {
            Happening::Arrives(bytes) if *at <= self.now && *number == socket.number => bytes.len(),
            _ => 0,
        });
        let kept = self.sides.get(&socket.number).map_or(0, |side| side.inbox.len());
        (kept + came.sum::<usize>()) as u64
    }

    fn wait(&mut self, until: Nanos, ready: &mut Vec<Ready>) -> io::Result<()> {
        ready.clear();
        if self.now >= self.broken_at {
            return Err(io::Error::from_raw_os_error(libc::EBADF));
        }
        while ready.is_empty() {
            let next = self
                .queue
                .peek()
                .map(|Reverse((at, ..))| *at)
                .filter(|at| *at <= until.max(self.now));
            let Some(next) = next else {
                self.move_clock(until);
                return Ok(());
            };
            self.move_clock(next);
            while self.queue.peek().is_some_and(|Reverse((at, ..))| *at <= self.now) {
                if let Some(Reverse((_, _, number, what))) = self.queue.pop()
                    && let Some(event) = self.apply(number, what)
                {
                    report(ready, event);
                }
            }
        }
        Ok(())
    }
}

/// As epoll does, a wait reports each socket once.
fn report(ready: &mut Vec<Ready>, event: Ready) {
    match ready.iter_mut().find(|known| known.token == event.token) {
        Some(known) => {
            known.readable |= event.readable;
            known.writable |= event.writable;
            known.closed |= event.closed;
        }
        None => ready.push(event),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Echo;

    impl Peer for Echo {
        fn dial(&mut self, number: u64, _: Nanos) -> Dial {
            [
                Dial::Accept(5),
                Dial::Fail(7, libc::ECONNREFUSED),
                Dial::Silent,
                Dial::Local(libc::EMFILE),
            ][usize::try_from(number).unwrap()]
            .clone()
        }

        fn receive(&mut self, _: u64, bytes: &[u8], _: Nanos) -> Vec<(Nanos, Act)> {
            vec![(10, Act::Bytes(bytes.to_vec())), (20, Act::Close)]
        }
    }

    fn dial(world: &mut Simulated<Echo>, token: u64) -> io::Result<SimulatedSocket> {
        world.dial(&Address::Ip("127.0.0.1:1".parse().unwrap()), None, token)
    }

    #[test]
    fn time_moves_only_by_waiting_and_in_the_order_of_events() {
        let (mut world, mut ready, mut buffer) = (Simulated::new(Echo), Vec::new(), [0; 8]);
        let socket = dial(&mut world, 1).unwrap();
        assert_eq!(world.now(), 0);
        world.wait(100, &mut ready).unwrap();
        assert_eq!((world.now(), ready[0].writable), (5, true));
        assert_eq!(world.send(&socket, b"hi").unwrap(), 2);
        world.wait(100, &mut ready).unwrap();
        assert_eq!((world.now(), world.unread(&socket)), (15, 2));
        assert_eq!((world.recv(&socket, &mut buffer).unwrap(), world.unread(&socket)), (2, 0));
        assert_eq!(world.recv(&socket, &mut buffer).unwrap_err().kind(), io::ErrorKind::WouldBlock);
        world.wait(100, &mut ready).unwrap();
        assert_eq!((world.now(), world.recv(&socket, &mut buffer).unwrap()), (25, 0));
        world.wait(100, &mut ready).unwrap();
        assert_eq!((world.now(), ready.len()), (100, 0));
    }

    #[test]
    fn a_full_socket_accepts_nothing_until_its_event() {
        let mut world = Simulated::new(Echo);
        world.full = (10, 30);
        let to = Address::Ip("127.0.0.1:1".parse().unwrap());
        let socket = world.dial(&to, None, 7).unwrap();
        let mut ready = Vec::new();
        world.wait(15, &mut ready).unwrap();
        world.wait(15, &mut ready).unwrap();
        let refused = world.send(&socket, b"abc").unwrap_err();
        assert_eq!((refused.kind(), world.now()), (io::ErrorKind::WouldBlock, 15));
        world.wait(100, &mut ready).unwrap();
        assert_eq!((world.now(), ready[0].token, ready[0].writable), (30, 7, true));
        assert_eq!(world.send(&socket, b"abc").unwrap(), 3);
    }

    #[test]
    fn dials_end_as_the_peer_decides() {
        let (mut world, mut ready) = (Simulated::new(Echo), Vec::new());
        let sockets: Vec<_> = (0..4).map(|token| dial(&mut world, token)).collect();
        assert_eq!(sockets[3].as_ref().unwrap_err().raw_os_error(), Some(libc::EMFILE));
        world.wait(100, &mut ready).unwrap();
        world.wait(100, &mut ready).unwrap();
        assert_eq!((world.now(), ready[0].token, ready[0].closed), (7, 1, true));
        let error = world.error(sockets[1].as_ref().unwrap()).unwrap();
        assert_eq!(error.kind(), io::ErrorKind::ConnectionRefused);
    }
}
