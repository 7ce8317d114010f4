"""`torr`, which also writes what the engine and the monitor said to a file.

python recorder.py LOADS ARGUMENT ...
"""

from __future__ import annotations

import json
import os
import signal
import sys
from pathlib import Path

from torr import engine
from torr.cli.main import main
from torr.monitor import monitor

loads = []


class RecordedLoad:
    """A load that keeps what it hands out."""

    def __init__(self, load):
        self._load = load
        self._said = {"intervals": [], "level": None, "monitor": None}
        loads.append(self._said)

    def __getattr__(self, name):
        return getattr(self._load, name)

    def next_interval(self, timeout_s):
        text = self._load.next_interval(timeout_s)
        if text is not None:
            self._said["intervals"].append(text)
            count = sum(len(load["intervals"]) for load in loads)
            if str(count) == os.environ["GOLDEN_INTERRUPT"]:
                os.kill(os.getpid(), signal.SIGINT)
        return text

    def level(self):
        self._said["level"] = self._load.level()
        return self._said["level"]


class RecordedMonitor(monitor.Monitor):
    """A monitor that keeps what it said at the end of its load."""

    def stop(self, level):
        loads[-1]["monitor"] = super().stop(level)
        return loads[-1]["monitor"]


start = engine.start
engine.start = lambda plan: RecordedLoad(start(plan))
monitor.Monitor = RecordedMonitor
try:
    main(sys.argv[2:])
finally:
    Path(sys.argv[1]).write_text(json.dumps(loads))
