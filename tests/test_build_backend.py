"""What somebody reads who builds torr without Rust, or with an old one."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
BUILD = "import torr_build; torr_build.build_wheel('.')"


def build(folder):
    """Build a wheel where nothing but the programs of a folder is there."""
    return subprocess.run(
        [sys.executable, "-c", BUILD],
        env={"PATH": str(folder), "PYTHONPATH": str(ROOT / "build_backend")},
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.fixture
def cargo(tmp_path):
    """Put a cargo of some version into a folder."""

    def made(version):
        path = tmp_path / "cargo"
        path.write_text(f"#!/bin/sh\necho 'cargo {version}'\n")
        path.chmod(0o755)
        return tmp_path

    return made


def test_without_cargo_the_build_says_what_to_install(tmp_path):
    ended = build(tmp_path)
    assert ended.returncode == 1
    assert ended.stderr.startswith("torr is compiled from Rust, and cargo is not there: install")


def test_an_old_rust_is_named_with_the_one_that_is_needed(cargo):
    ended = build(cargo("1.70.0 (abc 2023-06-01)"))
    assert ended.returncode == 1
    assert ended.stderr.startswith("torr needs Rust 1.88 or newer, this is 1.70: ")


def test_make_build_says_the_same_before_it_installs_anything(cargo):
    folder = cargo("1.70.0 (abc 2023-06-01)")
    path = f"{folder}{os.pathsep}{os.environ['PATH']}"
    check = [ROOT / "scripts/check-tools.sh", sys.executable]
    ended = subprocess.run(
        check, env={**os.environ, "PATH": path}, capture_output=True, text=True, check=False
    )
    assert ended.returncode == 1
    assert ended.stderr == (
        "missing: Rust 1.88 or newer (cargo is 1.70.0)\n    try: rustup update\n"
    )
