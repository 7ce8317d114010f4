"""Prompts of a file, which users send to a chat API, as conversations of one or more turns.

Two forms are read. JSON lines, each a prompt or a conversation:

    "What is a torr?"
    {"prompt": "What is a torr?"}
    {"turns": ["What is a torr?", "And a bar?"]}

JSON of ShareGPT, of which the human turns are used:

    [{"id": "a", "conversations": [{"from": "human", "value": "Hi"}, {"from": "gpt", …}]}]
"""

from __future__ import annotations

import itertools
import random
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from torr.errors import FileError, UsageError
from torr.messages.say import say
from torr.model.json_input import parse_json
from torr.model.outside_file import read_text
from torr.sources.entry import errors_at

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

Order = Literal["sequence", "shuffle"]
Conversation = tuple[str, ...]

HUMAN = ("human", "user")
_FORM = say('write {{"prompt": "…"}} or {{"turns": ["…", "…"]}}, one a line')


@dataclass(frozen=True, slots=True)
class Prompts:
    """Conversations of equally many turns; `left_out` conversations were too short."""

    conversations: tuple[Conversation, ...]
    left_out: int = 0


def read_prompts(path: Path) -> list[Conversation]:
    """Return every conversation of a file; raise FileError that names the line."""
    text = read_text(path, f"--prompts {path}")
    conversations = _share_gpt(path, text) if text.lstrip().startswith("[") else _lines(path, text)
    if not conversations:
        raise FileError(path, 1, say("there is no prompt"), _FORM)
    return conversations


def of_turns(conversations: Sequence[Conversation], turns: int) -> Prompts:
    """Return conversations of exactly `turns` turns.

    Single prompts are joined to conversations in order; a longer conversation is cut after its
    first turns, a shorter one is left out. Raise UsageError when nothing remains.
    """
    if all(len(conversation) == 1 for conversation in conversations):
        prompts = [conversation[0] for conversation in conversations]
        used = len(prompts) // turns * turns
        groups = [tuple(prompts[start : start + turns]) for start in range(0, used, turns)]
        if not groups:
            raise UsageError(
                say(
                    "--turns {turns} needs a prompt for each turn, and there are {count}",
                    turns=turns,
                    count=len(prompts),
                ),
                say("add prompts, or ask for fewer turns"),
            )
        return Prompts(tuple(groups), len(prompts) - used)
    long_enough = [
        conversation[:turns] for conversation in conversations if len(conversation) >= turns
    ]
    if not long_enough:
        raise UsageError(
            say("--turns {turns}: no conversation has so many turns", turns=turns),
            say(
                "the longest has {maximum}",
                maximum=max(len(conversation) for conversation in conversations),
            ),
        )
    return Prompts(tuple(long_enough), len(conversations) - len(long_enough))


def in_batches(texts: Prompts, size: int) -> Prompts:
    """Return single texts in batches of `size`; the last one is filled from the first texts."""
    singles = [text for (text,) in texts.conversations]
    filled = itertools.chain(singles, itertools.cycle(singles))
    count = -(-len(singles) // size)
    return Prompts(tuple(tuple(itertools.islice(filled, size)) for _ in range(count)))


def ordered(prompts: Prompts, order: Order, seed: int) -> Prompts:
    """Return the conversations in order, or shuffled by the seed, each time the same."""
    if order == "sequence":
        return prompts
    conversations = list(prompts.conversations)
    random.Random(seed).shuffle(conversations)  # noqa: S311 - no secret
    return Prompts(tuple(conversations), prompts.left_out)


def _lines(path: Path, text: str) -> list[Conversation]:
    conversations = []
    # `splitlines` would also split at characters inside of a text, such as U+2028.
    for number, line in enumerate(text.split("\n"), start=1):
        if line.strip():
            with errors_at(path, number):
                conversations.append(_line(line))
    return conversations


def _line(line: str) -> Conversation:
    try:
        value = parse_json(line)
    except ValueError as error:
        raise UsageError(str(error), _FORM) from error
    turns: Any = None
    if isinstance(value, str):
        turns = [value]
    elif isinstance(value, dict):
        turns = value.get("turns", [value["prompt"]] if "prompt" in value else None)
    return _checked(turns)


def _checked(turns: Any) -> Conversation:  # noqa: ANN401 - JSON
    fits = isinstance(turns, list) and bool(turns) and all(isinstance(t, str) for t in turns)
    if not fits:
        raise UsageError(say("there is no prompt in this line"), _FORM)
    if not all(turn.strip() for turn in turns):
        raise UsageError(say("a prompt is empty"), _FORM)
    if not all(map(can_be_sent, turns)):
        raise UsageError(say("a prompt has half of a character (a lone surrogate)"))
    return tuple(turns)


def can_be_sent(text: str) -> bool:
    """Return whether UTF-8 can encode the text: JSON may contain a lone surrogate."""
    return not any("\ud800" <= character <= "\udfff" for character in text)


def _share_gpt(path: Path, text: str) -> list[Conversation]:
    try:
        entries = parse_json(text)
    except ValueError as error:
        line = getattr(error.__cause__, "lineno", 1)
        raise FileError(path, line, str(error)) from error
    conversations = []
    for number, entry in enumerate(entries, start=1):
        turns = entry.get("conversations") if isinstance(entry, dict) else None
        if not isinstance(turns, list):
            raise FileError(
                path,
                1,
                say("entry {number} has no conversations", number=number),
                say("write the file in the form of ShareGPT"),
            )
        prompts = tuple(
            turn["value"]
            for turn in turns
            if isinstance(turn, dict)
            and turn.get("from") in HUMAN
            and isinstance(turn.get("value"), str)
            and turn["value"].strip()
            and can_be_sent(turn["value"])
        )
        if prompts:
            conversations.append(prompts)
    return conversations
