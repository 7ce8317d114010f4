"""What Python reads of others: each target takes bytes and may raise only torr's own errors."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from torr.errors import TorrError
from torr.model.json_input import JsonInputError, parse_json
from torr.model.printable import safe_text
from torr.options.tune import TuneOptions
from torr.planning.tuning import TunePlan
from torr.profile import pprof
from torr.sources.dat_file import read as read_dat
from torr.sources.requests import read_requests
from torr.sources.tune_file import read_tune_file

SECRET = "x7Qv9-Zk3m-Lw8t"  # noqa: S105 - planted, and searched for
# A line in which the header's name tells that its value is a secret.
LINE = f"\nX-Api-Key: {SECRET}\n"

_PLACE = Path(tempfile.mkdtemp(prefix="torr-fuzz-", dir=os.environ.get("TORR_FUZZ_DIR")))


def redaction(data: bytes) -> None:
    """A text from outside: nothing raises, and a secret in a header's line is covered."""
    text = data.decode("utf-8", "replace")
    before, _, after = text.partition("|")
    safe_text(text)
    # A quote, a tag or a key block that was opened before may hold the line as its content.
    is_plain = not set(before) & set("\"'<\\") and "-----BEGIN" not in before
    if is_plain and SECRET in safe_text(f"{before}{LINE}{after}"):
        raise AssertionError(text)


def json(data: bytes) -> None:
    """JSON of any depth, size and numbers."""
    with suppress(JsonInputError):
        parse_json(data)


def har(data: bytes) -> None:
    """A HAR file."""
    with suppress(TorrError):
        read_requests(_written("requests.har", data))


def requests(data: bytes) -> None:
    """A requests file in vegeta's formats."""
    with suppress(TorrError):
        read_requests(_written("requests.http", data))


def dat_file(data: bytes) -> None:
    """A .dat file of levels."""
    with suppress(TorrError):
        read_dat(_written("levels.dat", data))


def go_profile(data: bytes) -> None:
    """A profile of Go, as it is or compressed."""
    with suppress(TorrError):
        pprof.read(data)


def tune_file(data: bytes) -> None:
    """A tune file, and the plan of its tuning."""
    with suppress(TorrError):
        TunePlan.of(read_tune_file(_written("tune.toml", data)), TuneOptions(pin="off"))


def _written(name: str, data: bytes) -> Path:
    path = _PLACE / name
    path.write_bytes(data)
    return path


TARGETS: dict[str, Callable[[bytes], None]] = {
    "redaction": redaction,
    "json": json,
    "har": har,
    "requests": requests,
    "dat": dat_file,
    "pprof": go_profile,
    "tune": tune_file,
}
"""The targets by the names that scripts/fuzz.sh gives."""
