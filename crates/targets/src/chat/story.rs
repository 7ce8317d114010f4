//! What a stream says, event by event, in each dialect.

use std::fmt::Debug;

use super::ask::{Api, ChatAsk};
use super::dify::Dify;
use super::messages::MessageStory;
use super::openai::Openai;
use super::responses::ResponseStory;
use super::tokenizer::{TokenId, tokenize};

/// The texts of an answer, one a token, again and again; some are written with escapes, as servers do.
const WORDS: [&str; 8] =
    [" Hello", " there", "\\n,", " how", " \\u4f60\\u597d", " are", " you", " \\\"today\\\""];
/// The same texts without escapes.
const PLAIN: [&str; 8] =
    [" Hello", " there", "\n,", " how", " \u{4f60}\u{597d}", " are", " you", " \"today\""];

/// What is known about an answer before its first text.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct StoryFacts {
    /// The number of the request.
    pub(crate) number: u64,
    pub(crate) prompt_tokens: u64,
    /// Those that were in the cache; none without a cache.
    pub(crate) cached_tokens: Option<u64>,
    /// Whether a limit of the request ends it.
    pub(crate) is_cut: bool,
}

/// One response.
pub(crate) trait Story: Debug + Send + Sync {
    /// Adds the events before the first text.
    fn opening(&self, out: &mut Vec<u8>);

    /// Adds the event of one text, which is written as in JSON.
    fn text(&self, number: u64, text: &str, out: &mut Vec<u8>);

    /// Adds the events behind the last of so many texts.
    fn closing(&self, texts: u64, out: &mut Vec<u8>);

    /// Adds an error within the stream.
    fn error(&self, out: &mut Vec<u8>);

    /// Returns the whole response as one JSON body.
    fn at_once(&self, texts: u64) -> String;

    /// Returns whether the events before the first text leave as soon as the request has a place. Other
    /// servers send them later.
    fn begins_at_once(&self) -> bool;

    /// Returns a keep-alive and its interval, where the dialect has one.
    fn ping(&self) -> Option<(&'static [u8], u64)> {
        None
    }
}

pub(crate) fn story(ask: &mut ChatAsk, facts: StoryFacts) -> Box<dyn Story> {
    match ask.api {
        Api::ChatCompletions => Box::new(Openai::chat(facts, ask.wants_usage)),
        Api::Completions => Box::new(Openai::completion(facts, ask.wants_usage)),
        Api::Responses => Box::new(ResponseStory::new(facts)),
        Api::Messages => Box::new(MessageStory::new(facts)),
        Api::Dify { is_agent } => Box::new(Dify::new(facts, is_agent, ask.conversation.take())),
    }
}

/// Returns a text of an answer, as it is written in JSON.
pub(crate) fn word(number: u64) -> &'static str {
    part(&WORDS, number)
}

/// Returns the token of a text of an answer.
pub(crate) fn answer_token(number: u64) -> TokenId {
    let mut tokens = Vec::with_capacity(1);
    tokenize(part(&PLAIN, number), &mut tokens);
    tokens[0]
}

/// Returns so many texts of an answer, as they are written in JSON.
pub(super) fn words(texts: u64) -> String {
    (0..texts).map(word).collect()
}

/// An answer does not begin with a space.
fn part(words: &'static [&str; 8], number: u64) -> &'static str {
    let word = words[(number % 8) as usize];
    if number == 0 { word.trim_start() } else { word }
}

/// Adds one event to what is written.
pub(super) fn event(out: &mut Vec<u8>, json: &str) {
    out.extend_from_slice(b"data: ");
    out.extend_from_slice(json.as_bytes());
    out.extend_from_slice(b"\n\n");
}

/// Adds an event with a name, which its JSON has as `type`; `members` begins with a comma, or is empty.
pub(super) fn named_event(out: &mut Vec<u8>, name: &str, members: &str) {
    let event = format!("event: {name}\ndata: {{\"type\":\"{name}\"{members}}}\n\n");
    out.extend_from_slice(event.as_bytes());
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_tokenizer_counts_an_answer_as_its_texts() {
        let text: String = serde_json::from_str(&format!("\"{}\"", words(30))).unwrap();
        let mut tokens = Vec::new();
        tokenize(&text, &mut tokens);
        assert_eq!(tokens, (0..30).map(answer_token).collect::<Vec<_>>());
    }
}
