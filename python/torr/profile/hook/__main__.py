"""Print the folder for PYTHONPATH."""

from __future__ import annotations

import sys

from torr.profile.hook import FOLDER

sys.stdout.write(f"{FOLDER}\n")
