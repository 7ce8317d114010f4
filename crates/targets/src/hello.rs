//! Sends a short response as fast as hyper can.

use std::sync::Arc;

use hyper::body::Bytes;
use hyper::header::HeaderValue;

use crate::HelloSpec;
use crate::body::Body;
use crate::counted::Ledger;
use crate::http::Site;

/// The body of plain responses, also of delay and faulty targets.
pub(crate) const TEXT: &str = "Hello world";
pub(crate) const TEXT_TYPE: &str = "text/plain";

/// The response to all requests.
#[derive(Debug)]
pub(crate) struct Hello {
    content_type: HeaderValue,
    block: Bytes,
}

impl Hello {
    pub(crate) fn new(spec: &HelloSpec) -> Self {
        if spec.json { Self::json() } else { Self::text() }
    }

    pub(crate) fn text() -> Self {
        let content_type = HeaderValue::from_static(TEXT_TYPE);
        Hello { content_type, block: Bytes::from_static(TEXT.as_bytes()) }
    }

    fn json() -> Self {
        let content_type = HeaderValue::from_static("application/json");
        Hello { content_type, block: Bytes::from_static(br#"{"status":"ok"}"#) }
    }

    pub(crate) fn say(&self, ledger: &Arc<Ledger>) -> (HeaderValue, Body) {
        (self.content_type.clone(), Body::once(&self.block, ledger))
    }
}

impl Site for Hello {
    async fn answer(&self, ledger: &Arc<Ledger>) -> (HeaderValue, Body) {
        self.say(ledger)
    }
}
