//! A whole load: plan, pace, workers, recorders, intervals, summary, health.
//!
//! A plan goes in; intervals come out while it runs, and a summary at the end. The engine follows no
//! redirects, keeps no cookies and repeats nothing: what it counts is what it sent.

mod feed;
mod fleet;
#[cfg(feature = "fuzzing")]
pub mod fuzzing;
mod measure;
pub mod messages;
mod negotiate;
mod once;
mod output;
mod pace;
mod plan;
mod prepare;
mod random;
mod refusal;
mod run;
mod worker;

pub use client::Reason;
pub use feed::{FeedInbox, FeedRow, RowSource};
#[cfg(feature = "invented-nodes")]
pub use fleet::serve_invented;
pub use fleet::{
    ChildSocket, ChildTransport, EndChild, OrderStream, ReplyStream, SocketChild, serve, serve_on,
};
pub use measure::aggregate::{Aggregate, JudgedInterval};
pub use measure::front::Front;
pub use measure::goodput::Goodput;
pub use measure::metric::{Metric, statistics};
pub use measure::report::{Connections, Local, Phase, Report, Sample};
pub use measure::stream::{Counted, StreamTally, Timed, Times};
pub use measure::summary::{NodeClock, NodeSummary, Summary};
pub use measure::tally::{Latencies, Tally};
pub use measure::tally_pool::PooledTallies;
pub use measure::websocket::WebSocketTally;
pub use messages::{MESSAGES, Message, MessageTemplate};
pub use once::once;
pub use output::level::{interval_json, level_json};
pub use pace::Schedule;
pub use plan::{
    Alias, BodyCheck, CancelAfter, Cancellation, Capture, CaptureFrom, Closed, Data, Fed, Group,
    GrpcPlan, HttpVersion, JsonCheck, Limit, Limited, Matching, MessagePart, Open, PLAN_VERSION,
    Pace, Plan, Processes, Proxy, Remember, Replay, RequestPlan, Sending, Source, Stage, Stop,
    StreamPlan, Think, Tls, Transport, WebSocketPlan,
};
pub use prepare::{Endpoint, OTHERS, Prepared, PreparedRequest, prepare};
pub use refusal::StartError;
pub use run::Run;
pub use worker::gate::Gate;
pub use worker::{Worker, WorkerShare};
