//! Specs of targets: the text of a spec is read into one of these types, and checked once.
//!
//! Unknown keys are errors. All keys except kind, delay and fault have defaults. [`Spec::check`] names the
//! key that is out of range.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use crate::settings::{
    LONGEST_DELAY_NS, SpecError, default_host, default_seed, default_threads, within,
};
use crate::{ChatSpec, Delay, Fault};

/// The maximum size of a body: 1 GiB.
const LARGEST_BODY_BYTES: u64 = 1 << 30;
const MOST_THREADS: usize = 256;
const MOST_COPIES: usize = 1_000_000;

/// The kind of a target, and its settings. In JSON, `kind` selects the variant.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Spec {
    /// Sends a short response as fast as it can.
    Hello(HelloSpec),
    /// Answers after a known delay.
    Delay(DelaySpec),
    /// Sends bodies of a given size.
    Bytes(BytesSpec),
    /// Fails in a given way.
    Faulty(FaultySpec),
    /// Streams answers of a chat API.
    Chat(ChatSpec),
    /// Sends the messages of gRPC calls back.
    Grpc(GrpcSpec),
    /// Answers each WebSocket message with the same message.
    Ws(WsSpec),
}

/// Answers `Hello world` (text/plain), or `{"status":"ok"}` (application/json).
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct HelloSpec {
    /// Address or name to listen on; IPv4 or IPv6.
    pub host: String,
    /// Port to listen on; 0 takes a free one.
    pub port: u16,
    /// Threads, each with its own listener, 1 to 256.
    pub threads: usize,
    /// JSON instead of text.
    pub json: bool,
}

/// Answers as [`HelloSpec`] does, each request when its delay is over.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DelaySpec {
    /// Address or name to listen on; IPv4 or IPv6.
    #[serde(default = "default_host")]
    pub host: String,
    /// Port to listen on; 0 takes a free one.
    #[serde(default)]
    pub port: u16,
    /// Threads, each with its own listener, 1 to 256.
    #[serde(default = "default_threads")]
    pub threads: usize,
    /// The time that a request takes when it has a place.
    pub delay: Delay,
    /// The maximum number of requests that are served at once; others wait. None: no limit.
    #[serde(default)]
    pub capacity: Option<usize>,
    /// The seed of the delays.
    #[serde(default = "default_seed")]
    pub seed: u64,
    /// A CSV file for the log.
    #[serde(default)]
    pub log: Option<PathBuf>,
}

/// Sends a body of `size` bytes.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct BytesSpec {
    /// Address or name to listen on; IPv4 or IPv6.
    pub host: String,
    /// Port to listen on; 0 takes a free one.
    pub port: u16,
    /// Threads, each with its own listener, 1 to 256.
    pub threads: usize,
    /// Bytes of the body, at most 1 GiB.
    pub size: u64,
    /// In chunks of 16 KiB instead of with a Content-Length.
    pub chunked: bool,
}

/// Answers a share of the requests with a fault, and the others as [`HelloSpec`] does.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FaultySpec {
    /// Address or name to listen on; IPv4 or IPv6.
    #[serde(default = "default_host")]
    pub host: String,
    /// Port to listen on; 0 takes a free one.
    #[serde(default)]
    pub port: u16,
    /// Threads, each with its own listener, 1 to 256.
    #[serde(default = "default_threads")]
    pub threads: usize,
    /// The fault.
    pub fault: Fault,
    /// The share of requests with the fault, 0 to 1.
    #[serde(default = "default_share")]
    pub share: f64,
    /// The seed that decides which requests have it.
    #[serde(default = "default_seed")]
    pub seed: u64,
}

/// Serves the methods of `proto/echo.proto`, which send their messages back, and describes them to clients
/// that ask (reflection).
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct GrpcSpec {
    /// Address or name to listen on; IPv4 or IPv6.
    pub host: String,
    /// Port to listen on; 0 takes a free one.
    pub port: u16,
    /// Threads, each with its own listener, 1 to 256.
    pub threads: usize,
    /// Messages that `ServerStream` sends, at most 1,000,000.
    pub copies: usize,
}

/// Answers each WebSocket message with the same message.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct WsSpec {
    /// Address or name to listen on; IPv4 or IPv6.
    pub host: String,
    /// Port to listen on; 0 takes a free one.
    pub port: u16,
    /// Threads, each with its own listener, 1 to 256.
    pub threads: usize,
    /// The time after which each connection gets a message that it did not ask for, again and again.
    pub push_every_ns: Option<u64>,
}

impl Spec {
    /// Checks the ranges that the types cannot express.
    pub fn check(&self) -> Result<(), SpecError> {
        let (_, _, threads) = self.place();
        within("threads", threads, 1, MOST_THREADS)?;
        match self {
            Spec::Hello(_) => Ok(()),
            Spec::Delay(spec) => spec.check(),
            Spec::Bytes(spec) => within("size", spec.size, 0, LARGEST_BODY_BYTES),
            Spec::Faulty(spec) => within("share", spec.share, 0.0, 1.0),
            Spec::Chat(spec) => spec.check(),
            Spec::Grpc(spec) => within("copies", spec.copies, 0, MOST_COPIES),
            Spec::Ws(spec) => {
                within("push_every_ns", spec.push_every_ns.unwrap_or(1), 1, LONGEST_DELAY_NS)
            }
        }
    }

    /// Returns host, port and number of threads.
    pub(crate) fn place(&self) -> (&str, u16, usize) {
        match self {
            Spec::Hello(spec) => (&spec.host, spec.port, spec.threads),
            Spec::Delay(spec) => (&spec.host, spec.port, spec.threads),
            Spec::Bytes(spec) => (&spec.host, spec.port, spec.threads),
            Spec::Faulty(spec) => (&spec.host, spec.port, spec.threads),
            Spec::Chat(spec) => (&spec.host, spec.port, spec.threads),
            Spec::Grpc(spec) => (&spec.host, spec.port, spec.threads),
            Spec::Ws(spec) => (&spec.host, spec.port, spec.threads),
        }
    }
}

impl DelaySpec {
    fn check(&self) -> Result<(), SpecError> {
        within("capacity", self.capacity.unwrap_or(1), 1, usize::MAX)?;
        self.delay.check("delay")
    }
}

impl Default for HelloSpec {
    fn default() -> Self {
        HelloSpec { host: default_host(), port: 0, threads: default_threads(), json: false }
    }
}

impl Default for GrpcSpec {
    fn default() -> Self {
        GrpcSpec { host: default_host(), port: 0, threads: default_threads(), copies: 3 }
    }
}

impl Default for WsSpec {
    fn default() -> Self {
        let (host, threads) = (default_host(), default_threads());
        WsSpec { host, port: 0, threads, push_every_ns: None }
    }
}

impl Default for BytesSpec {
    fn default() -> Self {
        let (host, threads) = (default_host(), default_threads());
        BytesSpec { host, port: 0, threads, size: 65_536, chunked: false }
    }
}

fn default_share() -> f64 {
    0.1
}
