//! The tokens of prompts: texts, lists of texts, numbers of tokens, and messages of chats.

use serde::Deserialize;
use serde_json::Value;

use crate::chat::tokenizer::{TokenId, begin_message, tokenize};

/// A message of a chat, or an item of `/v1/responses`.
#[derive(Deserialize)]
pub(super) struct ChatMessage {
    #[serde(default)]
    role: Option<String>,
    /// A text, or parts with texts.
    #[serde(default)]
    content: Value,
}

/// Returns the tokens of a chat. A template writes `begin` tokens before each message, and before the answer.
pub(super) fn of_chat(system: &Value, messages: &[ChatMessage], begin: u64) -> Vec<TokenId> {
    let mut tokens = Vec::new();
    if !system.is_null() {
        begin_message("system", begin, &mut tokens);
        add_content(system, &mut tokens);
    }
    for message in messages {
        begin_message(message.role.as_deref().unwrap_or("user"), begin, &mut tokens);
        add_content(&message.content, &mut tokens);
    }
    begin_message("assistant", begin, &mut tokens);
    tokens
}

/// Returns the tokens of the input of `/v1/responses`: a text, or items.
pub(super) fn of_input(
    instructions: &Value,
    input: &Value,
    begin: u64,
) -> Result<Vec<TokenId>, String> {
    let text = ChatMessage { role: None, content: input.clone() };
    let messages = match input {
        Value::String(_) => vec![text],
        _ => Vec::deserialize(input).map_err(|error| format!("input: {error}"))?,
    };
    Ok(of_chat(instructions, &messages, begin))
}

/// Returns the tokens of a plain prompt: a text, the first one of a list, or a list of tokens.
pub(super) fn of_prompt(prompt: &Value) -> Result<Vec<TokenId>, String> {
    let first = prompt.as_array().and_then(|list| list.first());
    match (prompt, first) {
        (Value::String(text), _) => Ok(of_text(text)),
        (Value::Array(_), Some(Value::Number(_))) => of_ids(prompt),
        (Value::Array(_), Some(Value::Array(_))) => of_ids(&prompt[0]),
        (Value::Array(_), Some(Value::String(text))) => Ok(of_text(text)),
        _ => Err("prompt: neither a text nor a list of texts or tokens".into()),
    }
}

/// Returns the tokens of each input: a list of texts or of lists of tokens has several.
pub(super) fn of_each(input: &Value) -> Result<Vec<Vec<TokenId>>, String> {
    match input.as_array().map(Vec::as_slice) {
        Some(list @ [Value::String(_) | Value::Array(_), ..]) => {
            list.iter().map(of_prompt).collect()
        }
        _ => Ok(vec![of_prompt(input)?]),
    }
}

pub(super) fn of_text(text: &str) -> Vec<TokenId> {
    let mut tokens = Vec::new();
    tokenize(text, &mut tokens);
    tokens
}

fn of_ids(list: &Value) -> Result<Vec<TokenId>, String> {
    Vec::deserialize(list).map_err(|error| format!("prompt: {error}"))
}

fn add_content(content: &Value, tokens: &mut Vec<TokenId>) {
    match content {
        Value::String(text) => tokenize(text, tokens),
        Value::Array(parts) => {
            for part in parts {
                tokenize(part["text"].as_str().unwrap_or_default(), tokens);
            }
        }
        _ => {}
    }
}
