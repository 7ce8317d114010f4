"""Dialects of streams, which the engine and the options know by the same names."""

from __future__ import annotations

import re

from documents import ROOT
from torr.model.stream import DIALECTS

RUST = ROOT / "crates" / "wire" / "src" / "dialect"


def test_dialects_are_those_of_the_engine():
    names = {
        name
        for path in RUST.glob("*.rs")
        for name in re.findall(r'const NAME: &str = "(\w+)";', path.read_text())
    }
    # Calls of gRPC stream messages, not events, and are recognised by their method.
    assert names == {*DIALECTS, "grpc"}
