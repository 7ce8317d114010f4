//! Answers a share of the requests with a fault, and the others correctly.
//!
//! It uses raw sockets, because no HTTP library sends such bytes. Which requests have the fault follows from
//! the seed and the request's number. After a fault that leaves the connection open, it goes on.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::time::Duration;

use tokio::net::TcpStream;
use tokio::time::sleep;

use crate::counts::ThreadCounts;
use crate::listener::Serve;
use crate::peer::{Ending, RawClient};
use crate::request::ReceivedRequest;
use crate::script::FaultStep;
use crate::{Fault, FaultySpec, random, script};

/// Decides which requests have the fault; shared by the threads of a target.
#[derive(Debug)]
pub(crate) struct Luck {
    fault: Fault,
    share: f64,
    seed: u64,
    number: AtomicU64,
}

/// The faulty server of one thread.
#[derive(Debug)]
pub(crate) struct Faulty(Arc<Luck>);

/// A connection.
struct FaultyConnection {
    luck: Arc<Luck>,
    peer: RawClient,
    /// Whether it has carried a request.
    reused: bool,
}

impl Luck {
    pub(crate) fn new(spec: &FaultySpec) -> Self {
        let FaultySpec { fault, share, seed, .. } = *spec;
        Luck { fault, share, seed, number: AtomicU64::new(0) }
    }

    /// Returns the script for the next request; None if it has no fault.
    fn next(&self, request: &ReceivedRequest, reused: bool) -> Option<Vec<FaultStep>> {
        let number = self.number.fetch_add(1, Relaxed);
        let spared = self.fault == Fault::ClosedOnReuse && !reused;
        let unlucky = random::unit(self.seed, 0, number) < self.share;
        (unlucky && !spared).then(|| script::of(self.fault, request.head_only, number))
    }
}

impl Faulty {
    pub(crate) fn new(luck: Arc<Luck>) -> Self {
        Faulty(luck)
    }
}

impl Serve for Faulty {
    fn serve(
        &self,
        stream: TcpStream,
        tally: Arc<ThreadCounts>,
    ) -> impl Future<Output = ()> + Send + 'static {
        let luck = Arc::clone(&self.0);
        let mut connection =
            FaultyConnection { luck, peer: RawClient::new(stream, tally), reused: false };
        async move { while let Ok(Ending::Open) = connection.exchange().await {} }
    }
}

impl FaultyConnection {
    /// Handles a request. An error means that the client closed the connection or sent no valid request.
    async fn exchange(&mut self) -> io::Result<Ending> {
        let Some(request) = self.peer.next(0).await? else {
            return Ok(Ending::Over);
        };
        let unlucky = self.luck.next(&request, self.reused);
        self.reused = true;
        let answers = unlucky.is_none() || self.luck.fault.answers();
        if unlucky.is_some() {
            self.peer.tally.faults.fetch_add(1, Relaxed);
        }

        let mut ending = if request.keep_alive { Ending::Open } else { Ending::Over };
        for step in unlucky.unwrap_or_else(|| script::hello(request.head_only)) {
            if self.take(step).await? == Ending::Over {
                ending = Ending::Over;
            }
        }
        if answers {
            self.peer.answered();
        }
        Ok(ending)
    }

    /// The socket itself closes when the connection is dropped.
    async fn take(&mut self, step: FaultStep) -> io::Result<Ending> {
        match step {
            FaultStep::Send(bytes) => self.peer.send(&bytes).await?,
            FaultStep::Pour(bytes, pause) => loop {
                self.peer.send(&bytes).await?;
                sleep(pause).await;
            },
            FaultStep::Drip(bytes, pause) => self.drip(&bytes, pause).await?,
            FaultStep::Pause(pause) => sleep(pause).await,
            FaultStep::Silence => {
                self.peer.listen_only().await?;
                return Ok(Ending::Over);
            }
            FaultStep::Close => return Ok(Ending::Over),
            FaultStep::Reset => {
                self.peer.end_by_reset()?;
                return Ok(Ending::Over);
            }
        }
        Ok(Ending::Open)
    }

    async fn drip(&mut self, bytes: &[u8], pause: Duration) -> io::Result<()> {
        for byte in bytes.chunks(1) {
            self.peer.send(byte).await?;
            sleep(pause).await;
        }
        Ok(())
    }
}
