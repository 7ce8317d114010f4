"""The order in which a verb ends: a step that fails costs only the later ones."""

from __future__ import annotations

from xml.etree import ElementTree as ET

import pytest

from doubles import Truth, measured_level
from torr import report
from torr.errors import OutputError
from torr.finishing import pipeline
from torr.finishing.pipeline import EndedRun, finish
from torr.options.result import ResultOptions
from torr.report.files import junit
from torr.results.result import RunHead
from torr.store.rundir import RunDirectory
from torr.store.runs.registration import Registration
from torr.verdicts.conclusions import of_load

ORDER = ("junit", "draw", "register", "show")


@pytest.fixture
def run(tmp_path):
    with RunDirectory.create(tmp_path, "run", RunHead(kind="run")) as directory:
        level = directory.keep_level(measured_level(10, Truth()))
        yield EndedRun(directory, lambda: of_load("run", [level], ()))


@pytest.fixture
def taken(monkeypatch, run):
    """The steps that were taken, each with whether result.json was closed by then."""
    names = []

    def step(name, returned=None):
        def take(*_given, **_more):
            names.append(name)
            assert '"status":"complete"' in run.directory.result_path.read_text()
            if name == names_failing[0]:
                raise OutputError(f"{name} failed")
            return returned

        return take

    names_failing = [None]
    monkeypatch.setattr(junit, "write", step("junit"))
    monkeypatch.setattr(report, "write_all", step("draw", []))
    monkeypatch.setattr(pipeline, "register", step("register", Registration(id=7)))
    return names, names_failing, step("show")


def test_the_steps_are_taken_in_their_order(run, taken, tmp_path):
    names, _, show = taken
    finished = finish(run, ResultOptions(junit=tmp_path / "x.xml"), show)
    assert tuple(names) == ORDER
    assert (finished.run_id, finished.error, finished.result.status) == (7, None, "complete")


@pytest.mark.parametrize("failing", ORDER)
def test_a_step_that_fails_costs_only_the_later_ones(run, taken, tmp_path, failing):
    names, names_failing, show = taken
    names_failing[0] = failing
    with pytest.raises(OutputError, match=f"{failing} failed"):
        finish(run, ResultOptions(junit=tmp_path / "x.xml"), show)
    assert tuple(names) == ORDER[: ORDER.index(failing) + 1]


def test_a_verb_may_have_no_junit_file(run, taken):
    names, _, show = taken
    finish(run, ResultOptions(), show)
    assert tuple(names) == ORDER[1:]


@pytest.mark.parametrize(
    ("truth", "status", "options"),
    [
        (Truth(), "interrupted", {}),
        (Truth(ok_per_s=0, errors={"read.closed": 5}), "complete", {}),
        (Truth(failure="the target refuses"), "failed", {}),
        (Truth(health="generator-limited"), "complete", {"strict": True}),
        (Truth(), "complete", {}),
    ],
)
def test_the_junit_file_fails_where_the_exit_code_is_not_0(tmp_path, truth, status, options):
    path = tmp_path / "x.xml"
    with RunDirectory.create(tmp_path, "run", RunHead(kind="run")) as directory:
        level = directory.keep_level(measured_level(10, truth))
        ended = EndedRun(directory, lambda: of_load("run", [level], ()), status, is_drawn=False)
        error = finish(ended, ResultOptions(junit=path, **options), lambda _: None).decision.error
    failures = [x.get("message") for x in ET.parse(path).iter("failure")]  # noqa: S314
    assert failures == ([] if error is None else [error.message])
    assert (error is None) == (status == "complete" and truth == Truth())


@pytest.mark.parametrize("has_level", [True, False])
def test_an_interrupted_run_replaces_published_files_only_if_it_measured_a_level(
    tmp_path, has_level
):
    earlier = tmp_path / "run.dat"
    earlier.write_text("200 1000 5 100\n")
    with RunDirectory.create(tmp_path, "run", RunHead(kind="ladder")) as directory:
        level = measured_level(10, Truth())
        level.cut_short = not has_level
        kept = directory.keep_level(level)
        ended = EndedRun(directory, lambda: of_load("ladder", [kept], ()), "interrupted")
        finished = finish(ended, ResultOptions(), lambda _: None)
    assert (earlier in finished.published) == has_level
    assert earlier.read_text().startswith("10 " if has_level else "200 ")
