"""The environment: read from files, honest about what a machine does not tell."""

from __future__ import annotations

import os
import subprocess

import pytest

from torr.procfs.machine import allowed_cores
from torr.store.environment import environment, git_commit


def test_the_environment_names_machine_kernel_limits_and_versions():
    found = environment()
    assert found["machine"]["cores_allowed"] == len(os.sched_getaffinity(0))
    assert found["machine"]["memory_bytes"] > 1e8
    assert found["kernel"].startswith(os.uname().sysname)
    assert found["limits"]["nofile_hard"] >= found["limits"]["nofile_soft"] > 0
    low, high = found["limits"]["port_range"]
    assert 0 < low < high < 65536
    assert found["limits"]["somaxconn"] > 0
    assert len(found["limits"]["tcp_rmem"]) == 3
    assert found["limits"]["tcp_fin_timeout"] > 0
    assert set(found["versions"]) == {"torr", "python"}


def test_allowed_cores_follow_the_affinity():
    before = os.sched_getaffinity(0)
    try:
        os.sched_setaffinity(0, {min(before)})
        assert allowed_cores() == 1
    finally:
        os.sched_setaffinity(0, before)


def test_the_commit_of_a_work_tree_is_found_from_below(tmp_path):
    def git(*words):
        identity = ["-c", "user.name=a", "-c", "user.email=a@b.c"]
        command = ["git", "-C", str(tmp_path), *identity, *words]
        return subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip()

    git("init")
    git("commit", "--allow-empty", "-m", "first")
    (tmp_path / "below").mkdir()
    commit = git("rev-parse", "HEAD")
    assert git_commit(tmp_path / "below") == commit
    git("pack-refs", "--all")
    assert git_commit(tmp_path) == commit
    git("checkout", "--detach")
    assert git_commit(tmp_path) == commit


def test_outside_a_work_tree_there_is_no_commit(tmp_path):
    assert git_commit(tmp_path) is None


@pytest.mark.parametrize(
    "head",
    [
        "ref: ../../secret",
        "ref: refs/../../../secret",
        "ref: refs/heads/main",
        "password of the day",
    ],
)
def test_nothing_but_the_name_of_a_commit_is_taken_from_the_files_of_git(tmp_path, head):
    folder = tmp_path / "tree"
    (folder / ".git/refs/heads").mkdir(parents=True)
    (tmp_path / "secret").write_text("a1" * 20)
    (folder / ".git/HEAD").write_text(head)
    (folder / ".git/refs/heads/main").write_text("a secret of forty characters, all of them")
    assert git_commit(folder) is None
