"""The table of all APIs, by their names."""

from __future__ import annotations

from torr.planning.apis import anthropic, completions, dify, openai, responses

APIS = {
    api.name: api for api in (openai.API, completions.API, responses.API, anthropic.API, dify.API)
}

NAMES = tuple(APIS)
