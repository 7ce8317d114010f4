//! Serves calls of gRPC: each method of `proto/echo.proto` sends its messages back, without reading them.

use std::collections::VecDeque;
use std::future::{Ready, ready};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use hyper::body::{Body, Bytes, Frame, Incoming};
use hyper::header::{CONTENT_TYPE, HeaderMap, HeaderValue};
use hyper::service::service_fn;
use hyper::{Request, Response};
use hyper_util::rt::TokioExecutor;
use hyper_util::server::conn::auto;
use tokio::net::TcpStream;

use crate::GrpcSpec;
use crate::counted::{CountedStream, Ledger};
use crate::counts::ThreadCounts;
use crate::listener::Serve;
use crate::reflection;

/// Bytes before each message: whether it is compressed, and its length.
const PREFIX_BYTES: usize = 5;

/// A larger message ends its call, as in other servers.
const MOST_MESSAGE_BYTES: usize = 4 * 1024 * 1024;

const OK: &str = "0";
const RESOURCE_EXHAUSTED: &str = "8";
const UNIMPLEMENTED: &str = "12";
const INTERNAL: &str = "13";

/// The target.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Grpc {
    copies: usize,
}

/// What a call does with its messages.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Method {
    /// Sends the last message back so many times, when all were received.
    Last(usize),
    /// Sends each message back when it was received.
    Each,
    /// Describes the services, a response for each message.
    Reflection,
    /// There is no such method.
    None,
}

impl Grpc {
    pub(crate) fn new(spec: &GrpcSpec) -> Self {
        Self { copies: spec.copies }
    }

    fn method(self, path: &str) -> Method {
        match path {
            "/torr.Echo/Unary" | "/torr.Echo/ClientStream" => Method::Last(1),
            "/torr.Echo/ServerStream" => Method::Last(self.copies),
            "/torr.Echo/Bidirectional" => Method::Each,
            _ if reflection::PATHS.contains(&path) => Method::Reflection,
            _ => Method::None,
        }
    }

    fn respond(self, request: Request<Incoming>, ledger: &Arc<Ledger>) -> Response<Echo> {
        let method = self.method(request.uri().path());
        let mut response = Response::new(Echo {
            method,
            incoming: request.into_body(),
            received: Vec::new(),
            last: None,
            ready: VecDeque::new(),
            is_over: false,
            ledger: Arc::clone(ledger),
        });
        let kind = HeaderValue::from_static("application/grpc");
        response.headers_mut().insert(CONTENT_TYPE, kind);
        response
    }
}

impl Serve for Grpc {
    fn serve(
        &self,
        stream: TcpStream,
        tally: Arc<ThreadCounts>,
    ) -> impl Future<Output = ()> + Send + 'static {
        let ledger = Arc::new(Ledger::new(tally, None));
        let stream = CountedStream::new(stream, Arc::clone(&ledger), false);
        let target = *self;
        let service = service_fn(move |request| answered(target.respond(request, &ledger)));
        let mut http = auto::Builder::new(TokioExecutor::new());
        http.http2().auto_date_header(false);
        async move {
            // A client that closes the connection or sends no valid request ends it; the counts show this.
            let _ = http.serve_connection(stream, service).await;
        }
    }
}

fn answered(response: Response<Echo>) -> Ready<hyper::Result<Response<Echo>>> {
    ready(Ok(response))
}

/// The body of a response, which is made of the messages of the request.
#[derive(Debug)]
struct Echo {
    method: Method,
    incoming: Incoming,
    /// The beginning of a message that is not complete.
    received: Vec<u8>,
    last: Option<Bytes>,
    ready: VecDeque<Frame<Bytes>>,
    is_over: bool,
    ledger: Arc<Ledger>,
}

impl Echo {
    /// Takes bytes of the request.
    fn take(&mut self, bytes: &[u8]) {
        self.received.extend_from_slice(bytes);
        while let Some(prefix) = self.received.first_chunk::<PREFIX_BYTES>() {
            let [_, length @ ..] = *prefix;
            let length = PREFIX_BYTES + u32::from_be_bytes(length) as usize;
            if length > MOST_MESSAGE_BYTES {
                return self.end(RESOURCE_EXHAUSTED, "the message is larger than 4 MiB");
            }
            if self.received.len() < length {
                return;
            }
            let message: Bytes = self.received.drain(..length).collect();
            match self.method {
                Method::Each => self.ready.push_back(Frame::data(message)),
                Method::Reflection => {
                    let answer = reflection::answer(&message[PREFIX_BYTES..]);
                    self.ready.push_back(Frame::data(framed(&answer)));
                }
                Method::Last(_) => self.last = Some(message),
                Method::None => {}
            }
        }
    }

    /// Takes note of the end of the request.
    fn take_end(&mut self) {
        self.ledger.read_request();
        match (self.method, self.last.take()) {
            (Method::None, _) => self.end(UNIMPLEMENTED, "there is no such method"),
            (Method::Last(_), None) => self.end(INTERNAL, "there is no message"),
            (Method::Last(copies), Some(message)) => {
                let copies = std::iter::repeat_n(message, copies);
                self.ready.extend(copies.map(Frame::data));
                self.end(OK, "");
            }
            _ => self.end(OK, ""),
        }
    }

    fn end(&mut self, status: &'static str, text: &'static str) {
        let mut trailers = HeaderMap::new();
        trailers.insert("grpc-status", HeaderValue::from_static(status));
        if !text.is_empty() {
            trailers.insert("grpc-message", HeaderValue::from_static(text));
        }
        self.ready.push_back(Frame::trailers(trailers));
        self.is_over = true;
    }
}

impl Body for Echo {
    type Data = Bytes;
    type Error = hyper::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<hyper::Result<Frame<Bytes>>>> {
        loop {
            if let Some(frame) = self.ready.pop_front() {
                return Poll::Ready(Some(Ok(frame)));
            }
            if self.is_over {
                return Poll::Ready(None);
            }
            match Pin::new(&mut self.incoming).poll_frame(cx) {
                Poll::Pending => return Poll::Pending,
                Poll::Ready(Some(Err(error))) => return Poll::Ready(Some(Err(error))),
                Poll::Ready(Some(Ok(frame))) => {
                    if let Some(bytes) = frame.data_ref() {
                        let bytes = bytes.clone();
                        self.take(&bytes);
                    }
                }
                Poll::Ready(None) => self.take_end(),
            }
        }
    }
}

/// Returns a message with its prefix.
fn framed(message: &[u8]) -> Bytes {
    // Descriptions are short.
    let length = (message.len() as u32).to_be_bytes();
    [&[0], &length[..], message].concat().into()
}
