"""Options of responses that stream, and of chat APIs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal

from torr.model.stream import ALIASES, DIALECTS, Alias, EventDialect
from torr.options import readers
from torr.options.definition import (
    EVERYWHERE,
    SET_IN_PLAN_GROUPS,
    STREAM,
    OptionScope,
    many,
    option,
    switch,
)
from torr.options.readers import Reader, one_of
from torr.planning.apis.images import ImageSize
from torr.planning.apis.servers import SERVER_NAMES
from torr.planning.apis.table import NAMES
from torr.planning.prompt_text.lengths import Lengths, read_lengths

CountedFrom = Literal["sent", "intended"]
PromptOrder = Literal["sequence", "shuffle"]

DIALECT: Reader[EventDialect] = one_of("DIALECT", DIALECTS)
API: Reader[str] = one_of("API", NAMES)
IMAGE = Reader("WIDTHxHEIGHT", ImageSize.parse, "512x512")
LENGTHS: Reader[Lengths] = Reader("N|A..B", read_lengths, "100..900")
SERVER: Reader[str] = one_of("SERVER", SERVER_NAMES)
ALIAS: Reader[Alias] = one_of("TOOL", ALIASES)
COUNTED_FROM: Reader[CountedFrom] = one_of("WHEN", ("sent", "intended"))
PROMPT_ORDER: Reader[PromptOrder] = one_of("HOW", ("sequence", "shuffle"))


@dataclass(frozen=True, slots=True)
class StreamOptions:
    """How answers stream, and what users of a chat API send."""

    group: ClassVar[str] = STREAM
    scopes: ClassVar[OptionScope] = SET_IN_PLAN_GROUPS

    stream: EventDialect | None = option(
        "--stream", DIALECT, "read event streams: sse, openai, responses, …"
    )
    idle_timeout_ns: int | None = option(
        "--idle-timeout",
        readers.SOME_DURATION,
        "fail a stream after TIME without data",
        rare=True,
        scopes=EVERYWHERE,
    )
    counted_from: CountedFrom = option(
        "--from",
        COUNTED_FROM,
        "measure stream times from sent or intended time [sent]",
        default="sent",
        rare=True,
        scopes=EVERYWHERE,
    )
    chat: str | None = option("--chat", API, "ask a language model: openai, anthropic, …")
    aliases: tuple[Alias, ...] = many(
        "--alias",
        ALIAS,
        "also as vllm, aiperf, sglang, guidellm, inference-perf",
        rare=True,
        scopes=EVERYWHERE,
    )
    tokenizer: str | None = option(
        "--tokenizer",
        readers.FILE,
        "also count tokens, by a tokenizer.json",
        rare=True,
        scopes=EVERYWHERE,
    )
    prompt: str | None = option("--prompt", readers.TEXT, "send this prompt", rare=True)
    prompts: str | None = option(
        "--prompts",
        readers.FILE,
        "send the prompts in FILE in turn: JSON lines, ShareGPT",
        rare=True,
    )
    prompt_tokens: Lengths | None = option(
        "--prompt-tokens", LENGTHS, "make up prompts of N tokens, or A to B", rare=True
    )
    prefix_tokens: int | None = option(
        "--prefix-tokens", readers.COUNT, "begin made-up prompts with N shared tokens", rare=True
    )
    prefix_groups: int | None = option(
        "--prefix-groups", readers.COUNT, "have N different shared beginnings [1]", rare=True
    )
    token_ids: bool = switch(
        "--token-ids", "send made-up prompts as token ids, of the tokenizer", rare=True
    )
    model: str | None = option("--model", readers.NAME, "ask for this model", rare=True)
    max_tokens: int | None = option(
        "--max-tokens", readers.COUNT, "limit each response to N tokens", rare=True
    )
    output_tokens: Lengths | None = option(
        "--output-tokens",
        LENGTHS,
        "make the server generate exactly N tokens, or A to B",
        rare=True,
    )
    server: str | None = option(
        "--server",
        SERVER,
        "force the output length as this server does: vllm, …",
        rare=True,
    )
    images: tuple[ImageSize, ...] = many(
        "--image", IMAGE, "add an image of random pixels to each prompt", rare=True
    )
    tools: str | None = option(
        "--tools", readers.FILE, "let the model call the tools in FILE, a JSON list", rare=True
    )
    user: str | None = option("--user", readers.NAME, "send this user name [dify: torr]", rare=True)
    inputs: bytes | None = option(
        "--inputs", readers.CONTENT, "set the variables of a Dify app, as JSON", rare=True
    )
    token_env: str | None = option(
        "--token-env",
        readers.NAME,
        "read the API's key from this environment variable",
        rare=True,
        scopes=EVERYWHERE,
    )
    turns: int = option(
        "--turns", readers.COUNT, "hold conversations of N turns [1]", default=1, rare=True
    )
    batch: int = option(
        "--batch",
        readers.COUNT,
        "put N texts into a request of embeddings or rerank [1]",
        default=1,
        rare=True,
    )
    prompt_order: PromptOrder = option(
        "--prompt-order",
        PROMPT_ORDER,
        "send prompts in sequence, or shuffle them [sequence]",
        default="sequence",
        rare=True,
    )
    unique_prefix: bool = switch(
        "--unique-prefix", "add a unique prefix to each prompt, to avoid caches", rare=True
    )
