//! Streams of chat messages of Dify: a chatflow, or an agent that uses a tool.

use super::story::{Story, StoryFacts, event, words};

const PING: &[u8] = b"event: ping\n\n";
const PING_NS: u64 = 10_000_000_000;

/// One response.
#[derive(Debug)]
pub(crate) struct Dify {
    facts: StoryFacts,
    is_agent: bool,
    /// Members of every event.
    common: String,
}

impl Dify {
    pub(super) fn new(facts: StoryFacts, is_agent: bool, conversation: Option<String>) -> Self {
        let number = facts.number;
        let conversation =
            conversation.unwrap_or_else(|| format!("c0ffee00-0000-4000-8000-{number:012x}"));
        let task = format!("7a5c0000-0000-4000-8000-{number:012x}");
        let common = format!(
            r#""task_id":"{task}","message_id":"{task}","conversation_id":"{conversation}","created_at":1700000000"#
        );
        Dify { facts, is_agent, common }
    }

    fn metadata(&self, texts: u64) -> String {
        let prompt = self.facts.prompt_tokens;
        let total = prompt + texts;
        format!(
            r#""metadata":{{"usage":{{"prompt_tokens":{prompt},"completion_tokens":{texts},"total_tokens":{total},"latency":0.5}},"retriever_resources":[]}}"#
        )
    }
}

impl Story for Dify {
    fn opening(&self, out: &mut Vec<u8>) {
        let common = &self.common;
        if self.is_agent {
            for (position, observation) in [(1, ""), (2, "found 3 records")] {
                event(
                    out,
                    &format!(
                        r#"{{"event":"agent_thought",{common},"position":{position},"thought":"","observation":"{observation}","tool":"dataset_search","tool_input":"{{}}"}}"#
                    ),
                );
            }
            return;
        }
        event(
            out,
            &format!(
                r#"{{"event":"workflow_started",{common},"data":{{"id":"w","inputs":{{}}}}}}"#
            ),
        );
        event(
            out,
            &format!(
                r#"{{"event":"node_started",{common},"data":{{"node_type":"llm","index":1}}}}"#
            ),
        );
    }

    fn text(&self, _number: u64, text: &str, out: &mut Vec<u8>) {
        let name: &[u8] = if self.is_agent {
            b"{\"event\":\"agent_message\","
        } else {
            b"{\"event\":\"message\","
        };
        for piece in [
            b"data: ".as_slice(),
            name,
            self.common.as_bytes(),
            b",\"answer\":\"",
            text.as_bytes(),
            b"\"}\n\n",
        ] {
            out.extend_from_slice(piece);
        }
    }

    fn closing(&self, texts: u64, out: &mut Vec<u8>) {
        let common = &self.common;
        if !self.is_agent {
            event(
                out,
                &format!(
                    r#"{{"event":"node_finished",{common},"data":{{"elapsed_time":0.5,"status":"succeeded"}}}}"#
                ),
            );
            event(
                out,
                &format!(
                    r#"{{"event":"workflow_finished",{common},"data":{{"status":"succeeded"}}}}"#
                ),
            );
        }
        let metadata = self.metadata(texts);
        event(out, &format!(r#"{{"event":"message_end",{common},{metadata}}}"#));
    }

    fn error(&self, out: &mut Vec<u8>) {
        event(
            out,
            r#"{"event":"error","status":400,"code":"completion_request_error","message":"overloaded"}"#,
        );
    }

    fn at_once(&self, texts: u64) -> String {
        let (common, metadata, text) = (&self.common, self.metadata(texts), words(texts));
        format!(r#"{{"event":"message",{common},"mode":"chat","answer":"{text}",{metadata}}}"#)
    }

    fn begins_at_once(&self) -> bool {
        true
    }

    fn ping(&self) -> Option<(&'static [u8], u64)> {
        Some((PING, PING_NS))
    }
}

/// The result of a retrieval.
pub(crate) fn records() -> String {
    let record = |number: u32| {
        let score = f64::from(9 - number) / 10.0;
        format!(
            r#"{{"segment":{{"id":"s{number}","content":"what was looked for"}},"score":{score}}}"#
        )
    };
    let records: Vec<_> = (1..=3).map(record).collect();
    format!(r#"{{"query":{{"content":"q"}},"records":[{}]}}"#, records.join(","))
}
