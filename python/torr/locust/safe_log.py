"""Remove secrets from Locust's log and tables; names of rows, URLs and exceptions may hold them."""

from __future__ import annotations

import logging

from torr.model.printable import safe_text

# Locust writes its tables with a logger that has a handler of its own.
LOGGERS = ("", "locust.stats_logger")


class SafeFormatter(logging.Formatter):
    """Formats as another formatter does, without secrets and control characters."""

    def __init__(self, formatter: logging.Formatter) -> None:
        super().__init__()
        self._formatter = formatter

    def format(self, record: logging.LogRecord) -> str:
        """Return the lines of a record."""
        return safe_text(self._formatter.format(record))


def redact_logs() -> None:
    """Remove secrets in all handlers of Locust's loggers, which must have been set up before."""
    for name in LOGGERS:
        for handler in logging.getLogger(name).handlers:
            if not isinstance(handler.formatter, SafeFormatter):
                handler.setFormatter(SafeFormatter(handler.formatter or logging.Formatter()))
