"""A folder for PYTHONPATH: a Python that starts with it accepts requests for memory profiles.

    TORR_MEMORY=/tmp/memory PYTHONPATH=$(python -m torr.profile.hook) python server.py

`sitecustomize.py` imports nothing of torr: the server has a Python of its own.
"""

from __future__ import annotations

from pathlib import Path

FOLDER = Path(__file__).parent
"""The folder for PYTHONPATH."""

VARIABLE = "TORR_MEMORY"
"""The variable with the folder of requests and answers; without it the hook does nothing."""
