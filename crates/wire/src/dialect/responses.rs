//! Responses of OpenAI: named events, whose JSON has the same name as `type`.

use serde::Deserialize;

use super::raw::{Raw, count, part, text};
use super::tokens::Details;
use super::{Malformed, read};
use crate::{Event, Kind, Mark, Usage};

pub(super) const NAME: &str = "responses";
pub(super) const HAS_END: bool = true;

#[derive(Deserialize)]
struct ResponsesLine<'a> {
    #[serde(borrow, default, rename = "type")]
    kind: Raw<'a>,
    #[serde(borrow, default)]
    delta: Raw<'a>,
    #[serde(borrow, default)]
    item: Raw<'a>,
    /// Read with the line: a parser allocates to skip nested values, once for each.
    #[serde(borrow, default)]
    response: Option<WholeResponse<'a>>,
}

#[derive(Deserialize)]
struct Item<'a> {
    #[serde(borrow, default, rename = "type")]
    kind: Raw<'a>,
}

/// The response; the event at its end has its usage.
#[derive(Deserialize)]
struct WholeResponse<'a> {
    #[serde(borrow, default)]
    usage: Raw<'a>,
}

#[derive(Deserialize)]
struct ResponsesTokens<'a> {
    #[serde(borrow, default)]
    input_tokens: Raw<'a>,
    #[serde(borrow, default)]
    input_tokens_details: Raw<'a>,
    #[serde(borrow, default)]
    output_tokens: Raw<'a>,
    #[serde(borrow, default)]
    output_tokens_details: Raw<'a>,
}

/// Items of a response that are calls of tools.
const CALLS: [&[u8]; 3] = [b"function_call", b"custom_tool_call", b"mcp_call"];

pub(super) fn mark(event: Event<'_>) -> Result<Mark<'_>, Malformed> {
    let Some(data) = event.data else { return Ok(Mark::of(Kind::Unknown)) };
    if data == b"[DONE]" {
        // OpenAI ends by `response.completed`; some servers add this to every stream.
        return Ok(Mark::of(Kind::End));
    }
    let line: ResponsesLine<'_> = read(data)?;
    let (said, kind) = (text(line.delta), kind_of(event.name, text(line.kind)));
    let has_text = matches!(kind, Kind::Text | Kind::Reasoning | Kind::ToolCall);
    if has_text && said.is_empty() {
        return Ok(Mark::of(Kind::Other));
    }
    Ok(Mark {
        has_text,
        text: if kind == Kind::Text { said } else { b"" },
        thought: if kind == Kind::Reasoning { said } else { b"" },
        has_tool_call: kind == Kind::ToolCall || is_call(line.item),
        usage: line.response.and_then(|response| usage(response.usage)),
        is_finish: kind == Kind::End,
        ..Mark::of(kind)
    })
}

fn kind_of(name: &[u8], kind: &[u8]) -> Kind {
    match kind {
        b"response.output_text.delta" | b"response.refusal.delta" => Kind::Text,
        b"response.reasoning_text.delta" | b"response.reasoning_summary_text.delta" => {
            Kind::Reasoning
        }
        b"response.function_call_arguments.delta"
        | b"response.custom_tool_call_input.delta"
        | b"response.mcp_call_arguments.delta" => Kind::ToolCall,
        // The last is that of a response whose number of tokens was limited.
        b"response.completed" | b"response.incomplete" => Kind::End,
        b"response.failed" | b"error" => Kind::Error,
        _ if name == b"error" => Kind::Error,
        b"keepalive" => Kind::Ping,
        _ if kind.starts_with(b"response.") => Kind::Other,
        _ => Kind::Unknown,
    }
}

fn is_call(item: Raw<'_>) -> bool {
    part::<Item<'_>>(item).is_some_and(|item| CALLS.contains(&text(item.kind)))
}

fn usage(written: Raw<'_>) -> Option<Usage> {
    part::<ResponsesTokens<'_>>(written).map(|tokens| Usage {
        input: count(tokens.input_tokens),
        cached: Details::of(tokens.input_tokens_details).cached(),
        output: count(tokens.output_tokens),
        reasoning: Details::of(tokens.output_tokens_details).reasoning(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_error_is_known_by_its_kind_or_by_the_name_of_the_event() {
        let table = [
            ("error", r#"{"message": "busy"}"#),
            ("", r#"{"type": "error"}"#),
            ("", r#"{"type": "response.failed"}"#),
        ];
        for (name, data) in table {
            let event = Event { name: name.as_bytes(), data: Some(data.as_bytes()) };
            assert_eq!(mark(event).unwrap().kind, Kind::Error, "{data}");
        }
    }
}
