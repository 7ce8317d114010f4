//! One exchange over one connection: what is stamped, and in which one class it ends.
//!
//! The owner of a connection decides when to start and what to send: a worker of the engine, or a caller
//! of the [`Reactor`]. Failures are values ([`Reason`]), never errors that stop a run.

mod budget;
mod byte_channel;
mod chunks;
mod connection;
mod exchange;
mod exchange_sink;
mod generated_text;
mod grpc_call;
mod message_counts;
mod multiplexing;
mod outcome;
mod reactor;
mod scratch;
mod session;
mod stamps;
mod stream_observation;
mod stream_reader;
mod tunnel;

pub use budget::{Budget, FREE_BYTES, WORKER_BYTES};
pub use chunks::Chunks;
pub use connection::{Connection, Step};
pub use exchange::{Exchange, Outline};
pub use generated_text::GeneratedText;
pub use grpc_call::{GrpcCall, MessageSending};
pub use message_counts::MessageCounts;
pub use multiplexing::{Multiplexing, ServerLimits};
pub use outcome::{Class, Outcome, Reason};
pub use reactor::{
    Answer, Destination, ExchangeEvent, ExchangeId, ExchangeRequest, PoolId, Reactor, Timeouts,
};
pub use scratch::Scratch;
pub use session::{Ended, MessageMatching, Protocol, Slots, WebSocketOptions};
pub use stamps::{Stamps, UNSET};
pub use stream_observation::{Gap, Joined, StreamObservation};
pub use stream_reader::StreamReader;
pub use tunnel::{Opening, Tunnel};
