//! What a stream says, event by event, in either dialect.

use super::ChatDialect;
use super::ask::ChatAsk;
use super::clerk::ChatTurn;
use super::dify::Dify;
use super::openai::Openai;

/// Texts, one a token; some are written with escapes, as servers do.
const WORDS: [&str; 8] =
    ["Hello", " there", ",\\n", " how", " \\u4f60\\u597d", " are", " you", " \\\"today\\\""];

/// One response.
#[derive(Debug)]
pub(crate) enum Story {
    Openai(Openai),
    Dify(Dify),
}

impl Story {
    pub(crate) fn new(dialect: ChatDialect, chat: ChatAsk, number: u64) -> Self {
        match dialect {
            ChatDialect::Openai => Self::Openai(Openai::new(chat, number)),
            ChatDialect::Dify => Self::Dify(Dify::new(chat, number)),
        }
    }

    pub(crate) fn is_streamed(&self) -> bool {
        match self {
            Self::Openai(story) => story.chat.is_streamed,
            Self::Dify(story) => story.chat.is_streamed,
        }
    }

    /// When the first event leaves: some servers speak before there is a text, others do not.
    pub(crate) fn begins_at(&self, turn: &ChatTurn) -> u64 {
        let first_ns = turn.at_ns.first().copied().unwrap_or(turn.start_ns);
        match self {
            Self::Openai(_) => turn.start_ns + (first_ns - turn.start_ns) / 2,
            Self::Dify(_) => turn.start_ns,
        }
    }

    /// Events before the first text.
    pub(crate) fn opening(&self, out: &mut Vec<u8>) {
        match self {
            Self::Openai(story) => story.opening(out),
            Self::Dify(story) => story.opening(out),
        }
    }

    /// The event of one text.
    pub(crate) fn text(&self, number: u64, out: &mut Vec<u8>) {
        match self {
            Self::Openai(story) => story.text(word(number), out),
            Self::Dify(story) => story.text(word(number), out),
        }
    }

    /// Events behind the last of so many texts.
    pub(crate) fn closing(&self, texts: u64, out: &mut Vec<u8>) {
        match self {
            Self::Openai(story) => story.closing(texts, out),
            Self::Dify(story) => story.closing(texts, out),
        }
    }

    /// An error, said within the stream.
    pub(crate) fn error(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(match self {
            Self::Openai(_) => {
                b"data: {\"error\":{\"message\":\"overloaded\",\"type\":\"server_error\",\"code\":503}}\n\n"
            }
            Self::Dify(_) => {
                b"data: {\"event\":\"error\",\"status\":400,\"code\":\"completion_request_error\",\"message\":\"overloaded\"}\n\n".as_slice()
            }
        });
    }

    /// A sign of life and how often it is given, where the dialect has one.
    pub(crate) fn ping(&self) -> Option<(&'static [u8], u64)> {
        match self {
            Self::Openai(_) => None,
            Self::Dify(_) => Some((b"event: ping\n\n", 10_000_000_000)),
        }
    }

    /// The whole response as one JSON body.
    pub(crate) fn at_once(&self, texts: u64) -> String {
        let text: String = (0..texts).map(word).collect();
        match self {
            Self::Openai(story) => story.at_once(&text, texts),
            Self::Dify(story) => story.at_once(&text, texts),
        }
    }
}

fn word(number: u64) -> &'static str {
    WORDS[number as usize % WORDS.len()]
}

/// Adds one event to what is written.
pub(super) fn event(out: &mut Vec<u8>, json: &str) {
    out.extend_from_slice(b"data: ");
    out.extend_from_slice(json.as_bytes());
    out.extend_from_slice(b"\n\n");
}
