//! OpenAI's responses, as they are streamed: named and numbered events, whose JSON has the same name as
//! `type`.

use super::ask::MODEL;
use super::story::{Story, StoryFacts, named_event, words};

/// The events before the first text.
const OPENING_EVENTS: u64 = 4;

/// One response.
#[derive(Debug)]
pub(crate) struct ResponseStory {
    facts: StoryFacts,
    /// The members of every event of its text.
    place: String,
}

impl ResponseStory {
    pub(super) fn new(facts: StoryFacts) -> Self {
        let number = facts.number;
        let place = format!(r#","item_id":"msg_{number:08x}","output_index":0,"content_index":0"#);
        ResponseStory { facts, place }
    }

    fn status(&self) -> &'static str {
        if self.facts.is_cut { "incomplete" } else { "completed" }
    }

    /// Returns a response with this output; `usage` is JSON.
    fn response(&self, status: &str, output: &str, usage: &str) -> String {
        let number = self.facts.number;
        let details = match status {
            "incomplete" => r#"{"reason":"max_output_tokens"}"#,
            _ => "null",
        };
        format!(
            r#"{{"id":"resp_{number:08x}","object":"response","created_at":1700000000,"status":"{status}","error":null,"incomplete_details":{details},"model":"{MODEL}","output":[{output}],"usage":{usage}}}"#
        )
    }

    fn finished(&self, texts: u64, text: &str) -> String {
        let usage = self.usage(texts);
        self.response(self.status(), &self.item(self.status(), &part(text)), &usage)
    }

    fn item(&self, status: &str, content: &str) -> String {
        let number = self.facts.number;
        format!(
            r#"{{"id":"msg_{number:08x}","type":"message","status":"{status}","role":"assistant","content":[{content}]}}"#
        )
    }

    fn usage(&self, texts: u64) -> String {
        let input = self.facts.prompt_tokens;
        let cached = self.facts.cached_tokens.unwrap_or_default();
        let total = input + texts;
        format!(
            r#"{{"input_tokens":{input},"input_tokens_details":{{"cached_tokens":{cached}}},"output_tokens":{texts},"output_tokens_details":{{"reasoning_tokens":0}},"total_tokens":{total}}}"#
        )
    }
}

impl Story for ResponseStory {
    fn opening(&self, out: &mut Vec<u8>) {
        let response = self.response("in_progress", "", "null");
        let item = self.item("in_progress", "");
        let part = part("");
        for (number, (name, members)) in [
            ("response.created", format!(r#","response":{response}"#)),
            ("response.in_progress", format!(r#","response":{response}"#)),
            ("response.output_item.added", format!(r#","output_index":0,"item":{item}"#)),
            ("response.content_part.added", format!(r#"{},"part":{part}"#, self.place)),
        ]
        .into_iter()
        .enumerate()
        {
            numbered_event(out, number as u64, name, &members);
        }
    }

    fn text(&self, number: u64, text: &str, out: &mut Vec<u8>) {
        let members = format!(r#"{},"delta":"{text}","logprobs":[]"#, self.place);
        numbered_event(out, OPENING_EVENTS + number, "response.output_text.delta", &members);
    }

    fn closing(&self, texts: u64, out: &mut Vec<u8>) {
        let (text, place, status) = (words(texts), &self.place, self.status());
        let (part, response) = (part(&text), self.finished(texts, &text));
        let item = self.item(status, &part);
        for (number, (name, members)) in [
            ("response.output_text.done", format!(r#"{place},"text":"{text}","logprobs":[]"#)),
            ("response.content_part.done", format!(r#"{place},"part":{part}"#)),
            ("response.output_item.done", format!(r#","output_index":0,"item":{item}"#)),
            (&format!("response.{status}"), format!(r#","response":{response}"#)),
        ]
        .into_iter()
        .enumerate()
        {
            numbered_event(out, OPENING_EVENTS + texts + number as u64, name, &members);
        }
    }

    fn error(&self, out: &mut Vec<u8>) {
        let members = r#","code":"server_error","message":"overloaded","param":null"#;
        named_event(out, "error", members);
    }

    fn at_once(&self, texts: u64) -> String {
        self.finished(texts, &words(texts))
    }

    fn begins_at_once(&self) -> bool {
        true
    }
}

fn part(text: &str) -> String {
    format!(r#"{{"type":"output_text","text":"{text}","annotations":[],"logprobs":[]}}"#)
}

fn numbered_event(out: &mut Vec<u8>, number: u64, name: &str, members: &str) {
    named_event(out, name, &format!(r#","sequence_number":{number}{members}"#));
}
