//! OpenAI's chat completions and completions, as they are streamed.

use super::ask::MODEL;
use super::story::{Story, StoryFacts, event, words};

/// One response.
#[derive(Debug)]
pub(crate) struct Openai {
    facts: StoryFacts,
    wants_usage: bool,
    is_chat: bool,
    /// What every chunk begins with.
    start: String,
}

impl Openai {
    pub(super) fn chat(facts: StoryFacts, wants_usage: bool) -> Self {
        Self::new(facts, wants_usage, true, "chatcmpl", "chat.completion.chunk")
    }

    pub(super) fn completion(facts: StoryFacts, wants_usage: bool) -> Self {
        Self::new(facts, wants_usage, false, "cmpl", "text_completion")
    }

    fn new(facts: StoryFacts, wants_usage: bool, is_chat: bool, id: &str, object: &str) -> Self {
        let number = facts.number;
        let start = format!(
            r#"{{"id":"{id}-{number:08x}","object":"{object}","created":1700000000,"model":"{MODEL}","#
        );
        Openai { facts, wants_usage, is_chat, start }
    }

    fn finish(&self) -> &'static str {
        if self.facts.is_cut { "\"length\"" } else { "\"stop\"" }
    }

    fn usage(&self, texts: u64) -> String {
        let prompt = self.facts.prompt_tokens;
        let total = prompt + texts;
        let cached = self.facts.cached_tokens.map_or_else(String::new, |cached| {
            format!(r#","prompt_tokens_details":{{"cached_tokens":{cached}}}"#)
        });
        format!(
            r#""usage":{{"prompt_tokens":{prompt},"completion_tokens":{texts},"total_tokens":{total}{cached}}}"#
        )
    }

    fn chunk(&self, said: &str, finish: &str, out: &mut Vec<u8>) {
        let choice = format!(
            r#""choices":[{{"index":0,{said},"logprobs":null,"finish_reason":{finish}}}]}}"#
        );
        event(out, &format!("{}{choice}", self.start));
    }
}

impl Story for Openai {
    /// The role alone, which is no text.
    fn opening(&self, out: &mut Vec<u8>) {
        if self.is_chat {
            self.chunk(r#""delta":{"role":"assistant","content":""}"#, "null", out);
        }
    }

    fn text(&self, _number: u64, text: &str, out: &mut Vec<u8>) {
        let (before, after) = if self.is_chat {
            (br#""choices":[{"index":0,"delta":{"content":""#.as_slice(), b"\"}".as_slice())
        } else {
            (br#""choices":[{"index":0,"text":""#.as_slice(), b"\"".as_slice())
        };
        for piece in [
            b"data: ",
            self.start.as_bytes(),
            before,
            text.as_bytes(),
            after,
            b",\"logprobs\":null,\"finish_reason\":null}]}\n\n",
        ] {
            out.extend_from_slice(piece);
        }
    }

    fn closing(&self, texts: u64, out: &mut Vec<u8>) {
        let said = if self.is_chat { r#""delta":{}"# } else { r#""text":"""# };
        self.chunk(said, self.finish(), out);
        if self.wants_usage {
            event(out, &format!(r#"{}"choices":[],{}}}"#, self.start, self.usage(texts)));
        }
        event(out, "[DONE]");
    }

    fn error(&self, out: &mut Vec<u8>) {
        event(out, r#"{"error":{"message":"overloaded","type":"server_error","code":503}}"#);
    }

    fn at_once(&self, texts: u64) -> String {
        let start = self.start.replace("chat.completion.chunk", "chat.completion");
        let (text, usage, finish) = (words(texts), self.usage(texts), self.finish());
        let said = if self.is_chat {
            format!(r#""message":{{"role":"assistant","content":"{text}"}}"#)
        } else {
            format!(r#""text":"{text}","logprobs":null"#)
        };
        format!(r#"{start}"choices":[{{"index":0,{said},"finish_reason":{finish}}}],{usage}}}"#)
    }

    fn begins_at_once(&self) -> bool {
        false
    }
}
