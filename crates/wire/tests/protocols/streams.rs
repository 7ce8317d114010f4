//! Whole streams, as servers send them, in every split: each event must mean what it is known to.

use wire::{Dialect, Event, Kind, Malformed, Mark, Sse, Usage};

const OPENAI: &str = include_str!("../streams/openai.sse");
const DIFY: &str = include_str!("../streams/dify.sse");
const ANTHROPIC: &str = include_str!("../streams/anthropic.sse");
const RESPONSES: &str = include_str!("../streams/responses.sse");
const PLAIN: &str = include_str!("../streams/plain.sse");
const ALL: [(Dialect, &str); 5] = [
    (Dialect::Openai, OPENAI),
    (Dialect::Dify, DIFY),
    (Dialect::Anthropic, ANTHROPIC),
    (Dialect::Responses, RESPONSES),
    (Dialect::Plain, PLAIN),
];

/// A mark that outlives its bytes.
#[derive(Debug, Clone, PartialEq, Eq)]
struct StreamObservation {
    kind: Kind,
    has_text: bool,
    text: String,
    thought: String,
    has_tool_call: bool,
    usage: Option<Usage>,
    is_finish: bool,
    is_sibling: bool,
    conversation: String,
}

fn seen(mark: Mark<'_>) -> StreamObservation {
    let owned = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).unwrap();
    StreamObservation {
        kind: mark.kind,
        has_text: mark.has_text,
        text: owned(mark.text),
        thought: owned(mark.thought),
        has_tool_call: mark.has_tool_call,
        usage: mark.usage,
        is_finish: mark.is_finish,
        is_sibling: mark.is_sibling,
        conversation: owned(mark.conversation),
    }
}

fn marks<'a>(
    dialect: Dialect,
    pieces: impl IntoIterator<Item = &'a [u8]>,
) -> Vec<StreamObservation> {
    let (mut sse, mut marks) = (Sse::default(), Vec::new());
    for piece in pieces {
        sse.feed(piece, |event| marks.push(seen(dialect.mark(event).unwrap()))).unwrap();
    }
    assert_eq!(sse.finish(), Ok(None), "{dialect:?}");
    marks
}

fn whole(dialect: Dialect, text: &str) -> Vec<StreamObservation> {
    marks(dialect, [text.as_bytes()])
}

fn kinds(marks: &[StreamObservation]) -> Vec<Kind> {
    marks.iter().map(|mark| mark.kind).collect()
}

fn texts(marks: &[StreamObservation]) -> Vec<&str> {
    marks.iter().filter(|mark| mark.has_text).map(|mark| mark.text.as_str()).collect()
}

/// The numbers of the events that have a piece of a call.
fn calls(marks: &[StreamObservation]) -> Vec<usize> {
    let numbered = marks.iter().enumerate();
    numbered.filter(|(_, mark)| mark.has_tool_call).map(|(number, _)| number).collect()
}

#[test]
fn every_split_into_two_and_every_byte_alone_means_the_same() {
    for (dialect, text) in ALL {
        for line_end in ["\n", "\r\n", "\r"] {
            let text = format!("\u{feff}{}", text.replace('\n', line_end));
            let expected = whole(dialect, &text);
            assert!(expected.len() > 3);
            let bytes = text.as_bytes();
            for cut in 0..=bytes.len() {
                let (one, two) = bytes.split_at(cut);
                assert_eq!(marks(dialect, [one, two]), expected, "{dialect:?} cut at {cut}");
            }
            assert_eq!(marks(dialect, bytes.chunks(1)), expected);
            assert_eq!(marks(dialect, bytes.chunks(7)), expected);
        }
    }
}

#[test]
fn openai_roles_empty_deltas_and_usage_are_no_text() {
    let marks = whole(Dialect::Openai, OPENAI);
    use Kind::{End, Other, Reasoning, Text, ToolCall, Usage as Tokens};
    assert_eq!(kinds(&marks), [Other, Reasoning, Text, Other, ToolCall, Text, Other, Tokens, End]);
    assert_eq!(texts(&marks), ["", "你好 \\\"x\\\"\\n", "", "b"]);
    assert_eq!(
        marks[7].usage,
        Some(Usage { input: Some(11), cached: Some(8), output: Some(5), reasoning: Some(2) })
    );
    assert_eq!(calls(&marks), [4]);
    assert!(marks.iter().enumerate().all(|(number, mark)| mark.is_finish == (number == 6)));
    assert!(marks.iter().enumerate().all(|(number, mark)| mark.is_sibling == (number == 5)));
}

#[test]
fn dify_names_events_within_their_json_except_pings() {
    let marks = whole(Dialect::Dify, DIFY);
    use Kind::{End, Other, Ping, Reasoning, Text};
    assert_eq!(
        kinds(&marks),
        [Other, Other, Ping, Reasoning, Text, Text, Other, Other, Other, End]
    );
    assert_eq!(texts(&marks), ["\\u4f60\\u597d", " there"]);
    assert_eq!(marks[9].conversation, "c-9");
    let usage = Usage { input: Some(33), output: Some(9), ..Usage::default() };
    assert_eq!(marks[9].usage, Some(usage));
}

#[test]
fn anthropic_says_its_usage_in_two_parts() {
    let marks = whole(Dialect::Anthropic, ANTHROPIC);
    use Kind::{End, Other, Ping, Reasoning, Text, ToolCall, Unknown};
    assert_eq!(
        kinds(&marks),
        [
            Other, Other, Ping, Reasoning, Other, Text, Other, Other, ToolCall, Other, Unknown,
            Other, End
        ]
    );
    // The call begins before its arguments.
    assert_eq!(calls(&marks), [6, 8]);
    assert_eq!(texts(&marks), ["", "Hello", ""]);
    let mut usage = Usage::default();
    marks.iter().filter_map(|mark| mark.usage).for_each(|said| usage.update(said));
    // 5 tokens, 2 that the cache has written, and 18 that it has read.
    assert_eq!((usage.input, usage.cached, usage.output), (Some(25), Some(18), Some(15)));
    assert!(marks[11].is_finish);
}

#[test]
fn responses_count_reasoning_refusals_and_calls_as_generated() {
    let marks = whole(Dialect::Responses, RESPONSES);
    use Kind::{End, Other, Reasoning, Text, ToolCall};
    assert_eq!(
        kinds(&marks),
        [
            Other, Other, Other, Reasoning, Reasoning, Other, Text, Other, Text, Other, Other,
            ToolCall, End
        ]
    );
    assert_eq!(texts(&marks), ["", "", "你好 \\\"x\\\"\\n", "no", ""]);
    let thoughts: Vec<_> = marks.iter().map(|mark| mark.thought.as_str()).collect();
    assert_eq!(thoughts[3..5], ["Hm\\u2026", "so"]);
    assert_eq!(calls(&marks), [10, 11]);
    let usage = marks.iter().filter_map(|mark| mark.usage).collect::<Vec<_>>();
    let (input, cached) = (Some(618), Some(617));
    assert_eq!(usage, [Usage { input, cached, output: Some(9), reasoning: Some(4) }]);
}

#[test]
fn responses_end_in_one_of_several_ways() {
    let usage = r#""usage":{"input_tokens":3,"output_tokens":2}"#;
    let table = [
        (r#"{"type":"response.completed","response":{USAGE}}"#, Kind::End),
        (r#"{"type":"response.incomplete","response":{USAGE,"status":"incomplete"}}"#, Kind::End),
        (r#"{"type":"response.failed","response":{USAGE,"error":{"code":"x"}}}"#, Kind::Error),
        (r#"{"type":"error","code":"x","message":"no","param":null}"#, Kind::Error),
        (r#"{"type":"keepalive"}"#, Kind::Ping),
        (r#"{"type":"response.audio.delta","delta":"QUJD"}"#, Kind::Other),
    ];
    for (data, kind) in table {
        let mark = mark(Dialect::Responses, &data.replace("USAGE", usage)).unwrap();
        assert_eq!((mark.kind, mark.is_finish), (kind, kind == Kind::End), "{data}");
        let output = mark.usage.and_then(|usage| usage.output);
        assert_eq!(output.is_some(), data.contains("USAGE"), "{data}");
    }
    assert_eq!(mark(Dialect::Responses, "[DONE]").unwrap().kind, Kind::End);
}

#[test]
fn plain_events_join_their_lines_and_ignore_unknown_fields() {
    let marks = whole(Dialect::Plain, PLAIN);
    assert_eq!(kinds(&marks), [Kind::Text, Kind::Text, Kind::Ping, Kind::End]);
    assert_eq!(marks[0].text, "first line\nsecond line\n");
}

fn mark(dialect: Dialect, data: &str) -> Result<StreamObservation, Malformed> {
    dialect.mark(Event { name: b"", data: Some(data.as_bytes()) }).map(seen)
}

#[test]
fn failures_within_an_answer_are_errors_in_every_dialect() {
    let table = [
        (Dialect::Openai, r#"{"error": {"message": "overloaded", "code": 503}}"#),
        (Dialect::Dify, r#"{"event": "error", "status": 400, "code": "x", "message": "no"}"#),
        (Dialect::Anthropic, r#"{"type": "error", "error": {"type": "overloaded_error"}}"#),
        (Dialect::Responses, r#"{"type": "error", "message": "overloaded"}"#),
    ];
    for (dialect, data) in table {
        assert_eq!(mark(dialect, data).unwrap().kind, Kind::Error, "{dialect:?}");
        let cut = &data[..data.len() - 1];
        assert_eq!(mark(dialect, cut), Err(Malformed), "{dialect:?}");
    }
    assert_ne!(
        mark(Dialect::Openai, r#"{"error": null, "choices": []}"#).unwrap().kind,
        Kind::Error
    );
}

#[test]
fn openai_variants_that_servers_differ_in() {
    let table = [
        // Usage with the finish, or with text; choices null or absent beside it.
        (
            r#"{"choices":[{"delta":{},"finish_reason":"stop"}],"usage":{"completion_tokens":3}}"#,
            Kind::Other,
        ),
        (r#"{"choices":[{"delta":{"content":"a"}}],"usage":{"completion_tokens":3}}"#, Kind::Text),
        (r#"{"choices":null,"usage":{"completion_tokens":3}}"#, Kind::Usage),
        (r#"{"usage":{"completion_tokens":3}}"#, Kind::Usage),
        // Nothing generated in any of these.
        (r#"{"choices":[{"delta":{"content":null,"tool_calls":[]}}]}"#, Kind::Other),
        (r#"{"choices":[{"delta":null}]}"#, Kind::Other),
        (r#"{"choices":[{"delta":{"content":""}}]}"#, Kind::Other),
        (r#"{"choices":[{"delta":{"tool_calls":[ ]}}]}"#, Kind::Other),
        // Something is.
        (r#"{"choices":[{"delta":{"refusal":"no"}}]}"#, Kind::Text),
        (r#"{"choices":[{"delta":{"reasoning":"so"}}]}"#, Kind::Reasoning),
        (r#"{"choices":[{"text":"plain completions"}]}"#, Kind::Text),
        (r#"{"choices":[{"delta":{"content":"both","reasoning":"so"}}]}"#, Kind::Text),
        // And this is some other server.
        (r#"{"event":"message","answer":"a"}"#, Kind::Unknown),
    ];
    for (data, kind) in table {
        let mark = mark(Dialect::Openai, data).unwrap();
        assert_eq!(mark.kind, kind, "{data}");
        assert_eq!(mark.has_text, matches!(kind, Kind::Text | Kind::Reasoning), "{data}");
    }
    let mark = mark(Dialect::Openai, table[0].0).unwrap();
    assert!(mark.is_finish && mark.usage.is_some());
}

#[test]
fn odd_numbers_beside_a_text_do_not_break_it() {
    let usage = |data: &str| mark(Dialect::Openai, data).unwrap().usage.unwrap();
    let float = r#"{"choices":[],"usage":{"prompt_tokens":3.0,"completion_tokens":null}}"#;
    assert_eq!((usage(float).input, usage(float).output), (Some(3), None));
    for data in [
        r#"{"choices":[{"index":null,"delta":{"content":"a"}}],"usage":"n/a"}"#,
        r#"{"choices":[{"delta":{"content":[{"type":"text","text":"a"}]}}]}"#,
    ] {
        let mark = mark(Dialect::Openai, data).unwrap();
        assert_eq!((mark.kind, mark.has_text), (Kind::Text, true), "{data}");
    }
    let call = r#"{"choices":[{"delta":{"function_call":{"arguments":"{"}}}]}"#;
    assert_eq!(mark(Dialect::Openai, call).unwrap().kind, Kind::ToolCall);
    let dify = r#"{"event":"message_end","metadata":{"usage":{"prompt_tokens":"many"}}}"#;
    assert_eq!(mark(Dialect::Dify, dify).unwrap().usage.unwrap().input, None);
    let error = r#"{"type":"error","message":"overloaded"}"#;
    assert_eq!(mark(Dialect::Anthropic, error).unwrap().kind, Kind::Error);
}

#[test]
fn errors_are_also_said_by_the_object_or_by_the_name_of_the_event() {
    let object = r#"{"object":"error","message":"no such model"}"#;
    assert_eq!(mark(Dialect::Openai, object).unwrap().kind, Kind::Error);
    let event = Event { name: b"error", data: Some(b"{\"code\":500}") };
    assert_eq!(Dialect::Openai.mark(event).unwrap().kind, Kind::Error);
}

#[test]
fn what_is_no_json_object_is_malformed() {
    for dialect in Dialect::ALL.iter().copied().filter(|dialect| dialect.has_end()) {
        for data in ["", "{", "hello", "<html>", "{\"a\":1}x", "\"text\"", "42"] {
            assert_eq!(mark(dialect, data), Err(Malformed), "{dialect:?} {data:?}");
        }
    }
    let event = Event { name: b"", data: Some(b"{\"event\":\"\xff\"}") };
    assert_eq!(Dialect::Dify.mark(event).map(seen), Err(Malformed));
}

#[test]
fn one_dialect_is_unknown_in_the_others() {
    let first = |text: &str, at: usize| {
        let line = text.lines().filter(|line| line.starts_with("data: {")).nth(at).unwrap();
        line["data: ".len()..].to_owned()
    };
    let events = [
        (Dialect::Openai, first(OPENAI, 2)),
        (Dialect::Dify, first(DIFY, 3)),
        (Dialect::Anthropic, first(ANTHROPIC, 5)),
        (Dialect::Responses, first(RESPONSES, 6)),
    ];
    for dialect in Dialect::ALL.iter().copied().filter(|dialect| dialect.has_end()) {
        for (own, data) in &events {
            let kind = if *own == dialect { Kind::Text } else { Kind::Unknown };
            // A member with the same name may have another form.
            let marked = mark(dialect, data).map_or(Kind::Unknown, |mark| mark.kind);
            assert_eq!(marked, kind, "{dialect:?} {data}");
        }
    }
}
