//! Requests whose result needs no generated text: tokens, embeddings and ranks.

use serde::Deserialize;
use serde_json::{Value, json};

use super::prompt::{self, ChatMessage};
use super::{Ask, MODEL, parse};
use crate::counts::ChatCall;
use crate::random;

/// The numbers of an embedding.
const DIMENSIONS: u64 = 8;

#[derive(Deserialize)]
struct TokenizeBody {
    /// Of vLLM.
    #[serde(default)]
    prompt: Value,
    /// Of llama.cpp.
    #[serde(default)]
    content: Value,
    #[serde(default)]
    messages: Option<Vec<ChatMessage>>,
}

#[derive(Deserialize)]
struct EmbeddingsBody {
    input: Value,
}

#[derive(Deserialize)]
struct RerankBody {
    query: String,
    documents: Vec<Value>,
    #[serde(default)]
    top_n: Option<usize>,
}

/// Answers `/tokenize` for vLLM's clients and llama.cpp's.
pub(super) fn tokens(body: &[u8], begin: u64) -> Result<Ask, String> {
    let body: TokenizeBody = parse(body)?;
    let tokens = match (&body.messages, &body.prompt, &body.content) {
        (Some(messages), _, _) => prompt::of_chat(&Value::Null, messages, begin),
        (None, Value::String(text), _) | (None, _, Value::String(text)) => prompt::of_text(text),
        _ => return Err("none of `prompt`, `content` and `messages` is given".into()),
    };
    let answer = json!({"count": tokens.len(), "tokens": tokens});
    Ok(Ask::Plain(ChatCall::Tokenize, "200 OK", answer.to_string()))
}

/// Answers with a vector for each input: equal inputs have equal vectors.
pub(super) fn embeddings(body: &[u8]) -> Result<Ask, String> {
    let body: EmbeddingsBody = parse(body)?;
    let inputs = prompt::of_each(&body.input)?;
    let data: Vec<Value> = inputs
        .iter()
        .enumerate()
        .map(|(index, tokens)| {
            json!({"object": "embedding", "index": index, "embedding": vector(tokens)})
        })
        .collect();
    let tokens = inputs.concat();
    let usage = json!({"prompt_tokens": tokens.len(), "total_tokens": tokens.len()});
    let answer = json!({"object": "list", "data": data, "model": MODEL, "usage": usage});
    Ok(Ask::Pool(ChatCall::Embedding, tokens, answer.to_string()))
}

/// Answers with a score for each document: the first one has the highest.
pub(super) fn rerank(body: &[u8]) -> Result<Ask, String> {
    let body: RerankBody = parse(body)?;
    let mut tokens = Vec::new();
    let mut results = Vec::new();
    for (index, document) in body.documents.iter().enumerate() {
        let text = document.as_str().or_else(|| document["text"].as_str());
        let text = text.ok_or_else(|| format!("documents: {index} has no text"))?;
        tokens.extend(prompt::of_text(&body.query));
        tokens.extend(prompt::of_text(text));
        let score = 1.0 / (index + 1) as f64;
        results.push(json!({"index": index, "document": {"text": text}, "relevance_score": score}));
    }
    results.truncate(body.top_n.unwrap_or(results.len()));
    let usage = json!({"prompt_tokens": tokens.len(), "total_tokens": tokens.len()});
    let answer = json!({"id": "rerank", "model": MODEL, "usage": usage, "results": results});
    Ok(Ask::Pool(ChatCall::Rerank, tokens, answer.to_string()))
}

/// Returns numbers in -1 ≤ x < 1 that depend on the tokens alone.
fn vector(tokens: &[u32]) -> Vec<f64> {
    let seed = tokens.iter().fold(0, |seed, token| random::bits(seed, 0, u64::from(*token)));
    (0..DIMENSIONS).map(|number| 2.0 * random::unit(seed, 1, number) - 1.0).collect()
}
