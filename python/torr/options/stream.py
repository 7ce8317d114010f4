"""Options of answers that stream, and of chat APIs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal

from torr.model.stream import ALIASES, DIALECTS, Alias, Dialect
from torr.options import readers
from torr.options.definition import EVERYWHERE, SAID_BY_PLAN, STREAM, Front, many, option, switch
from torr.options.readers import Reader, one_of

Api = Literal["openai", "dify", "anthropic"]
CountedFrom = Literal["sent", "intended"]
PromptOrder = Literal["sequence", "shuffle"]

DIALECT: Reader[Dialect] = one_of("DIALECT", DIALECTS)
API: Reader[Api] = one_of("API", ("openai", "dify", "anthropic"))
ALIAS: Reader[Alias] = one_of("TOOL", ALIASES)
COUNTED_FROM: Reader[CountedFrom] = one_of("WHEN", ("sent", "intended"))
PROMPT_ORDER: Reader[PromptOrder] = one_of("HOW", ("sequence", "shuffle"))


@dataclass(frozen=True, slots=True)
class StreamOptions:
    """How answers stream, and what users of a chat API say."""

    group: ClassVar[str] = STREAM

    stream: Dialect | None = option(
        "--stream", DIALECT, "answers are events: sse, openai, dify, anthropic", fronts=SAID_BY_PLAN
    )
    idle_timeout_ns: int | None = option(
        "--idle-timeout", readers.SOME_DURATION, "a stream may stand still for so long", rare=True
    )
    counted_from: CountedFrom = option(
        "--from",
        COUNTED_FROM,
        "their times count from: sent, intended [sent]",
        default="sent",
        rare=True,
    )
    chat: Api | None = option(
        "--chat", API, "ask a chat API: openai, dify, anthropic", fronts=SAID_BY_PLAN
    )
    aliases: tuple[Alias, ...] = many(
        "--alias", ALIAS, "also what it would say: vllm, aiperf", rare=True
    )
    # A comparison has no verdict on tokens.
    tokenizer: str | None = option(
        "--tokenizer",
        readers.FILE,
        "count tokens too, by a tokenizer.json",
        rare=True,
        fronts=EVERYWHERE & ~Front.MATRIX,
    )
    prompt: str | None = option(
        "--prompt", readers.TEXT, "what its users say", rare=True, fronts=SAID_BY_PLAN
    )
    prompts: str | None = option(
        "--prompts",
        readers.FILE,
        "what they say in turn: JSON lines, ShareGPT",
        rare=True,
        fronts=SAID_BY_PLAN,
    )
    model: str | None = option(
        "--model", readers.NAME, "the model that answers", rare=True, fronts=SAID_BY_PLAN
    )
    max_tokens: int | None = option(
        "--max-tokens",
        readers.COUNT,
        "an answer has so many at most",
        rare=True,
        fronts=SAID_BY_PLAN,
    )
    user: str | None = option(
        "--user", readers.NAME, "who asks [dify: torr]", rare=True, fronts=SAID_BY_PLAN
    )
    inputs: bytes | None = option(
        "--inputs",
        readers.CONTENT,
        "variables of a Dify app, as JSON",
        rare=True,
        fronts=SAID_BY_PLAN,
    )
    token_env: str | None = option(
        "--token-env", readers.NAME, "the environment variable with the API's key", rare=True
    )
    turns: int = option(
        "--turns",
        readers.COUNT,
        "hold conversations of N turns [1]",
        default=1,
        rare=True,
        fronts=SAID_BY_PLAN,
    )
    prompt_order: PromptOrder = option(
        "--prompt-order",
        PROMPT_ORDER,
        "sequence, or shuffle by --seed [sequence]",
        default="sequence",
        rare=True,
        fronts=SAID_BY_PLAN,
    )
    unique_prefix: bool = switch(
        "--unique-prefix",
        "begin each prompt anew, so that no cache knows it",
        rare=True,
        fronts=SAID_BY_PLAN,
    )
