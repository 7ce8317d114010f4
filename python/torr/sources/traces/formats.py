"""The formats of traces, and which of them a file has. A new format is a file and a line here."""

from __future__ import annotations

from typing import TYPE_CHECKING

from torr.errors import FileError, UsageError
from torr.messages.say import say
from torr.sources.traces import azure, bailian, burstgpt, litellm, mooncake, sharegpt, weka
from torr.sources.traces.source import opened_source
from torr.sources.traces.trace_format import TraceFormat, TraceHead

if TYPE_CHECKING:
    from pathlib import Path

    from torr.sources.traces.source import TraceSource

# A format is before another one whose names it has, too: Bailian's rows are also Mooncake's.
_FORMATS = (
    bailian.FORMAT,
    mooncake.FORMAT,
    weka.FORMAT,
    sharegpt.FORMAT,
    litellm.FORMAT,
    burstgpt.FORMAT,
    azure.FORMAT,
)
FORMATS: dict[str, TraceFormat] = {each.name: each for each in _FORMATS}
"""Each format by its name."""

_LARGE_FILE_POINTER = b"version https://git-lfs"


def detect_format(path: Path) -> str:
    """Return the name of the format of a file or a folder; raise UsageError that lists all."""
    if path.is_dir():
        return weka.FORMAT.name
    if path.is_fifo():
        raise UsageError(
            say("{path} is a pipe, which can be read only once", path=path),
            say("state the format of the trace: --trace-format NAME"),
        )
    with opened_source(path) as source:
        return format_of(source).name


def named_format(name: str) -> TraceFormat:
    """Return the format of a name; raise UsageError that lists all."""
    if name not in FORMATS:
        raise UsageError(say("{name!r} is not a format of traces", name=name), _known())
    return FORMATS[name]


def format_of(source: TraceSource) -> TraceFormat:
    """Return the format of a trace by how it begins; raise FileError that lists all."""
    if source.head.startswith(_LARGE_FILE_POINTER):
        raise FileError(
            source.path,
            1,
            say("this is a pointer of Git LFS, not the file"),
            say("fetch the file itself, as by `git lfs pull`"),
        )
    if not source.head.strip():
        raise FileError(source.path, 1, say("there is no row"))
    head = TraceHead.of(source.head)
    found = next((each for each in _FORMATS if each.fits(head)), None)
    if found is None:
        raise FileError(source.path, 1, say("this is not a known format of traces"), _known())
    return found


def _known() -> str:
    return say("the formats are {names}", names=", ".join(sorted(FORMATS)))
