"""The table of all APIs, by their names."""

from __future__ import annotations

from torr.planning.apis import anthropic, dify, openai

APIS = {api.name: api for api in (openai.API, dify.API, anthropic.API)}

NAMES = tuple(APIS)
