"""The build backend of torr: says plainly what is missing, then lets maturin build the wheel.

`pip install .` in a checkout or from a source archive needs Rust; wheels need nothing. The hooks of
PEP 517 and PEP 660 are maturin's own, behind one look at cargo. It installs nothing and changes no
setting.
"""

from __future__ import annotations

import re
import shutil
import subprocess
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

_MANIFEST = Path(__file__).parents[1] / "Cargo.toml"
_ADVICE = "install Rust with rustup (https://rustup.rs), or bring it up to date: rustup update"


def build_wheel(
    wheel_directory: str,
    config_settings: Settings = None,
    metadata_directory: str | None = None,
) -> str:
    """Compile the engine and write the wheel; its file name."""
    _check_rust()
    return _name(maturin.build_wheel(wheel_directory, config_settings, metadata_directory))


def build_editable(
    wheel_directory: str,
    config_settings: Settings = None,
    metadata_directory: str | None = None,
) -> str:
    """Compile the engine and write a wheel that points at the checkout; its file name."""
    _check_rust()
    return _name(maturin.build_editable(wheel_directory, config_settings, metadata_directory))


def build_sdist(sdist_directory: str, config_settings: Settings = None) -> str:
    """Write the source archive; its file name."""
    _check_rust()
    return _name(maturin.build_sdist(sdist_directory, config_settings))


def prepare_metadata_for_build_wheel(
    metadata_directory: str, config_settings: Settings = None
) -> str:
    """Write the wheel's metadata; the name of its directory."""
    _check_rust()
    return _name(maturin.prepare_metadata_for_build_wheel(metadata_directory, config_settings))


prepare_metadata_for_build_editable = prepare_metadata_for_build_wheel


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
