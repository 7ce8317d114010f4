"""Templates: what stands between braces, and what is refused before anything is sent."""

from __future__ import annotations

import pytest

from torr.errors import UsageError
from torr.model.template import Expression, check_names, expressions, is_template, pieces


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("{{row.name}}", Expression("row", "name")),
        ("{{ row.first name }}", Expression("row", "first name")),
        ("{{uuid}}", Expression("uuid")),
        ("{{ seq }}", Expression("seq")),
        ("{{rand 1 100}}", Expression("rand")),
        ("{{rand -5 5}}", Expression("rand")),
        ("{{token}}", Expression("captured", "token")),
        ('{{"{{"}}', Expression("text")),
        ('{{ "}}" }}', Expression("text")),
        ("{{row.q|url}}", Expression("row", "q")),
        ("{{ token | json }}", Expression("captured", "token")),
    ],
)
def test_an_expression_is_what_it_says(text, found):
    assert expressions(f"a{text}b") == [found]


def test_a_text_is_cut_into_what_stays_and_what_is_filled():
    text = '/{{row.id}}/x?{{"{{"}}={{ seq | url }}'
    assert pieces(text) == [
        *(("/", False), ("{{row.id}}", True), ("/x?", False), ('{{"{{"}}', True), ("=", False)),
        *(("{{ seq | url }}", True), ("", False)),
    ]
    assert "".join(piece for piece, _ in pieces(text)) == text


def test_single_braces_are_no_template():
    assert not is_template('{"a": {"b": {}}}')
    assert expressions('{"a": {"b": {}}}') == []


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("{{row.id", "'{{row.id' is not an expression {{…}}"),
        ("{{}}", "{{}} is not an expression"),
        ("{{1}}", "{{1}} is not an expression"),
        ("{{two words}}", "{{two words}} is not an expression"),
        ("{{rand}}", "{{rand}} does not have two bounds"),
        ("{{rand 5 1}}", "{{rand 5 1}} does not have two bounds"),
        ("{{rand a b}}", "{{rand a b}} does not have two bounds"),
        ("{{seq|upper}}", "no filter is called 'upper'"),
        ("{{a|url|json}}", "is not an expression {{…}}"),
        ('{{"a"|url}}', "is not an expression {{…}}"),
    ],
)
def test_what_is_no_expression_is_refused(text, says):
    with pytest.raises(UsageError) as error:
        expressions(text)
    assert says in str(error.value)


def test_names_must_be_given_by_somebody():
    found = expressions("{{row.id}} {{token}} {{uuid}}")
    check_names(found, {"id", "n"}, {"token"}, "GET /")
    with pytest.raises(UsageError, match="no column 'id'") as error:
        check_names(found, {"n"}, {"token"}, "GET /")
    assert error.value.hint == "known names: n"
    with pytest.raises(UsageError, match="needs rows") as error:
        check_names(found, None, {"token"}, "GET /")
    assert "--data FILE" in error.value.hint
    with pytest.raises(UsageError, match=r"\{\{token\}\} is unknown") as error:
        check_names(found, {"id"}, {"id"}, "GET /")
    assert error.value.hint.endswith("rand LOW HIGH, id")
