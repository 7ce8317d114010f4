"""A process that has imported Locust and torr, and forks one `torr locust` per request.

It answers the requests that `warm_torr` does. At SIGUSR1 a command writes the stacks of its threads
to stderr.
"""

from __future__ import annotations

import faulthandler
import signal
import sys
from importlib import import_module
from pathlib import Path

from torr.locust import install

install()  # gevent patches the standard library before other modules import it
for name in ("locust.main", "torr.cli.locust", "torr.locust.run", "torr.locust.shutdown"):
    import_module(name)
faulthandler.register(signal.SIGUSR1)
sys.path.insert(0, str(Path(__file__).parents[1]))
# Sockets of workers send their last messages while Python frees them.
import_module("warm_torr").serve(end=sys.exit)
