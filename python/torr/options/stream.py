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
        "--stream",
        reader=DIALECT,
        fronts=SAID_BY_PLAN,
        help="answers are events: sse, openai, dify, anthropic",
    )
    idle_timeout_ns: int | None = option(
        "--idle-timeout",
        reader=readers.SOME_DURATION,
        rare=True,
        help="a stream may stand still for so long",
    )
    counted_from: CountedFrom = option(
        "--from",
        reader=COUNTED_FROM,
        default="sent",
        rare=True,
        help="their times count from: sent, intended [sent]",
    )
    chat: Api | None = option(
        "--chat",
        reader=API,
        fronts=SAID_BY_PLAN,
        help="ask a chat API: openai, dify, anthropic",
    )
    aliases: tuple[Alias, ...] = many(
        "--alias",
        reader=ALIAS,
        rare=True,
        help="also what it would say: vllm, aiperf",
    )
    tokenizer: str | None = option(
        "--tokenizer",
        reader=readers.FILE,
        rare=True,
        # A comparison has no verdict on tokens.
        fronts=EVERYWHERE & ~Front.MATRIX,
        help="count tokens too, by a tokenizer.json",
    )
    prompt: str | None = option(
        "--prompt",
        reader=readers.TEXT,
        rare=True,
        fronts=SAID_BY_PLAN,
        help="what its users say",
    )
    prompts: str | None = option(
        "--prompts",
        reader=readers.FILE,
        rare=True,
        fronts=SAID_BY_PLAN,
        help="what they say in turn: JSON lines, ShareGPT",
    )
    model: str | None = option(
        "--model",
        reader=readers.NAME,
        rare=True,
        fronts=SAID_BY_PLAN,
        help="the model that answers",
    )
    max_tokens: int | None = option(
        "--max-tokens",
        reader=readers.COUNT,
        rare=True,
        fronts=SAID_BY_PLAN,
        help="an answer has so many at most",
    )
    user: str | None = option(
        "--user",
        reader=readers.NAME,
        rare=True,
        fronts=SAID_BY_PLAN,
        help="who asks [dify: torr]",
    )
    inputs: bytes | None = option(
        "--inputs",
        reader=readers.CONTENT,
        rare=True,
        fronts=SAID_BY_PLAN,
        help="variables of a Dify app, as JSON",
    )
    token_env: str | None = option(
        "--token-env",
        reader=readers.NAME,
        rare=True,
        help="the environment variable with the API's key",
    )
    turns: int = option(
        "--turns",
        reader=readers.COUNT,
        default=1,
        rare=True,
        fronts=SAID_BY_PLAN,
        help="hold conversations of N turns [1]",
    )
    prompt_order: PromptOrder = option(
        "--prompt-order",
        reader=PROMPT_ORDER,
        default="sequence",
        rare=True,
        fronts=SAID_BY_PLAN,
        help="sequence, or shuffle by --seed [sequence]",
    )
    unique_prefix: bool = switch(
        "--unique-prefix",
        rare=True,
        fronts=SAID_BY_PLAN,
        help="begin each prompt anew, so that no cache knows it",
    )
