//! Answers a share of the requests with a fault, and the others correctly.
//!
//! It uses raw sockets, because no HTTP library sends such bytes. Which requests have the fault follows from
//! the seed and the request's number. After a fault that leaves the connection open, it goes on.

use std::io;
use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;

use tokio::net::TcpStream;

use crate::counts::ThreadCounts;
use crate::http2_faulty::FaultyHttp2;
use crate::listener::Serve;
use crate::luck::Luck;
use crate::peer::{Ending, RawClient};
use crate::{Fault, FaultVersion, script, websocket_faulty};

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
        let mut peer = RawClient::new(stream, tally);
        async move {
            let is_over_http2 =
                matches!(luck.fault().version(), FaultVersion::Http2 | FaultVersion::Grpc);
            if is_over_http2 && peer.speaks_http2().await {
                // The client closed the connection or broke the protocol; the counts show this.
                let _ = FaultyHttp2::new(luck, peer).serve().await;
                return;
            }
            let mut connection = FaultyConnection { luck, peer, reused: false };
            while let Ok(Ending::Open) = connection.exchange().await {}
        }
    }
}

impl FaultyConnection {
    /// Handles a request. An error means that the client closed the connection or sent no valid request.
    async fn exchange(&mut self) -> io::Result<Ending> {
        let Some(request) = self.peer.next(0).await? else {
            return Ok(Ending::Over);
        };
        if let Some(key) = &request.websocket_key
            && self.luck.fault().version() == FaultVersion::WebSocket
        {
            websocket_faulty::serve(&self.luck, &mut self.peer, key).await?;
            return Ok(Ending::Over);
        }
        let spared = match self.luck.fault() {
            Fault::ClosedOnReuse => !self.reused,
            fault => fault.version() != FaultVersion::Http1,
        };
        let unlucky = self.luck.next().filter(|_| !spared);
        self.reused = true;
        let answers = unlucky.is_none() || self.luck.fault().answers();
        if unlucky.is_some() {
            self.peer.tally.faults.fetch_add(1, Relaxed);
        }

        let mut ending = if request.keep_alive { Ending::Open } else { Ending::Over };
        let steps = match unlucky {
            Some(number) => script::of(self.luck.fault(), request.head_only, number),
            None => script::hello(request.head_only),
        };
        for step in steps {
            if self.peer.take(step).await? == Ending::Over {
                ending = Ending::Over;
            }
        }
        if answers {
            self.peer.answered();
        }
        Ok(ending)
    }
}
