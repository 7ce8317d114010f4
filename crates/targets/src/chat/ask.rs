//! Reading of requests to chat targets: path and JSON, as far as a response needs them.

use serde::Deserialize;
use serde_json::{Map, Value};

use super::ChatDialect;
use crate::request::ReceivedRequest;

/// The kind of a request.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Ask {
    Chat(ChatAsk),
    Retrieve,
    /// A response without a stream: a status and a body.
    Plain(&'static str, String),
}

/// A request for an answer.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct ChatAsk {
    pub(crate) is_streamed: bool,
    /// Whether it is to an agent with tools.
    pub(crate) is_agent: bool,
    /// Whether the stream reports its tokens.
    pub(crate) wants_usage: bool,
    /// The number of words of the prompt, including the history.
    pub(crate) prompt_tokens: u64,
    pub(crate) conversation: Option<String>,
}

#[derive(Deserialize)]
struct OpenaiBody {
    messages: Vec<ChatMessage>,
    #[serde(default)]
    stream: bool,
    #[serde(default)]
    stream_options: Option<StreamOptions>,
}

#[derive(Deserialize)]
struct ChatMessage {
    #[serde(default)]
    content: Value,
}

#[derive(Deserialize)]
struct StreamOptions {
    #[serde(default)]
    include_usage: bool,
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

pub(crate) fn read(dialect: ChatDialect, request: &ReceivedRequest) -> Ask {
    let path = request.path.split('?').next().unwrap_or_default();
    match (dialect, path) {
        (ChatDialect::Openai, "/v1/chat/completions") => openai(&request.body),
        (ChatDialect::Dify, "/v1/chat-messages") => dify(&request.body),
        (ChatDialect::Dify, path) if is_retrieval(path) => Ask::Retrieve,
        (_, "/" | "/health" | "/v1/models" | "/v1/parameters") => {
            Ask::Plain("200 OK", r#"{"status":"ok"}"#.into())
        }
        _ => Ask::Plain("404 Not Found", r#"{"error":{"message":"no such path"}}"#.into()),
    }
}

fn is_retrieval(path: &str) -> bool {
    path.strip_prefix("/v1/datasets/")
        .and_then(|rest| rest.strip_suffix("/retrieve"))
        .is_some_and(|id| !id.is_empty() && !id.contains('/'))
}

fn openai(body: &[u8]) -> Ask {
    let body: OpenaiBody = match serde_json::from_slice(body) {
        Ok(body) => body,
        Err(error) => return refused(&error),
    };
    let words = |message: &ChatMessage| words(message.content.as_str().unwrap_or_default());
    Ask::Chat(ChatAsk {
        is_streamed: body.stream,
        wants_usage: body.stream_options.is_some_and(|options| options.include_usage),
        prompt_tokens: body.messages.iter().map(words).sum(),
        ..ChatAsk::default()
    })
}

fn dify(body: &[u8]) -> Ask {
    let body: DifyBody = match serde_json::from_slice(body) {
        Ok(body) => body,
        Err(error) => return refused(&error),
    };
    Ask::Chat(ChatAsk {
        is_streamed: body.response_mode.as_deref() == Some("streaming"),
        is_agent: !body.inputs.is_empty(),
        wants_usage: true,
        prompt_tokens: words(&body.query),
        conversation: body.conversation_id.filter(|id| !id.is_empty()),
    })
}

fn words(text: &str) -> u64 {
    text.split_whitespace().count() as u64
}

fn refused(error: &serde_json::Error) -> Ask {
    let message = Value::from(error.to_string());
    Ask::Plain("400 Bad Request", format!(r#"{{"error":{{"message":{message}}}}}"#))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn asked(dialect: ChatDialect, path: &str, body: &str) -> Ask {
        let (path, body) = (path.to_owned(), body.as_bytes().to_vec());
        read(dialect, &ReceivedRequest { path, body, ..ReceivedRequest::default() })
    }

    #[test]
    fn reads_what_openai_is_asked() {
        let body = r#"{"model":"m","messages":[{"role":"user","content":"one two"},{"role":"user","content":"three"}],"stream":true,"stream_options":{"include_usage":true}}"#;
        let chat = ChatAsk {
            is_streamed: true,
            wants_usage: true,
            prompt_tokens: 3,
            ..ChatAsk::default()
        };
        let path = "/v1/chat/completions?x=y";
        assert_eq!(asked(ChatDialect::Openai, path, body), Ask::Chat(chat));
        let whole = r#"{"messages":[]}"#;
        assert_eq!(asked(ChatDialect::Openai, path, whole), Ask::Chat(ChatAsk::default()));
    }

    #[test]
    fn reads_what_dify_is_asked() {
        let body = r#"{"inputs":{"dept":"IT"},"query":"a b","response_mode":"streaming","user":"u","conversation_id":"c"}"#;
        let chat = ChatAsk {
            is_streamed: true,
            is_agent: true,
            wants_usage: true,
            prompt_tokens: 2,
            conversation: Some("c".into()),
        };
        assert_eq!(asked(ChatDialect::Dify, "/v1/chat-messages", body), Ask::Chat(chat));
        let retrieve = |path| asked(ChatDialect::Dify, path, "{}");
        assert_eq!(retrieve("/v1/datasets/7/retrieve"), Ask::Retrieve);
        assert!(matches!(retrieve("/v1/datasets/7/8/retrieve"), Ask::Plain("404 Not Found", _)));
    }

    #[test]
    fn what_is_no_question_is_refused() {
        for (dialect, path) in [
            (ChatDialect::Openai, "/v1/chat/completions"),
            (ChatDialect::Dify, "/v1/chat-messages"),
        ] {
            assert!(matches!(asked(dialect, path, "{"), Ask::Plain("400 Bad Request", _)));
            assert!(matches!(asked(dialect, "/", ""), Ask::Plain("200 OK", _)));
            assert!(matches!(asked(dialect, "/x", ""), Ask::Plain("404 Not Found", _)));
        }
    }
}
