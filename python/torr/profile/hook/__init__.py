"""A folder for PYTHONPATH: a Python that starts with it can be asked for a profile of its memory.

    TORR_MEMORY=/tmp/memory PYTHONPATH=$(python -m torr.profile.hook) python server.py

`sitecustomize.py` imports nothing of torr: the server has a Python of its own.
"""

from __future__ import annotations

from pathlib import Path

FOLDER = Path(__file__).parent
"""What PYTHONPATH gets."""

VARIABLE = "TORR_MEMORY"
"""Names the folder in which questions and answers lie; without it nothing is done."""
