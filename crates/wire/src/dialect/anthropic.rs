//! Messages of Anthropic: named events, whose JSON has the same name as `type`.

use serde::Deserialize;

use super::raw::{Raw, count, part, text};
use super::{Malformed, read};
use crate::{Event, Kind, Mark, Usage};

pub(super) const NAME: &str = "anthropic";
pub(super) const HAS_END: bool = true;

#[derive(Deserialize)]
struct AnthropicLine<'a> {
    #[serde(borrow, default, rename = "type")]
    kind: Raw<'a>,
    #[serde(borrow, default)]
    delta: Option<AnthropicDelta<'a>>,
    #[serde(borrow, default)]
    content_block: Raw<'a>,
    #[serde(borrow, default)]
    message: Raw<'a>,
    #[serde(borrow, default)]
    usage: Raw<'a>,
}

#[derive(Deserialize, Default)]
struct AnthropicDelta<'a> {
    #[serde(borrow, default)]
    text: Raw<'a>,
    #[serde(borrow, default)]
    thinking: Raw<'a>,
    #[serde(borrow, default)]
    partial_json: Raw<'a>,
    #[serde(borrow, default)]
    stop_reason: Raw<'a>,
}

#[derive(Deserialize)]
struct ContentBlock<'a> {
    #[serde(borrow, default, rename = "type")]
    kind: Raw<'a>,
}

#[derive(Deserialize)]
struct AnthropicMessage<'a> {
    #[serde(borrow, default)]
    usage: Raw<'a>,
}

#[derive(Deserialize)]
struct AnthropicTokens<'a> {
    #[serde(borrow, default)]
    input_tokens: Raw<'a>,
    #[serde(borrow, default)]
    cache_read_input_tokens: Raw<'a>,
    #[serde(borrow, default)]
    cache_creation_input_tokens: Raw<'a>,
    #[serde(borrow, default)]
    output_tokens: Raw<'a>,
}

pub(super) fn mark(event: Event<'_>) -> Result<Mark<'_>, Malformed> {
    let Some(data) = event.data else {
        let kind = if event.name == b"ping" { Kind::Ping } else { Kind::Unknown };
        return Ok(Mark::of(kind));
    };
    let line: AnthropicLine<'_> = read(data)?;
    let delta = line.delta.unwrap_or_default();
    let is_delta = text(line.kind) == b"content_block_delta";
    let said = if is_delta { text(delta.text) } else { b"" };
    let kind = match text(line.kind) {
        b"content_block_delta" if !said.is_empty() => Kind::Text,
        b"content_block_delta" if !text(delta.thinking).is_empty() => Kind::Reasoning,
        b"content_block_delta" if !text(delta.partial_json).is_empty() => Kind::ToolCall,
        b"message_stop" => Kind::End,
        b"ping" => Kind::Ping,
        b"error" => Kind::Error,
        b"content_block_delta"
        | b"message_start"
        | b"content_block_start"
        | b"content_block_stop"
        | b"message_delta" => Kind::Other,
        // Servers may send new kinds of events, which are ignored.
        _ => Kind::Unknown,
    };
    let within = || part::<AnthropicMessage<'_>>(line.message).and_then(|message| message.usage);
    let tokens = part::<AnthropicTokens<'_>>(line.usage.or_else(within));
    Ok(Mark {
        has_text: matches!(kind, Kind::Text | Kind::Reasoning | Kind::ToolCall),
        text: said,
        thought: if kind == Kind::Reasoning { text(delta.thinking) } else { b"" },
        has_tool_call: kind == Kind::ToolCall || is_call(line.content_block),
        usage: tokens.map(|tokens| tokens.usage()),
        is_finish: delta.stop_reason.is_some(),
        ..Mark::of(kind)
    })
}

/// Whether a block calls a tool: a call without arguments has no delta with text.
fn is_call(block: Raw<'_>) -> bool {
    part::<ContentBlock<'_>>(block).is_some_and(|block| text(block.kind) == b"tool_use")
}

impl AnthropicTokens<'_> {
    /// Returns the usage; the API counts tokens that its cache reads or writes apart from the others.
    fn usage(&self) -> Usage {
        let cached = count(self.cache_read_input_tokens);
        let apart = [cached, count(self.cache_creation_input_tokens)];
        let apart = apart.into_iter().flatten().fold(0, u64::saturating_add);
        Usage {
            input: count(self.input_tokens).map(|input| input.saturating_add(apart)),
            cached,
            output: count(self.output_tokens),
            reasoning: None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_event_without_data_is_a_ping_or_unknown() {
        for (name, kind) in [("ping", Kind::Ping), ("pong", Kind::Unknown), ("", Kind::Unknown)] {
            let event = Event { name: name.as_bytes(), data: None };
            assert_eq!(mark(event).unwrap().kind, kind, "{name}");
        }
    }

    #[test]
    fn the_text_of_a_delta_is_told_apart_by_its_kind() {
        let table = [
            (r#"{"text": "a"}"#, Kind::Text, "a", ""),
            (r#"{"thinking": "b"}"#, Kind::Reasoning, "", "b"),
            (r#"{"partial_json": "{"}"#, Kind::ToolCall, "", ""),
            (r#"{"text": "a", "thinking": "b"}"#, Kind::Text, "a", ""),
        ];
        for (delta, kind, text, thought) in table {
            let data = format!(r#"{{"type": "content_block_delta", "delta": {delta}}}"#);
            let mark = mark(Event { name: b"", data: Some(data.as_bytes()) }).unwrap();
            let found = (mark.kind, mark.text, mark.thought);
            assert_eq!(found, (kind, text.as_bytes(), thought.as_bytes()), "{delta}");
        }
    }
}
