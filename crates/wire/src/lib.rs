//! HTTP/1.1 and the streams within it, sans I/O: requests become bytes once, response bytes become a
//! state, and the events of a stream become marks.
//!
//! Nothing here waits, reads a clock or owns a socket. The caller feeds whatever bytes it has, in
//! any split, and is told when the answer is complete or why it can never be.

mod chunked;
mod dialect;
mod error;
mod escape;
mod fields;
mod head;
mod heads;
mod mark;
mod request;
mod response;
mod response_head;
mod sse;
mod template;

pub use chunked::Chunked;
pub use dialect::{Dialect, Malformed};
pub use error::WireError;
pub use fields::{Fields, latin1};
pub use head::{Framing, Head, MAX_HEAD_BYTES};
pub use heads::Heads;
pub use mark::{Kind, Mark, Usage};
pub use request::{Request, RequestError, RequestParts};
pub use response::{MAX_INTERIM_ANSWERS, MAX_INTERIM_BYTES, Progress, Response, ResponseSink};
pub use response_head::ResponseHead;
pub use sse::{Event, MAX_EVENT_BYTES, Sse, TooLarge};
pub use template::{Template, TemplateError, Values};
