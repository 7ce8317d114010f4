import json
import re
import subprocess
import sys

import pytest

import notices
from documents import ROOT

HEAVY = ("numpy", "scipy", "matplotlib", "rich", "click", "torr._engine", "sqlalchemy")


def listed(path):
    lines = (line.partition("#")[0].strip() for line in path.read_text().splitlines())
    return sorted(line for line in lines if line and not line.startswith("-"))


def test_pyproject_and_the_source_of_the_pins_list_the_same_dependencies():
    block = re.search(
        r"^dependencies = \[(.*?)^\]",
        (ROOT / "pyproject.toml").read_text(),
        re.DOTALL | re.MULTILINE,
    )
    assert sorted(re.findall(r'"([^"]+)"', block[1])) == listed(ROOT / "requirements/runtime.in")


@pytest.mark.parametrize("name", ["runtime.txt", "dev.txt", "locust-oldest.txt", "ray.txt"])
def test_pins_have_hashes_and_no_addresses(name):
    text = (ROOT / "requirements" / name).read_text()
    assert "://" not in text
    assert "index" not in re.sub(r"# via.*", "", text)
    pins = re.findall(r"^(\S+)==\S+.*\\$", text, re.MULTILINE)
    assert len(pins) > 10
    assert text.count("--hash=sha256:") >= len(pins)


def test_the_lock_of_the_page_has_hashes_and_no_addresses():
    packages = json.loads((ROOT / "web/package-lock.json").read_text())["packages"]
    pinned = [package for path, package in packages.items() if path]
    assert len(pinned) > 50
    assert all(package["integrity"].startswith("sha512-") for package in pinned)
    assert not [package for package in pinned if "resolved" in package]


def test_the_notices_of_others_are_fresh():
    assert notices.notices() == notices.FILE.read_text(), "make notices"


def test_the_notices_name_what_is_distributed_and_no_tool():
    names = {package.name for package in [*notices.crates(), *notices.npm_packages()]}
    assert {"rustls", "ring", "serde", "uplot"} <= names
    assert names.isdisjoint({"engine", "proptest", "serde_derive", "syn", "vite", "esbuild"})


def test_a_package_without_a_licence_text_is_an_error(tmp_path):
    (tmp_path / "README.md").touch()
    with pytest.raises(SystemExit, match=r"new 1\.0: .* has no text of its licence, MIT"):
        notices._package("new", "1.0", "MIT", tmp_path)


def test_wheels_hold_all_licences_and_are_compiled_from_the_lock():
    text = (ROOT / "pyproject.toml").read_text()
    assert 'license-files = ["LICENSE", "THIRD_PARTY_NOTICES"]' in text
    assert "\nlocked = true\n" in text.partition("[tool.maturin]")[2].partition("[tool.ruff]")[0]
    assert "maturin develop --release --locked" in (ROOT / "Makefile").read_text()


def test_the_page_holds_the_licence_of_what_it_is_made_of():
    script = (ROOT / "python/torr/report/bundle/page.js").read_text()
    licence = (ROOT / "web/node_modules/uplot/LICENSE").read_text().strip()
    assert licence in script


def test_npm_runs_no_script_of_a_package():
    assert "ignore-scripts=true" in (ROOT / "web/.npmrc").read_text().splitlines()


@pytest.mark.parametrize("name", ["runtime", "dev", "locust-oldest"])
def test_every_direct_dependency_is_pinned(name):
    pinned = (ROOT / "requirements" / f"{name}.txt").read_text()
    for line in listed(ROOT / "requirements" / f"{name}.in"):
        package = re.split(r"[\[<>=]", line)[0]
        assert f"\n{package}==" in f"\n{pinned}", line


@pytest.mark.parametrize(
    ("module", "allowed"),
    [
        ("torr", ()),
        ("torr.errors", ()),
        ("torr.units", ()),
        ("torr.model.condition", ()),
        ("torr.report", ()),
        ("torr.report.text.sentence", ()),
        ("torr.report.files.png", ()),
        ("torr.report.files.html", ()),
        ("torr.api.calls", ()),
        ("torr.results.result", ()),
    ],
)
def test_nothing_heavy_is_imported_before_it_is_needed(module, allowed):
    code = f"import sys, {module}; print(*[m for m in {HEAVY} if m in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == list(allowed)


@pytest.mark.parametrize(
    ("module", "others"),
    [
        ("torr.cli.target", {"verbs", "load", "stream", "compare", "diff", "tune"}),
        ("torr.cli.run", {"compare", "diff", "tune", "target"}),
    ],
)
def test_a_command_imports_no_options_of_others(module, others):
    code = f"import sys, {module}; print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    imported = {name.removeprefix("torr.options.") for name in done.stdout.split()}
    assert "definition" in imported
    assert not others & imported
