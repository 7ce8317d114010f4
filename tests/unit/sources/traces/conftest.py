"""Traces that tests write, as their publishers write them."""

from __future__ import annotations

import json

import pytest


@pytest.fixture
def write(tmp_path):
    """Write a file: a text, bytes, or JSON lines of a list."""

    def written(name, content):
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        if isinstance(content, list):
            content = "".join(f"{json.dumps(entry)}\n" for entry in content)
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return path

    return written
