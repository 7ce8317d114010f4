//! Streams of chat messages of Dify: a chatflow, or an agent that uses a tool.

use super::ask::ChatAsk;
use super::story::event;

/// One response.
#[derive(Debug)]
pub(crate) struct Dify {
    pub(super) chat: ChatAsk,
    /// Members of every event.
    common: String,
}

impl Dify {
    pub(super) fn new(mut chat: ChatAsk, number: u64) -> Self {
        let conversation = chat.conversation.take();
        let conversation =
            conversation.unwrap_or_else(|| format!("c0ffee00-0000-4000-8000-{number:012x}"));
        let task = format!("7a5c0000-0000-4000-8000-{number:012x}");
        let common = format!(
            r#""task_id":"{task}","message_id":"{task}","conversation_id":"{conversation}","created_at":1700000000"#
        );
        Dify { chat, common }
    }

    pub(super) fn opening(&self, out: &mut Vec<u8>) {
        let common = &self.common;
        if self.chat.is_agent {
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

    pub(super) fn text(&self, text: &str, out: &mut Vec<u8>) {
        let name: &[u8] = if self.chat.is_agent {
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

    pub(super) fn closing(&self, texts: u64, out: &mut Vec<u8>) {
        let common = &self.common;
        if !self.chat.is_agent {
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

    pub(super) fn at_once(&self, text: &str, texts: u64) -> String {
        let (common, metadata) = (&self.common, self.metadata(texts));
        format!(r#"{{"event":"message",{common},"mode":"chat","answer":"{text}",{metadata}}}"#)
    }

    fn metadata(&self, texts: u64) -> String {
        let prompt = self.chat.prompt_tokens;
        let total = prompt + texts;
        format!(
            r#""metadata":{{"usage":{{"prompt_tokens":{prompt},"completion_tokens":{texts},"total_tokens":{total},"latency":0.5}},"retriever_resources":[]}}"#
        )
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
