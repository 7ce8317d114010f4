"""The plan of a tuning, and the text of `torr tune --plan`."""

import json

import pytest

from torr.errors import FileError, UsageError
from torr.messages.say import render
from torr.model.tune_effort import TuneEffort
from torr.options.tune import TuneOptions
from torr.planning.checksums import checksums
from torr.planning.tuning import TunePlan
from torr.planning.tuning_checks import examples
from torr.planning.tuning_preview import preview
from torr.sources.tune_file import read_tune_file
from torr.tuning.budget import simulated_share

WHOLE = """\
command = ["serve", "{port}", "{workers}", "--config", "{conf}"]
url = "http://127.0.0.1:{port}/"
slo = ["p95 < 500ms"]
duration = "5s"
warmup = "2s"
[settings]
workers = [1, 2, 4, 8]
gc = { values = ["on", "off"], env = "GC" }
pool = { values = [8, 16], when = { workers = [4, 8] }, argument = ["--pool", "{pool}"] }
batch = [1, 2, 3, 4]
[default]
workers = 1
gc = "on"
batch = 1
[templates]
conf = "server.conf"
"""


@pytest.fixture
def plan(tmp_path):
    (tmp_path / "server.conf").write_text("batch {batch}\n")

    def planned(text=WHOLE, **options):
        path = tmp_path / "tune.toml"
        path.write_text(text)
        return TunePlan.of(read_tune_file(path), TuneOptions(**options))

    return planned


def lines_of(tuning):
    return [render(line, "en") for line in preview(tuning)]


def test_the_plan_of_a_file(plan):
    tuning = plan(budget=TuneEffort(trials=240))
    assert tuning.trial_s == 9
    assert tuning.procedure.budget.settings == 48
    assert tuning.procedure.default == tuning.file.default == 0
    assert tuning.procedure.metric.label == "ok/s"
    assert [str(slo) for slo in tuning.slos] == ["p95 < 500ms"]


def test_a_time_is_as_many_trials_as_fit(plan):
    assert plan(budget=TuneEffort.parse("40m")).requested == 264
    assert plan(f'budget = "40m"\n{WHOLE}').requested == 264
    assert plan(f'budget = "40m"\n{WHOLE}', budget=TuneEffort(trials=99)).requested == 99


def test_a_rate_is_judged_by_p99_of_which_less_is_better(plan):
    assert plan(f'rate = "100"\n{WHOLE}').procedure.metric.label == "p99"
    assert plan(f'rate = "100"\nprimary = "ok/s"\n{WHOLE}').procedure.metric.label == "ok/s"
    assert plan(f'primary = "p99"\n{WHOLE}').procedure.metric.label == "p99"


def trace_of(path, *times):
    row = {"input_length": 9, "output_length": 2, "hash_ids": [1]}
    path.write_text("".join(json.dumps({"timestamp": at, **row}) + "\n" for at in times))


def test_a_trace_is_a_load_too(plan, tmp_path):
    trace_of(tmp_path / "trace.jsonl", 0, 500)
    load = f'chat = "openai"\nmodel = "m"\ntrace = "{tmp_path}/trace.jsonl"\n'
    text = WHOLE.replace('duration = "5s"\nwarmup = "2s"\n', load)
    tuning = plan(text)
    # Its requests come at the times of the trace.
    assert tuning.procedure.metric.label == "p99"
    assert plan(f"connections = 2\n{text}").procedure.metric.label == "ok/s"
    before = checksums(tuning.load, tuning.file.preparation)
    trace_of(tmp_path / "trace.jsonl", 0, 501)
    assert checksums(plan(text).load, tuning.file.preparation) != before


def test_the_seed_is_that_of_the_options(plan):
    assert plan(seed=7).procedure.seed == 7


def test_the_examples_have_every_value_of_every_parameter(plan):
    file = plan().file
    chosen = examples(file)
    for parameter in file.parameters:
        assert {s[parameter.name] for s in chosen if parameter.name in s} == set(parameter.values)
    assert len(chosen) < 10


def test_the_examples_have_every_set_of_parameters_with_a_value(plan):
    """`{cache}` has no value in the setting (a, none, x)."""
    text = WHOLE.replace(
        "batch = [1, 2, 3, 4]",
        'mode = ["b", "a"]\nstore = ["none", "disk"]\n'
        'cache = { values = [8, 16], when = { store = ["disk"] }, argument = ["--{cache}"] }\n'
        'extra = { values = ["x"], when = { mode = ["a"] }, argument = ["--x={cache}"] }\n'
        "batch = [1, 2, 3, 4]",
    ).replace("batch = 1\n", 'mode = "a"\nstore = "disk"\ncache = 8\nextra = "x"\nbatch = 1\n')
    with pytest.raises(FileError, match="cache} is unknown"):
        plan(text)


def test_the_default_true_is_not_the_value_1(plan):
    text = WHOLE.replace("workers = [1, 2, 4, 8]", "workers = [1, true, 4, 8]")
    file = plan(text.replace("workers = 1\n", "workers = true\n")).file
    assert file.settings[file.default]["workers"] is True


def test_the_preview_says_settings_trials_time_and_power(plan):
    assert lines_of(plan(budget=TuneEffort(trials=240))) == [
        "48 settings of 4 parameters; the default is workers 1, gc on, batch 1",
        "search: 155 trials: 47 settings in 1 round and 12 settings in 9 rounds",
        "fresh rounds of the default and 3 finalists: judged after 10 and 20 rounds",
        "197 to 237 trials, about 30 min to 36 min; the estimate is 33 min",
        (
            "the search has enough trials for a standard deviation of 4 % between trials of one"
            " setting: about 88 % of simulated searches without an SLO ended within 2 % of the best"
            " setting"
        ),
        "where the best settings are near the limit of an SLO, fewer end there",
        (
            "20 fresh rounds show that a setting is faster than the default if it is by about"
            " 4.3 %, and that it is at least 3 % faster if it is by about 7.4 %"
        ),
        "p95 < 500ms needs 200 responses in a trial: 40/s or more",
    ]


@pytest.mark.parametrize(
    ("settings", "noise", "share"), [(64, 8, 90), (24, 4, 88), (24, 8, 74), (64, 9, None)]
)
def test_a_plan_promises_what_was_simulated(settings, noise, share):
    assert simulated_share(settings, noise) == share


def test_a_noise_that_was_not_simulated_has_no_share(plan):
    text = f'noise = "10%"\n{WHOLE}'
    assert any("such searches were not simulated" in line for line in lines_of(plan(text)))


@pytest.mark.parametrize(
    ("change", "line"),
    [
        (
            'rate = "20"\n',
            (
                "p95 < 500ms needs 200 responses in a trial, which has about 100:"
                " duration = '11s' would do"
            ),
        ),
        ('rate = "400"\nprimary = "ok/s"\n', None),
        ('rate = "100"\n', "p99 needs 1,000 responses in a trial, which has about 500"),
    ],
)
def test_a_trial_with_too_few_responses_is_said_before(plan, change, line):
    few = [x for x in lines_of(plan(f"{change}{WHOLE}")) if " responses in a trial" in x]
    assert any(x.startswith(line) for x in few) if line else not few


def test_a_share_is_shown_by_the_requests_of_all_rounds(plan):
    text = WHOLE.replace('"p95 < 500ms"', '"errors < 0.01%"').replace(
        'duration = "5s"\nwarmup = "2s"', "requests = 1000"
    )
    # 40,942 attempts without an error, in 40 rounds.
    assert lines_of(plan(text))[-1] == (
        "errors < 0.01% needs 1,024 responses in a trial, which has about 1,000"
    )


def test_a_small_budget_is_said_to_be_small(plan):
    lines = lines_of(plan(budget=TuneEffort(trials=120)))
    assert lines[1].endswith("7 settings are not tried")
    assert lines[3] == "122 trials, about 18 min"
    assert "fewer than the 144 trials that it needs" in lines[4]


def test_a_budget_that_can_find_nothing(plan):
    assert lines_of(plan(budget=TuneEffort(trials=45)))[1:] == [
        "45 trials: too few to find anything, at least 46 are needed"
    ]
    assert len(lines_of(plan(budget=TuneEffort(trials=46)))) > 2


def test_a_load_of_requests_has_no_known_time(plan):
    text = WHOLE.replace('duration = "5s"\nwarmup = "2s"', "requests = 1000")
    assert lines_of(plan(text))[3].endswith("and the time of their requests")


def test_made_up_prompts_may_have_a_tokenizer(plan):
    chat = 'chat = "openai"\nmodel = "m"\nprompt_tokens = 40\ntokenizer = "none.json"\nslo ='
    with pytest.raises(UsageError, match=r"none\.json: No such file"):
        plan(WHOLE.replace("slo =", chat, 1))


_NO_LIST = str.maketrans("", "", "[]")


@pytest.mark.parametrize(
    "case",
    [
        ("slo =", "setings = 3\nslo =", 3, "there is no 'setings' here", "did you mean settings?"),
        ("slo =", "connexions = 3\nslo =", 3, "there is no 'connexions'", "connections?"),
        ("slo =", 'trace = "t"\nslo =', 3, "trace: t: No such file", None),
        ("slo =", 'tokenizer = "x"\nslo =', 3, "a tuning has no tokenizer", "leave it out"),
        ('"{workers}", ', "", 7, "'workers' does not reach the server", "{workers}"),
        (
            "batch = [1",
            'pwd = ["abcd"]\nbatch = [1',
            10,
            "the name of a secret",
            "choose another",
        ),
        (
            "batch = [1",
            'store = ["redis://ann:abcd@h"]\nbatch = [1',
            10,
            "a value of 'store' is a secret",
            "leave the secret out",
        ),
        ("batch = [1", "processes = [1]\nbatch = [1", 10, "'processes' does not reach", "write"),
        ('"{workers}"', '"{worker}"', 1, "{worker} is unknown", "{workers}"),
        ("batch = [1", "conf = [1]\nbatch = [1", 10, "both called 'conf'", "rename"),
        ('duration = "5s"', 'duration = "5"', 4, "duration", None),
    ],
)
def test_a_mistake_is_named_at_its_line(plan, case):
    before, after, line, problem, hint = case
    assert before in WHOLE
    text = WHOLE.replace(before, after, 1)
    if before == "batch = [1":  # a new parameter has a default
        values, _, _ = after.partition("\n")
        text = text.replace("batch = 1\n", f"batch = 1\n{values.translate(_NO_LIST)}\n")
    if problem.startswith("'workers'"):
        text = text.replace("when = { workers = [4, 8] }", "when = { workers = 4 }")
    with pytest.raises(FileError) as error:
        plan(text)
    assert error.value.line == line
    assert problem in str(error.value.message)
    assert hint is None or hint in str(error.value.hint)


def test_an_unknown_name_in_a_template_is_named_in_its_file(plan, tmp_path):
    (tmp_path / "server.conf").write_text("batch {batch}\n")
    plan()
    (tmp_path / "server.conf").write_text("batch {batch} {other}\n")
    with pytest.raises(FileError, match="other") as error:
        plan()
    assert error.value.path == tmp_path / "server.conf"
