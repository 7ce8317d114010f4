"""`torr cluster` starts a real Ray cluster on machines, and ends it."""

from __future__ import annotations

import json

from installed import wait_until
from ray_nodes import BIN, MACHINE, RAY_PORT


def test_a_cluster_is_started_used_and_ended(machines, tmp_path):
    ssh = f"{BIN / 'python'} {MACHINE} run"
    entries = {
        "head": machines.address(0),
        "nodes": [machines.address(1), machines.address(2)],
        "ray": str(BIN / "ray"),
        "ssh": ssh,
    }
    lines = [f"{key} = {json.dumps(value)}" for key, value in entries.items()]
    (tmp_path / "nodes.toml").write_text("\n".join(lines))
    started = machines.torr(tmp_path, "cluster", "up", "nodes.toml")
    assert started.code == 0, started.err
    for number in range(3):
        assert f"{machines.address(number)}: Ray started" in started.out
    assert machines.torr(tmp_path, "cluster", "status", "nodes.toml").code == 0
    target = machines.target("hello")
    address = f"{machines.address(0)}:{RAY_PORT}"
    flags = ("--nodes", "all", "--cluster", address, "-c", "3", "--requests", "300")
    ended = machines.torr(tmp_path, "run", *flags, "--no-store", target.url)
    assert ended.code == 0, ended.err
    warmup, counts = ended.level["warmup"]["counts"], ended.level["counts"]
    assert counts["attempted"] + warmup["attempted"] == target.stop()["requests"]
    assert len(ended.level["generator"]["nodes"]) == 3
    assert machines.torr(tmp_path, "cluster", "down", "nodes.toml").code == 0
    every = range(3)
    wait_until(lambda: not any(machines.processes_on(number, "raylet") for number in every))
