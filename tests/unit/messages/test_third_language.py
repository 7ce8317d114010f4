"""A third language costs one .po file: no English sentence is left in what is shown of a result."""

import json
import re

import pytest
from msgspec import structs
from msgspec.structs import replace

import messages
import typed
from compared import compared, failure, matrix, pair, rounds
from page import Page
from recordings import recording
from torr.engine import decoded_level
from torr.messages import catalogue
from torr.messages.message import Message
from torr.messages.say import chain, join, say, say_count
from torr.model.condition import Condition
from torr.report.files import html
from torr.report.view import view
from torr.results.base import convert
from torr.results.monitor import MonitorSeries
from torr.results.result import decoded
from torr.verdicts import conclusions

RESULTS = (
    *("ladder", "limited_ladder", "collapsing_ladder", "run", "streamed", "streamed_ladder"),
    "diffed",
)
RECORDED = ("run_chat", "run_groups", "run_faulty", "run_limited", "ladder_rounds")
FEW = {"connections": 9}
COMPARISONS = {
    "same": lambda: pair(1.0, spread=0.004),
    "inconclusive": lambda: pair(1.02, spread=0.04),
    "few rounds": lambda: pair(0.9, count=3),
    "matrix": matrix,
    "failed": lambda: compared(
        rounds({"a": 100, "b": 104}, FEW, count=7),
        baseline="a",
        factors={"connections": [9]},
        failures=[failure("c", FEW)],
    ),
}
# Templates are in capitals in this language, so small letters are data or English.
SENTENCE = re.compile(r"[a-z]{2,} [a-z]+ [a-z]{2,}")


def test_a_third_language_costs_one_file(pseudo):
    assert catalogue.languages() == ("en", "eo")
    said = say("{before} and {last}", before=say_count(2, "{n:,} user", "{n:,} users"), last="x")
    assert said == "2 users and x"
    assert said.render(pseudo) == "[[2 USERS] AND x]"
    assert said.as_json() == {"en": "2 users and x", "eo": "[[2 USERS] AND x]"}
    assert join(["a", "b"]).render(pseudo) == "[a AND b]"
    assert chain(", ", ["a", "b"]).render(pseudo) == "a[, ]b"


def test_every_template_is_said_in_a_third_language(pseudo):
    said = messages.said().items()
    plain = {key for key, one in said if not one.english and one.plural is None}
    assert {key for key in plain if key.strip() and not catalogue.words(pseudo, key)} == set()


def test_no_english_is_left_of_the_words_of_the_page_itself(pseudo):
    page = Page(html.document({"mode": "report", "lang": pseudo, "run": None, "live": None}))
    words = page.data["words"]
    assert list(words) == ["en", pseudo]
    assert words[pseudo].keys() == words["en"].keys()
    assert [text for text in words[pseudo].values() if not text.startswith("[")] == []
    assert ("lang", pseudo) in page.attributes


@pytest.mark.parametrize("name", RESULTS)
def test_no_english_is_left_on_the_page_of_a_result(name, pseudo, request):
    assert english(request.getfixturevalue(name), pseudo) == []


@pytest.mark.parametrize("name", COMPARISONS)
def test_no_english_is_left_on_the_page_of_a_comparison(name, pseudo):
    assert english(COMPARISONS[name](), pseudo) == []


@pytest.mark.parametrize("name", RECORDED)
def test_no_english_is_left_on_the_page_of_a_recorded_load(name, pseudo):
    levels = [
        replace(decoded_level(load["level"]), monitor=convert(load["monitor"], MonitorSeries))
        for load in recording(name)["loads"]
    ]
    kind = name.partition("_")[0]
    slos = list(map(Condition.parse, ("p99 < 1ms", "success >= 99.999%")))
    found = conclusions.of_load(kind, levels, slos)
    result = typed.result(kind=kind, levels=levels, **structs.asdict(found))
    assert english(result, pseudo) == []


@pytest.mark.parametrize("name", ["functions", "locust"])
def test_no_english_is_left_on_the_page_of_a_recorded_result(name, pseudo):
    result = decoded(json.dumps(recording(name)["result"]).encode(), name)
    assert english(result, pseudo) == []


def test_english_that_is_left_is_found(pseudo):
    result = pair(1.0)
    result.experiment.rules = [Message("This rule has no code.")]
    assert english(result, pseudo) == ["This rule has no code."]


def english(result, language):
    """Return the sentences that the page of a result shows in English in another language."""
    shown = view.view(result)
    del shown["command"], shown["blocks"]  # what was typed, and what servers printed
    return [text for text in texts(shown, language) if SENTENCE.search(text)]


def texts(shown, language):
    """Yield every text of a page."""
    if isinstance(shown, str):
        yield shown
    elif isinstance(shown, dict) and language in shown:
        yield shown[language]
    elif isinstance(shown, dict | list):
        for part in shown.values() if isinstance(shown, dict) else shown:
            yield from texts(part, language)
