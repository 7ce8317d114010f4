"""The order in which a verb ends: a step that fails costs only the later ones."""

from __future__ import annotations

from pathlib import Path

import pytest

from torr.cli.finish import Steps, finish
from torr.cli.streams import printed
from torr.errors import OutputError

ORDER = ("judge", "write_junit", "draw", "register", "show", "end")
RESULT = {"kind": "run"}
PATHS = [Path("run.png")]
GIVEN = {
    "judge": (),
    "write_junit": (RESULT,),
    "draw": (RESULT,),
    "register": (),
    "show": (RESULT, PATHS, 7),
    "end": (RESULT,),
}
RETURNED = {"judge": RESULT, "draw": PATHS, "register": 7}


@pytest.fixture(autouse=True)
def nothing_in_files(monkeypatch):
    monkeypatch.setattr(printed, "is_in_files", False)


def steps(taken, failing=None):
    """Steps that note their arguments, of which one fails."""

    def step(name):
        def take(*given):
            taken.append((name, given, printed.is_in_files))
            if name == failing:
                raise OutputError(f"{name} failed")
            return RETURNED.get(name)

        return take

    return Steps(**{name: step(name) for name in ORDER})


def test_each_step_gets_what_the_earlier_ones_returned():
    taken = []
    finish(steps(taken))
    assert [(name, given) for name, given, _ in taken] == list(GIVEN.items())


def test_only_what_is_printed_last_is_a_copy_of_files():
    taken = []
    finish(steps(taken))
    assert [name for name, _, is_in_files in taken if is_in_files] == ["show", "end"]


@pytest.mark.parametrize("failing", ORDER)
def test_a_step_that_fails_costs_only_the_later_ones(failing):
    taken = []
    with pytest.raises(OutputError, match=f"{failing} failed"):
        finish(steps(taken, failing))
    assert [name for name, _, _ in taken] == list(ORDER[: ORDER.index(failing) + 1])


def test_a_verb_may_have_no_junit_file_and_no_verdict():
    found = []
    finish(
        Steps(
            judge=lambda: RESULT,
            draw=lambda _result: PATHS,
            register=lambda: None,
            show=lambda *given: found.append(given),
        )
    )
    assert found == [(RESULT, PATHS, None)]
