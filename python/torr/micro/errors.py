"""What operations raised: counted by class, the first of each with its traceback."""

from __future__ import annotations

import threading
import traceback
from collections import Counter

from torr.results.level import ErrorSample

_LONGEST = 4_000


class Errors:
    """Errors of operations; threads may hand them in at once."""

    def __init__(self) -> None:
        self.counts: Counter[str] = Counter()
        self._first: dict[str, str] = {}
        self._lock = threading.Lock()

    def take(self, error: BaseException) -> str:
        """Count an error; the name of its class."""
        name = type(error).__qualname__
        with self._lock:
            self.counts[name] += 1
            if name not in self._first:
                self._first[name] = "".join(traceback.format_exception(error))[-_LONGEST:]
        return name

    def samples(self) -> list[ErrorSample]:
        """Return the first of each class as samples."""
        return [
            ErrorSample(error_class="check", reason=f"raised.{name}", detail=text)
            for name, text in self._first.items()
        ]
