"""What a browser is given: the report's page, and the run in the form that the page reads.

One door to the report's bundle, so that the server knows nothing of it.
"""

from __future__ import annotations

from torr.report.html import document
from torr.report.view import bare
from torr.report.view import run as run_of

__all__ = ["bare", "document", "run_of"]
