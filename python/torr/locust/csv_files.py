"""Complete Locust's CSV files at the end of a test, and close them without an error.

Locust closes them while the greenlet that writes them sleeps. Rows since its last write, up to a
second ago, would be missing; if the process continues, the greenlet would write to a closed file.

"""

from __future__ import annotations

from functools import wraps

from locust.stats import StatsCSVFileWriter


def patch_csv_writer() -> None:
    """Write the files again before they are closed, and end the greenlet that writes them.

    This must be called before Locust's main.
    """
    write, close = StatsCSVFileWriter.stats_writer, StatsCSVFileWriter.close_files

    @wraps(write)
    def stats_writer(self: StatsCSVFileWriter) -> None:
        try:
            write(self)
        except ValueError:
            if not self.requests_csv_filehandle.closed:
                raise

    @wraps(close)
    def close_files(self: StatsCSVFileWriter) -> None:
        if not self.requests_csv_filehandle.closed:
            _rewrite_totals(self)
        close(self)

    StatsCSVFileWriter.stats_writer = stats_writer
    StatsCSVFileWriter.close_files = close_files


def _rewrite_totals(self: StatsCSVFileWriter) -> None:
    """Write the totals again from the first row; the history is complete."""
    totals = (
        (self.requests_csv_filehandle, self.requests_csv_writer, self.requests_csv_columns),
        (self.failures_csv_filehandle, self.failures_csv_writer, self.failures_columns),
        (self.exceptions_csv_filehandle, self.exceptions_csv_writer, self.exceptions_columns),
    )
    rows = (self._requests_data_rows, self._failures_data_rows, self._exceptions_data_rows)
    for (file, writer, columns), write_rows in zip(totals, rows, strict=True):
        file.seek(0)
        writer.writerow(columns)
        write_rows(writer)
        file.truncate()
