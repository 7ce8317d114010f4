//! A whole load: plan, pace, workers, recorders, intervals, summary, health.
//!
//! A plan goes in; intervals come out while it runs, and a summary at the end. The engine follows no
//! redirects, keeps no cookies and repeats nothing: what it counts is what it sent.

mod books;
mod buckets;
mod fleet;
mod front;
#[cfg(feature = "fuzzing")]
pub mod fuzzing;
mod gate;
mod goodput;
mod health;
mod json_size;
mod level;
mod load_files;
mod locust;
mod log;
mod machine;
mod messages;
mod metric;
mod observe;
mod once;
mod pace;
mod packer;
mod plan;
mod prepare;
mod ramp;
mod report;
mod rows;
mod run;
mod split;
mod stream;
mod summary;
mod tally;
mod texts;
mod think;
mod timeline;
mod variables;
mod worker;

pub use books::Books;
pub use client::Reason;
pub use fleet::serve;
pub use gate::Gate;
pub use goodput::Goodput;
pub use level::level_json;
pub use locust::{Count, ProcessReport, RequestRecord, RequestTally, TallyAggregate};
pub use messages::{MESSAGES, Message, Template};
pub use metric::{Metric, statistics};
pub use once::once;
pub use pace::Schedule;
pub use plan::{
    Alias, BodyCheck, Capture, CaptureFrom, Closed, Data, Group, JsonCheck, Limit, Limited, Open,
    PLAN_VERSION, Pace, Plan, Processes, Proxy, Replay, RequestPlan, Source, Stage, Stop,
    StreamDialect, StreamPlan, Think, Tls, Transport,
};
pub use prepare::{Endpoint, Prepared, PreparedRequest, prepare};
pub use report::{Connections, Local, Phase, Report, Sample};
pub use run::{Run, StartError};
pub use stream::{Counted, StreamTally, Timed};
pub use summary::Summary;
pub use tally::{Latencies, Tally};
pub use worker::{Share, Worker};
