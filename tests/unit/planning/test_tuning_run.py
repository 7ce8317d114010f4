"""A tuning that is ready to start: its head, its conclusions, and what it refuses to continue."""

import pytest
from msgspec import structs

from doubles import Truth, measured_level
from torr.errors import UsageError
from torr.experiments.context import ExperimentListener, RunContext
from torr.experiments.interrupt import Interrupt
from torr.model.secret_names import REDACTED
from torr.model.tune_effort import TuneEffort
from torr.options.tune import TuneOptions
from torr.planning.setting_use import setting_use
from torr.planning.tuning import TunePlan
from torr.planning.tuning_run import TuningRun, compares_answers, prepare_tuning
from torr.results.result import decoded
from torr.results.tuning import TrialPlace, TuningOutcome
from torr.sources.tune_file import read_tune_file
from torr.store.rundir import RunDirectory

FILE = """\
name = "api"
command = ["serve", "{port}", "--workers", "{workers}", "--config", "{conf}"]
url = "http://127.0.0.1:{port}/"
env = { DB_PASSWORD = "hunter2secret", LEVEL = "{workers}" }
before = [["./warm", "{workers}", "{scratch}"]]
slo = ["p95 < 500ms"]
duration = "5s"
[settings]
workers = [1, 2, 4, 8]
gc = { values = [true, false], env = "GC" }
pool = { values = [8, 16], when = { workers = [4, 8] }, argument = ["--pool", "{pool}"] }
[default]
workers = 1
gc = true
[templates]
conf = "server.conf"
"""


@pytest.fixture
def plan(tmp_path):
    (tmp_path / "server.conf").write_text("gc {gc}\n")

    def planned(text=FILE, **options):
        path = tmp_path / "tune.toml"
        path.write_text(text)
        file = read_tune_file(path)
        return TunePlan.of(file, TuneOptions(folder=tmp_path, name="api", **options))

    return planned


def test_the_head_has_what_the_procedure_needs(plan):
    head = prepare_tuning(plan(budget=TuneEffort(trials=240), seed=3), ["tune", "f.toml"]).head
    experiment = head.experiment
    assert (head.kind, head.command) == ("tune", ["torr", "tune", "f.toml"])
    assert [parameter.name for parameter in experiment.parameters] == ["workers", "gc", "pool"]
    assert (experiment.default, experiment.seed, experiment.primary) == (0, 3, "ok_per_s")
    assert (experiment.search, experiment.stages) == (160, [10, 20])
    assert experiment.budget == "240"
    assert experiment.candidates["api"]["env"]["DB_PASSWORD"] == REDACTED


def test_a_budget_of_time_is_divided_when_the_default_has_been_tried(plan):
    tuning = plan(budget=TuneEffort.parse("20m"))
    head = prepare_tuning(tuning, []).head
    assert (head.experiment.search, head.experiment.stages) == (None, [])
    fast, slow = (tuning.procedure_for(seconds).budget for seconds in (2.0, 8.0))
    assert (fast.search + 4 * fast.looks[-1], slow.search + 4 * slow.looks[-1]) == (598, 148)
    with pytest.raises(UsageError, match="too small to find anything"):
        tuning.procedure_for(60.0)


@pytest.mark.parametrize(
    ("line", "compares"),
    [
        ("", True),
        ("expect = { status = 200 }\n", False),
        ('chat = "openai"\nmodel = "tiny"\nprompt = "hello"\n', False),
    ],
)
def test_the_default_is_the_expected_response_unless_the_file_has_one(plan, line, compares):
    assert compares_answers(plan(f"{line}{FILE}")) == compares


def test_how_to_start_a_setting_has_no_secret_and_leaves_the_port_open(plan):
    file = plan().file
    use = setting_use(file, {"workers": 4, "gc": False, "pool": 16})
    assert use.command == "serve '{port}' --workers 4 --config server.conf --pool 16"
    assert use.env == {"DB_PASSWORD": REDACTED, "LEVEL": "4", "GC": "false"}
    assert use.files == {"server.conf": "gc false\n"}
    assert use.before == ["./warm 4 '{scratch}'"]


def test_a_value_where_its_condition_fails_fills_command_and_template(plan, tmp_path):
    text = FILE.replace('argument = ["--pool", "{pool}"]', "otherwise = 1").replace(
        '"--config"', '"--pool", "{pool}", "--config"'
    )
    plan()
    (tmp_path / "server.conf").write_text("pool {pool}\n")
    file = TunePlan.of(read_tune_file(_written(tmp_path, text)), TuneOptions()).file
    for setting, pool in (({"workers": 1, "gc": True}, 1), (file.settings[-1], 16)):
        use = setting_use(file, setting)
        assert f"--pool {pool} " in use.command
        assert use.files == {"server.conf": f"pool {pool}\n"}


def _written(folder, text):
    path = folder / "tune.toml"
    path.write_text(text)
    return path


def started(plan, **options):
    """Return a directory with one trial of the first place, as a killed tuning leaves it."""
    tuning = plan(**options)
    prepared = prepare_tuning(tuning, ["tune", "tune.toml"])
    place = tuning.procedure.replay({}).following
    with prepared.open() as directory:
        level = measured_level(
            16, Truth(), candidate="api", factors=dict(tuning.file.settings[place.setting])
        )
        directory.keep_level(structs.replace(level, place=place))
    return directory.path


def test_a_tuning_goes_on_with_its_own_file_and_flags(plan):
    path = started(plan)
    prepared = prepare_tuning(plan(resume=path), ["tune", "tune.toml"])
    with prepared.open() as directory:
        assert isinstance(directory, RunDirectory)
        assert [level.place for level in directory.levels] == [
            TrialPlace("search", 1, 1, directory.levels[0].place.setting)
        ]


@pytest.mark.parametrize(
    ("change", "options", "said"),
    [
        (("[1, 2, 4, 8]", "[1, 4, 8]"), {}, "parameters was "),
        (("workers = 1\ngc = true", "workers = 2\ngc = true"), {}, "default was "),
        (("500ms", "400ms"), {}, "slos was "),
        (("", ""), {"seed": 2}, "seed was 1 at the start, and is 2 now"),
        (("", ""), {"budget": TuneEffort(trials=100)}, "budget was None"),
    ],
)
def test_another_tuning_is_not_continued(plan, change, options, said):
    path = started(plan)
    other = plan(FILE.replace(*change), resume=path, **options)
    with pytest.raises(UsageError) as raised:
        prepare_tuning(other, ["tune", "tune.toml"]).open()
    assert said in raised.value.message


def test_a_tuning_whose_template_or_commands_have_changed_is_not_continued(plan, tmp_path):
    path = started(plan)
    with pytest.raises(UsageError, match="before has changed since the start"):
        prepare_tuning(plan(FILE.replace("./warm", "./cold"), resume=path), []).open()
    (tmp_path / "server.conf").write_text("gc {gc}\nlimit 1\n")
    with pytest.raises(UsageError, match="template conf has changed since the start"):
        prepare_tuning(plan(resume=path), []).open()


COUNTED = FILE.replace(
    'argument = ["--pool", "{pool}"]', 'argument = ["--max-batched-tokens={pool}"]'
)


def test_a_run_directory_leaves_the_arguments_of_the_file_as_they_are(plan):
    text = COUNTED.replace("{pool}", "{pool}-x")
    for file_text, word in ((COUNTED, "{pool}"), (text, "{pool}-x")):
        path = started(lambda t=file_text, **options: plan(t, **options))
        tuning = plan(file_text, resume=path)
        with prepare_tuning(tuning, []).open():
            pass
        fresh = plan(file_text)
        with prepare_tuning(fresh, []).open():
            pass
        setting = {"workers": 4, "gc": False, "pool": 16}
        assert fresh.file.candidate_in(setting).command.argv[-1] == f"--max-batched-tokens={word}"
    assert "--max-batched-tokens=16" in setting_use(plan(COUNTED).file, setting).command


def test_a_tuning_with_a_secret_in_an_argument_goes_on(plan):
    text = FILE.replace('["--pool", "{pool}"]', '["--pool={pool}", "--api-key=hunter22"]')
    path = started(lambda **options: plan(text, **options))
    tuning = plan(text, resume=path)
    with prepare_tuning(tuning, []).open():
        pass
    use = setting_use(tuning.file, {"workers": 4, "gc": False, "pool": 16})
    assert use.command.endswith("--pool=16 '--api-key=***'")


def test_the_looks_that_are_left_are_on_the_disk_at_once(plan):
    path = started(plan)
    tuning = plan(resume=path)
    run = TuningRun(tuning)
    with prepare_tuning(tuning, []).open() as directory:
        run.keep_looks(directory, (10,))
        stored = decoded((path / "result.json").read_bytes(), "result.json")
    assert stored.experiment.stages == [10]
    assert run.procedure.budget.looks == (10,)


def test_an_interrupt_of_a_continued_tuning_takes_no_conclusion_away(plan):
    path = started(plan)
    tuning, interrupt = plan(resume=path), Interrupt()
    run = TuningRun(tuning)
    with prepare_tuning(tuning, []).open() as directory:
        budget = tuning.procedure.budget
        directory.head.experiment = structs.replace(
            directory.head.experiment, search=budget.search, stages=list(budget.looks)
        )
        # It is pressed while the default, which cannot be started here, is tried.
        interrupt.press()
        outcome = run.measure(RunContext(directory, ExperimentListener(), interrupt))
        assert outcome.interrupted
        assert isinstance(run.judge(directory.levels).tuning, TuningOutcome)


def test_a_command_with_a_number_of_processes_has_that_of_the_trials(plan):
    file = plan(FILE.replace('"--config"', '"--processes", "{processes}", "--config"')).file
    assert "--processes 1 " in setting_use(file, {"workers": 1, "gc": True}).command


def test_templates_with_the_same_file_name_stay_apart(plan, tmp_path):
    plan()
    (tmp_path / "more").mkdir()
    (tmp_path / "more/server.conf").write_text("workers {workers}\n")
    file = plan(f'{FILE}more = "more/server.conf"\n').file
    use = setting_use(file, {"workers": 1, "gc": True})
    assert use.files == {"conf-server.conf": "gc true\n", "more-server.conf": "workers 1\n"}
    assert "--config conf-server.conf" in use.command


def test_a_budget_of_too_few_trials_is_refused_before_the_server_starts(plan):
    with pytest.raises(UsageError, match="too small to find anything"):
        prepare_tuning(plan(budget=TuneEffort(trials=10)), [])


def test_before_it_runs_a_tuning_concludes_nothing(plan):
    assert not prepare_tuning(plan(), []).judge([]).tuning
