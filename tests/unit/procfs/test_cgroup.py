"""Control groups that are written as files: the own one, and how much CPU time it may use."""

from __future__ import annotations

import pytest

from torr.procfs.cgroup import controllers, members, own_folder, quota

MOUNTS = """29 24 0:5 / /dev rw - tmpfs tmpfs rw
30 24 0:26 / /groups rw,nosuid - cgroup2 cgroup2 rw
"""


@pytest.mark.parametrize(
    ("groups", "mounts", "folder"),
    [
        ("1:cpu:/elsewhere\n0::/user\n", MOUNTS, "/groups/user"),
        ("0::/\n", MOUNTS, "/groups"),
        ("1:cpu:/elsewhere\n", MOUNTS, None),
        ("0::/user\n", "", None),
        ("", MOUNTS, None),
    ],
)
def test_the_own_group_of_version_2_is_found_where_it_is_mounted(written, groups, mounts, folder):
    root = written({"proc/self/cgroup": groups, "proc/self/mountinfo": mounts})
    assert own_folder(root) == folder


def test_controllers_and_members_of_a_group_are_read(written):
    root = written({"cgroup.controllers": "memory cpu\n", "cgroup.procs": "12\n7\n"})
    assert (controllers(root), members(root)) == (["memory", "cpu"], [12, 7])
    assert (controllers(root / "gone"), members(root / "gone")) == ([], [])


@pytest.mark.parametrize(
    ("files", "cores"),
    [
        ({"proc/self/cgroup": "0::/\n", "sys/fs/cgroup/cpu.max": "50000 100000\n"}, 0.5),
        ({"proc/self/cgroup": "0::/a/b\n", "sys/fs/cgroup/a/b/cpu.max": "200000 100000"}, 2),
        (
            {
                "proc/self/cgroup": "0::/a/b\n",
                "sys/fs/cgroup/a/cpu.max": "100000 100000",
                "sys/fs/cgroup/a/b/cpu.max": "200000 100000",
            },
            1,
        ),
        (
            {
                "proc/self/cgroup": "4:memory:/m\n3:cpu,cpuacct:/c\n0::/\n",
                "sys/fs/cgroup/cpu/c/cpu.cfs_quota_us": "250000\n",
                "sys/fs/cgroup/cpu/c/cpu.cfs_period_us": "100000\n",
                "sys/fs/cgroup/cpu/m/cpu.cfs_quota_us": "1000\n",
                "sys/fs/cgroup/cpu/m/cpu.cfs_period_us": "100000\n",
            },
            2.5,
        ),
        (
            {
                "proc/self/cgroup": "3:cpu:/c\n",
                "sys/fs/cgroup/cpu/c/cpu.cfs_quota_us": "-1\n",
                "sys/fs/cgroup/cpu/c/cpu.cfs_period_us": "100000\n",
            },
            None,
        ),
        ({"proc/self/cgroup": "0::/\n", "sys/fs/cgroup/cpu.max": "max 100000\n"}, None),
    ],
    ids=["whole", "own", "parent", "version 1", "version 1 without", "without"],
)
def test_the_tightest_quota_around_the_process_counts(written, files, cores):
    assert quota(written(files)) == cores
