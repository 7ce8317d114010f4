//! What is read from requests, for each path.

use super::*;

fn asked_with(begin: u64, dialect: ChatDialect, path: &str, body: &str) -> Ask {
    let spec = ChatSpec { message_tokens: begin, ..ChatSpec::new(dialect) };
    let (path, body) = (path.to_owned(), body.as_bytes().to_vec());
    read(&spec, &ReceivedRequest { path, body, ..ReceivedRequest::default() })
}

fn asked(dialect: ChatDialect, path: &str, body: &str) -> Ask {
    asked_with(0, dialect, path, body)
}

fn answer(path: &str, body: &str) -> ChatAsk {
    match asked_with(0, ChatDialect::Openai, path, body) {
        Ask::Generate(ask) => ask,
        other => unreachable!("{path} {body}: {other:?}"),
    }
}

fn tokens(text: &str) -> Vec<TokenId> {
    let mut tokens = Vec::new();
    tokenize(text, &mut tokens);
    tokens
}

const CHAT: &str = "/v1/chat/completions";

#[test]
fn reads_what_openai_is_asked() {
    let body = r#"{"model":"m","messages":[{"role":"user","content":"one two"},{"role":"user","content":"three"}],"stream":true,"stream_options":{"include_usage":true}}"#;
    let chat = answer(&format!("{CHAT}?x=y"), body);
    assert!(chat.is_streamed && chat.wants_usage);
    assert_eq!((chat.api, chat.prompt.len()), (Api::ChatCompletions, 3));
    let parts = r#"{"messages":[{"content":[{"type":"text","text":"a b"},{"type":"image_url"}]}],"stream":null}"#;
    assert_eq!(answer(CHAT, parts), ChatAsk { prompt: tokens("a b"), ..ChatAsk::default() });
    assert_eq!(answer(CHAT, r#"{"messages":[]}"#), ChatAsk::default());
}

#[test]
fn reads_what_dify_is_asked() {
    let body = r#"{"inputs":{"dept":"IT"},"query":"a b","response_mode":"streaming","user":"u","conversation_id":"c"}"#;
    let chat = ChatAsk {
        api: Api::Dify { is_agent: true },
        is_streamed: true,
        wants_usage: true,
        prompt: tokens("a b"),
        conversation: Some("c".into()),
        length: LengthAsk::default(),
    };
    assert_eq!(asked(ChatDialect::Dify, "/v1/chat-messages", body), Ask::Generate(chat));
    let retrieve = |path| asked(ChatDialect::Dify, path, "{}");
    assert_eq!(retrieve("/v1/datasets/7/retrieve"), Ask::Retrieve);
    assert!(matches!(retrieve("/v1/datasets/7/8/retrieve"), Ask::Refused("404 Not Found", _)));
    assert!(matches!(retrieve(CHAT), Ask::Refused("404 Not Found", _)));
}

#[test]
fn what_is_no_question_is_refused() {
    for (dialect, path) in [
        (ChatDialect::Openai, CHAT),
        (ChatDialect::Openai, "/v1/completions"),
        (ChatDialect::Openai, "/v1/responses"),
        (ChatDialect::Openai, "/v1/messages"),
        (ChatDialect::Openai, "/tokenize"),
        (ChatDialect::Openai, "/v1/embeddings"),
        (ChatDialect::Openai, "/v1/rerank"),
        (ChatDialect::Dify, "/v1/chat-messages"),
    ] {
        for body in ["{", "{}", r#"{"prompt":7}"#] {
            let ask = asked(dialect, path, body);
            assert!(matches!(ask, Ask::Refused("400 Bad Request", _)), "{path} {body}: {ask:?}");
        }
        assert!(matches!(asked(dialect, "/", ""), Ask::Plain(_, "200 OK", _)));
        assert!(matches!(asked(dialect, "/x", ""), Ask::Refused("404 Not Found", _)));
        assert_eq!(asked(dialect, "/metrics", ""), Ask::Metrics);
    }
}

#[test]
fn a_prompt_is_a_text_the_first_text_or_tokens() {
    let prompt = |json: &str| answer("/v1/completions", &format!(r#"{{"prompt":{json}}}"#)).prompt;
    assert_eq!(prompt(r#""one two""#), tokens("one two"));
    assert_eq!(prompt(r#"["one two","three"]"#), tokens("one two"));
    assert_eq!(prompt("[7,200000,9]"), [7, 200_000, 9]);
    assert_eq!(prompt("[[7,8],[9]]"), [7, 8]);
    let refused = asked(ChatDialect::Openai, "/v1/completions", r#"{"prompt":[1,-2]}"#);
    assert!(matches!(refused, Ask::Refused("400 Bad Request", _)));
}

#[test]
fn every_message_and_the_answer_begin_with_the_tokens_of_a_template() {
    let chat = r#"{"system":"be kind","messages":[{"role":"user","content":"one"}]}"#;
    let with =
        |begin, path: &str, body: &str| match asked_with(begin, ChatDialect::Openai, path, body) {
            Ask::Generate(ask) => ask.prompt,
            other => unreachable!("{other:?}"),
        };
    assert_eq!(with(4, "/v1/messages", chat).len(), 3 * 4 + 3);
    let input = r#"{"instructions":"be kind","input":"one"}"#;
    assert_eq!(with(4, "/v1/responses", input), with(4, "/v1/messages", chat));
    let items = r#"{"instructions":"be kind","input":[{"role":"user","content":[{"type":"input_text","text":"one"}]}]}"#;
    assert_eq!(with(4, "/v1/responses", items), with(4, "/v1/messages", chat));
    assert_eq!(with(4, "/v1/completions", r#"{"prompt":"one"}"#).len(), 1);
    // The second turn begins with all tokens of the first one.
    let again = r#"{"system":"be kind","messages":[{"role":"user","content":"one"},{"role":"assistant","content":"two"},{"role":"user","content":"three"}]}"#;
    let first = with(2, "/v1/messages", chat);
    assert_eq!(with(2, "/v1/messages", again)[..first.len()], first);
}

#[test]
fn a_request_decides_how_long_its_answer_is() {
    let length = |members: &str| answer(CHAT, &format!(r#"{{"messages":[]{members}}}"#)).length;
    assert_eq!(length(""), LengthAsk::default());
    for name in ["max_tokens", "max_completion_tokens", "max_output_tokens"] {
        assert_eq!(length(&format!(r#","{name}":9"#)).most, Some(9));
    }
    assert_eq!(length(r#","max_tokens":9,"max_completion_tokens":8"#).most, Some(8));
    let forced = LengthAsk { least: 5, most: Some(5), ignores_end: true };
    assert_eq!(length(r#","min_tokens":5,"max_tokens":5,"ignore_eos":true"#), forced);
}

#[test]
fn tokens_are_counted_for_either_kind_of_client() {
    let tokenize = |body: &str| match asked_with(3, ChatDialect::Openai, "/tokenize", body) {
        Ask::Plain(ChatCall::Tokenize, "200 OK", body) => {
            let answer: Value = serde_json::from_str(&body).unwrap();
            assert_eq!(answer["count"], answer["tokens"].as_array().unwrap().len());
            answer
        }
        other => unreachable!("{other:?}"),
    };
    let expected = Value::from(tokens("one two"));
    assert_eq!(tokenize(r#"{"prompt":"one two"}"#)["tokens"], expected);
    assert_eq!(tokenize(r#"{"content":"one two"}"#)["tokens"], expected);
    let messages = r#"{"messages":[{"role":"user","content":"one two"}]}"#;
    assert_eq!(tokenize(messages)["count"], 8);
}

#[test]
fn every_input_has_a_vector_or_a_score() {
    let pool = |path: &str, body: &str| match asked(ChatDialect::Openai, path, body) {
        Ask::Pool(_, tokens, body) => (tokens.len(), serde_json::from_str::<Value>(&body).unwrap()),
        other => unreachable!("{other:?}"),
    };
    let (tokens, list) = pool("/v1/embeddings", r#"{"input":["a b","c","a b"]}"#);
    let data = list["data"].as_array().unwrap();
    assert_eq!((tokens, data.len(), &list["usage"]["prompt_tokens"]), (5, 3, &Value::from(5)));
    assert_eq!(data[0]["embedding"], data[2]["embedding"]);
    assert_ne!(data[0]["embedding"], data[1]["embedding"]);
    assert_eq!(data[2]["index"], 2);
    assert_eq!(pool("/v1/embeddings", r#"{"input":[4,5]}"#).0, 2);
    assert_eq!(pool("/v1/embeddings", r#"{"input":[[4,5],[6]]}"#).0, 3);
    let (tokens, ranks) = pool("/v1/rerank", r#"{"query":"q","documents":["a b",{"text":"c"}]}"#);
    let results = ranks["results"].as_array().unwrap();
    assert_eq!((tokens, results.len(), &ranks["usage"]["total_tokens"]), (5, 2, &Value::from(5)));
    assert_eq!(results[1]["document"]["text"], "c");
    let (_, first) = pool("/v1/rerank", r#"{"query":"q","documents":["a","b"],"top_n":1}"#);
    assert_eq!(first["results"].as_array().unwrap().len(), 1);
}
