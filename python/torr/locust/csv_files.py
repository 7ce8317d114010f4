"""Locust's CSV files, which Locust closes while the greenlet that writes them sleeps.

It wakes each second: whoever is still there by then, be it a process that waits for others, would
see it fail at a closed file.
"""

from __future__ import annotations

from functools import wraps

from locust.stats import StatsCSVFileWriter


def end_with_their_writer() -> None:
    """Have the writer end where its files are closed; before Locust's main is called."""
    write = StatsCSVFileWriter.stats_writer

    @wraps(write)
    def stats_writer(self: StatsCSVFileWriter) -> None:
        try:
            write(self)
        except ValueError:
            if not self.requests_csv_filehandle.closed:
                raise

    StatsCSVFileWriter.stats_writer = stats_writer
