"""Measure the golden cases once, and keep what was measured in tests/golden/recorded.

    python tests/golden/record.py [NAME ...]

The load goes to targets that this script starts. Record a case anew only if its raw data must
change: the expected output of all cases is written by `test_golden.py --golden-update`.
"""

from __future__ import annotations

import gzip
import json
import os
import signal
import subprocess
import sys
import tempfile
from contextlib import contextmanager
from pathlib import Path

from cases import CASES, Case
from recordings import FOLDER, RECORDED, Recording

HERE = Path(__file__).resolve().parent
BIN = Path(sys.executable).parent
TORR = str(BIN / "torr")
PATH = f"{BIN}:{os.environ['PATH']}"
LONGEST_S = 120


def main(names: list[str]) -> None:
    """Record the cases of these names, or all."""
    RECORDED.mkdir(exist_ok=True)
    for case in CASES:
        if case.again != "diff" and (not names or case.name in names):
            recording = record(case)
            text = json.dumps(recording, ensure_ascii=False)
            path = RECORDED / f"{case.name}.json.gz"
            path.write_bytes(gzip.compress(text.encode(), mtime=0))
            print(f"{case.name}: {path.stat().st_size:,} bytes")


def record(case: Case) -> Recording:
    """Run a case against its target, and return what was measured."""
    with tempfile.TemporaryDirectory() as place, target(case.target) as (url, pid):
        folder = Path(place)
        for name, template in case.files.items():
            text = template.replace("{target}", url).replace("{{", "{").replace("}}", "}")
            (folder / name).write_text(text)
        command = [
            word.replace("{target}", url).replace("{pid}", str(pid)) for word in case.command
        ]
        loads = folder / "loads.json"
        run = [TORR, *command]
        if case.command[0] == "pytest":
            run = [sys.executable, "-m", *command]
        elif case.again == "engine":
            run = [sys.executable, str(HERE / "recorder.py"), str(loads), *command]
        ended = subprocess.run(
            run,
            cwd=folder,
            env={
                **os.environ,
                "PATH": PATH,
                "TORR_STORE": "none",
                "GOLDEN_INTERRUPT": str(case.interrupt_at),
            },
            capture_output=True,
            text=True,
            timeout=LONGEST_S,
            check=False,
        )
        print(f"{case.name}: exit code {ended.returncode}\n{ended.stdout}{ended.stderr}")
        recording: Recording = {
            "command": command,
            "target": url,
            "files": {name: (folder / name).read_text() for name in case.files},
            "loads": json.loads(loads.read_text()) if loads.exists() else [],
            "result": None,
        }
        if case.again != "engine":
            kept = (folder / "_output/torr/latest/result.json").read_text()
            recording["result"] = json.loads(
                kept.replace(place, FOLDER).replace(sys.base_prefix, "PYTHON")
            )
            recording["result"]["environment"]["machine"]["host"] = "host"
        return recording


@contextmanager
def target(words: tuple[str, ...]):
    """Start a `torr target` with these words, and give its URL and its process."""
    if not words:
        yield "http://127.0.0.1:1", 0
        return
    command = [TORR, "target", *words, "--for", f"{LONGEST_S}s"]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    try:
        yield process.stdout.readline().split()[-1].rstrip("/"), process.pid
    finally:
        process.send_signal(signal.SIGTERM)
        process.communicate(timeout=20)


if __name__ == "__main__":
    main(sys.argv[1:])
