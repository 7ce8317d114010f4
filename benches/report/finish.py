"""Measure the CPU time from the saved trials of a large comparison to its files, and print it.

    python benches/report/finish.py [ROUNDS]

A recorded comparison of tests/golden is repeated in 39 cells, which makes 468 trials. Each round is
a process that continues the comparison after its last trial: it decodes and judges the trials,
draws the report, and stores the run. The imports of libraries are not counted.
"""

from __future__ import annotations

import copy
import gzip
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

GOLDEN = Path(__file__).parents[2] / "tests" / "golden"
CELLS = 39


def main() -> None:
    """Print the median of some rounds, or be one of them."""
    if sys.argv[1:2] == ["--one"]:
        one_round()
        return
    rounds = int(sys.argv[1]) if sys.argv[1:] else 5
    seconds = []
    for _ in range(rounds):
        command = [sys.executable, __file__, "--one"]
        output = subprocess.run(command, check=True, stderr=subprocess.PIPE, text=True).stderr
        seconds.append(float(output.splitlines()[-1]))
    print(f"CPU seconds: median {statistics.median(seconds):.2f} of {sorted(seconds)}")


def one_round() -> None:
    """Continue the comparison, and print the CPU seconds on stderr."""
    import matplotlib.backends.backend_agg
    import matplotlib.figure  # noqa: F401

    import torr.report.files.html
    import torr.store.runs.store  # noqa: F401
    from torr.cli.main import main as torr_main
    from torr.servers import versions

    recorded = json.loads(gzip.decompress((GOLDEN / "recorded" / "compare.json.gz").read_bytes()))
    with tempfile.TemporaryDirectory() as directory:
        folder = Path(directory)
        os.chdir(folder)
        os.environ["TORR_STORE"] = f"sqlite:///{folder}/runs.db"
        versions.versions = lambda command: {}  # noqa: ARG005
        write_matrix(recorded, folder)
        run = write_run(recorded, folder)
        sys.argv = ["torr", *recorded["command"], "--resume", str(run)]
        sys.stdout = (folder / "stdout.txt").open("w")
        start_s = time.process_time()
        try:
            torr_main(sys.argv[1:])
        except SystemExit as ended:
            if ended.code:
                raise
        print(f"{time.process_time() - start_s:.2f}", file=sys.stderr)


def write_matrix(recorded: dict[str, Any], folder: Path) -> None:
    """Write the matrix of the comparison with a factor that makes the cells."""
    head, *candidates = recorded["files"]["matrix.toml"].split("\n[[candidates]]")
    factors = f"\n[factors]\nsize = {json.dumps(sizes())}\n"
    tables = [f'\n[[candidates]]{text}env = {{ SIZE = "{{size}}" }}\n' for text in candidates]
    (folder / "matrix.toml").write_text("".join([head, factors, *tables]))


def write_run(recorded: dict[str, Any], folder: Path) -> Path:
    """Write the directory of the comparison as if it had been interrupted after the last trial."""
    from torr.results.result import decoded, encoded
    from torr.store import environment

    result = json.loads(json.dumps(recorded["result"]).replace("FOLDER", str(folder)))
    result["levels"] = [
        {**copy.deepcopy(level), "factors": {"size": size}}
        for size in sizes()
        for level in result["levels"]
    ]
    result |= {"status": "interrupted", "environment": environment.environment()}
    result["experiment"]["factors"] = {"size": sizes()}
    for candidate in result["experiment"]["candidates"].values():
        candidate |= {"versions": {}, "env": {"SIZE": "{size}"}}
    run = folder / "_output" / "torr" / "large-20260131-120000"
    run.mkdir(parents=True)
    # A file of the newest schema, so that no upgrade is counted.
    text = json.dumps(result).encode()
    (run / "result.json").write_bytes(encoded(decoded(text, "the recorded result")))
    (run / "intervals.jsonl").touch()
    return run


def sizes() -> list[str]:
    """Return the values of the factor, one for each cell."""
    return [str(number) for number in range(CELLS)]


if __name__ == "__main__":
    main()
