"""`torr target openai` and `torr target dify`: serve chat APIs with known events."""

from __future__ import annotations

from typing import Any, Literal

import click

from torr import targets
from torr.cli.command import Verb
from torr.cli.flags import flags_of
from torr.cli.target import serve
from torr.options.definition import build_options, values_in
from torr.options.target import CHAT, OPENAI, ChatOptions, LanguageModelOptions


@click.command(
    cls=Verb,
    examples=(
        "torr target openai --ttft 200ms --itl 20ms --tokens 50..200 --port 8080",
        "torr target openai --capacity 32 --fault truncate:1% --log truth.csv --port 8080",
        "torr target openai --prefill 100us --kv-tokens 16k --prefix-cache 16k --port 8080",
    ),
)
@flags_of(OPENAI)
def openai(**flags: Any) -> None:  # noqa: ANN401
    """Imitate a server of language models, such as vLLM.

    POST /v1/chat/completions, /v1/completions, /v1/responses and /v1/messages
    answer with text, as a stream if the request asks for one. A request may set the
    length of its answer: max_tokens, min_tokens, ignore_eos. POST /tokenize,
    /v1/embeddings and /v1/rerank, GET /v1/models, /health and /metrics answer, too.
    """
    _chat("openai", flags)


@click.command(
    cls=Verb,
    examples=("torr target dify --ttft heavy:300ms,0.5 --itl 30ms --capacity 64 --port 8080",),
)
@flags_of(CHAT)
def dify(**flags: Any) -> None:  # noqa: ANN401
    """Stream Dify chat messages, and answer retrievals.

    POST /v1/chat-messages answers as an agent if the request has inputs, otherwise
    as an app. POST /v1/datasets/ID/retrieve answers after the time to the first
    text.
    """
    _chat("dify", flags)


def _chat(dialect: Literal["openai", "dify"], flags: dict[str, Any]) -> None:
    behaviour = values_in(build_options(ChatOptions, flags))
    if behaviour.pop("listing"):
        for name, meaning in targets.defects().items():
            click.echo(f"{name:<10} {meaning}")
        return
    if dialect == "openai":
        behaviour |= values_in(build_options(LanguageModelOptions, flags))
    serve(targets.Chat(dialect, **behaviour), flags)
