"""What `torr locust` adds to Locust's arguments: where the run goes, and what it is called.

Like Locust's own they may stand in its config files and in the environment.
"""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from torr.errors import OutputError
from torr.store.rundir import check_name

if TYPE_CHECKING:
    from typing import Any

FOLDER = "_output/torr"
NAME = "locust"
NO_RUN = "none"

FLAGS = {"folder": "--torr-out", "name": "--torr-name"}

# Flag, placeholder, variable, default, help: docs/reference has them from here.
OPTIONS = (
    (FLAGS["folder"], "DIR", "TORR_OUT", FOLDER, "keep the run under DIR; none keeps nothing"),
    (FLAGS["name"], "NAME", "TORR_NAME", NAME, "what the run and its files are called"),
)


def add_arguments(parser: Any, **_more: object) -> None:
    """Add them to Locust's parser."""
    # The web page shows only what is added to the parser itself.
    group = parser.add_argument_group("torr options", "What is kept of a test, beside Locust's own")
    for flag, metavar, variable, default, says in OPTIONS:
        group.add_argument(
            flag,
            metavar=metavar,
            env_var=variable,
            default=default,
            type=_name if flag == FLAGS["name"] else str,
            help=says,
        )


def is_kept(options: object) -> bool:
    """Whether a run is to be kept."""
    return str(getattr(options, "torr_out", NO_RUN)) != NO_RUN


def _name(text: str) -> str:
    try:
        check_name(text, FLAGS["name"])
    except OutputError as error:
        raise argparse.ArgumentTypeError(error.message) from error
    return text
