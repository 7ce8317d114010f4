"""What somebody reads who builds torr without Rust or Node, or with old ones."""

import os
import subprocess
import sys

import pytest

from documents import ROOT

PAGE = (
    "import torr_build; torr_build._BUNDLE = torr_build.Path('missing'); torr_build._build_page()"
)
BUILD = "import torr_build; torr_build.build_wheel('.')"


def build(folder, code=BUILD):
    """Build a wheel, or a part of it, where nothing but the programs of a folder is there."""
    return subprocess.run(
        [sys.executable, "-c", code],
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


@pytest.fixture
def node(tmp_path):
    """Put a node of some version into a folder, and an npm that fails."""

    def made(version):
        for name, line in (("node", f"echo '{version}'"), ("npm", "exit 1")):
            path = tmp_path / name
            path.write_text(f"#!/bin/sh\n{line}\n")
            path.chmod(0o755)
        return tmp_path

    return made


def test_without_node_the_build_of_the_page_says_what_to_install(tmp_path):
    ended = build(tmp_path, PAGE)
    assert ended.returncode == 1
    assert ended.stderr.startswith("torr's page is built with Node, and node or npm is not there: ")


def test_an_old_node_is_named_with_the_one_that_is_needed(node):
    ended = build(node("v16.20.2"), PAGE)
    assert ended.returncode == 1
    assert ended.stderr.startswith("torr's page needs Node 18.18 or newer, this is 16.20: ")


def test_a_build_of_the_page_that_fails_says_at_what(node):
    ended = build(node("v22.1.0"), PAGE)
    assert ended.returncode == 1
    assert ended.stderr.startswith("torr's page could not be built: npm ci failed in ")


def test_a_page_newer_than_its_sources_is_not_built_again(tmp_path):
    code = "import torr_build; page = torr_build._BUNDLE = torr_build.Path('page.js'); "
    code += "page.touch(); torr_build._build_page()"
    assert build(tmp_path, code).returncode == 0


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


ABI = """
import torr_build
torr_build._check_rust = torr_build._build_page = lambda: None
torr_build.sysconfig.get_config_var = lambda name: GIL if name == "Py_GIL_DISABLED" else None
torr_build.maturin.build_wheel = lambda *given: repr(given[1])
print(torr_build.build_wheel(".", SETTINGS))
"""


@pytest.mark.parametrize(
    ("gil_disabled", "settings", "passed"),
    [
        (0, None, None),
        (1, None, {"build-args": "--features version-specific"}),
        (1, {"build-args": "--profile dev"}, {"build-args": "--profile dev"}),
    ],
)
def test_a_python_without_a_gil_gets_an_engine_of_its_own(tmp_path, gil_disabled, settings, passed):
    code = ABI.replace("GIL if", f"{gil_disabled} if").replace("SETTINGS", repr(settings))
    ended = build(tmp_path, code)
    assert ended.stdout.strip() == repr(passed), ended.stderr


def test_the_engine_declares_that_it_needs_no_gil():
    """Import of a module that did not would switch it on again, in a Python that has none."""
    source = (ROOT / "crates/python/src/lib.rs").read_text()
    assert source.count("#[pymodule") == source.count("#[pymodule(gil_used = false)]") == 1
