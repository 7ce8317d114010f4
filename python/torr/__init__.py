"""torr: pressure testing for APIs.

How much can it take, is B really faster than A, what does a user feel: each answered with its
evidence. Importing this package loads nothing else; each name is imported when it is used.
"""

from typing import Any

__version__ = "0.1.0"

# Imported when first asked for; the types are in __init__.pyi, which `make reference` writes.
_DOORS = {
    "run": "torr.api.calls",
    "ladder": "torr.api.calls",
    "once": "torr.api.calls",
    "tune": "torr.api.calls",
    "load": "torr.api.result",
    "Result": "torr.api.result",
    "Answer": "torr.api.answer",
    "Level": "torr.results.level",
    "Interval": "torr.results.level",
}
_ROOMS = {"errors", "targets"}


def __getattr__(name: str) -> Any:  # noqa: ANN401 - functions, classes, modules
    """Import a name when it is used."""
    from importlib import import_module

    if name in _ROOMS:
        return import_module(f"torr.{name}")
    if name not in _DOORS:
        message = f"module 'torr' has no attribute {name!r}"
        raise AttributeError(message)
    return getattr(import_module(_DOORS[name]), name)


def __dir__() -> list[str]:
    """Return the names, for completion."""
    return sorted([*globals(), *_DOORS, *_ROOMS])
