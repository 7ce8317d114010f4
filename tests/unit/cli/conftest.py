"""`torr` called inside the test's process, with a fake engine behind it."""

from __future__ import annotations

import pytest

from command_line import quick_pictures, torr
from doubles import measured_level

__all__ = ["quick_pictures", "torr"]

MATRIX = """\
baseline = "one"
rounds = 1
url = "http://127.0.0.1:{port}/"
[[candidates]]
name = "one"
command = ["no-such-server", "{port}"]
[[candidates]]
name = "two"
command = ["no-such-server", "{port}"]
"""


@pytest.fixture
def compare(torr, tmp_path, monkeypatch):
    """Call `torr compare` with trials that show what `truth` says of a candidate."""

    def call(truth, top, *flags):
        def trial(asked, _plan_of, context, _state):
            if asked.round:
                name, factors = asked.candidate.name, asked.factors
                place = {"candidate": name, "factors": factors, "round": asked.round}
                context.directory.keep_level(measured_level(50, truth(name), **place))
            return True

        monkeypatch.setattr("torr.experiments.matrix.run_trial", trial)
        (tmp_path / "matrix.toml").write_text(top + MATRIX)
        return torr("compare", *flags, "matrix.toml")

    return call
