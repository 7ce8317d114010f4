//! The connections and the loop over them: wait, receive, send again.

use std::io;
use std::net::SocketAddr;
use std::os::fd::OwnedFd;
use std::time::{Duration, Instant};

use rustix::buffer::spare_capacity;
use rustix::event::{Timespec, epoll};
use rustix::io::Errno;
use rustix::net::{
    AddressFamily, RecvFlags, SendFlags, SocketFlags, SocketType, connect, recv, send, socket_with,
    sockopt,
};
use rustix::time::{ClockId, clock_gettime};

/// As many events as torr takes in one wait, and as large a buffer.
const BATCH: usize = 1024;
const BUFFER_BYTES: usize = 64 * 1024;
/// No response for so long ends the run: nothing would move it any more.
const STALLED: Duration = Duration::from_secs(5);

/// What a stretch of the loop did, and what it took.
pub(crate) struct Spent {
    pub(crate) requests: u64,
    pub(crate) cpu: Duration,
    pub(crate) wall: Duration,
}

/// A socket, and the bytes that its response still owes.
struct Lane {
    socket: OwnedFd,
    owed: usize,
    begun: bool,
}

/// All connections of a run.
pub(crate) struct Lanes<'a> {
    epoll: OwnedFd,
    lanes: Vec<Lane>,
    request: &'a [u8],
    answer_bytes: usize,
    buffer: Vec<u8>,
    events: Vec<epoll::Event>,
}

impl<'a> Lanes<'a> {
    /// Starts to connect all of them; each sends its first request when it is connected.
    pub(crate) fn open(
        to: SocketAddr,
        connections: usize,
        request: &'a [u8],
        answer_bytes: usize,
    ) -> io::Result<Self> {
        let epoll = epoll::create(epoll::CreateFlags::CLOEXEC)?;
        let lanes = (0..connections)
            .map(|number| {
                let socket = dial(&epoll, to, number)?;
                Ok(Lane { socket, owed: answer_bytes, begun: false })
            })
            .collect::<io::Result<Vec<_>>>()?;
        let (buffer, events) = (vec![0; BUFFER_BYTES], Vec::with_capacity(BATCH));
        Ok(Lanes { epoll, lanes, request, answer_bytes, buffer, events })
    }

    /// Goes on for so long.
    pub(crate) fn turn(&mut self, length: Duration) -> io::Result<Spent> {
        let (started, cpu) = (Instant::now(), processor_time());
        let mut requests = 0;
        while started.elapsed() < length {
            self.wait()?;
            for index in 0..self.events.len() {
                let number = self.events[index].data.u64();
                requests += u64::from(self.step(number as usize)?);
            }
        }
        Ok(Spent { requests, cpu: processor_time() - cpu, wall: started.elapsed() })
    }

    /// How many there are.
    pub(crate) fn len(&self) -> u64 {
        self.lanes.len() as u64
    }

    /// Waits until each of them is connected; none has sent anything.
    pub(crate) fn connect(&mut self) -> io::Result<()> {
        let mut waiting = self.lanes.len();
        while waiting > 0 {
            self.wait()?;
            for index in 0..self.events.len() {
                let number = self.events[index].data.u64() as usize;
                waiting -= usize::from(!std::mem::replace(&mut self.lanes[number].begun, true));
            }
        }
        Ok(())
    }

    /// Sends one request on each of them, and waits for all answers.
    pub(crate) fn answer_once(&mut self) -> io::Result<()> {
        let mut waiting = self.lanes.len();
        while waiting > 0 {
            self.wait()?;
            for index in 0..self.events.len() {
                let number = self.events[index].data.u64() as usize;
                let lane = &mut self.lanes[number];
                if !std::mem::replace(&mut lane.begun, true) {
                    begin(&lane.socket, self.request)?;
                } else if lane.owed > 0 && self.receive(number)? {
                    waiting -= 1;
                }
            }
        }
        Ok(())
    }

    /// Sends another request on each of them, and this one from then on.
    pub(crate) fn go_on_with(&mut self, request: &'a [u8], answer_bytes: usize) -> io::Result<()> {
        (self.request, self.answer_bytes) = (request, answer_bytes);
        for lane in &mut self.lanes {
            lane.owed = answer_bytes;
            begin(&lane.socket, request)?;
        }
        Ok(())
    }

    /// Sends the request with this number, on the connection whose turn it is.
    pub(crate) fn fire(&self, number: u64) -> io::Result<()> {
        begin(&self.lanes[(number % self.len()) as usize].socket, self.request)
    }

    /// Takes in what has come of the response to the request with this number; whether it is over.
    pub(crate) fn take(&mut self, number: u64) -> io::Result<bool> {
        let number = (number % self.len()) as usize;
        let is_over = self.receive(number)?;
        if is_over {
            self.lanes[number].owed = self.answer_bytes;
        }
        Ok(is_over)
    }

    fn wait(&mut self) -> io::Result<()> {
        let timeout = Timespec { tv_sec: STALLED.as_secs().cast_signed(), tv_nsec: 0 };
        self.events.clear();
        match epoll::wait(&self.epoll, spare_capacity(&mut self.events), Some(&timeout)) {
            Ok(0) => Err(io::Error::other("no response came for 5 s")),
            Ok(_) | Err(Errno::INTR) => Ok(()),
            Err(errno) => Err(errno.into()),
        }
    }

    /// Moves one lane; whether a response is over.
    fn step(&mut self, number: usize) -> io::Result<bool> {
        let lane = &mut self.lanes[number];
        if !lane.begun {
            lane.begun = true;
            begin(&lane.socket, self.request)?;
            return Ok(false);
        }
        if !self.receive(number)? {
            return Ok(false);
        }
        let lane = &mut self.lanes[number];
        lane.owed = self.answer_bytes;
        begin(&lane.socket, self.request)?;
        Ok(true)
    }

    /// Receives what is there of a response; whether it is whole.
    fn receive(&mut self, number: usize) -> io::Result<bool> {
        let lane = &mut self.lanes[number];
        while lane.owed > 0 {
            match recv(&lane.socket, self.buffer.as_mut_slice(), RecvFlags::empty()) {
                Ok((_, 0)) => return Err(io::Error::other("the server closed a connection")),
                Ok((_, count)) if count > lane.owed => {
                    return Err(io::Error::other("a response is longer than the first one"));
                }
                Ok((_, count)) => lane.owed -= count,
                Err(Errno::AGAIN) => return Ok(false),
                Err(errno) => return Err(errno.into()),
            }
        }
        Ok(true)
    }
}

/// A non-blocking socket on its way to the server, made as torr makes its own.
fn dial(epoll: &OwnedFd, to: SocketAddr, number: usize) -> io::Result<OwnedFd> {
    let family = if to.is_ipv4() { AddressFamily::INET } else { AddressFamily::INET6 };
    let flags = SocketFlags::NONBLOCK | SocketFlags::CLOEXEC;
    let socket = socket_with(family, SocketType::STREAM, flags, None)?;
    sockopt::set_tcp_nodelay(&socket, true)?;
    match connect(&socket, &to) {
        Ok(()) | Err(Errno::INPROGRESS) => {}
        Err(errno) => return Err(errno.into()),
    }
    let interest = epoll::EventFlags::IN
        | epoll::EventFlags::OUT
        | epoll::EventFlags::RDHUP
        | epoll::EventFlags::ET;
    epoll::add(epoll, &socket, epoll::EventData::new_u64(number as u64), interest)?;
    Ok(socket)
}

fn begin(socket: &OwnedFd, request: &[u8]) -> io::Result<()> {
    let sent = send(socket, request, SendFlags::NOSIGNAL)?;
    if sent == request.len() { Ok(()) } else { Err(io::Error::other("a request was cut short")) }
}

/// Of the whole process, user and system.
pub(crate) fn processor_time() -> Duration {
    let time = clock_gettime(ClockId::ProcessCPUTime);
    // Neither part is ever negative: the clock starts at zero with the process.
    Duration::new(time.tv_sec.unsigned_abs(), time.tv_nsec.unsigned_abs() as u32)
}

#[cfg(test)]
mod tests {
    use std::io::{Read, Write};
    use std::net::TcpListener;
    use std::thread;

    use super::*;

    const ANSWER: &[u8] = b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok";

    /// A server of one connection that answers each read, until its client leaves.
    fn server() -> (SocketAddr, thread::JoinHandle<u64>) {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let thread = thread::spawn(move || {
            let (mut stream, _) = listener.accept().unwrap();
            let (mut served, mut buffer) = (0, [0; 256]);
            while stream.read(&mut buffer).is_ok_and(|count| count > 0) {
                if stream.write_all(ANSWER).is_err() {
                    break;
                }
                served += 1;
            }
            served
        });
        (address, thread)
    }

    #[test]
    fn counts_the_answers_that_were_served() {
        let (address, thread) = server();
        let mut lanes = Lanes::open(address, 1, b"GET / HTTP/1.1\r\n\r\n", ANSWER.len()).unwrap();
        let spent = lanes.turn(Duration::from_millis(50)).unwrap();
        drop(lanes);
        let served = thread.join().unwrap();
        assert!(spent.requests > 0);
        assert!(served - spent.requests <= 1, "{served} served, {} counted", spent.requests);
    }

    #[test]
    fn keeps_a_rate_one_request_after_the_other() {
        let (address, thread) = server();
        let mut lanes = Lanes::open(address, 1, b"GET / HTTP/1.1\r\n\r\n", ANSWER.len()).unwrap();
        lanes.connect().unwrap();
        let spent = crate::grid::keep(&mut lanes, 100, Duration::from_millis(55)).unwrap();
        drop(lanes);
        let served = thread.join().unwrap();
        // At 0, 10, 20, 30, 40 and 50 ms, as far as the server keeps up.
        assert!((1..=6).contains(&served) && served - spent.requests <= 1, "{served}");
    }

    #[test]
    fn an_answer_of_another_length_is_an_error() {
        let (address, thread) = server();
        let short = ANSWER.len() - 1;
        let mut lanes = Lanes::open(address, 1, b"GET / HTTP/1.1\r\n\r\n", short).unwrap();
        let error = lanes.turn(Duration::from_secs(1)).err().unwrap().to_string();
        drop(lanes);
        thread.join().unwrap();
        assert_eq!(error, "a response is longer than the first one");
    }
}
