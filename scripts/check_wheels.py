"""Install the wheel of dist for this machine into empty environments, and use it.

    python scripts/check_wheels.py

For each Python from 3.10 to 3.14 that is found (on the PATH or in ~/.pyenv), torr is installed with
its dependencies, runs its demo, and is timed. It exits with 1 if a bar is missed or a demo fails.
"""

from __future__ import annotations

import os
import platform
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

DIST = Path(__file__).resolve().parents[1] / "dist"
PYTHONS = ("3.10", "3.11", "3.12", "3.13", "3.14")
MOST_BYTES = 8_000_000
MOST_IMPORT_S, MOST_HELP_S = 0.060, 0.150
TURNS = 9
SHARE = (
    "bash-completion/completions/torr",
    "zsh/site-functions/_torr",
    "fish/vendor_completions.d/torr.fish",
    "man/man1/torr.1",
)


def main() -> int:
    """Check sizes, then each Python; return the exit code."""
    wheels = sorted(DIST.glob("torr-*.whl"))
    own = [wheel for wheel in wheels if wheel.stem.endswith(platform.machine())]
    if not own:
        print(f"no wheel for {platform.machine()} in {DIST}: make wheels", file=sys.stderr)
        return 1
    is_fine = True
    for wheel in wheels:
        size = wheel.stat().st_size
        is_fine &= size <= MOST_BYTES
        print(f"{wheel.name}: {size / 1e6:.2f} MB (at most {MOST_BYTES / 1e6:g})")
    for version in PYTHONS:
        python = found(version)
        if python is None:
            print(f"Python {version}: not found, not checked")
            continue
        with tempfile.TemporaryDirectory(prefix="torr-wheel-") as folder:
            is_fine &= check(version, python, own[-1], Path(folder))
    return 0 if is_fine else 1


def found(version: str) -> str | None:
    """Return the interpreter of a version, if there is one."""
    own = sorted((Path.home() / ".pyenv/versions").glob(f"{version}.*/bin/python"))
    return str(own[-1]) if own else shutil.which(f"python{version}")


def check(version: str, python: str, wheel: Path, folder: Path) -> bool:
    """Install the wheel, run the demo, time import and help; return whether all is well."""
    subprocess.run([python, "-m", "venv", str(folder / "venv")], check=True)
    ours = folder / "venv/bin/python"
    pip = [str(ours), "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
    subprocess.run([*pip, str(wheel)], check=True)
    missing = [name for name in SHARE if not (folder / "venv/share" / name).exists()]
    torr = ours.with_name("torr")
    ended = run([str(torr), "demo", "--quick"], folder)
    verdict = next((line for line in ended.stdout.splitlines() if line.startswith("Holds")), "")
    import_s = median_s([str(ours), "-c", "import torr"], folder)
    import_s -= median_s([str(ours), "-c", "pass"], folder)
    help_s = median_s([str(torr), "--help"], folder)
    is_fine = (
        ended.returncode == 0
        and bool(verdict)
        and not missing
        and import_s <= MOST_IMPORT_S
        and help_s <= MOST_HELP_S
    )
    print(
        f"Python {version}: demo {verdict or ended.stderr[-300:]!r}, "
        f"import {1000 * import_s:.0f} ms, --help {1000 * help_s:.0f} ms"
        f"{f', missing {missing}' if missing else ''}: {'fine' if is_fine else 'NOT FINE'}"
    )
    return is_fine


def median_s(command: list[str], folder: Path) -> float:
    """Return how long a command takes, the median of several turns."""
    times = []
    for _ in range(TURNS):
        started = time.perf_counter()
        run(command, folder)
        times.append(time.perf_counter() - started)
    return statistics.median(times)


def run(command: list[str], folder: Path) -> subprocess.CompletedProcess[str]:
    """Run a command in a folder, without the environment of this checkout."""
    environment = {"HOME": str(folder), "PATH": os.environ["PATH"], "LANG": "C.UTF-8"}
    return subprocess.run(
        command, cwd=folder, env=environment, capture_output=True, text=True, check=False
    )


if __name__ == "__main__":
    sys.exit(main())
