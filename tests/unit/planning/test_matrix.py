"""Keys of a matrix file that would change nothing are refused; its chats are the same for all."""

from __future__ import annotations

import json
from itertools import pairwise

import pytest

import torr.planning.prompt_text.calibration
from torr.errors import UsageError
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


@pytest.mark.parametrize(
    ("factor", "message"),
    [
        ('session_store = ["redis", "memory"]', "'session_store' is the name of a secret"),
        ('database = ["postgresql://ann:hush@h/a", "none"]', "a value of 'database' is a secret"),
        ('basic_auth = ["ann:hush-1", "ann:hush-2"]', "a value of 'basic_auth' is a secret"),
    ],
)
def test_a_factor_whose_values_results_would_cover_is_refused(tmp_path, factor, message):
    name = factor.partition(" ")[0]
    with pytest.raises(UsageError, match=message) as error:
        plans_of(tmp_path, f'header = "x-a: {{{name}}}"\n[factors]\nworkers = [1]\n{factor}')
    assert error.value.line == 8


def test_a_number_and_a_word_of_a_factor_are_public(tmp_path):
    factors = '[factors]\nprocesses = [1, 2]\nprompt_tokens = [8, 9]\nmodel = ["a", "b"]'
    assert plans_of(tmp_path, factors).notes == {}


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
    data_of(plans, "one", 0)
    (note,) = plans.notes
    assert note == "torr asks the servers for the lengths of prompts before the first round"


class OneTokenAWord:
    def count(self, texts):
        return [len(text.split()) for text in texts]


def asked_servers(tmp_path, monkeypatch, more, *, tokens_of_words, template=(6, 6)):
    """Return the plans after two servers were asked; a server without `/tokenize` has None."""
    answers = dict(zip((1, 2), zip(tokens_of_words, template, strict=True), strict=True))

    class Server:
        def __init__(self, url, *_given, **_more):
            self.words, self.template = answers[url.port]

        def count(self, texts):
            if self.words is None:
                raise UsageError("there is no /tokenize")
            return [self.words * len(text.split()) for text in texts]

        def template_tokens(self, _texts):
            return self.template

    monkeypatch.setattr(torr.planning.prompt_text.calibration, "ServerTokenizer", Server)
    plans = plans_of(tmp_path, more)
    for port, candidate in enumerate(plans._file.candidates, 1):
        plans.ask(candidate, {}, f"http://127.0.0.1:{port}")
    return plans


def words_of(plans, name):
    """Return how many words the prompts of the first round have."""
    (count,) = {len(row[0].split()) for row in data_of(plans, name, 1).rows}
    return count


ESTIMATE = "prompt lengths are an estimate, the same for all candidates"
EXACT = "prompt lengths are exact by the server's /tokenize"
SIX = "each prompt has 6 tokens of the chat template"
UNKNOWN = "the chat template adds tokens to each prompt"


@pytest.mark.parametrize(
    ("servers", "words", "notes"),
    [
        ({"tokens_of_words": (1, 1)}, 34, [EXACT, SIX]),
        ({"tokens_of_words": (2, 2)}, 17, [EXACT, SIX]),
        ({"tokens_of_words": (None, 2)}, 17, [EXACT, SIX]),
        ({"tokens_of_words": (1, 2)}, 40, [ESTIMATE]),
        ({"tokens_of_words": (None, None)}, 40, [ESTIMATE]),
        ({"tokens_of_words": (1, 1), "template": (6, 8)}, 40, [EXACT, UNKNOWN]),
        ({"tokens_of_words": (1, 1), "template": (None, 6)}, 40, [EXACT, UNKNOWN]),
    ],
)
def test_prompts_have_the_lengths_that_all_servers_say_alike(
    tmp_path, monkeypatch, servers, words, notes
):
    plans = asked_servers(tmp_path, monkeypatch, "prompt_tokens = 40", **servers)
    assert words_of(plans, "one") == words_of(plans, "two") == words
    noted = list(plans.notes)
    assert len(noted) == len(notes)
    assert all(note.startswith(start) for note, start in zip(noted, notes, strict=True))


def test_what_a_server_says_after_the_first_round_began_changes_nothing(tmp_path, monkeypatch):
    plans = asked_servers(tmp_path, monkeypatch, "prompt_tokens = 40", tokens_of_words=(1, 2))
    before = data_of(plans, "one", 1)
    plans.ask(plans._file.candidates[1], {}, "http://127.0.0.1:1")
    assert data_of(plans, "two", 1) == before


def test_new_notes_of_prompts_are_passed_on(tmp_path, monkeypatch):
    plans = asked_servers(tmp_path, monkeypatch, "prompt_tokens = 40", tokens_of_words=(1, 1))
    noted = []
    plans.noted = noted.append
    data_of(plans, "one", 1)
    data_of(plans, "two", 2)
    assert [note == EXACT for note in noted] == [True, False]


@pytest.mark.parametrize("more", ['prompt = "hi"', ""])
def test_servers_are_not_asked_where_no_prompt_is_made_up(tmp_path, monkeypatch, more):
    plans = asked_servers(tmp_path, monkeypatch, more, tokens_of_words=(1, 1))
    assert plans._said == {}


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
    assert [note.startswith(ESTIMATE) for note in plans.notes] == [False, True]


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
