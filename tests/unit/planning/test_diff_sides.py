import json

import pytest

import typed
from torr.errors import UsageError
from torr.planning.diff_sides import load
from torr.results.base import builtins
from torr.results.result import encoded
from torr.verdicts.diff_side import RunReference, of_result, renamed

PROFILE = typed.profile(folded="a 1\n")


@pytest.fixture
def compared(make_level, make_result):
    """The result of an interleaved comparison: two candidates, two settings, seven rounds."""
    levels = [
        make_level(
            users,
            rate * (1 + at / 500),
            2.0,
            candidate=name,
            round=at,
            factors={"processes": processes, "connections": users},
        )
        for processes in (1, 4)
        for users in (10, 20)
        for at in range(1, 8)
        for name, rate in (("gin", 1000.0), ("net", 1200.0))
    ]
    return make_result("compare", levels)


@pytest.fixture
def kept(tmp_path, compared):
    """A run directory that holds it."""
    (tmp_path / "run").mkdir()
    (tmp_path / "run/result.json").write_bytes(encoded(compared))
    return tmp_path / "run"


def test_loads_a_run_directory_its_result_and_a_dat(tmp_path, ladder):
    (tmp_path / "result.json").write_bytes(encoded(ladder))
    (tmp_path / "a.dat").write_text("200 1 1 100\n")
    assert load(tmp_path) == load(tmp_path / "result.json")
    assert load(tmp_path).name == "apiserver"
    assert len(load(tmp_path).trials) == 8
    dat = load(tmp_path / "a.dat")
    assert (dat.name, dat.trials, dat.profiles) == ("a", (), ())


def test_a_candidate_and_a_setting_are_named_behind_a_colon(kept):
    side = load(kept.with_name("run:net,processes=4"))
    assert (side.name, side.candidate, side.setting) == ("net", "net", {"processes": 4})
    assert [point.concurrency for point in side.series.points] == [10, 20]
    assert len(side.trials) == 14
    other = load(kept.with_name("run:gin,processes=4"))
    assert side.is_interleaved_with(other)
    assert not side.is_interleaved_with(side)
    assert not side.is_interleaved_with(load(kept.with_name("run:gin,processes=1")))


def test_profiles_of_a_candidate_at_a_setting_come_along_under_its_name(tmp_path, compared):
    at = [("net", {"processes": 4, "connections": 20}), ("net", {"processes": 1}), ("gin", {})]
    taken = [typed.changed(PROFILE, candidate=name, factors=x) for name, x in at]
    taken.append(typed.changed(PROFILE, folded="of nobody 1\n"))
    path = tmp_path / "result.json"
    path.write_bytes(encoded(typed.changed(compared, profiles=taken)))
    (found,) = load(path.with_name("result.json:net,processes=4")).profiles
    assert found == typed.changed(PROFILE, candidate="net")


def test_profiles_of_a_run_are_those_of_its_name(tmp_path, ladder):
    path = tmp_path / "result.json"
    path.write_bytes(encoded(typed.changed(ladder, profiles=[PROFILE])))
    side = renamed(load(path), "before")
    assert [(profile.candidate, profile.folded) for profile in side.profiles] == [
        ("before", "a 1\n")
    ]


@pytest.mark.parametrize(
    ("asked", "says", "hint"),
    [
        ("", "has 2 candidates: gin, net", "run:gin"),
        (":tornado", "has no candidate 'tornado': gin, net", "run:gin"),
        (":gin", "trials at these settings: processes=1; processes=4", "run:gin,processes=1"),
        (":gin,processes=8", "at these settings: processes=1; processes=4", "gin,processes=1"),
    ],
)
def test_what_is_not_one_series_is_refused_with_what_there_is(kept, asked, says, hint):
    with pytest.raises(UsageError) as refused:
        load(kept.with_name(f"run{asked}"))
    assert says in refused.value.message
    assert hint in refused.value.hint


def test_a_dat_has_no_candidates(tmp_path):
    (tmp_path / "a.dat").write_text("200 1 1 100\n")
    with pytest.raises(UsageError, match="has no candidates"):
        load(tmp_path / "a.dat:gin")


def test_a_colon_may_be_part_of_a_name(tmp_path, ladder):
    (tmp_path / "run:1").mkdir()
    (tmp_path / "run:1/result.json").write_bytes(encoded(ladder))
    assert load(tmp_path / "run:1").name == "apiserver"


@pytest.mark.parametrize("text", ["{", "[]", "{}", '{"name": "a", "levels": [1]}'])
def test_what_is_no_result_is_refused(tmp_path, text):
    (tmp_path / "result.json").write_text(text)
    with pytest.raises(UsageError, match="is not a result of torr"):
        load(tmp_path)


def test_a_directory_without_a_result_is_refused(tmp_path):
    with pytest.raises(UsageError, match=r"result\.json cannot be read"):
        load(tmp_path)


def test_a_run_that_claims_nothing_is_refused(tmp_path, make_level, make_result):
    limited = make_result("ladder", [make_level(5, 1.0, 1.0, verdict="generator-limited")])
    (tmp_path / "result.json").write_bytes(encoded(limited))
    with pytest.raises(UsageError, match="no level that claims anything"):
        load(tmp_path)


def test_functions_are_no_side(make_result):
    functions = make_result("micro", [])
    with pytest.raises(UsageError, match="12 holds functions"):
        of_result(functions, RunReference("12"))


def test_a_diff_is_no_side(diffed):
    with pytest.raises(UsageError, match="12 is itself a diff"):
        of_result(diffed, RunReference("12"))


def test_a_side_knows_how_its_comparison_judged(compared):
    plain = of_result(compared, RunReference.parse("1:gin,processes=1"))
    assert (plain.alpha, plain.rule) == (0.05, None)
    known = {"alpha": 0.05 / 3, "discard_if": "failures > 100"}
    looked = typed.changed(compared, experiment=known)
    found = of_result(looked, RunReference.parse("1:gin,processes=1"))
    assert (found.alpha, str(found.rule)) == (0.05 / 3, "failures > 100")


@pytest.mark.parametrize(
    ("change", "place"),
    [
        ({"ok_per_s": "fast"}, "levels[0].ok_per_s"),
        ({"ok_per_s": "5"}, "levels[0].ok_per_s"),
        ({"ok_per_s": 1e300}, "levels[0].ok_per_s"),
        ({"success_rate": [1]}, "levels[0].success_rate"),
        ({"concurrency": True}, "levels[0].concurrency"),
        ({"latency": {"service_ms": {"n": 1, "mean": 1e300}}}, "levels[0].latency.service_ms.mean"),
    ],
)
def test_a_value_that_is_not_possible_is_refused_by_its_place(tmp_path, ladder, change, place):
    members = builtins(ladder)
    members["levels"][0].update(change)
    (tmp_path / "result.json").write_text(json.dumps(members))
    with pytest.raises(UsageError) as refused:
        load(tmp_path)
    assert f"result.json is not a result of torr: {place}: " in refused.value.message


def test_texts_of_a_file_are_fit_to_be_printed(tmp_path, ladder):
    (tmp_path / "result.json").write_bytes(
        encoded(typed.changed(ladder, name="a\x1b[2J token=hush"))
    )
    assert load(tmp_path).name == r"a\x1b[2J token=***"
