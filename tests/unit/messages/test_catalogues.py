"""Catalogues of words: they have all that the code says, in each language, and nothing else."""

import re
from string import Formatter

import pytest

import messages
from torr.messages import catalogue
from torr.messages.message import as_object, from_object, message, message_count, message_list

LANGUAGES = catalogue.languages()[1:]


def strings_of(each):
    return [each.string] if isinstance(each.string, str) else [*each.string]


def fields(text):
    return {name for _, name, _, _ in Formatter().parse(text) if name is not None}


@pytest.fixture(params=LANGUAGES)
def language(request):
    return request.param


def test_every_key_has_words_for_its_english(language):
    updated = messages.updated(messages.read(language))
    assert messages.untranslated(updated) == []


def test_the_files_are_as_they_are_made(language):
    path = catalogue.LOCALES / language / "LC_MESSAGES" / "torr.po"
    updated = messages.updated(messages.read(language))
    assert path.read_bytes() == messages.text_of(updated), "run make messages"
    assert path.with_suffix(".mo").read_bytes() == messages.compiled(updated)


def test_words_have_the_placeholders_of_their_english(language):
    said, wrong = messages.said(), {}
    for each in messages.read(language):
        if not each.id:
            continue
        key = each.id if isinstance(each.id, str) else each.id[0]
        english = said[key].english or (key, said[key].plural or key)
        holes = [fields(text) for text in english]
        if any(fields(words) not in holes for words in strings_of(each)):
            wrong[key] = strings_of(each)
    assert wrong == {}


def test_words_are_chinese_wherever_the_english_has_any():
    letters = {each.id: re.sub(r"\{[^}]*\}", "", str(each.id)) for each in messages.read("zh")}
    known = {each.id: strings_of(each) for each in messages.read("zh")}
    same = {
        key
        for key, text in letters.items()
        if key and [key] == known[key] and re.search(r"[A-Za-z]{2,}", text)
    }
    assert same <= {"torr CPU", "{rate} ok/s"}


@pytest.mark.parametrize(
    ("source", "found"),
    [
        ('say("a {b}", b=1)', [messages.Said("a {b}")]),
        ('say_count(n, "one", "many")', [messages.Said("one", "many")]),
        ('chain("; ", parts)', [messages.Said("; ")]),
        ('message("a.b", "the {x}", x=1)', [messages.Said("a.b", None, ("the {x}",))]),
        (
            'message_count("a.b", n, "one", "many")',
            [messages.Said("a.b", "a.b", ("one", "many"))],
        ),
    ],
)
def test_what_is_said_is_extracted(source, found):
    assert list(messages.of_module(source.encode())) == found


@pytest.mark.parametrize(
    "source", ["say(template)", 'say(f"a {b}")', 'say("a" if x else "b")', "message(code, x)"]
)
def test_a_template_that_is_not_written_in_the_call_is_refused(source):
    with pytest.raises(ValueError, match="does not write its template"):
        list(messages.of_module(source.encode()))


@pytest.fixture
def chinese(monkeypatch):
    """Chinese words for codes of this test."""
    known = {"a.late": "迟到 {n} 次", "a.why": "原因是 {why}", "; ": "；"}
    monkeypatch.setattr("torr.messages.message.words", lambda _language, key, *_: known.get(key))


@pytest.mark.usefixtures("chinese")
def test_a_message_comes_back_from_its_object_with_its_words():
    late = message_count("a.late", 2, "{n} was late", "{n} were late")
    why = message("a.why", "because {why}", why=late)
    both = message_list("; ", [late, why])
    kept = as_object(both)
    assert kept["text"] == both == "2 were late; because 2 were late"
    assert kept["values"]["parts"][1]["values"]["why"]["code"] == "a.late"
    read = from_object(kept)
    assert (read, as_object(read)) == (both, kept)
    assert read.render("zh") == "迟到 2 次；原因是迟到 2 次"


def test_a_plain_text_is_a_message_without_a_code():
    read = from_object("as an older torr wrote it")
    assert (read.code, as_object(read)) == ("", "as an older torr wrote it")
    assert read.render("zh") == "as an older torr wrote it"


@pytest.mark.usefixtures("chinese")
def test_words_that_do_not_fit_the_values_leave_the_english():
    read = from_object({"code": "a.why", "values": {}, "text": "because of it"})
    assert read.render("zh") == "because of it"


def test_a_list_without_parts_leaves_the_english():
    read = from_object({"code": "list", "values": {"between": ", ", "parts": 3}, "text": "a, b"})
    assert read.render("zh") == "a, b"


def nested(depth):
    found = "the innermost"
    for _ in range(depth):
        found = {"code": "a.why", "values": {"why": found}, "text": "because"}
    return found


def test_messages_lie_in_messages_as_deep_as_any_that_torr_writes():
    assert from_object(nested(16)) == "because"


@pytest.mark.parametrize(
    "found",
    [
        *(1, None, {"code": "a"}, {"code": 1, "values": {}, "text": ""}, nested(18), nested(300)),
        {"code": "a", "values": {"parts": [["b"]]}, "text": "message"},
    ],
)
def test_what_is_no_message_is_refused(found):
    with pytest.raises(ValueError, match="message"):
        from_object(found)
