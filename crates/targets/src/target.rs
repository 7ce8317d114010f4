//! A running target: its threads, from the first listen to the last close.

use std::io::{self, Read as _, Write as _};
use std::net::SocketAddr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::{self, JoinHandle};

use socket2::Socket;
use tokio::net::TcpListener;
use tokio::runtime::{Builder, Runtime};
use tokio::sync::oneshot;

use crate::alarm::DelayAlarm;
use crate::blackhole::Blackhole;
use crate::bytes::Block;
use crate::chat::{self, Chat};
use crate::counts::ThreadCounts;
use crate::delayed::{DelayQueue, Delayed};
use crate::faulty::Faulty;
use crate::grpc::Grpc;
use crate::hello::Hello;
use crate::http::Http;
use crate::listener::{self, Serve};
use crate::luck::Luck;
use crate::truth::Writer;
use crate::websocket::WebSocketEcho;
use crate::{ChatSpec, DelaySpec, Fault, Spec, TargetCounts};

/// A server on its own threads. It listens until it is stopped or dropped.
#[derive(Debug)]
pub struct Target {
    address: SocketAddr,
    tallies: Vec<Arc<ThreadCounts>>,
    fault: Option<Fault>,
    running: Mutex<Running>,
}

/// The running threads.
#[derive(Debug, Default)]
struct Running {
    threads: Vec<Server>,
    writer: Option<Writer>,
    blackhole: Option<Blackhole>,
}

#[derive(Debug)]
struct Server {
    stop: oneshot::Sender<()>,
    thread: JoinHandle<()>,
}

impl Target {
    /// Starts a target; when this returns, it listens.
    ///
    /// Errors: `InvalidInput` for a spec that is out of range, otherwise errors of the system about host,
    /// port, log file or threads.
    pub fn start(spec: Spec) -> io::Result<Self> {
        let address = checked(&spec)?;
        if matches!(&spec, Spec::Faulty(spec) if spec.fault == Fault::NoAccept) {
            return Self::swallow(address);
        }
        let (_, _, threads) = spec.place();
        Self::listen(&spec, listener::bind(address, threads)?)
    }

    /// Starts one of several processes that share a port.
    ///
    /// Errors: as [`Target::start`]; `InvalidInput` also for what only one process can be: no port,
    /// a queue or a log of its own, a listener that takes nothing.
    pub fn share(spec: Spec) -> io::Result<Self> {
        let address = checked(&spec)?;
        let reason = match &spec {
            _ if address.port() == 0 => Some("a port to share must be given"),
            Spec::Delay(spec) if spec.capacity.is_some() => {
                Some("capacity: one queue needs one process")
            }
            Spec::Delay(spec) if spec.log.is_some() => Some("log: one file needs one process"),
            Spec::Chat(spec) => spec.needs_one_process(),
            Spec::Faulty(spec) if spec.fault == Fault::NoAccept => {
                Some("no_accept: its full queue needs one process")
            }
            _ => None,
        };
        if let Some(reason) = reason {
            return Err(io::Error::new(io::ErrorKind::InvalidInput, reason));
        }
        let (_, _, threads) = spec.place();
        Self::listen(&spec, listener::bind_shared(address, threads)?)
    }

    /// Returns its address; the real port, also for port 0.
    pub fn addr(&self) -> SocketAddr {
        self.address
    }

    /// Returns its counts so far.
    pub fn counts(&self) -> TargetCounts {
        TargetCounts::sum(self.tallies.iter().map(Arc::as_ref), self.fault)
    }

    /// Closes all sockets, ends all threads, and completes the log. A second call does nothing.
    ///
    /// Errors: the log could not be written; the target has stopped anyway.
    pub fn stop(&self) -> io::Result<()> {
        let Running { threads, writer, blackhole } = std::mem::take(&mut *self.running());
        drop(blackhole);
        let joins: Vec<_> = threads.into_iter().map(Server::stop).collect();
        let panicked = joins.into_iter().filter_map(|thread| thread.join().err()).count();
        writer.map_or(Ok(()), Writer::finish)?;
        match panicked {
            0 => Ok(()),
            _ => Err(io::Error::other("a thread of the target panicked")),
        }
    }

    fn swallow(address: SocketAddr) -> io::Result<Self> {
        let blackhole = Blackhole::open(address)?;
        let address = blackhole.address();
        let running = Running { blackhole: Some(blackhole), ..Running::default() };
        let fault = Some(Fault::NoAccept);
        Ok(Target { address, tallies: Vec::new(), fault, running: Mutex::new(running) })
    }

    /// Starts a thread for each socket. If one fails to start, dropping the target stops the others.
    fn listen(spec: &Spec, sockets: Vec<Socket>) -> io::Result<Self> {
        let mut target = Target {
            address: listener::local_address(&sockets[0])?,
            tallies: Vec::new(),
            fault: None,
            running: Mutex::default(),
        };
        match spec {
            Spec::Hello(spec) => target.spawn(sockets, || Ok(Http::new(Hello::new(spec))))?,
            Spec::Bytes(spec) => target.spawn(sockets, || Ok(Http::new(Block::new(spec))))?,
            Spec::Delay(spec) => target.delay(spec, sockets)?,
            Spec::Faulty(spec) => {
                target.fault = Some(spec.fault);
                let luck = Arc::new(Luck::new(spec));
                target.spawn(sockets, || Ok(Faulty::new(Arc::clone(&luck))))?;
            }
            Spec::Chat(spec) => target.chat(spec, sockets)?,
            Spec::Grpc(spec) => target.spawn(sockets, || Ok(Grpc::new(spec)))?,
            Spec::Ws(spec) => target.spawn(sockets, || Ok(WebSocketEcho::new(spec)))?,
        }
        Ok(target)
    }

    fn delay(&mut self, spec: &DelaySpec, sockets: Vec<Socket>) -> io::Result<()> {
        let (writer, truth) = spec.log.as_deref().map(Writer::start).transpose()?.unzip();
        self.running().writer = writer;
        let clerk = Arc::new(DelayQueue::new(spec));
        self.spawn(sockets, || {
            let site = Delayed::new(Arc::clone(&clerk), DelayAlarm::start()?, truth.clone());
            Ok(Http::new(site))
        })
    }

    fn chat(&mut self, spec: &ChatSpec, sockets: Vec<Socket>) -> io::Result<()> {
        let (writer, log) = spec.log.as_deref().map(Writer::start).transpose()?.unzip();
        self.running().writer = writer;
        let queue = Arc::new(chat::ChatQueue::new(spec));
        self.spawn(sockets, || Ok(Chat::new(Arc::clone(&queue), DelayAlarm::start()?, log.clone())))
    }

    /// `make` is called once for each thread, inside its runtime.
    fn spawn<S: Serve>(
        &mut self,
        sockets: Vec<Socket>,
        make: impl Fn() -> io::Result<S>,
    ) -> io::Result<()> {
        for socket in sockets {
            let tally = Arc::<ThreadCounts>::default();
            let server = Server::start(socket, &make, Arc::clone(&tally))?;
            self.tallies.push(tally);
            self.running().threads.push(server);
        }
        Ok(())
    }

    fn running(&self) -> MutexGuard<'_, Running> {
        self.running.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Serves a port together with other processes until standard input ends, as the main function of a
/// child process. Prints `listening` when it listens, and its counts as a line of JSON at the end.
///
/// Errors: as [`Target::share`].
pub fn serve_shared(spec: Spec) -> io::Result<()> {
    let target = Target::share(spec)?;
    let print = |line: &str| writeln!(io::stdout().lock(), "{line}");
    print("listening")?;
    // The parent process has closed the pipe or has ended.
    let _ = io::stdin().read_to_end(&mut Vec::new());
    target.stop()?;
    print(&serde_json::to_string(&target.counts())?)
}

impl Drop for Target {
    fn drop(&mut self) {
        // Errors of the log are returned by `stop`.
        let _ = self.stop();
    }
}

impl Server {
    fn start<S: Serve>(
        socket: Socket,
        make: impl Fn() -> io::Result<S>,
        tally: Arc<ThreadCounts>,
    ) -> io::Result<Self> {
        let runtime = Builder::new_current_thread().enable_all().build()?;
        let context = runtime.enter();
        let listener = TcpListener::from_std(socket.into())?;
        tokio::spawn(listener::accept(listener, make()?, tally));
        drop(context);
        let (stop, stopped) = oneshot::channel();
        let thread = thread::Builder::new()
            .name("target".to_owned())
            .spawn(move || run(runtime, stopped))?;
        Ok(Server { stop, thread })
    }

    /// Asks the thread to end, so that all of them end at the same time.
    fn stop(self) -> JoinHandle<()> {
        // An error means that the thread has panicked, which joining shows.
        let _ = self.stop.send(());
        self.thread
    }
}

/// Checks a spec, and returns its address.
fn checked(spec: &Spec) -> io::Result<SocketAddr> {
    spec.check().map_err(|error| io::Error::new(io::ErrorKind::InvalidInput, error))?;
    let (host, port, _) = spec.place();
    listener::resolve(host, port)
}

/// Serves until it is stopped; all sockets close with the runtime.
fn run(runtime: Runtime, stopped: oneshot::Receiver<()>) {
    // If it is refused, the target answers a little later.
    let _ = net::be_punctual();
    let _ = runtime.block_on(stopped);
}
