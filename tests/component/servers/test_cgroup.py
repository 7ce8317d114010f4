"""Control groups, where there are any, and why there is none where there is none."""

from __future__ import annotations

import pytest

from torr.servers import cgroup


@pytest.fixture
def own(tmp_path, monkeypatch):
    """The group of this process, on a machine whose control groups are in a folder."""
    folder = tmp_path / "user"
    folder.mkdir()
    monkeypatch.setattr(cgroup, "own_folder", lambda: str(folder))
    return folder


def test_a_machine_without_the_second_version_has_none(monkeypatch):
    monkeypatch.setattr(cgroup, "own_folder", lambda: None)
    with pytest.raises(OSError, match="no control groups of version 2 are mounted"):
        cgroup.create("torr-x")


def test_where_none_can_be_made_the_reason_is_told(own):
    own.rmdir()
    with pytest.raises(OSError, match="user/torr-x cannot be made: No such file"):
        cgroup.create("torr-x")


def test_an_old_kernel_is_told_and_nothing_stays(own):
    with pytest.raises(OSError, match=r"the kernel has no cgroup\.kill"):
        cgroup.create("torr-x")
    assert list(own.iterdir()) == []


def test_a_group_that_shares_out_processor_time_is_not_used(own, monkeypatch):
    monkeypatch.setattr(cgroup, "controllers", lambda _: ["memory", "cpu"])
    monkeypatch.setattr(cgroup.os.path, "exists", lambda _: True)
    with pytest.raises(OSError, match="share out processor time"):
        cgroup.create("torr-x")
    assert list(own.iterdir()) == []
