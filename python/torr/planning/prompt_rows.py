"""The rows of a chat: prompts of its turns, or texts of its batches."""

from __future__ import annotations

import random
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from torr.errors import require
from torr.messages.say import say, say_count
from torr.model.rows import Rows
from torr.planning.apis.images import image_columns, images_of

if TYPE_CHECKING:
    from torr.options.stream import StreamOptions
    from torr.planning.apis.api import ModelApi
    from torr.planning.prompt_text.words import Words
    from torr.sources.prompts import Prompts


def made_up_rows(
    api: ModelApi, options: StreamOptions, words: Words, seed: int, template_tokens: int = 0
) -> Rows:
    """Return made-up prompts as rows; `template_tokens` are those that the server adds to each."""
    from torr.planning.prompt_text.made_up import made_up

    prompts, tokens = made_up(options, words, seed, template_tokens)
    if api.has_query:
        _check_prompts(api, options)
    width = options.batch if api.has_batches else options.turns
    columns = tuple(f"prompt_{number}" for number in range(1, width + 1))
    batch = options.batch if api.has_batches else 0
    rows = Rows(columns, prompts.conversations, batch=batch, tokens=tokens)
    rows = _with_query(rows, options) if api.has_query else rows
    return _with_images(rows, options, seed) if options.images else rows


def rows_of(api: ModelApi, options: StreamOptions, seed: int) -> tuple[Rows, tuple[str, ...]]:
    """Return the prompts as rows, and notes about those that are left out."""
    _check_prompts(api, options)
    prompts = _batches(options, seed) if api.has_batches else _turns(options, seed)
    width = options.batch if api.has_batches else options.turns
    columns = tuple(f"prompt_{number}" for number in range(1, width + 1))
    rows = Rows(
        columns,
        prompts.conversations,
        is_unique=options.unique_prefix,
        batch=options.batch if api.has_batches else 0,
    )
    if api.has_query:
        rows = _with_query(rows, options)
    if options.images:
        rows = _with_images(rows, options, seed)
    note = say_count(
        prompts.left_out,
        "{path}: {n:,} with too few turns is left out",
        "{path}: {n:,} with too few turns are left out",
        path=options.prompts or "",
    )
    return rows, (note,) if prompts.left_out else ()


def _check_prompts(api: ModelApi, options: StreamOptions) -> None:
    """Raise UsageError if there is no prompt, or if there are several sources of them."""
    prompt, path = options.prompt, options.prompts
    is_missing = prompt is None or not prompt.strip()
    if api.has_query:
        require(
            not is_missing,
            say("--chat {api} needs --prompt, which is the query", api=api.name),
            "--prompt 'What is a torr?'",
        )
        return
    both = prompt is not None and path is not None
    require(not both, say("--prompt and --prompts are both given"), say("give one of them"))
    require(
        path is not None or not is_missing,
        say("--chat needs --prompt"),
        "--prompt 'What is a torr?'",
    )


def _turns(options: StreamOptions, seed: int) -> Prompts:
    """Return conversations of as many turns as asked for."""
    from torr.sources.prompts import of_turns, ordered, read_prompts

    turns = options.turns
    if options.prompts is None:
        return of_turns([(options.prompt or "",) * turns], turns)
    return ordered(of_turns(read_prompts(Path(options.prompts)), turns), options.prompt_order, seed)


def _batches(options: StreamOptions, seed: int) -> Prompts:
    """Return batches of texts in order: every turn of a file is a text."""
    from torr.sources.prompts import Prompts, in_batches, ordered, read_prompts

    if options.prompts is None:
        return in_batches(Prompts(((options.prompt or "",),)), options.batch)
    texts = [(text,) for turns in read_prompts(Path(options.prompts)) for text in turns]
    return in_batches(ordered(Prompts(tuple(texts)), options.prompt_order, seed), options.batch)


def _with_images(rows: Rows, options: StreamOptions, seed: int) -> Rows:
    """Return the rows with images, which differ in each run if prompts are to be unique."""
    seed = random.SystemRandom().getrandbits(64) if options.unique_prefix else seed
    images = images_of(options.images, len(rows.rows), seed)
    return replace(
        rows,
        columns=(*rows.columns, *image_columns(options.images)),
        rows=tuple((*row, *more) for row, more in zip(rows.rows, images, strict=True)),
    )


def _with_query(rows: Rows, options: StreamOptions) -> Rows:
    """Return the rows with the query in each of them."""
    query = options.prompt or ""
    return replace(
        rows, columns=("query", *rows.columns), rows=tuple((query, *row) for row in rows.rows)
    )
