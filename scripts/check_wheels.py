"""Install the packages of dist into empty environments, and use them.

    python scripts/check_wheels.py

The wheel is tried with each Python from 3.10 to 3.14 that is found on the PATH or in ~/.pyenv, and
in each system below build/roots, which scripts/wheel_roots.sh makes: a newer Python, another
processor, and the steps of the Containerfile. torr is installed with its dependencies, prints its
version, runs its demo, and is timed. The source archive is built and installed with this Python.

The exit code is 1 if a bar is missed, a step fails, or a Python was not found (with --missing-ok,
which says so and goes on).
"""

from __future__ import annotations

import argparse
import os
import platform
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
DIST = ROOT / "dist"
ROOTS = ROOT / "build" / "roots"
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


Ended = subprocess.CompletedProcess[str]


@dataclass(frozen=True)
class System:
    """Where a Python runs: on this machine, or in a root folder below build/roots."""

    root: Path | None
    python: str

    @property
    def is_emulated(self) -> bool:
        """Whether its processor is another one than this machine's: then times say nothing."""
        return self.machine != platform.machine()

    @property
    def machine(self) -> str:
        """Its processor, as wheels name it."""
        return self.output("import platform; print(platform.machine())")

    @property
    def version(self) -> str:
        """Its Python's version, such as 3.12."""
        return self.output("import sys; print('%d.%d' % sys.version_info[:2])")

    def output(self, code: str) -> str:
        """Return what a line of Python prints there."""
        ended = self.run([self.python, "-c", code], "/")
        if ended.returncode:
            raise SystemExit(f"{self.python} in {self.root or '/'}: {ended.stderr}")
        return ended.stdout.strip()

    def folder(self) -> tempfile.TemporaryDirectory[str]:
        """Return a new folder, seen from here."""
        place = self.root / "tmp" if self.root else None
        return tempfile.TemporaryDirectory(prefix="torr-wheel-", dir=place)

    def inside(self, path: Path) -> str:
        """Return how a path of here is called there."""
        return f"/{path.relative_to(self.root)}" if self.root else str(path)

    def run(self, command: list[str], folder: str, **variables: str) -> Ended:
        """Run a command there in a folder, without the environment of this checkout."""
        environment = {"HOME": folder, "PATH": os.environ["PATH"], "LANG": "C.UTF-8", **variables}
        if self.root:
            move = 'cd "$0" && exec "$@"'
            command = ["chroot", str(self.root), "/bin/sh", "-c", move, folder, *command]
        return subprocess.run(
            command,
            cwd=None if self.root else folder,
            env=environment,
            capture_output=True,
            text=True,
            check=False,
        )

    def __str__(self) -> str:
        place = f" in {self.root.relative_to(ROOT)}" if self.root else ""
        return f"Python {self.version}, {self.machine}{place}"


def main() -> int:
    """Check sizes, then each Python; return the exit code."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--missing-ok", action="store_true", help="accept Pythons that are missing")
    arguments = parser.parse_args()
    wheels = {machine_of(path): path for path in sorted(DIST.glob("torr-*.whl"))}
    if platform.machine() not in wheels:
        print(f"no wheel for {platform.machine()} in {DIST}: make wheels", file=sys.stderr)
        return 1
    is_fine = True
    for wheel in wheels.values():
        size = wheel.stat().st_size
        is_fine &= size <= MOST_BYTES
        print(f"{wheel.name}: {size / 1e6:.2f} MB (at most {MOST_BYTES / 1e6:g})")
    tried = set()
    for system in systems():
        tried.add((system.version, system.machine))
        is_fine &= check(system, wheels[system.machine])
        if system.root:
            is_fine &= check_container(system, system.root, wheels[system.machine])
    here = System(None, sys.executable)
    is_fine &= check_source(here)
    wanted = {(version, platform.machine()) for version in PYTHONS}
    wanted |= {("any", machine) for machine in wheels}
    tried |= {("any", machine) for _, machine in tried}
    for version, machine in sorted(wanted - tried):
        print(f"Python {version}, {machine}: not found, NOT CHECKED (try scripts/wheel_roots.sh)")
        is_fine &= arguments.missing_ok
    return 0 if is_fine else 1


def machine_of(wheel: Path) -> str:
    """Return the processor that a wheel is for."""
    return wheel.stem.split("manylinux_2_28_")[-1]


def systems() -> list[System]:
    """Return the Pythons of this machine and of the roots."""
    names = [System(None, path) for version in PYTHONS if (path := found(version))]
    roots = [root for root in sorted(ROOTS.glob("*")) if (root / "usr/bin/python3").exists()]
    return names + [System(root, "/usr/bin/python3") for root in roots]


def found(version: str) -> str | None:
    """Return the interpreter of a version, if there is one."""
    own = sorted((Path.home() / ".pyenv/versions").glob(f"{version}.*/bin/python"))
    return str(own[-1]) if own else shutil.which(f"python{version}")


def check(system: System, wheel: Path) -> bool:
    """Install the wheel, run the demo, time import and help; return whether all is well."""
    with system.folder() as name:
        folder = Path(name)
        inside = system.inside(folder)
        steps = [[system.python, "-m", "venv", f"{inside}/venv"]]
        ours, torr = f"{inside}/venv/bin/python", f"{inside}/venv/bin/torr"
        steps += [[ours, "-m", "pip", *pip_install(system, wheel, folder)], [torr, "--version"]]
        version, failed = run_all(system, steps, inside)
        if failed:
            print(f"{system}: {failed}: NOT FINE")
            return False
        missing = [name for name in SHARE if not (folder / "venv/share" / name).exists()]
        demo = system.run([torr, "demo", "--quick"], inside)
        verdict = next((line for line in demo.stdout.splitlines() if line.startswith("Holds")), "")
        is_fine = demo.returncode == 0 and bool(verdict) and not missing
        times = "times not taken: emulated"
        if not system.is_emulated:
            import_s = median_s(system, [ours, "-c", "import torr"], inside)
            import_s -= median_s(system, [ours, "-c", "pass"], inside)
            help_s = median_s(system, [torr, "--help"], inside)
            is_fine &= import_s <= MOST_IMPORT_S and help_s <= MOST_HELP_S
            times = f"import {1000 * import_s:.0f} ms, --help {1000 * help_s:.0f} ms"
    print(
        f"{system}: {version}, demo {verdict or demo.stderr[-300:]!r}, {times}"
        f"{f', missing {missing}' if missing else ''}: {'fine' if is_fine else 'NOT FINE'}",
        flush=True,
    )
    return is_fine


def pip_install(system: System, wheel: Path, folder: Path) -> list[str]:
    """Return the arguments for pip to install a wheel there; in a root, from files fetched here."""
    if not system.root:
        return ["install", "--quiet", str(wheel)]
    wheels = folder / "wheels"
    fetch = [sys.executable, "-m", "pip", "download", "--quiet", "--dest", str(wheels)]
    fetch += ["--only-binary=:all:", "--python-version", system.version]
    for tag in ("2_17", "2_26", "2_27", "2_28"):
        fetch += ["--platform", f"manylinux_{tag}_{system.machine}"]
    subprocess.run(
        [*fetch, "--platform", f"manylinux2014_{system.machine}", str(wheel)], check=True
    )
    inside = system.inside(wheels)
    return ["install", "--quiet", "--no-index", "--find-links", inside, f"{inside}/{wheel.name}"]


def check_container(system: System, root: Path, wheel: Path) -> bool:
    """Do the steps of the Containerfile in a root, then its entry point; return whether it runs.

    FROM is the root itself. What RUN installs goes to /usr/local and is removed after.
    """
    text = (ROOT / "Containerfile").read_text("utf-8")
    steps = [line.split(maxsplit=1) for line in text.splitlines() if re.match("[A-Z]+ ", line)]
    with system.folder() as name:
        folder = Path(name)
        words = pip_install(system, wheel, folder)
        variables = {
            "PIP_BREAK_SYSTEM_PACKAGES": "1",
            "PIP_ROOT_USER_ACTION": "ignore",
            "PIP_NO_INDEX": "1",
            "PIP_FIND_LINKS": words[words.index("--find-links") + 1],
        }
        entry: list[str] = []
        place = "/"
        failed = ""
        for verb, rest in steps:
            if verb == "COPY":
                pattern, to = rest.split()
                below = root / to.lstrip("/")
                below.mkdir(parents=True, exist_ok=True)
                for path in ROOT.glob(pattern):
                    shutil.copy(path, below)
            elif verb == "RUN":
                ended = system.run(["/bin/sh", "-c", rest], place, **variables)
                failed = failed or (ended.stderr[-600:] if ended.returncode else "")
            elif verb == "WORKDIR":
                place = rest
                (root / place.lstrip("/")).mkdir(parents=True, exist_ok=True)
            elif verb == "ENTRYPOINT":
                entry = re.findall('"([^"]*)"', rest)
            elif verb != "FROM":
                failed = failed or f"this check does not know {verb}"
        ended = system.run([*entry, "--version"], place, **variables)
        failed = failed or (ended.stderr[-600:] if ended.returncode else "")
        system.run(["pip", "uninstall", "--yes", "--quiet", "torr"], place, **variables)
    print(f"{system}: Containerfile {failed + ': NOT FINE' if failed else 'fine'}", flush=True)
    return not failed


def check_source(system: System) -> bool:
    """Build and install the source archive; return whether it runs."""
    archive = max(DIST.glob("torr-*.tar.gz"))
    with system.folder() as name:
        python = f"{name}/venv/bin/python"
        variables = {
            key: os.environ[key]
            for key in ("CARGO_HOME", "RUSTUP_HOME", "CARGO_TARGET_DIR")
            if key in os.environ
        }
        variables["HOME"] = str(Path.home())
        steps = [
            [system.python, "-m", "venv", f"{name}/venv"],
            [python, "-m", "pip", "install", "--quiet", str(archive)],
            [f"{name}/venv/bin/torr", "--version"],
        ]
        version, failed = run_all(system, steps, name, **variables)
    result = f"{failed}: NOT FINE" if failed else f"builds and runs, {version}: fine"
    print(f"{archive.name}: {result}", flush=True)
    return not failed


def run_all(
    system: System, steps: list[list[str]], folder: str, **variables: str
) -> tuple[str, str]:
    """Run commands one after the other; return the last one's output, and the first error."""
    output = ""
    for step in steps:
        ended = system.run(step, folder, **variables)
        output = ended.stdout.strip()
        if ended.returncode:
            return output, f"{' '.join(step)}\n{ended.stderr[-1000:]}"
    return output, ""


def median_s(system: System, command: list[str], folder: str) -> float:
    """Return how long a command takes, the median of several turns."""
    times = []
    for _ in range(TURNS):
        started = time.perf_counter()
        system.run(command, folder)
        times.append(time.perf_counter() - started)
    return statistics.median(times)


if __name__ == "__main__":
    sys.exit(main())
