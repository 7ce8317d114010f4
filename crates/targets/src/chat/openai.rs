//! OpenAI's chat completions, as they are streamed.

use super::ask::ChatAsk;
use super::story::event;

/// One response.
#[derive(Debug)]
pub(crate) struct Openai {
    pub(super) chat: ChatAsk,
    /// What every chunk begins with.
    start: String,
}

impl Openai {
    pub(super) fn new(chat: ChatAsk, number: u64) -> Self {
        let start = format!(
            r#"{{"id":"chatcmpl-{number:08x}","object":"chat.completion.chunk","created":1700000000,"model":"torr-target","#
        );
        Openai { chat, start }
    }

    /// The role alone, which is no text.
    pub(super) fn opening(&self, out: &mut Vec<u8>) {
        self.chunk(r#"{"role":"assistant","content":""}"#, "null", out);
    }

    pub(super) fn text(&self, text: &str, out: &mut Vec<u8>) {
        out.extend_from_slice(b"data: ");
        out.extend_from_slice(self.start.as_bytes());
        out.extend_from_slice(br#""choices":[{"index":0,"delta":{"content":""#);
        out.extend_from_slice(text.as_bytes());
        out.extend_from_slice(b"\"},\"logprobs\":null,\"finish_reason\":null}]}\n\n");
    }

    pub(super) fn closing(&self, texts: u64, out: &mut Vec<u8>) {
        self.chunk("{}", "\"stop\"", out);
        if self.chat.wants_usage {
            event(out, &format!(r#"{}"choices":[],{}}}"#, self.start, self.usage(texts)));
        }
        event(out, "[DONE]");
    }

    pub(super) fn at_once(&self, text: &str, texts: u64) -> String {
        let start = self.start.replace("chat.completion.chunk", "chat.completion");
        let usage = self.usage(texts);
        format!(
            r#"{start}"choices":[{{"index":0,"message":{{"role":"assistant","content":"{text}"}},"finish_reason":"stop"}}],{usage}}}"#
        )
    }

    fn usage(&self, texts: u64) -> String {
        let prompt = self.chat.prompt_tokens;
        let total = prompt + texts;
        format!(
            r#""usage":{{"prompt_tokens":{prompt},"completion_tokens":{texts},"total_tokens":{total}}}"#
        )
    }

    fn chunk(&self, delta: &str, finish: &str, out: &mut Vec<u8>) {
        let choice = format!(
            r#""choices":[{{"index":0,"delta":{delta},"logprobs":null,"finish_reason":{finish}}}]}}"#
        );
        event(out, &format!("{}{choice}", self.start));
    }
}
