"""Prompts of a file: what users say to a chat API, conversation by conversation.

Two forms are read. One's own JSON lines, each a prompt or a conversation:

    "What is a torr?"
    {"prompt": "What is a torr?"}
    {"turns": ["What is a torr?", "And a bar?"]}

ShareGPT's JSON, of which the human turns are taken:

    [{"id": "a", "conversations": [{"from": "human", "value": "Hi"}, {"from": "gpt", …}]}]
"""

from __future__ import annotations

import random
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from torr.errors import FileError, UsageError, require
from torr.model.json_input import parse_json
from torr.model.outside_file import read_text
from torr.sources.entry import at

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

Order = Literal["sequence", "shuffle"]
Conversation = tuple[str, ...]

_HUMAN = ("human", "user")
_FORM = 'write {"prompt": "…"} or {"turns": ["…", "…"]}, one a line'


@dataclass(frozen=True, slots=True)
class Prompts:
    """Conversations of as many turns as were asked for; `left_out` had fewer."""

    conversations: tuple[Conversation, ...]
    left_out: int = 0


def read_prompts(path: Path) -> list[Conversation]:
    """Every conversation of a file; raises FileError that names the line."""
    text = read_text(path, f"--prompts {path}")
    found = _share_gpt(path, text) if text.lstrip().startswith("[") else _lines(path, text)
    if not found:
        raise FileError(path, 1, "there is no prompt", _FORM)
    return found


def of_turns(found: Sequence[Conversation], turns: int) -> Prompts:
    """Conversations of exactly so many turns.

    Single prompts make up a conversation together, in order; of a longer conversation the first
    turns are taken, a shorter one is left out. Raises UsageError when nothing is left.
    """
    if all(len(conversation) == 1 for conversation in found):
        said = [conversation[0] for conversation in found]
        whole = len(said) // turns * turns
        groups = [tuple(said[at : at + turns]) for at in range(0, whole, turns)]
        require(
            bool(groups),
            f"--turns {turns} needs as many prompts, there are {len(said)}",
            "add prompts, or ask for fewer turns",
        )
        return Prompts(tuple(groups), len(said) - whole)
    long = [conversation[:turns] for conversation in found if len(conversation) >= turns]
    require(
        bool(long),
        f"--turns {turns}: no conversation has so many turns",
        f"the longest has {max(len(conversation) for conversation in found)}",
    )
    return Prompts(tuple(long), len(found) - len(long))


def ordered(prompts: Prompts, order: Order, seed: int) -> Prompts:
    """The same in the order asked for; shuffled by the seed, and the same each time."""
    if order == "sequence":
        return prompts
    conversations = list(prompts.conversations)
    random.Random(seed).shuffle(conversations)  # noqa: S311 - no secret
    return Prompts(tuple(conversations), prompts.left_out)


def _lines(path: Path, text: str) -> list[Conversation]:
    found = []
    # Within a text other characters than these may end a line elsewhere, such as U+2028.
    for number, line in enumerate(text.split("\n"), start=1):
        if line.strip():
            with at(path, number):
                found.append(_line(line))
    return found


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
    require(fits, "there is no prompt in this line", _FORM)
    require(all(turn.strip() for turn in turns), "a prompt is empty", _FORM)
    require(all(map(_is_whole, turns)), "a prompt has half of a character (a lone surrogate)")
    return tuple(turns)


def _is_whole(text: str) -> bool:
    """Whether it can be sent: JSON may name half of a surrogate pair, UTF-8 may not."""
    return not any("\ud800" <= character <= "\udfff" for character in text)


def _share_gpt(path: Path, text: str) -> list[Conversation]:
    try:
        entries = parse_json(text)
    except ValueError as error:
        line = getattr(error.__cause__, "lineno", 1)
        raise FileError(path, line, str(error)) from error
    found = []
    for number, entry in enumerate(entries, start=1):
        turns = entry.get("conversations") if isinstance(entry, dict) else None
        if not isinstance(turns, list):
            raise FileError(
                path, 1, f"entry {number} has no conversations", "it is not ShareGPT's form"
            )
        said = tuple(
            turn["value"]
            for turn in turns
            if isinstance(turn, dict)
            and turn.get("from") in _HUMAN
            and isinstance(turn.get("value"), str)
            and turn["value"].strip()
            and _is_whole(turn["value"])
        )
        if said:
            found.append(said)
    return found
