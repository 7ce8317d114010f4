"""The build backend of torr: says plainly what is missing, builds the page, then calls maturin.

`pip install .` in a checkout or from a source archive needs Rust and Node; wheels need nothing. The
hooks of PEP 517 and PEP 660 are maturin's own, behind one look at cargo and node and the build of
web/. It changes no setting but the ABI of a Python without a GIL; npm installs what
web/package-lock.json names into web/node_modules.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import sysconfig
from pathlib import Path
from typing import TYPE_CHECKING

import maturin  # type: ignore[import-untyped]
from maturin import (
    get_requires_for_build_editable,
    get_requires_for_build_sdist,
    get_requires_for_build_wheel,
)

if TYPE_CHECKING:
    from collections.abc import Mapping

    Settings = Mapping[str, object] | None

# What pip calls.
__all__ = [
    "build_editable",
    "build_sdist",
    "build_wheel",
    "get_requires_for_build_editable",
    "get_requires_for_build_sdist",
    "get_requires_for_build_wheel",
    "prepare_metadata_for_build_editable",
    "prepare_metadata_for_build_wheel",
]

_ROOT = Path(__file__).parents[1]
_MANIFEST = _ROOT / "Cargo.toml"
_WEB = _ROOT / "web"
_BUNDLE = _ROOT / "python" / "torr" / "report" / "bundle" / "page.js"
_BUILD_ARGS = ("build-args", "maturin.build-args")
_ADVICE = "install Rust with rustup (https://rustup.rs), or bring it up to date: rustup update"


def build_wheel(
    wheel_directory: str,
    config_settings: Settings = None,
    metadata_directory: str | None = None,
) -> str:
    """Compile the engine, build the page and write the wheel; its file name."""
    _check_rust()
    _build_page()
    return _name(
        maturin.build_wheel(wheel_directory, _for_abi(config_settings), metadata_directory)
    )


def build_editable(
    wheel_directory: str,
    config_settings: Settings = None,
    metadata_directory: str | None = None,
) -> str:
    """Compile the engine, build the page and write a wheel that points here; its file name."""
    _check_rust()
    _build_page()
    settings = _for_abi(config_settings)
    return _name(maturin.build_editable(wheel_directory, settings, metadata_directory))


def build_sdist(sdist_directory: str, config_settings: Settings = None) -> str:
    """Write the source archive; its file name."""
    _check_rust()
    return _name(maturin.build_sdist(sdist_directory, config_settings))


def prepare_metadata_for_build_wheel(
    metadata_directory: str, config_settings: Settings = None
) -> str:
    """Write the wheel's metadata; the name of its directory."""
    _check_rust()
    settings = _for_abi(config_settings)
    return _name(maturin.prepare_metadata_for_build_wheel(metadata_directory, settings))


prepare_metadata_for_build_editable = prepare_metadata_for_build_wheel


def _for_abi(settings: Settings) -> Settings:
    """Maturin's settings for this Python: a free-threaded one before 3.15 knows no stable ABI.

    Features that are named here take the place of those in pyproject.toml, where `abi3` stands.
    """
    given = settings or {}
    is_told = any(key in given for key in _BUILD_ARGS) or os.environ.get("MATURIN_PEP517_ARGS")
    if is_told or not sysconfig.get_config_var("Py_GIL_DISABLED"):
        return settings
    return {**given, _BUILD_ARGS[0]: "--features version-specific"}


def _check_rust() -> None:
    """End with one plain sentence when Rust is missing or too old for Cargo.toml."""
    needed = _version(_field(_MANIFEST.read_text(encoding="utf-8")))
    if shutil.which("cargo") is None:
        raise SystemExit(f"torr is compiled from Rust, and cargo is not there: {_ADVICE}")
    said = subprocess.run(["cargo", "--version"], capture_output=True, text=True, check=False)
    if said.returncode != 0:
        raise SystemExit(f"torr is compiled from Rust, and cargo fails: {said.stderr.strip()}")
    found = _version(said.stdout)
    if found < needed:
        words = [".".join(map(str, version)) for version in (needed, found)]
        raise SystemExit(f"torr needs Rust {words[0]} or newer, this is {words[1]}: {_ADVICE}")


def _build_page() -> None:
    """Build web/ unless the page is there and newer than all of it."""
    sources = [path for path in _WEB.rglob("*") if "node_modules" not in path.parts]
    newest = max(path.stat().st_mtime for path in sources if path.is_file())
    if _BUNDLE.exists() and _BUNDLE.stat().st_mtime > newest:
        return
    _check_node()
    for words in (
        ["ci", "--no-audit", "--no-fund", "--loglevel=error"],
        ["run", "--silent", "build"],
    ):
        ended = subprocess.run(["npm", *words], cwd=_WEB, stdout=sys.stderr, check=False)
        if ended.returncode != 0:
            raise SystemExit(f"torr's page could not be built: npm {words[0]} failed in {_WEB}")


def _check_node() -> None:
    """End with one plain sentence when Node is missing or too old for web/package.json."""
    needed = _version(json.loads((_WEB / "package.json").read_text())["engines"]["node"])
    advice = "install it from https://nodejs.org, or install torr from a wheel"
    if shutil.which("node") is None or shutil.which("npm") is None:
        raise SystemExit(f"torr's page is built with Node, and node or npm is not there: {advice}")
    said = subprocess.run(["node", "--version"], capture_output=True, text=True, check=False)
    found = _version(said.stdout)
    if found < needed:
        words = [".".join(map(str, version)) for version in (needed, found)]
        raise SystemExit(
            f"torr's page needs Node {words[0]} or newer, this is {words[1]}: {advice}"
        )


def _field(manifest: str) -> str:
    """The text of `rust-version`, which Cargo.toml keeps for every crate."""
    found = re.search(r'^rust-version = "([^"]+)"', manifest, re.MULTILINE)
    return found[1] if found else "0.0"


def _version(text: str) -> tuple[int, int]:
    """The first two numbers of a version."""
    found = re.search(r"(\d+)\.(\d+)", text)
    return (int(found[1]), int(found[2])) if found else (0, 0)


def _name(value: object) -> str:
    return str(value)
