"""Write docs/images/demo.svg: an animation of `torr demo` in a terminal.

    python scripts/animation.py

It records the command in a pseudo-terminal as an asciicast, and svg-term-cli draws it. npx installs
svg-term-cli on the first call. Run it on a quiet machine: the animation shows real numbers.
"""

from __future__ import annotations

import fcntl
import json
import os
import pty
import struct
import subprocess
import sys
import tempfile
import termios
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
IMAGE = ROOT / "docs/images/demo.svg"
COLUMNS, ROWS = 92, 30
# The animation runs faster than the command, without long pauses, and shows its end for some time.
SPEED, LONGEST_PAUSE_S, END_S = 0.4, 1.0, 5.0
DRAWER = "svg-term-cli@2.1.1"


def main() -> int:
    """Record the command and draw it."""
    torr = Path(sys.executable).with_name("torr")
    with tempfile.TemporaryDirectory() as folder:
        events = record([str(torr), "demo"], folder)
        cast = Path(folder) / "demo.cast"
        cast.write_text(as_cast([(0.0, "$ torr demo\r\n"), *events]))
        command = ["npx", "--yes", DRAWER, "--in", str(cast), "--out", str(IMAGE)]
        subprocess.run([*command, "--window", "--no-cursor"], check=True)
    print(f"written: {IMAGE.relative_to(ROOT)}")
    return 0


def record(command: list[str], folder: str) -> list[tuple[float, str]]:
    """Return the output of a command in a terminal, each part with its time in seconds."""
    pid, terminal = pty.fork()
    if pid == 0:
        os.chdir(folder)
        fcntl.ioctl(0, termios.TIOCSWINSZ, struct.pack("HHHH", ROWS, COLUMNS, 0, 0))
        os.environ.update(TERM="xterm-256color", TORR_STORE=f"{folder}/store.db")
        os.execv(command[0], command)  # noqa: S606
    started, events = time.monotonic(), []
    while True:
        try:
            data = os.read(terminal, 65_536)
        except OSError:  # the command has ended
            break
        events.append((time.monotonic() - started, data.decode(errors="replace")))
    os.waitpid(pid, 0)
    return events


def as_cast(events: list[tuple[float, str]]) -> str:
    """Return events as an asciicast of version 2, at the speed of the animation."""
    lines, now_s, last_s = [json.dumps({"version": 2, "width": COLUMNS, "height": ROWS})], 0.0, 0.0
    for at_s, text in events:
        now_s += SPEED * min(at_s - last_s, LONGEST_PAUSE_S)
        last_s = at_s
        lines.append(json.dumps([round(now_s, 3), "o", text]))
    lines.append(json.dumps([now_s + END_S, "o", ""]))
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    sys.exit(main())
