//! Anthropic's messages, as they are streamed: named events, whose JSON has the same name as `type`.

use super::ask::MODEL;
use super::story::{Story, StoryFacts, named_event, words};

/// One response.
#[derive(Debug)]
pub(crate) struct MessageStory(StoryFacts);

impl MessageStory {
    pub(super) fn new(facts: StoryFacts) -> Self {
        MessageStory(facts)
    }

    /// Returns a message with this content, up to and without the end of its usage.
    fn message(&self, content: &str, stop_reason: &str) -> String {
        let number = self.0.number;
        let usage = self.input();
        format!(
            r#""id":"msg_{number:08x}","type":"message","role":"assistant","model":"{MODEL}","content":[{content}],"stop_reason":{stop_reason},"stop_sequence":null,"usage":{{{usage}"#
        )
    }

    /// Returns the counts of tokens of the prompt. Those from the cache are not among the others.
    fn input(&self) -> String {
        let cached = self.0.cached_tokens.unwrap_or_default();
        let computed = self.0.prompt_tokens - cached;
        format!(
            r#""input_tokens":{computed},"cache_creation_input_tokens":0,"cache_read_input_tokens":{cached},"#
        )
    }

    fn stop_reason(&self) -> &'static str {
        if self.0.is_cut { "\"max_tokens\"" } else { "\"end_turn\"" }
    }
}

impl Story for MessageStory {
    fn opening(&self, out: &mut Vec<u8>) {
        let message = self.message("", "null");
        named_event(
            out,
            "message_start",
            &format!(r#","message":{{{message}"output_tokens":0}}}}"#),
        );
        let block = r#","index":0,"content_block":{"type":"text","text":""}"#;
        named_event(out, "content_block_start", block);
    }

    fn text(&self, _number: u64, text: &str, out: &mut Vec<u8>) {
        let delta = format!(r#","index":0,"delta":{{"type":"text_delta","text":"{text}"}}"#);
        named_event(out, "content_block_delta", &delta);
    }

    fn closing(&self, texts: u64, out: &mut Vec<u8>) {
        named_event(out, "content_block_stop", r#","index":0"#);
        let (input, reason) = (self.input(), self.stop_reason());
        let delta = format!(
            r#","delta":{{"stop_reason":{reason},"stop_sequence":null}},"usage":{{{input}"output_tokens":{texts}}}"#
        );
        named_event(out, "message_delta", &delta);
        named_event(out, "message_stop", "");
    }

    fn error(&self, out: &mut Vec<u8>) {
        let error = r#","error":{"type":"overloaded_error","message":"overloaded"}"#;
        named_event(out, "error", error);
    }

    fn at_once(&self, texts: u64) -> String {
        let block = format!(r#"{{"type":"text","text":"{}"}}"#, words(texts));
        format!(r#"{{{}"output_tokens":{texts}}}}}"#, self.message(&block, self.stop_reason()))
    }

    fn begins_at_once(&self) -> bool {
        false
    }
}
