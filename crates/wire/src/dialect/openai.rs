//! Chat completions of OpenAI: an event is a chunk of JSON, and `[DONE]` is the last.

use std::fmt;
use std::marker::PhantomData;

use serde::de::{IgnoredAny, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer};

use super::raw::{Raw, count, has_items, text};
use super::tokens::usage;
use super::{Malformed, read};
use crate::{Event, EventParts, Kind, Mark};

pub(super) const NAME: &str = "openai";
pub(super) const HAS_END: bool = true;

#[derive(Deserialize)]
struct Chunk<'a> {
    #[serde(borrow, default)]
    error: Raw<'a>,
    #[serde(borrow)]
    choices: Option<Choices<'a>>,
    #[serde(borrow, default)]
    usage: Raw<'a>,
    #[serde(borrow, default)]
    object: Raw<'a>,
}

/// The content of all choices of a chunk.
#[derive(Default)]
struct Choices<'a> {
    content: &'a [u8],
    /// Text in parts, which are not read.
    has_parts: bool,
    thought: &'a [u8],
    /// Whether more than one response has content.
    has_more: bool,
    has_tool_call: bool,
    is_finish: bool,
    is_sibling: bool,
    /// The parts of the first one; none where there is no choice.
    parts: Option<EventParts>,
}

#[derive(Deserialize)]
struct OpenaiChoice<'a> {
    #[serde(borrow, default)]
    index: Raw<'a>,
    #[serde(borrow, default)]
    delta: Option<OpenaiDelta<'a>>,
    /// The text of plain completions, which have no delta.
    #[serde(borrow, default)]
    text: Raw<'a>,
    #[serde(borrow, default)]
    finish_reason: Raw<'a>,
}

#[derive(Deserialize, Default)]
struct OpenaiDelta<'a> {
    #[serde(default, rename = "role", deserialize_with = "is_there")]
    has_role: bool,
    #[serde(borrow, default)]
    content: Raw<'a>,
    #[serde(borrow, default)]
    refusal: Raw<'a>,
    #[serde(borrow, default)]
    reasoning_content: Raw<'a>,
    #[serde(borrow, default)]
    reasoning: Raw<'a>,
    #[serde(default)]
    tool_calls: Option<ToolCalls>,
    /// The older form of tool calls.
    #[serde(borrow, default)]
    function_call: Raw<'a>,
}

/// Whether a tool is called, and whether there is text of the call. All levels are read, because a parser
/// allocates to skip nested values.
#[derive(Clone, Copy, Default)]
struct ToolCalls {
    is_called: bool,
    has_text: bool,
}

#[derive(Deserialize)]
struct ToolCall<'a> {
    #[serde(borrow)]
    function: Option<Function<'a>>,
}

#[derive(Deserialize)]
struct Function<'a> {
    #[serde(borrow, default)]
    name: Raw<'a>,
    #[serde(borrow, default)]
    arguments: Raw<'a>,
}

pub(super) fn mark(event: Event<'_>) -> Result<Mark<'_>, Malformed> {
    let Some(data) = event.data else { return Ok(Mark::of(Kind::Unknown)) };
    if data == b"[DONE]" {
        return Ok(Mark::of(Kind::End));
    }
    let chunk: Chunk<'_> = read(data)?;
    let usage = usage(chunk.usage);
    // It is a member, the object itself, or the name of the event.
    if chunk.error.is_some() || text(chunk.object) == b"error" || event.name == b"error" {
        return Ok(Mark { usage, ..Mark::of(Kind::Error) });
    }
    let is_known = chunk.choices.is_some() || usage.is_some() || chunk.object.is_some();
    let choices = chunk.choices.unwrap_or_default();
    let kind = match (&choices, usage) {
        (Choices { content, has_parts, .. }, _) if *has_parts || !content.is_empty() => Kind::Text,
        (Choices { has_tool_call: true, .. }, _) => Kind::ToolCall,
        (Choices { thought, .. }, _) if !thought.is_empty() => Kind::Reasoning,
        (Choices { is_finish: false, .. }, Some(_)) => Kind::Usage,
        _ if is_known => Kind::Other,
        _ => Kind::Unknown,
    };
    Ok(Mark {
        has_text: matches!(kind, Kind::Text | Kind::ToolCall | Kind::Reasoning),
        text: choices.content,
        thought: choices.thought,
        is_partial: choices.has_more
            || choices.has_parts
            || (choices.has_tool_call
                && !(choices.content.is_empty() && choices.thought.is_empty())),
        parts: choices.parts.unwrap_or_default(),
        has_tool_call: choices.has_tool_call,
        usage,
        is_finish: choices.is_finish,
        is_sibling: choices.is_sibling,
        ..Mark::of(kind)
    })
}

/// Whether a member is there, null included.
fn is_there<'de, D: Deserializer<'de>>(deserializer: D) -> Result<bool, D::Error> {
    IgnoredAny::deserialize(deserializer).map(|_| true)
}

impl OpenaiChoice<'_> {
    fn parts(&self) -> EventParts {
        let plain = EventParts::CONTENT
            .when(!text(self.text).is_empty())
            .and(EventParts::EMPTY.when(is_empty_text(self.text)));
        let Some(delta) = &self.delta else { return plain };
        let calls = delta.tool_calls.unwrap_or_default();
        [
            (EventParts::CONTENT, !text(delta.content).is_empty() || has_items(delta.content)),
            (EventParts::EMPTY, is_empty_text(delta.content) && !delta.has_role),
            (EventParts::REASONING, !text(delta.reasoning).is_empty()),
            (EventParts::REASONING_CONTENT, !text(delta.reasoning_content).is_empty()),
            (EventParts::TOOL, calls.is_called),
            (EventParts::TOOL_TEXT, calls.has_text),
            (EventParts::FUNCTION, delta.function_call.is_some()),
        ]
        .into_iter()
        .fold(plain, |parts, (part, holds)| parts.and(part.when(holds)))
    }
}

/// Whether it is a text, and of length 0.
fn is_empty_text(value: Raw<'_>) -> bool {
    value.is_some_and(|raw| raw.get() == "\"\"")
}

impl<'a> Choices<'a> {
    fn add(&mut self, choice: OpenaiChoice<'a>) {
        let parts = choice.parts();
        self.parts.get_or_insert(parts);
        let delta = choice.delta.unwrap_or_default();
        let said = [delta.content, delta.refusal, choice.text].map(text);
        if let Some(said) = said.into_iter().find(|said| !said.is_empty()) {
            self.has_more |= !self.content.is_empty();
            self.content = said;
        }
        let thought = [delta.reasoning_content, delta.reasoning].map(text);
        if let Some(thought) = thought.into_iter().find(|thought| !thought.is_empty()) {
            self.has_more |= !self.thought.is_empty();
            self.thought = thought;
        }
        self.has_parts |= has_items(delta.content);
        let has_calls = delta.tool_calls.is_some_and(|calls| calls.is_called);
        self.has_tool_call |= has_calls || delta.function_call.is_some();
        self.is_finish |= choice.finish_reason.is_some();
        self.is_sibling |= count(choice.index).is_some_and(|index| index > 0);
    }
}

impl<'de: 'a, 'a> Deserialize<'de> for Choices<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_seq(Folding(PhantomData))
    }
}

struct Folding<'a>(PhantomData<&'a ()>);

impl<'de: 'a, 'a> Visitor<'de> for Folding<'a> {
    type Value = Choices<'a>;

    fn expecting(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("a list of choices")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Self::Value, A::Error> {
        let mut choices = Choices::default();
        while let Some(choice) = items.next_element()? {
            choices.add(choice);
        }
        Ok(choices)
    }
}

impl<'de> Deserialize<'de> for ToolCalls {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_seq(Calling)
    }
}

struct Calling;

impl<'de> Visitor<'de> for Calling {
    type Value = ToolCalls;

    fn expecting(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("a list of tool calls")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Self::Value, A::Error> {
        let mut calls = ToolCalls::default();
        while let Some(call) = items.next_element::<ToolCall<'_>>()? {
            calls.is_called = true;
            calls.has_text |= call.function.is_some_and(|function| {
                !text(function.name).is_empty() || !text(function.arguments).is_empty()
            });
        }
        Ok(calls)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn marked(data: &str) -> Mark<'_> {
        mark(Event { name: b"", data: Some(data.as_bytes()) }).unwrap()
    }

    #[test]
    fn an_event_has_the_parts_that_its_first_answer_has() {
        let (none, content, empty) = (EventParts::NONE, EventParts::CONTENT, EventParts::EMPTY);
        let call = EventParts::TOOL.and(EventParts::TOOL_TEXT);
        let table = [
            (r#"{"delta": {}}"#, none),
            (r#"{"delta": {"content": "a"}}"#, content),
            (r#"{"delta": {"content": ["a"]}}"#, content),
            (r#"{"delta": {"content": ""}}"#, empty),
            (r#"{"delta": {"content": "", "role": null}}"#, none),
            (r#"{"delta": {"content": null}}"#, none),
            (r#"{"delta": {"refusal": "no"}}"#, none),
            (r#"{"text": "a"}"#, content),
            (r#"{"text": ""}"#, empty),
            (r#"{"delta": {"reasoning": "a"}}"#, EventParts::REASONING),
            (r#"{"delta": {"reasoning_content": "a"}}"#, EventParts::REASONING_CONTENT),
            (r#"{"delta": {"tool_calls": []}}"#, none),
            (r#"{"delta": {"tool_calls": [{"function": {"name": ""}}]}}"#, EventParts::TOOL),
            (r#"{"delta": {"tool_calls": [{"function": {"name": "f"}}]}}"#, call),
            (r#"{"delta": {"tool_calls": [{"function": {"arguments": "{"}}]}}"#, call),
            (r#"{"delta": {"function_call": {"name": "f"}}}"#, EventParts::FUNCTION),
            (
                r#"{"delta": {"content": "a", "reasoning": "b"}}"#,
                content.and(EventParts::REASONING),
            ),
            (r#"{"delta": {"content": "a"}}, {"delta": {"reasoning": "b"}}"#, content),
        ];
        for (choices, parts) in table {
            let data = format!(r#"{{"choices": [{choices}]}}"#);
            assert_eq!(marked(&data).parts, parts, "{choices}");
        }
        assert_eq!(marked(r#"{"choices": []}"#).parts, none);
    }

    #[test]
    fn an_event_is_partial_if_its_texts_are_not_all_of_its_text() {
        let call = r#""tool_calls": [{"function": {"name": "f"}}]"#;
        let table = [
            (r#"{"delta": {"content": "a"}}"#.to_owned(), "a", "", false),
            (r#"{"delta": {"content": "a", "reasoning": "b"}}"#.to_owned(), "a", "b", false),
            (r#"{"delta": {"content": ["a"]}}"#.to_owned(), "", "", true),
            (format!(r#"{{"delta": {{{call}}}}}"#), "", "", false),
            (format!(r#"{{"delta": {{"content": "a", {call}}}}}"#), "a", "", true),
            (format!(r#"{{"delta": {{"reasoning": "b", {call}}}}}"#), "", "b", true),
            (format!(r#"{{"delta": {{"content": "a"}}}}, {{"delta": {{{call}}}}}"#), "a", "", true),
            (r#"{"text": "a"}, {"text": "b"}"#.to_owned(), "b", "", true),
            (
                r#"{"delta": {"reasoning": "a"}}, {"delta": {"reasoning": "b"}}"#.into(),
                "",
                "b",
                true,
            ),
            (
                r#"{"delta": {"content": "a"}}, {"delta": {"reasoning": "b"}}"#.into(),
                "a",
                "b",
                false,
            ),
        ];
        for (choices, text, thought, is_partial) in table {
            let data = format!(r#"{{"choices": [{choices}]}}"#);
            let mark = marked(&data);
            let found = (mark.text, mark.thought, mark.is_partial);
            assert_eq!(found, (text.as_bytes(), thought.as_bytes(), is_partial), "{choices}");
            assert!(mark.has_text, "{choices}");
        }
    }

    #[test]
    fn an_event_is_known_by_its_object_its_choices_or_its_usage() {
        let table = [
            (r#"{"object": "chat.completion.chunk"}"#, Kind::Other),
            (r#"{"choices": []}"#, Kind::Other),
            (r#"{"usage": {"completion_tokens": 3}}"#, Kind::Usage),
            (r#"{"price": 1}"#, Kind::Unknown),
        ];
        for (data, kind) in table {
            assert_eq!(marked(data).kind, kind, "{data}");
        }
    }

    #[test]
    fn an_error_may_report_the_tokens_so_far() {
        let data = r#"{"error": {"message": "busy"}, "usage": {"completion_tokens": 3}}"#;
        let mark = marked(data);
        assert_eq!((mark.kind, mark.usage.and_then(|usage| usage.output)), (Kind::Error, Some(3)));
        for data in [r#"{"object": "error"}"#, r#"{"error": "busy"}"#] {
            assert_eq!(marked(data).kind, Kind::Error);
        }
    }
}
