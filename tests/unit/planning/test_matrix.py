"""Keys of a matrix file that would change nothing are refused at their line."""

from __future__ import annotations

import pytest

MATRIX = """\
baseline = "one"
url = "http://127.0.0.1:{port}/"
%s
[[candidates]]
name = "one"
command = ["no-such-server", "{port}"]
%s
"""
TOKENIZER = 'tokenizer = "tokenizer.json"'


@pytest.mark.parametrize(
    ("top", "own", "message"),
    [
        (TOKENIZER, "", "matrix.toml:3: a comparison has no tokenizer"),
        ("", TOKENIZER, "matrix.toml:7: a comparison has no tokenizer"),
        (
            "",
            f'[factors]\n{TOKENIZER[:12]}["a.json"]',
            "matrix.toml:8: the factor 'tokenizer' changes nothing",
        ),
    ],
)
def test_a_tokenizer_that_nobody_would_ask_is_refused(torr, tmp_path, top, own, message):
    (tmp_path / "matrix.toml").write_text(MATRIX % (top, own))
    ended = torr("compare", "--plan", "matrix.toml")
    assert ended.code == 2
    assert message in ended.err


def test_nodes_leave_all_cores_to_the_servers(torr, tmp_path):
    (tmp_path / "matrix.toml").write_text(MATRIX % ("", ""))
    ended = torr("compare", "--plan", "matrix.toml", "--nodes", "2")
    assert ended.code == 0
    assert "nodes: 2; servers on all cores" in ended.out
    note = "with --nodes, 127.0.0.1 is each node itself: name the target as the nodes reach it"
    assert note in ended.err
    both = torr("compare", "--plan", "matrix.toml", "--nodes", "2", "--pin", "0/1")
    assert (both.code, both.err.splitlines()[0]) == (2, "torr: --pin and --nodes are both given")
