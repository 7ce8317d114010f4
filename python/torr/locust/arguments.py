"""What `torr locust` adds to Locust's arguments: where the run goes, and what is said on it.

Like Locust's own they may stand in its config files and in the environment.
"""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from torr.errors import OutputError, UsageError
from torr.model.label import labels_of, read_note, read_tag
from torr.store.rundir import check_name

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

FOLDER = "_output/torr"
NAME = "locust"
NO_RUN = "none"

FLAGS = {"folder": "--torr-out", "name": "--torr-name"}

_NOTE, _TAG, _NO_STORE = "--torr-note", "--torr-tag", "--torr-no-store"

# Flag, placeholder, variable, default, help: docs/reference has them from here.
OPTIONS = (
    (FLAGS["folder"], "DIR", "TORR_OUT", FOLDER, "keep the run under DIR; none keeps nothing"),
    (FLAGS["name"], "NAME", "TORR_NAME", NAME, "what the run and its files are called"),
    (_NOTE, "TEXT", "TORR_NOTE", None, "what is special about this run"),
    (_TAG, "TAG", "TORR_TAG", None, "a word to find it by (repeatable)"),
    (_NO_STORE, "", "TORR_NO_STORE", None, "do not register it with the kept runs"),
)


def add_arguments(parser: Any, **_more: object) -> None:
    """Add them to Locust's parser."""
    # The web page shows only what is added to the parser itself.
    group = parser.add_argument_group("torr options", "What is kept of a test, beside Locust's own")
    for flag, metavar, variable, default, says in OPTIONS:
        group.add_argument(
            flag, env_var=variable, default=default, help=says, **_kind(flag, metavar)
        )


def is_kept(options: object) -> bool:
    """Whether a run is to be kept."""
    return str(getattr(options, "torr_out", NO_RUN)) != NO_RUN


def labels_in(options: object) -> dict[str, Any]:
    """The note and the tags of a test as result.json has them."""
    note, tags = getattr(options, "torr_note", None), getattr(options, "torr_tag", None)
    return labels_of(note, tags or ())


def is_registered(options: object) -> bool:
    """Whether a run is to be registered with the kept runs."""
    return not getattr(options, "torr_no_store", None)


def _kind(flag: str, metavar: str) -> dict[str, Any]:
    """What kind of argument it is, as argparse wants to know it."""
    if flag == _NO_STORE:
        return {"action": "store_true"}
    kinds: dict[str, Callable[[str], str]] = {
        FLAGS["name"]: _name,
        _NOTE: read_note,
        _TAG: _tag,
    }
    action = {"action": "append"} if flag == _TAG else {}
    return {"metavar": metavar, "type": kinds.get(flag, str), **action}


def _tag(text: str) -> str:
    try:
        return read_tag(text)
    except UsageError as error:
        raise argparse.ArgumentTypeError(error.message) from error


def _name(text: str) -> str:
    try:
        check_name(text, FLAGS["name"])
    except OutputError as error:
        raise argparse.ArgumentTypeError(error.message) from error
    return text
