//! Requests for an answer in the APIs of OpenAI and Anthropic. Unknown members are ignored.

use serde::Deserialize;
use serde_json::Value;

use super::prompt::{self, ChatMessage};
use super::{Api, Ask, ChatAsk, LengthAsk};

#[derive(Deserialize)]
struct GenerateBody {
    #[serde(default)]
    messages: Option<Vec<ChatMessage>>,
    /// Of `/v1/completions`.
    #[serde(default)]
    prompt: Value,
    /// Of `/v1/responses`.
    #[serde(default)]
    input: Value,
    #[serde(default)]
    instructions: Value,
    /// Of `/v1/messages`.
    #[serde(default)]
    system: Value,
    #[serde(default)]
    stream: Option<bool>,
    #[serde(default)]
    stream_options: Option<StreamOptions>,
    #[serde(default)]
    max_tokens: Option<u64>,
    #[serde(default)]
    max_completion_tokens: Option<u64>,
    #[serde(default)]
    max_output_tokens: Option<u64>,
    #[serde(default)]
    min_tokens: Option<u64>,
    #[serde(default)]
    ignore_eos: Option<bool>,
}

#[derive(Deserialize)]
struct StreamOptions {
    #[serde(default)]
    include_usage: bool,
}

impl GenerateBody {
    fn prompt(&self, api: Api, begin: u64) -> Result<Vec<u32>, String> {
        match api {
            Api::Completions => prompt::of_prompt(&self.prompt),
            Api::Responses => prompt::of_input(&self.instructions, &self.input, begin),
            Api::ChatCompletions | Api::Messages | Api::Dify { .. } => {
                let messages = self.messages.as_deref().ok_or("missing field `messages`")?;
                Ok(prompt::of_chat(&self.system, messages, begin))
            }
        }
    }

    fn length(&self) -> LengthAsk {
        let most = self.max_completion_tokens.or(self.max_tokens).or(self.max_output_tokens);
        LengthAsk {
            least: self.min_tokens.unwrap_or_default(),
            most,
            ignores_end: self.ignore_eos.unwrap_or_default(),
        }
    }
}

/// Reads a request; a chat template writes `begin` tokens before each message.
pub(super) fn read(api: Api, body: &[u8], begin: u64) -> Result<Ask, String> {
    let body: GenerateBody = super::parse(body)?;
    let usage_option = body.stream_options.as_ref().is_some_and(|options| options.include_usage);
    Ok(Ask::Generate(ChatAsk {
        api,
        is_streamed: body.stream.unwrap_or_default(),
        wants_usage: usage_option,
        prompt: body.prompt(api, begin)?,
        conversation: None,
        length: body.length(),
    }))
}
