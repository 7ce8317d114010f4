//! The bytes of HTTP/2 (RFC 9113): frames, settings, heads of responses, requests.

mod frame;
mod head;
mod request;
mod settings;

pub use frame::{
    ErrorCode, FRAME_HEAD_BYTES, Flags, FrameHead, FrameKind, MAX_FRAME_BYTES, PREFACE,
};
pub use head::{BlockError, HeadDecoder};
pub use request::{Http2Request, RequestHeads};
pub use settings::{Setting, settings};
