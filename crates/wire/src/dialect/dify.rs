//! Chat messages of Dify: the name of an event is a member of its JSON, except that of keep-alives.

use serde::Deserialize;

use super::raw::{Raw, part, text};
use super::tokens::usage;
use super::{Malformed, read};
use crate::{Event, Kind, Mark};

pub(super) const NAME: &str = "dify";
pub(super) const HAS_END: bool = true;

#[derive(Deserialize)]
struct DifyLine<'a> {
    #[serde(borrow, default)]
    event: Raw<'a>,
    #[serde(borrow, default)]
    answer: Raw<'a>,
    #[serde(borrow, default)]
    conversation_id: Raw<'a>,
    #[serde(borrow, default)]
    metadata: Raw<'a>,
}

#[derive(Deserialize)]
struct Metadata<'a> {
    #[serde(borrow, default)]
    usage: Raw<'a>,
}

/// Events about the progress of a response, without its text.
const OTHERS: &[&[u8]] = &[
    b"agent_log",
    b"iteration_completed",
    b"iteration_next",
    b"iteration_started",
    b"loop_completed",
    b"loop_next",
    b"loop_started",
    b"message_file",
    b"message_replace",
    b"node_finished",
    b"node_retry",
    b"node_started",
    b"parallel_branch_finished",
    b"parallel_branch_started",
    b"text_chunk",
    b"text_replace",
    b"tts_message",
    b"tts_message_end",
    b"workflow_finished",
    b"workflow_started",
];

pub(super) fn mark(event: Event<'_>) -> Result<Mark<'_>, Malformed> {
    if event.name == b"ping" {
        return Ok(Mark::of(Kind::Ping));
    }
    let Some(data) = event.data else { return Ok(Mark::of(Kind::Unknown)) };
    let line: DifyLine<'_> = read(data)?;
    let answer = text(line.answer);
    let kind = match text(line.event) {
        b"message" | b"agent_message" if answer.is_empty() => Kind::Other,
        b"message" | b"agent_message" => Kind::Text,
        // The text of such a step was streamed before, as messages.
        b"agent_thought" => Kind::Reasoning,
        b"message_end" => Kind::End,
        b"error" => Kind::Error,
        b"ping" => Kind::Ping,
        name if OTHERS.contains(&name) => Kind::Other,
        _ => Kind::Unknown,
    };
    let metadata = part::<Metadata<'_>>(line.metadata);
    let usage = metadata.and_then(|metadata| usage(metadata.usage));
    Ok(Mark {
        has_text: kind == Kind::Text,
        text: if kind == Kind::Text { answer } else { b"" },
        usage,
        conversation: text(line.conversation_id),
        ..Mark::of(kind)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_keep_alive_is_an_event_of_that_name_or_kind() {
        let named = Event { name: b"ping", data: None };
        let of_kind = Event { name: b"", data: Some(br#"{"event": "ping"}"#) };
        for event in [named, of_kind] {
            assert_eq!(mark(event).unwrap().kind, Kind::Ping);
        }
    }
}
