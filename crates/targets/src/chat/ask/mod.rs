//! Reading of requests to chat targets: path and JSON, as far as a response needs them.

mod generate;
mod pooling;
mod prompt;

use serde::Deserialize;
use serde_json::{Map, Value};

use super::tokenizer::{TokenId, tokenize};
use super::{ChatDialect, ChatSpec};
use crate::counts::ChatCall;
use crate::request::ReceivedRequest;

/// The name of the model in responses and metrics.
pub(crate) const MODEL: &str = "torr-target";

/// The kind of a request.
#[derive(Debug, PartialEq)]
pub(crate) enum Ask {
    Generate(ChatAsk),
    /// A result that is computed from a prompt: the body of its response.
    Pool(ChatCall, Vec<TokenId>, String),
    Retrieve,
    Metrics,
    /// A response that needs no model: its status and its body.
    Plain(ChatCall, &'static str, String),
    /// A status of 400 or 404, and what is wrong.
    Refused(&'static str, String),
}

/// The API of a request for an answer.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Api {
    /// `/v1/chat/completions`.
    #[default]
    ChatCompletions,
    /// `/v1/completions`.
    Completions,
    /// `/v1/responses`.
    Responses,
    /// `/v1/messages`.
    Messages,
    /// `/v1/chat-messages`, by an app or by an agent with tools.
    Dify { is_agent: bool },
}

/// A request for an answer.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct ChatAsk {
    pub(crate) api: Api,
    pub(crate) is_streamed: bool,
    /// Whether the stream reports its tokens.
    pub(crate) wants_usage: bool,
    /// The tokens of the prompt, including the history.
    pub(crate) prompt: Vec<TokenId>,
    pub(crate) conversation: Option<String>,
    pub(crate) length: LengthAsk,
}

/// What a request says about the length of its answer, in tokens.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub(crate) struct LengthAsk {
    pub(crate) least: u64,
    pub(crate) most: Option<u64>,
    /// Whether only `most` ends the answer.
    pub(crate) ignores_end: bool,
}

impl Api {
    pub(crate) fn call(self) -> ChatCall {
        match self {
            Api::ChatCompletions | Api::Dify { is_agent: false } => ChatCall::Chat,
            Api::Dify { is_agent: true } => ChatCall::Agent,
            Api::Completions => ChatCall::Completion,
            Api::Responses => ChatCall::Response,
            Api::Messages => ChatCall::Message,
        }
    }
}

#[derive(Deserialize)]
struct DifyBody {
    query: String,
    #[serde(default)]
    inputs: Map<String, Value>,
    #[serde(default)]
    response_mode: Option<String>,
    #[serde(default)]
    conversation_id: Option<String>,
}

pub(crate) fn read(spec: &ChatSpec, request: &ReceivedRequest) -> Ask {
    let path = request.path.split('?').next().unwrap_or_default();
    let asked = match (spec.dialect, path) {
        (ChatDialect::Openai, path) => openai(spec, path, &request.body),
        (ChatDialect::Dify, "/v1/chat-messages") => Some(dify(&request.body)),
        (ChatDialect::Dify, path) if is_retrieval(path) => Some(Ok(Ask::Retrieve)),
        (ChatDialect::Dify, "/v1/models" | "/v1/parameters") => Some(Ok(ok())),
        (ChatDialect::Dify, _) => None,
    };
    match (asked, path) {
        (Some(Ok(ask)), _) => ask,
        (Some(Err(problem)), _) => Ask::Refused("400 Bad Request", problem),
        (None, "/metrics") => Ask::Metrics,
        (None, "/" | "/health" | "/v1/parameters") => ok(),
        (None, _) => Ask::Refused("404 Not Found", "no such path".into()),
    }
}

/// Reads a request to a path of OpenAI-like servers; none for other paths.
fn openai(spec: &ChatSpec, path: &str, body: &[u8]) -> Option<Result<Ask, String>> {
    let begin = spec.message_tokens;
    Some(match path {
        "/v1/chat/completions" => generate::read(Api::ChatCompletions, body, begin),
        "/v1/completions" => generate::read(Api::Completions, body, begin),
        "/v1/responses" => generate::read(Api::Responses, body, begin),
        "/v1/messages" => generate::read(Api::Messages, body, begin),
        "/tokenize" => pooling::tokens(body, begin),
        "/v1/embeddings" => pooling::embeddings(body),
        "/v1/rerank" => pooling::rerank(body),
        "/v1/models" => Ok(models()),
        _ => return None,
    })
}

fn ok() -> Ask {
    Ask::Plain(ChatCall::Other, "200 OK", r#"{"status":"ok"}"#.into())
}

fn models() -> Ask {
    let body = format!(
        r#"{{"object":"list","data":[{{"id":"{MODEL}","object":"model","created":1700000000,"owned_by":"torr"}}]}}"#
    );
    Ask::Plain(ChatCall::Other, "200 OK", body)
}

fn is_retrieval(path: &str) -> bool {
    path.strip_prefix("/v1/datasets/")
        .and_then(|rest| rest.strip_suffix("/retrieve"))
        .is_some_and(|id| !id.is_empty() && !id.contains('/'))
}

fn dify(body: &[u8]) -> Result<Ask, String> {
    let body: DifyBody = parse(body)?;
    let mut prompt = Vec::new();
    tokenize(&body.query, &mut prompt);
    Ok(Ask::Generate(ChatAsk {
        api: Api::Dify { is_agent: !body.inputs.is_empty() },
        is_streamed: body.response_mode.as_deref() == Some("streaming"),
        wants_usage: true,
        prompt,
        conversation: body.conversation_id.filter(|id| !id.is_empty()),
        length: LengthAsk::default(),
    }))
}

fn parse<'a, T: Deserialize<'a>>(body: &'a [u8]) -> Result<T, String> {
    serde_json::from_slice(body).map_err(|error| error.to_string())
}

#[cfg(test)]
mod tests;
