"""The installed `torr init`: `torr run` sends the requests of its plan file."""

from __future__ import annotations

import json


def test_its_plan_runs_against_a_target(torr, target, tmp_path):
    hello = target("hello")
    document = {
        "openapi": "3.0.3",
        "servers": [{"url": hello.url}],
        "paths": {"/a": {"get": {}}, "/b/{n}": {"get": {"parameters": [
            {"name": "n", "in": "path", "required": True, "schema": {"type": "integer"}}]}}},
    }  # fmt: skip
    (tmp_path / "openapi.json").write_text(json.dumps(document))
    assert torr("init", "openapi.json").code == 0
    ended = torr("run", "plan.toml", "-c", "2", "-z", "300ms", "--warmup", "0s", "-d", "out")
    assert ended.code == 0, ended.err
    hello.stop()
