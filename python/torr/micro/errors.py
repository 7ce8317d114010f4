"""Count the exceptions of operations by class, and keep the first traceback of each class."""

from __future__ import annotations

import threading
import traceback
from collections import Counter

from torr.results.level import ErrorSample

_MAX_CHARACTERS = 4_000


class ErrorCounts:
    """The exceptions of operations by class; safe for use by several threads."""

    def __init__(self) -> None:
        self.counts: Counter[str] = Counter()
        self._first: dict[str, str] = {}
        self._lock = threading.Lock()

    def add(self, error: BaseException) -> str:
        """Count an exception and return the name of its class."""
        name = type(error).__qualname__
        with self._lock:
            self.counts[name] += 1
            if name not in self._first:
                self._first[name] = "".join(traceback.format_exception(error))[-_MAX_CHARACTERS:]
        return name

    def samples(self) -> list[ErrorSample]:
        """Return the first exception of each class as a sample."""
        return [
            ErrorSample(error_class="check", reason=f"raised.{name}", detail=text)
            for name, text in self._first.items()
        ]
