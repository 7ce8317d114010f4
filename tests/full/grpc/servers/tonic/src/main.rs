//! A server of torr.Echo by tonic, which sends the bytes of each message back. On SIGTERM it prints how many
//! calls and messages it has had.
//!
//!     tonic-server ADDRESS

use std::convert::Infallible;
use std::pin::Pin;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::task::{Context, Poll};

use bytes::{Buf as _, BufMut as _, Bytes};
use tokio::signal::unix::{SignalKind, signal};
use tokio_stream::{Stream, StreamExt as _};
use tonic::body::Body;
use tonic::codec::{Codec, DecodeBuf, Decoder, EncodeBuf, Encoder};
use tonic::codegen::BoxFuture;
use tonic::server::{Grpc, NamedService, StreamingService, UnaryService};
use tonic::{Request, Response, Status, Streaming};

static CALLS: AtomicU64 = AtomicU64::new(0);
static MESSAGES: AtomicU64 = AtomicU64::new(0);

/// Messages as bytes.
#[derive(Default)]
struct Raw;

impl Codec for Raw {
    type Encode = Bytes;
    type Decode = Bytes;
    type Encoder = Raw;
    type Decoder = Raw;

    fn encoder(&mut self) -> Raw {
        Raw
    }

    fn decoder(&mut self) -> Raw {
        Raw
    }
}

impl Encoder for Raw {
    type Item = Bytes;
    type Error = Status;

    fn encode(&mut self, message: Bytes, out: &mut EncodeBuf<'_>) -> Result<(), Status> {
        out.put(message);
        Ok(())
    }
}

impl Decoder for Raw {
    type Item = Bytes;
    type Error = Status;

    fn decode(&mut self, from: &mut DecodeBuf<'_>) -> Result<Option<Bytes>, Status> {
        MESSAGES.fetch_add(1, Relaxed);
        Ok(Some(from.copy_to_bytes(from.remaining())))
    }
}

type Messages = Pin<Box<dyn Stream<Item = Result<Bytes, Status>> + Send>>;

struct Unary;

impl UnaryService<Bytes> for Unary {
    type Response = Bytes;
    type Future = BoxFuture<Response<Bytes>, Status>;

    fn call(&mut self, request: Request<Bytes>) -> Self::Future {
        Box::pin(async { Ok(Response::new(request.into_inner())) })
    }
}

struct Bidirectional;

impl StreamingService<Bytes> for Bidirectional {
    type Response = Bytes;
    type ResponseStream = Messages;
    type Future = BoxFuture<Response<Messages>, Status>;

    fn call(&mut self, request: Request<Streaming<Bytes>>) -> Self::Future {
        Box::pin(async {
            let messages: Messages = Box::pin(request.into_inner().map(|message| message));
            Ok(Response::new(messages))
        })
    }
}

#[derive(Clone)]
struct Echo;

impl NamedService for Echo {
    const NAME: &'static str = "torr.Echo";
}

impl tower_service::Service<http::Request<Body>> for Echo {
    type Response = http::Response<Body>;
    type Error = Infallible;
    type Future = BoxFuture<http::Response<Body>, Infallible>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: http::Request<Body>) -> Self::Future {
        CALLS.fetch_add(1, Relaxed);
        Box::pin(async move {
            let mut grpc =
                Grpc::new(Raw).accept_compressed(tonic::codec::CompressionEncoding::Gzip);
            Ok(match request.uri().path() {
                "/torr.Echo/Unary" => grpc.unary(Unary, request).await,
                "/torr.Echo/Bidirectional" => grpc.streaming(Bidirectional, request).await,
                _ => Status::unimplemented("no such method").into_http(),
            })
        })
    }
}

#[tokio::main(flavor = "current_thread")]
async fn main() {
    let address = std::env::args().nth(1).and_then(|text| text.parse().ok());
    let address = address.expect("an address is needed");
    let mut stop = signal(SignalKind::terminate()).expect("SIGTERM can be caught");
    let stopped = async move {
        stop.recv().await;
    };
    let server = tonic::transport::Server::builder().add_service(Echo);
    server.serve_with_shutdown(address, stopped).await.expect("the address is free");
    println!("{{\"calls\": {}, \"messages\": {}}}", CALLS.load(Relaxed), MESSAGES.load(Relaxed));
}
