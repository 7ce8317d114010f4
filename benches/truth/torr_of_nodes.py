"""torr, for which `--cluster` is this machine: each node is a process, as in the tests.

python benches/truth/torr_of_nodes.py run URL --nodes 3 --cluster here:1 …
"""

from __future__ import annotations

import sys
from pathlib import Path

from torr.cli.main import torr
from torr.cluster import cluster

LAUNCHER = Path(__file__).resolve().parents[2] / "tests" / "local_launcher.py"


def launcher_command(address: str) -> list[str]:
    """Return the command of the process that starts the agents of nodes a, b and c."""
    del address
    return [sys.executable, str(LAUNCHER), "a,b,c"]


if __name__ == "__main__":
    cluster.launcher_command = launcher_command
    torr()
