"""Keys of a matrix file that would change nothing are refused; its chats are the same for all."""

from __future__ import annotations

import json
from itertools import pairwise

import pytest

import torr.planning.prompt_text.calibration
from torr.planning.checksums import checksums
from torr.planning.matrix import Plans
from torr.servers.preparation import Preparation
from torr.sources.matrix_file import read_matrix_file

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
CHAT = """\
baseline = "one"
url = "http://127.0.0.1:{port}"
chat = "openai"
model = "m"
%s
[[candidates]]
name = "one"
command = ["no-such-server", "{port}"]
[[candidates]]
name = "two"
command = ["no-such-server", "--prefix-cache", "{port}"]
"""


def plans_of(tmp_path, more):
    path = tmp_path / "matrix.toml"
    path.write_text(CHAT % more)
    return Plans(read_matrix_file(path), {}, {})


def data_of(plans, name, round_number):
    """Return the rows that a candidate gets in a round."""
    candidate = next(x for x in plans._file.candidates if x.name == name)
    plan = plans.of(candidate, {}, "http://127.0.0.1:1", round_number)
    return plan.groups[0].data


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


@pytest.mark.parametrize(
    "more", ["prompt_tokens = 40", 'prompt_tokens = "20..60"\nprefix_tokens = 16\nturns = 2']
)
def test_all_candidates_get_the_same_made_up_prompts_and_each_round_others(tmp_path, more):
    plans = plans_of(tmp_path, more)
    rounds = [data_of(plans, "one", number) for number in range(4)]
    assert rounds == [data_of(plans, "two", number) for number in range(4)]
    prompts = [{row[0] for row in data.rows} for data in rounds]
    assert len(set.union(*prompts)) == 4 * len(prompts[0])


def test_each_round_begins_elsewhere_in_a_file_of_prompts_for_all_candidates_alike(tmp_path):
    (tmp_path / "p.jsonl").write_text("".join(f'"prompt {n}"\n' for n in range(100)))
    plans = plans_of(tmp_path, f'prompts = "{tmp_path}/p.jsonl"')
    rounds = [data_of(plans, "one", number).rows for number in range(11)]
    assert rounds == [data_of(plans, "two", number).rows for number in range(11)]
    assert rounds[0][0] == ("prompt 0",)
    starts = sorted(rounds[0].index(rows[0]) for rows in rounds)
    assert all(set(rows) == set(rounds[0]) for rows in rounds)
    assert min(b - a for a, b in pairwise(starts)) >= 5


def test_no_server_is_asked_for_tokens_before_it_runs(tmp_path, monkeypatch):
    def ask(*_given, **_more):
        pytest.fail("a server was asked")

    monkeypatch.setattr(torr.planning.prompt_text.calibration, "ServerTokenizer", ask)
    plans = plans_of(tmp_path, "prompt_tokens = 40")
    data_of(plans, "one", 1)
    (note,) = plans.notes
    assert "prompt lengths are an estimate, the same for all candidates" in note


class OneTokenAWord:
    def count(self, texts):
        return [len(text.split()) for text in texts]


def test_a_tokenizer_makes_lengths_exact_and_counts_no_answers(tmp_path, monkeypatch):
    module = torr.planning.prompt_text.calibration
    monkeypatch.setattr(module, "read_tokenizer", lambda _file: OneTokenAWord())
    file = tmp_path / "tokenizer.json"
    file.touch()
    plans = plans_of(tmp_path, f'prompt_tokens = 40\ntokenizer = "{file}"')
    plan = plans.of(plans._file.candidates[0], {}, "http://127.0.0.1:1", 1)
    notes = [str(note) for note in plans.notes]
    assert notes[0] == f"prompt lengths are exact by {file}"
    assert notes[1].startswith("the chat template adds tokens to each prompt")
    assert not any(request.stream.keep_text for request in plan.requests)


@pytest.fixture
def trace(tmp_path):
    """Return the line of a trace of two rows that share a block."""
    path = tmp_path / "trace.jsonl"
    rows = [
        {"timestamp": 0, "input_length": 520, "output_length": 5, "hash_ids": [1, n]}
        for n in (2, 3)
    ]
    path.write_text("".join(f"{json.dumps(row)}\n" for row in rows))
    return f'trace = "{path}"'


def test_all_candidates_get_the_same_rows_of_a_trace_and_each_round_other_texts(tmp_path, trace):
    plans = plans_of(tmp_path, f"{trace}\nconnections = 2")

    def texts(name, number):
        rows = [row for batch in data_of(plans, name, number).open() for row in batch]
        return [json.loads(row.cells[0])["content"].split() for row in rows]

    rounds = [texts("one", number) for number in range(4)]
    assert rounds == [texts("two", number) for number in range(4)]
    for first, second in rounds:
        assert (len(first), len(second)) == (520, 520)
        assert first[:512] == second[:512]
    assert len({" ".join(first[:3]) for first, _ in rounds}) == 4
    (note,) = plans.notes
    assert "prompt lengths are an estimate, the same for all candidates" in note


def test_a_trace_in_a_comparison_has_its_other_keys_and_factors(tmp_path, trace):
    more = f'{trace}\ntrace_to = "1s"\nsynthesis = "output=x2"\n[factors]\nspeed = [1, 2]'
    plans = plans_of(tmp_path, more)
    one = plans._file.candidates[0]
    plan = plans.of(one, {"speed": 2}, "http://127.0.0.1:1", 1)
    assert plan.groups[0].pace.is_timed
    assert [row.cells[1] for row in next(plan.feed.open())] == ["10", "10"]


def test_what_a_trace_and_its_keys_are_decides_whether_a_comparison_is_the_same(tmp_path, trace):
    def checksum(more=""):
        plans = plans_of(tmp_path, f"{trace}\n{more}")
        plan = plans.of(plans._file.candidates[0], {}, "http://127.0.0.1:1", 1)
        return checksums(plan, Preparation())["data of default"]

    first = checksum()
    assert first == checksum()
    others = [checksum(more) for more in ('synthesis = "output=x2"', "requests = 1", "seed = 2")]
    with (tmp_path / "trace.jsonl").open("a") as file:
        file.write("\n")
    assert len({first, *others, checksum()}) == 5


def test_only_a_chat_may_be_a_template(torr, tmp_path):
    asked = MATRIX.replace("{port}/", "{port}/{{uuid}}")
    (tmp_path / "matrix.toml").write_text(asked % ("", ""))
    ended = torr("compare", "--plan", "matrix.toml")
    assert ended.code == 2
    assert "one: its request is a template" in ended.err
