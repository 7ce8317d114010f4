"""The tables of a tuning, and how to start the recommended setting."""

import pytest
from msgspec import structs

from torr.messages.say import render
from torr.report.data.tuning import Tuning
from torr.report.tables import tuning_tables
from torr.report.text import trust
from torr.report.text.tuning_use import instructions
from torr.results.tuning import SettingOut
from tuned import SETTINGS, tuned


@pytest.fixture(scope="module")
def result():
    return tuned()


def rows_of(table):
    return [[render(cell, "en") for cell in row] for row in table.rows]


def test_the_recommended_setting_is_first_and_the_default_last(result):
    rows = rows_of(tuning_tables.of_finalists(Tuning.of(result)))
    assert [row[:2] for row in rows] == [
        ["workers 4, gc false, pool 16", "champion, recommended"],
        ["workers 4, gc false, pool 8", "runner-up 1"],
        ["workers 4, gc true, pool 16", "runner-up 2"],
        ["workers 1, gc true", "default"],
    ]
    champion = rows[0]
    assert champion[3:] == ["3.79 ×", "3.74–3.82", "faster", "held", "p95 ≤ 7.50 ms", "10"]
    assert rows[-1][3:] == ["–", "–", "", "held", "p95 ≤ 7.50 ms", "10"]


def test_without_an_slo_there_is_no_column_of_it():
    table = tuning_tables.of_finalists(Tuning.of(tuned(slos=())))
    assert "SLO" not in [render(column, "en") for column in table.columns]


def test_the_search_names_finalists_and_what_is_out(result):
    rows = rows_of(tuning_tables.of_search(Tuning.of(result)))
    assert [row[-1] for row in rows[:3]] == ["finalist 1", "finalist 2", "finalist 3"]
    assert len(rows) == len(SETTINGS) - 2
    (out,) = rows_of(tuning_tables.of_settings_out(Tuning.of(result)))
    assert out == ["workers 1, gc false", "not ready", "not healthy in 30 s"]


def test_trials_without_a_number_are_not_seen_by_the_search(result):
    levels = [structs.replace(x, counts=structs.replace(x.counts, ok=0)) for x in result.levels[:1]]
    searched = Tuning.of(structs.replace(result, levels=[*levels, *result.levels[1:]])).searched
    seen = {each.setting: each.rounds for each in Tuning.of(result).searched}
    setting = result.levels[0].place.setting
    assert next(x.rounds for x in searched if x.setting == setting) == seen[setting] - 1


def test_the_configuration_has_every_parameter(result):
    rows = dict(rows_of(tuning_tables.configuration(result)))
    assert rows["workers"] == "1, 2, 4"
    assert rows["gc"] == "true, false"
    assert rows["trials of the search"] == "40"
    assert rows["fresh rounds before an interim analysis"] == "10, 20"


def test_a_setting_is_started_by_its_command_and_its_files(result):
    (title, text), (file, content) = instructions(Tuning.of(result))
    assert render(title, "en") == "The recommended setting"
    # The commands before it get the variables, too.
    assert text == "export GC=off\n./configure 16\nserve --port '{port}' --workers 4"
    assert (render(file, "en"), content) == ("File api.conf", "pool 16\n")


def test_trust_names_trials_settings_and_failures(result):
    text = render(trust.trust(result), "en")
    searched = "the search had 30 trials of 6 settings · 1 setting failed"
    noise = "standard deviation of a trial 0.7 %"
    assert text.startswith(f"Healthy: the generator had room · {searched} · {noise} · busiest")


def test_settings_that_were_not_tried_are_listed(result):
    assert tuning_tables.of_untried(Tuning.of(result)) is None
    outcome = structs.replace(result.tuning, untried=2, untried_settings=[2, 7])
    partly = structs.replace(result, tuning=outcome)
    assert rows_of(tuning_tables.of_untried(Tuning.of(partly))) == [
        ["workers 2, gc true"],
        ["workers 4, gc false, pool 16"],
    ]
    assert "; 2 were not tried" in render(trust.trust(partly), "en")


def test_a_setting_that_the_generator_limited_has_not_failed(result):
    out = [SettingOut(1, "limited"), SettingOut(2, "died")]
    partly = structs.replace(result, tuning=structs.replace(result.tuning, out=out))
    text = render(trust.trust(partly), "en")
    assert "1 setting failed · the generator limited 1 setting" in text


@pytest.mark.parametrize(
    ("word", "slo", "title"),
    [
        ("better", "held", "The recommended setting"),
        ("worse", "broken", "The recommended setting"),
        ("same", None, "The best setting, which is not shown to be better than the default"),
    ],
)
def test_a_setting_is_called_recommended_if_there_is_a_reason(result, word, slo, title):
    outcome = result.tuning
    first = outcome.measured[0]
    claim = structs.replace(first.against_default, word=word)
    changed = structs.replace(
        outcome,
        measured=[structs.replace(first, against_default=claim), *outcome.measured[1:]],
        default=structs.replace(outcome.default, slo=slo),
    )
    (found, _), *_ = instructions(Tuning.of(structs.replace(result, tuning=changed)))
    assert render(found, "en") == title


def test_before_the_first_look_there_are_no_finalists():
    unfinished = tuned(until=12)
    assert tuning_tables.of_finalists(Tuning.of(unfinished)) is None
    assert tuning_tables.of_search(Tuning.of(unfinished)) is not None
    assert "interrupted" in render(trust.trust(unfinished), "en")
