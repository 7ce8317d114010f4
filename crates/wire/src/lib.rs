//! HTTP, the streams within it, gRPC and WebSocket, without I/O: requests are encoded once, response bytes
//! change a state, and the events of a stream become marks.
//!
//! Nothing here waits, reads a clock or owns a socket. The caller feeds received bytes in any split,
//! and learns when the response is complete, or why it cannot be.

mod chunked;
mod dialect;
mod encoded_request;
mod error;
mod escape;
mod fields;
pub mod grpc;
mod grpc_part;
mod head;
mod heads;
pub mod hpack;
mod http1;
pub mod http2;
mod mark;
mod parts;
pub mod protobuf;
mod request;
mod request_template;
mod response;
mod response_head;
mod sse;
mod template_text;
pub mod websocket;

pub use chunked::Chunked;
pub use dialect::{Dialect, Malformed};
pub use encoded_request::EncodedRequest;
pub use error::WireError;
pub use fields::{Fields, latin1};
pub use grpc_part::GrpcPart;
pub use head::{Framing, Head, MAX_HEAD_BYTES};
pub use heads::Heads;
pub use http1::Http1Options;
pub use mark::{Kind, Mark, Usage};
pub use parts::EventParts;
pub use request::{RequestError, RequestParts};
pub use request_template::RequestTemplate;
pub use response::{MAX_INTERIM_ANSWERS, MAX_INTERIM_BYTES, Progress, Response, ResponseSink};
pub use response_head::ResponseHead;
pub use sse::{Event, MAX_EVENT_BYTES, Sse, TooLarge};
pub use template_text::{TemplateError, TemplateText, Values};
