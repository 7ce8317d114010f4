"""Control groups, where there are any, and why there is none where there is none."""

from __future__ import annotations

import pytest

from torr.servers import cgroup

MOUNT = b"30 24 0:26 / %s rw,nosuid - cgroup2 cgroup2 rw\n"


@pytest.fixture
def machine(tmp_path, monkeypatch):
    """A machine whose control groups are in a folder."""
    files = {
        "/proc/self/cgroup": b"1:cpu:/elsewhere\n0::/user\n",
        "/proc/self/mountinfo": b"29 24 0:5 / /dev rw - tmpfs tmpfs rw\n" + MOUNT % bytes(tmp_path),
    }
    (tmp_path / "user").mkdir()
    monkeypatch.setattr(cgroup, "read", lambda path: files.get(path, b""))
    return files


def test_a_machine_without_the_second_version_has_none(machine):
    machine["/proc/self/mountinfo"] = b""
    with pytest.raises(OSError, match="no control groups of version 2 are mounted"):
        cgroup.made("torr-x")


def test_where_none_can_be_made_the_reason_is_told(machine, tmp_path):
    assert machine
    (tmp_path / "user").rmdir()
    with pytest.raises(OSError, match="user/torr-x cannot be made: No such file"):
        cgroup.made("torr-x")


def test_an_old_kernel_is_told_and_nothing_stays(machine, tmp_path):
    assert machine
    with pytest.raises(OSError, match=r"the kernel has no cgroup\.kill"):
        cgroup.made("torr-x")
    assert list((tmp_path / "user").iterdir()) == []


def test_a_group_that_shares_out_processor_time_is_not_used(machine, tmp_path, monkeypatch):
    group = tmp_path / "user" / "torr-x"
    machine[f"{group}/cgroup.controllers"] = b"memory cpu\n"
    monkeypatch.setattr(cgroup.os.path, "exists", lambda _: True)
    with pytest.raises(OSError, match="share out processor time"):
        cgroup.made("torr-x")
    assert list((tmp_path / "user").iterdir()) == []
