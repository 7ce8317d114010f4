//! HTTP/1.1 as a sans-I/O protocol: requests become bytes once, response bytes become a state.
//!
//! Nothing here waits, reads a clock or owns a socket. The caller feeds whatever bytes it has, in
//! any split, and is told when the answer is complete or why it can never be.

mod chunked;
mod error;
mod escape;
mod head;
mod heads;
mod request;
mod response;
mod template;

pub use chunked::Chunked;
pub use error::WireError;
pub use head::{Framing, Head, MAX_HEAD_BYTES};
pub use heads::Heads;
pub use request::{Request, RequestError, RequestParts};
pub use response::{BodySink, Progress, Response};
pub use template::{Template, TemplateError, Values};
