//! Sources: requests, their order, and the checks of their responses.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use super::{GrpcPlan, Limit, StreamPlan};

/// The requests of a group.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "lowercase", deny_unknown_fields)]
#[allow(clippy::large_enum_variant)] // There is one for each group.
pub enum Source {
    /// The same request each time.
    One {
        /// That request.
        request: RequestPlan,
    },
    /// In turn, over all users.
    Turn {
        /// In this order, again and again.
        requests: Vec<RequestPlan>,
    },
    /// Any of them, some more often.
    Weighted {
        /// The requests.
        requests: Vec<RequestPlan>,
        /// How often each, compared with the others.
        weights: Vec<u32>,
    },
    /// Each user sends them in order and then begins anew.
    Steps {
        /// In this order.
        requests: Vec<RequestPlan>,
    },
}

/// Rows of values for templates.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(untagged, deny_unknown_fields)]
pub enum Data {
    /// Rows that come while the load runs.
    Fed {
        /// The names of the columns.
        fed: Vec<String>,
    },
    /// In a file.
    File {
        /// A CSV file with a header line, or JSON lines (by its ending `.jsonl`, `.ndjson`).
        path: PathBuf,
    },
    /// As they are.
    Rows {
        /// The names of the columns.
        columns: Vec<String>,
        /// A text for each column.
        rows: Vec<Vec<String>>,
    },
}

/// One request.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RequestPlan {
    /// Its row in every table.
    pub name: String,
    /// The method token.
    pub method: String,
    /// The absolute `http://`, `https://`, `ws://` or `wss://` URL.
    pub url: String,
    /// A socket of this machine to connect to, instead of the URL's host.
    #[serde(default)]
    pub unix_socket: Option<PathBuf>,
    /// Fields in the order in which they are sent.
    pub headers: Vec<(String, String)>,
    /// The body, in base64.
    pub body: Option<String>,
    /// Whether `{{…}}` in path, fields and body stand for values.
    #[serde(default)]
    pub template: bool,
    /// From taken to the last byte.
    pub timeout_ns: u64,
    /// Inclusive ranges of accepted statuses.
    pub accept_statuses: Vec<(u16, u16)>,
    /// Checks of the body.
    #[serde(default)]
    pub expect_body: Vec<BodyCheck>,
    /// Checks of the body as JSON.
    #[serde(default)]
    pub expect_json: Vec<JsonCheck>,
    /// Values that are captured for later requests of the user.
    #[serde(default)]
    pub captures: Vec<Capture>,
    /// What its session remembers of it, if its rows come while the load runs.
    #[serde(default)]
    pub remember: Option<Remember>,
    /// Whether a compressed answer is asked for.
    #[serde(default)]
    pub compressed: bool,
    /// How its response streams, if it does.
    #[serde(default)]
    pub stream: Option<StreamPlan>,
    /// Its messages, if it is a call of gRPC.
    #[serde(default)]
    pub grpc: Option<GrpcPlan>,
    /// The limits of a good response.
    #[serde(default)]
    pub limits: Vec<Limit>,
}

/// A check of a body.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "lowercase", deny_unknown_fields)]
pub enum BodyCheck {
    /// These characters.
    Text {
        /// As they stand.
        text: String,
    },
    /// A match of this expression.
    Regex {
        /// In the syntax of the regex crate.
        pattern: String,
    },
}

/// A check of a JSON body.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct JsonCheck {
    /// Where, as a JSONPath (RFC 9535).
    pub path: String,
    /// A value that must occur there.
    pub value: serde_json::Value,
}

/// A value that is captured from an answer.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Capture {
    /// How templates call it.
    pub name: String,
    /// Where it stands.
    pub from: CaptureFrom,
    /// A JSONPath, a field's name, or an expression whose first group it is.
    pub what: String,
}

/// A text that a value of the session grows by with each good answer, such as the messages of a chat.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Remember {
    /// How templates call the value.
    pub name: String,
    /// The text, a template with the row of the request and the captured values.
    pub text: String,
}

/// Where a captured value stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum CaptureFrom {
    /// In the JSON body.
    Json,
    /// In a field of the head.
    Header,
    /// In the text of the body.
    Regex,
    /// The text that was streamed; `what` says nothing.
    Text,
    /// The conversation that a stream belongs to; `what` says nothing.
    Conversation,
}

impl CaptureFrom {
    /// Whether only a stream has it.
    #[must_use]
    pub fn is_of_stream(self) -> bool {
        matches!(self, Self::Text | Self::Conversation)
    }
}

impl RequestPlan {
    /// A plain GET, answered within a second.
    #[must_use]
    pub fn get(url: &str) -> Self {
        Self {
            name: "GET /".into(),
            method: "GET".into(),
            url: url.into(),
            unix_socket: None,
            headers: Vec::new(),
            body: None,
            template: false,
            timeout_ns: 1_000_000_000,
            accept_statuses: vec![(200, 399)],
            expect_body: Vec::new(),
            expect_json: Vec::new(),
            captures: Vec::new(),
            remember: None,
            compressed: false,
            stream: None,
            grpc: None,
            limits: Vec::new(),
        }
    }
}

impl RequestPlan {
    fn check(&self) -> Result<(), String> {
        let wants_stream = self.captures.iter().any(|capture| capture.from.is_of_stream());
        if wants_stream && self.stream.is_none() {
            return Err(format!("request {:?}: only a stream has a text to capture", self.name));
        }
        Ok(())
    }
}

impl Source {
    /// Every request, in order.
    #[must_use]
    pub fn requests(&self) -> &[RequestPlan] {
        match self {
            Self::One { request } => std::slice::from_ref(request),
            Self::Turn { requests }
            | Self::Weighted { requests, .. }
            | Self::Steps { requests } => requests,
        }
    }

    pub(super) fn check(&self) -> Result<(), String> {
        if self.requests().is_empty() {
            return Err("there is no request".into());
        }
        match self {
            Self::Weighted { requests, weights } if requests.len() != weights.len() => {
                Err(format!("{} weights for {} requests", weights.len(), requests.len()))
            }
            Self::Weighted { weights, .. } if weights.iter().all(|weight| *weight == 0) => {
                Err("all weights are zero".into())
            }
            _ => self.requests().iter().try_for_each(RequestPlan::check),
        }
    }
}
