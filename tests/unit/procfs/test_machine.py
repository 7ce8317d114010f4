"""A look at machines that nobody has: trees of files as /proc and /sys have them."""

from __future__ import annotations

import os
import resource

from torr.procfs.machine import machine

FILES = {
    "proc/sys/net/ipv4/ip_local_port_range": "32768\t60999\n",
    "proc/sys/net/ipv4/tcp_tw_reuse": "2\n",
    "proc/sys/net/ipv4/tcp_max_syn_backlog": "512\n",
    "proc/sys/net/core/somaxconn": "128\n",
    "proc/sys/net/netfilter/nf_conntrack_count": "9000\n",
    "proc/sys/net/netfilter/nf_conntrack_max": "10000\n",
    "proc/loadavg": "1.50 0.40 0.20 2/300 4000\n",
    "proc/meminfo": "MemTotal:  2000 kB\nMemAvailable:  1000 kB\n",
    "proc/self/cgroup": "0::/user/me\n",
    "sys/fs/cgroup/user/cpu.max": "150000 100000\n",
    "sys/fs/cgroup/user/me/cpu.max": "max 100000\n",
    "sys/devices/system/clocksource/clocksource0/current_clocksource": "hpet\n",
    "sys/devices/system/cpu/cpu0/cpufreq/scaling_governor": "powersave\n",
    "sys/devices/system/cpu/cpu1/cpufreq/scaling_governor": "powersave\n",
}


def test_everything_that_a_machine_tells_is_read(written):
    seen = machine(written(FILES))
    assert seen.cores_allowed == len(os.sched_getaffinity(0))
    assert seen.descriptors == resource.getrlimit(resource.RLIMIT_NOFILE)
    assert seen.quota == 1.5
    assert seen.load == 1.5
    assert seen.clock == "hpet"
    assert seen.governors == ("powersave",)
    assert seen.port_range == (32768, 60999)
    assert seen.ports == 28232
    assert (seen.tw_reuse, seen.somaxconn, seen.syn_backlog) == (2, 128, 512)
    assert seen.conntrack == (9000, 10000)
    assert seen.memory_available == 1_024_000


def test_what_a_machine_does_not_tell_is_none(tmp_path):
    seen = machine(tmp_path)
    told = (seen.quota, seen.load, seen.clock, seen.port_range, seen.ports, seen.tw_reuse)
    assert told == (None,) * 6
    assert (seen.somaxconn, seen.syn_backlog, seen.conntrack) == (None, None, None)
    assert (seen.memory_available, seen.governors) == (None, ())


def test_this_machine_tells_something():
    seen = machine()
    assert seen.cores >= seen.cores_allowed >= 1
    assert 0 < seen.ports < 65536
    assert seen.somaxconn > 0
