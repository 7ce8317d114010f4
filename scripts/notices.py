"""Writes THIRD_PARTY_NOTICES: whose work is in the wheel, and under which licence.

    python scripts/notices.py [--check]

What is linked into the engine comes from Cargo.lock, what is in the page from web/package.json.
Texts are those that the packages bring along, each once; a package without one is an error. It
asks no registry: the packages are there once torr was built. Build tools and tests are left out.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator

ROOT = Path(__file__).resolve().parent.parent
FILE = ROOT / "THIRD_PARTY_NOTICES"
# The same list on every machine.
_PLATFORM = "x86_64-unknown-linux-gnu"
_IS_TEXT = re.compile(r"(licen[cs]e|copying|copyright|notice|unlicense)", re.IGNORECASE)
_OPENING = """\
Third-party notices
===================

torr itself is under the Apache License 2.0: see LICENSE. What it is distributed with is listed
here, with the licences that its authors gave it. `make notices` writes this file.

Rust's standard library is linked into the engine: MIT OR Apache-2.0, The Rust Project Developers.
"""


@dataclass(frozen=True, order=True)
class Package:
    """What is distributed, what its licence is called, and the texts that came with it."""

    name: str
    version: str
    licence: str
    texts: tuple[str, ...]

    def __str__(self) -> str:
        return f"{self.name} {self.version}"


def main() -> int:
    """Write the file; with --check, say whether it is fresh."""
    text = notices()
    if "--check" in sys.argv:
        return 0 if FILE.read_text(encoding="utf-8") == text else 1
    FILE.write_text(text, encoding="utf-8")
    return 0


def notices() -> str:
    """Return what the file has to say."""
    engine, page = sorted(crates()), sorted(npm_packages())
    parts = [_OPENING, _listed("In the engine (Rust)", engine), _listed("In the page", page)]
    users: dict[str, list[str]] = {}
    texts: dict[str, str] = {}
    for package in [*engine, *page]:
        for text in package.texts:
            words = " ".join(text.split())  # the same text has other line breaks elsewhere
            texts.setdefault(words, text)
            users.setdefault(words, []).append(str(package))
    for words, names in users.items():
        parts.append(f"{'-' * 80}\nOf {', '.join(dict.fromkeys(names))}:\n\n{texts[words]}\n")
    return "\n".join(parts)


def crates() -> Iterator[Package]:
    """Yield the crates that are linked into the engine."""
    command = ["cargo", "metadata", "--format-version", "1", "--locked", "--offline"]
    said = subprocess.run(
        [*command, "--filter-platform", _PLATFORM], cwd=ROOT, capture_output=True, check=True
    )
    found = json.loads(said.stdout)
    known = {package["id"]: package for package in found["packages"]}
    for name in _linked(found["resolve"]["nodes"], known):
        package = known[name]
        if package["source"] is not None:
            folder = Path(package["manifest_path"]).parent
            yield _package(package["name"], package["version"], package["license"], folder)


def npm_packages() -> Iterator[Package]:
    """Yield the packages that are bundled into the page."""
    for name in json.loads((ROOT / "web/package.json").read_text())["dependencies"]:
        folder = ROOT / "web/node_modules" / name
        package = json.loads((folder / "package.json").read_text())
        yield _package(name, package["version"], package["license"], folder)


def _linked(nodes: list[dict[str, Any]], known: dict[str, dict[str, Any]]) -> set[str]:
    """Return the ids of the binding and all that it is linked with: macros run while compiling."""
    needs = {node["id"]: node["deps"] for node in nodes}
    waiting = [
        name for name, it in known.items() if Path(it["manifest_path"]).match("crates/python/*")
    ]
    found: set[str] = set()
    while waiting:
        name = waiting.pop()
        kinds = {kind for target in known[name]["targets"] for kind in target["kind"]}
        if name in found or "proc-macro" in kinds:
            continue
        found.add(name)
        waiting += [
            need["pkg"]
            for need in needs[name]
            if any(kind["kind"] is None for kind in need["dep_kinds"])
        ]
    return found


def _package(name: str, version: str, licence: str, folder: Path) -> Package:
    files = sorted(path for path in folder.iterdir() if _IS_TEXT.match(path.name))
    texts = [_plain(path.read_text(encoding="utf-8")) for path in files if path.is_file()]
    if not texts:
        raise SystemExit(f"{name} {version}: {folder} has no text of its licence, {licence}")
    return Package(name, version, licence.replace("/", " OR "), tuple(texts))


def _plain(text: str) -> str:
    """Return a text without blanks at the ends of lines, so that the same ones are equal."""
    return "\n".join(line.rstrip() for line in text.strip().splitlines())


def _listed(title: str, packages: list[Package]) -> str:
    rows = [f"    {package!s:<36} {package.licence}" for package in packages]
    return "\n".join([title, "-" * len(title), "", *rows, ""])


if __name__ == "__main__":
    sys.exit(main())
