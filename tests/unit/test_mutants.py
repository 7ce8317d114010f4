"""Each mutant is a patch that can be read, applies to the code as it is, and changes no test."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest

from documents import ROOT
from mutants import first_failure


def patches():
    paths = sorted((ROOT / "tests/mutants").glob("*.patch"))
    assert len(paths) >= 40
    return paths


def head_of(path):
    return path.read_text().partition("diff --git ")[0].strip()


def test_a_patch_begins_with_one_sentence():
    wrong = [
        path.stem
        for path in patches()
        if not re.fullmatch(r"[A-Z].*[^.]\.", head_of(path)) or ". " in head_of(path)
    ]
    assert wrong == []


def test_every_patch_applies():
    # To the index: where a mutant is being tested, the files have its fault already.
    command = ["git", "apply", "--check", "--cached", "-p1"]
    failed = {}
    for path in patches():
        done = subprocess.run([*command, path], check=False, cwd=ROOT, capture_output=True)
        if done.returncode != 0:
            failed[path.stem] = done.stderr
    assert failed == {}


def test_a_patch_changes_one_file_that_is_not_a_test():
    for path in patches():
        changed = re.findall(r"^diff --git a/(\S+) b/(\S+)$", path.read_text(), re.MULTILINE)
        assert len(changed) == 1, path
        assert changed[0][0] == changed[0][1], path
        assert "tests" not in Path(changed[0][0]).parts, path


def test_a_patch_is_named_after_the_part_of_torr_that_it_changes():
    wrong = {}
    for path in patches():
        area = path.stem.partition("-")[0]
        changed = re.search(r"^diff --git a/(\S+) ", path.read_text(), re.MULTILINE)[1]
        # Judging has no folder of its own.
        if area not in {*Path(changed).parts, "verdicts"}:
            wrong[path.stem] = changed
    assert wrong == {}


def test_no_two_patches_are_the_same():
    bodies = [path.read_text().partition("diff --git ")[2] for path in patches()]
    assert len(set(bodies)) == len(bodies)


@pytest.mark.parametrize(
    ("output", "name"),
    [
        (
            "..F\nFAILED tests/a/test_b.py::test_c[x - y] - assert 1 == 2\nFAILED tests/d.py::e\n",
            "tests/a/test_b.py::test_c[x - y]",
        ),
        ("ERROR tests/a/test_b.py - ImportError: no\n", None),
        ("ERROR tests/a/test_b.py::test_c - OSError: no\n", "tests/a/test_b.py::test_c"),
        ("FAILED tests/test_b.py::test_c\n", "tests/test_b.py::test_c"),
        ("test head::tests::a_b ... ok\ntest head::tests::c ... FAILED\n", "head::tests::c"),
        ("\n---- simulated::faults::x stdout ----\n", "simulated::faults::x"),
        (
            "\x1b[31m FAIL \x1b[39m tests/cells.test.ts > a cell > has quotes\n",
            "tests/cells.test.ts > a cell > has quotes",
        ),
        ("error: could not compile `wire`\n", None),
    ],
)
def test_the_first_failing_test_is_found_in_what_runners_print(output, name):
    assert first_failure(output) == name
