"""The table of all APIs, by their names."""

from __future__ import annotations

from torr.planning.apis import (
    anthropic,
    completions,
    dify,
    embeddings,
    openai,
    rerank,
    responses,
)

_MODULES = (openai, completions, responses, anthropic, dify, embeddings, rerank)

APIS = {module.API.name: module.API for module in _MODULES}

NAMES = tuple(APIS)
