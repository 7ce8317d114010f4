//! Every path: streamed and not streamed say the same, and count the same.

use serde_json::Value;

use super::{CHAT, events, json, post};
use crate::common::start;

/// The text, the counts of tokens (input, cached, output) and the reason of an end, in a whole response.
fn told(path: &str, answer: &Value) -> (String, [Option<u64>; 3], String) {
    let usage = &answer["usage"];
    let (text, cached, names, reason) = match path {
        CHAT => (
            &answer["choices"][0]["message"]["content"],
            &usage["prompt_tokens_details"]["cached_tokens"],
            ["prompt_tokens", "completion_tokens"],
            &answer["choices"][0]["finish_reason"],
        ),
        "/v1/completions" => (
            &answer["choices"][0]["text"],
            &usage["prompt_tokens_details"]["cached_tokens"],
            ["prompt_tokens", "completion_tokens"],
            &answer["choices"][0]["finish_reason"],
        ),
        "/v1/responses" => (
            &answer["output"][0]["content"][0]["text"],
            &usage["input_tokens_details"]["cached_tokens"],
            ["input_tokens", "output_tokens"],
            &answer["status"],
        ),
        _ => (
            &answer["content"][0]["text"],
            &usage["cache_read_input_tokens"],
            ["input_tokens", "output_tokens"],
            &answer["stop_reason"],
        ),
    };
    let text = text.as_str().unwrap_or_default().to_owned();
    let tokens = [usage[names[0]].as_u64(), cached.as_u64(), usage[names[1]].as_u64()];
    (text, tokens, reason.as_str().unwrap_or_default().to_owned())
}

/// The same of a stream.
fn streamed(path: &str, stream: &str) -> (String, [Option<u64>; 3], String) {
    let events = events(stream);
    let last = |member: &str| {
        let found = events.iter().rev().find_map(|(_, data)| {
            let value = data.pointer(member)?;
            (!value.is_null()).then(|| value.clone())
        });
        found.unwrap_or_default()
    };
    let delta = match path {
        CHAT => "/choices/0/delta/content",
        "/v1/completions" => "/choices/0/text",
        "/v1/responses" => "/delta",
        _ => "/delta/text",
    };
    let text: String =
        events.iter().filter_map(|(_, data)| data.pointer(delta)?.as_str()).collect();
    let whole = match path {
        "/v1/responses" => last("/response"),
        "/v1/messages" => {
            serde_json::json!({"usage": last("/usage"), "stop_reason": last("/delta/stop_reason")})
        }
        _ => serde_json::json!({
            "usage": last("/usage"), "choices": [{"finish_reason": last("/choices/0/finish_reason")}],
        }),
    };
    let (_, tokens, reason) = told(path, &whole);
    (text, tokens, reason)
}

const PATHS: [(&str, &str, [&str; 2]); 4] = [
    (CHAT, r#""messages":[{"role":"user","content":"one two three"}]"#, ["stop", "length"]),
    ("/v1/completions", r#""prompt":"one two three""#, ["stop", "length"]),
    ("/v1/responses", r#""input":"one two three""#, ["completed", "incomplete"]),
    (
        "/v1/messages",
        r#""messages":[{"role":"user","content":"one two three"}]"#,
        ["end_turn", "max_tokens"],
    ),
];

#[test]
fn streams_and_whole_responses_say_and_count_the_same() {
    let target = start(r#"{"kind":"chat","dialect":"openai","tokens":{"kind":"constant","n":9}}"#);
    for (path, prompt, [own, cut]) in PATHS {
        for (more, output, reason) in [
            ("", 9, own),
            (r#","max_tokens":4"#, 4, cut),
            (r#","max_tokens":12,"min_tokens":12,"ignore_eos":true"#, 12, cut),
        ] {
            let whole = told(path, &json(&target, path, &format!("{{{prompt}{more}}}")));
            let options = r#","stream":true,"stream_options":{"include_usage":true}"#;
            let stream = post(&target, path, &format!("{{{prompt}{more}{options}}}"));
            assert_eq!(whole, streamed(path, &stream), "{path} {more}\n{stream}");
            assert_eq!((whole.1[0], whole.1[2]), (Some(3), Some(output)), "{path} {more}");
            assert_eq!(whole.2, reason, "{path} {more}");
            assert!(whole.0.starts_with("Hello there\n, how"), "{path}: {}", whole.0);
            let counted =
                json(&target, "/tokenize", &serde_json::json!({"prompt": whole.0}).to_string());
            assert_eq!(counted["count"], output);
        }
    }
}

#[test]
fn named_events_have_their_name_as_type_and_come_in_order() {
    let target = start(r#"{"kind":"chat","dialect":"openai","tokens":{"kind":"constant","n":2}}"#);
    for (path, prompt, names) in [
        (
            "/v1/responses",
            r#""input":"a""#,
            [
                "response.created",
                "response.in_progress",
                "response.output_item.added",
                "response.content_part.added",
                "response.output_text.delta",
                "response.output_text.delta",
                "response.output_text.done",
                "response.content_part.done",
                "response.output_item.done",
                "response.completed",
            ]
            .as_slice(),
        ),
        (
            "/v1/messages",
            r#""messages":[]"#,
            [
                "message_start",
                "content_block_start",
                "content_block_delta",
                "content_block_delta",
                "content_block_stop",
                "message_delta",
                "message_stop",
            ]
            .as_slice(),
        ),
    ] {
        let events = events(&post(&target, path, &format!(r#"{{{prompt},"stream":true}}"#)));
        assert_eq!(events.iter().map(|(name, _)| name).collect::<Vec<_>>(), names);
        assert!(events.iter().all(|(name, data)| data["type"] == **name), "{events:?}");
        if path == "/v1/responses" {
            let numbers = events.iter().map(|(_, data)| data["sequence_number"].as_u64().unwrap());
            assert_eq!(numbers.collect::<Vec<_>>(), (0..names.len() as u64).collect::<Vec<_>>());
        }
    }
}

#[test]
fn every_api_tells_what_was_in_the_cache() {
    let words = (0..40).map(|word| format!("w{word}")).collect::<Vec<_>>().join(" ");
    for (path, prompt, _) in PATHS {
        let target =
            start(r#"{"kind":"chat","dialect":"openai","prefix_cache":1000,"prefix_block":8}"#);
        let body = format!("{{{}}}", prompt.replace("one two three", &words));
        let cached = || told(path, &json(&target, path, &body)).1;
        // Those from the cache are not input tokens of Anthropic's.
        let input = if path == "/v1/messages" { 8 } else { 40 };
        assert_eq!(cached()[..2], [Some(40), Some(0)], "{path}");
        assert_eq!(cached()[..2], [Some(input), Some(32)], "{path}");
        let options = r#","stream":true,"stream_options":{"include_usage":true}}"#;
        let body = body.strip_suffix('}').unwrap().to_owned() + options;
        let stream = post(&target, path, &body);
        assert_eq!(streamed(path, &stream).1[..2], [Some(input), Some(32)], "{path}");
    }
}

#[test]
fn the_other_paths_answer_and_every_request_has_one_end() {
    let target = start(r#"{"kind":"chat","dialect":"openai"}"#);
    assert_eq!(json(&target, "/v1/models", "")["data"][0]["id"], "torr-target");
    assert_eq!(json(&target, "/health", "")["status"], "ok");
    let vectors = json(&target, "/v1/embeddings", r#"{"input":["a","b"]}"#);
    assert_eq!(vectors["data"].as_array().unwrap().len(), 2);
    let ranks = json(&target, "/v1/rerank", r#"{"query":"q","documents":["a","b","c"]}"#);
    assert_eq!(ranks["results"].as_array().unwrap().len(), 3);
    assert!(json(&target, "/v1/completions", r#"{"prompt":{}}"#)["error"]["message"].is_string());
    assert!(json(&target, "/nothing", "")["error"]["message"].is_string());
    assert!(post(&target, "/metrics", "").contains("vllm:num_requests_running{"));
    target.stop().unwrap();
    let counts = target.counts();
    assert_eq!((counts.ends["ok"], counts.ends["refused"], counts.requests), (5, 2, 7));
    let calls = [("embedding", 1), ("metrics", 1), ("other", 4), ("rerank", 1)];
    assert_eq!(counts.calls.into_iter().collect::<Vec<_>>(), calls);
}
