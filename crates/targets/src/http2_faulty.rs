//! A faulty target over HTTP/2: answers a share of the requests of a connection, or of the calls of gRPC,
//! with a fault.
//!
//! Requests are answered one after the other, in the order in which their last bytes come. Their heads are
//! not decoded: the response is that to a GET, or to a call that returns one message.

use std::collections::HashSet;
use std::io;
use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;

use crate::frames::{
    ACK, CONTINUATION, DATA, END_HEADERS, END_STREAM, GOAWAY, HEADERS, PING, PREFACE, RST_STREAM,
    RawFrameHead, SETTINGS, frame,
};
use crate::luck::Luck;
use crate::peer::{Ending, RawClient};
use crate::step::FaultStep;
use crate::{Fault, FaultVersion, grpc_script, http2_script as script};

/// The largest payload of a frame that the target allows, which is the default of HTTP/2.
const LARGEST_PAYLOAD: usize = 16_384;
/// The window for the body of a request without a fault, if the settings give none.
const WINDOW: u32 = 1 << 20;

/// A connection.
pub(crate) struct FaultyHttp2 {
    luck: Arc<Luck>,
    peer: RawClient,
    /// Streams whose request is not complete.
    open: HashSet<u32>,
    /// The head of a request that goes on in CONTINUATION frames, and whether the request ends with it.
    continued: Option<(u32, bool)>,
    /// The last stream that is answered, after GOAWAY.
    last: Option<u32>,
}

impl FaultyHttp2 {
    pub(crate) fn new(luck: Arc<Luck>, peer: RawClient) -> Self {
        FaultyHttp2 { luck, peer, open: HashSet::new(), continued: None, last: None }
    }

    /// Serves the connection to its end. An error means that the client closed it or broke the protocol.
    pub(crate) async fn serve(&mut self) -> io::Result<()> {
        if self.peer.read_exactly(PREFACE.len()).await? != PREFACE {
            return Err(io::ErrorKind::InvalidData.into());
        }
        self.peer.send(&script::settings(self.luck.fault())).await?;
        while let Some((head, payload)) = self.next().await? {
            if self.take(head, &payload).await? == Ending::Over {
                // If unread bytes were left, the kernel would send a reset, and the client might lose frames.
                self.peer.end_writing().await?;
                return self.peer.listen_only().await;
            }
        }
        Ok(())
    }

    /// Reads the next frame; none if the client has closed between two.
    async fn next(&mut self) -> io::Result<Option<(RawFrameHead, Vec<u8>)>> {
        let Some(head) = self.peer.read_frame_head().await? else { return Ok(None) };
        if head.length > LARGEST_PAYLOAD {
            return Err(io::ErrorKind::InvalidData.into());
        }
        let payload = self.peer.read_exactly(head.length).await?;
        Ok(Some((head, payload)))
    }

    async fn take(&mut self, head: RawFrameHead, payload: &[u8]) -> io::Result<Ending> {
        match head.kind {
            SETTINGS if !head.has(ACK) => self.peer.send(&frame(SETTINGS, ACK, 0, &[])).await?,
            PING if !head.has(ACK) => self.peer.send(&frame(PING, ACK, 0, payload)).await?,
            GOAWAY => return Ok(Ending::Over),
            RST_STREAM => {
                self.open.remove(&head.stream);
            }
            HEADERS if head.has(END_HEADERS) => {
                return self.head(head.stream, head.has(END_STREAM)).await;
            }
            HEADERS => self.continued = Some((head.stream, head.has(END_STREAM))),
            CONTINUATION if head.has(END_HEADERS) => {
                if let Some((stream, is_whole)) = self.continued.take() {
                    return self.head(stream, is_whole).await;
                }
            }
            DATA => return self.data(head).await,
            _ => {}
        }
        Ok(Ending::Open)
    }

    /// Takes the complete head of a request.
    async fn head(&mut self, stream: u32, is_whole: bool) -> io::Result<Ending> {
        if self.last.is_some_and(|last| stream > last) {
            return Ok(Ending::Open);
        }
        if is_whole {
            return self.answer(stream).await;
        }
        if self.luck.fault() == Fault::H2ZeroWindow {
            if self.luck.next().is_some() {
                self.peer.tally.faults.fetch_add(1, Relaxed);
                return Ok(Ending::Open);
            }
            self.peer.send(&script::window(stream, WINDOW)).await?;
        }
        if self.luck.fault() == Fault::GrpcEarlyStatus
            && let Some(number) = self.luck.next()
        {
            self.peer.tally.requests.fetch_add(1, Relaxed);
            return self.fail(stream, number).await;
        }
        self.open.insert(stream);
        Ok(Ending::Open)
    }

    /// Takes a part of a request's body, and permits as many bytes more.
    async fn data(&mut self, head: RawFrameHead) -> io::Result<Ending> {
        if let (Ok(bytes @ 1..), false) = (u32::try_from(head.length), head.has(END_STREAM)) {
            self.peer.send(&script::window(head.stream, bytes)).await?;
        }
        if let Ok(bytes @ 1..) = u32::try_from(head.length) {
            self.peer.send(&script::window(0, bytes)).await?;
        }
        if head.has(END_STREAM) && self.open.remove(&head.stream) {
            return self.answer(head.stream).await;
        }
        Ok(Ending::Open)
    }

    /// Answers a complete request, perhaps with the fault.
    async fn answer(&mut self, stream: u32) -> io::Result<Ending> {
        self.peer.tally.requests.fetch_add(1, Relaxed);
        let fault = self.luck.fault();
        let is_decided = matches!(fault, Fault::H2ZeroWindow | Fault::GrpcEarlyStatus);
        let may_fail = !is_decided && self.last.is_none();
        if let Some(number) = may_fail.then(|| self.luck.next()).flatten() {
            return self.fail(stream, number).await;
        }
        let is_call = fault.version() == FaultVersion::Grpc;
        let response = if is_call { grpc_script::success(stream) } else { script::hello(stream) };
        self.peer.send(&response).await?;
        self.peer.answered();
        Ok(Ending::Open)
    }

    /// Answers request `number` with the fault.
    async fn fail(&mut self, stream: u32, number: u64) -> io::Result<Ending> {
        let fault = self.luck.fault();
        self.peer.tally.faults.fetch_add(1, Relaxed);
        if fault == Fault::H2GoAway {
            self.last = Some(stream);
            self.open.retain(|open| *open <= stream);
        }
        let mut ending = Ending::Open;
        for step in steps(fault, stream, number) {
            if self.peer.take(step).await? == Ending::Over {
                ending = Ending::Over;
            }
        }
        if fault.answers() {
            self.peer.answered();
        }
        Ok(ending)
    }
}

fn steps(fault: Fault, stream: u32, number: u64) -> Vec<FaultStep> {
    match fault.version() {
        FaultVersion::Grpc => grpc_script::of(fault, stream),
        _ => script::of(fault, stream, number),
    }
}
