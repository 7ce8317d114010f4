"""`{{…}}` in URLs, headers and bodies: what stands for a value that each request gets anew.

    {{row.NAME}}        a column of the data file      {{uuid}} {{seq}} {{rand 1 100}}
    {{NAME}}            a captured value               {{"{{"}} these characters themselves
    {{row.q | url}}     as part of a query             {{row.q | json}} as part of a JSON string

Expressions are read here to refuse unknown ones before anything is sent. The engine fills them.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from torr.errors import UsageError, require

if TYPE_CHECKING:
    from collections.abc import Iterable
    from collections.abc import Set as AbstractSet

FILTERS = ("url", "json")
MADE = ("uuid", "seq", "rand")
_EXPRESSION = re.compile(r'\{\{\s*(?:("[^"]*")|([^"{}|]*?)\s*(?:\|\s*([^{}|"]*?))?)\s*\}\}')
NAME = re.compile(r"[A-Za-z_][\w-]*")
_VERBATIM = "--verbatim sends {{ as it stands"

Kind = Literal["row", "uuid", "seq", "rand", "captured", "text"]


@dataclass(frozen=True, slots=True)
class Expression:
    """What stands between two braces; `name` is the column or the captured value."""

    kind: Kind
    name: str = ""

    @classmethod
    def parse(cls, inside: str) -> Expression:
        """Read a name without its braces and filter; raises UsageError."""
        word, *arguments = inside.split() or [""]
        if inside.startswith("row."):
            return cls("row", inside.removeprefix("row."))
        if word == "rand":
            _check_bounds(inside, arguments)
            return cls("rand")
        if inside == "uuid":
            return cls("uuid")
        if inside == "seq":
            return cls("seq")
        if NAME.fullmatch(inside):
            return cls("captured", inside)
        raise UsageError(f"{{{{{inside}}}}} is no expression", _known(()))


def is_template(text: str) -> bool:
    """Whether there is anything to fill."""
    return "{{" in text


def pieces(text: str) -> list[tuple[str, bool]]:
    """The text in pieces, each with whether it is an expression; raises UsageError."""
    found: list[tuple[str, bool]] = []
    end = 0
    for match in _EXPRESSION.finditer(text):
        found += [(text[end : match.start()], False), (match[0], True)]
        end = match.end()
    found.append((text[end:], False))
    for piece, is_expression in found:
        if not is_expression and is_template(piece):
            start = piece[piece.index("{{") :][:20]
            raise UsageError(f"{start!r} is no {{{{…}}}} that torr knows", _VERBATIM)
    return found


def expressions(text: str) -> list[Expression]:
    """Every expression of a text; raises UsageError for what is none."""
    pieces(text)
    found = []
    for match in _EXPRESSION.finditer(text):
        text, inside, filtered = match.groups()
        if filtered is not None and filtered not in FILTERS:
            raise UsageError(
                f"{match[0]}: no filter is called {filtered!r}", "there is url, and json"
            )
        found.append(Expression("text") if text else Expression.parse(inside))
    return found


def for_json(text: str) -> str:
    """The text of a JSON document whose values are filled in as parts of JSON strings.

    An expression that has a filter stays as it is.
    """

    def filtered(match: re.Match[str]) -> str:
        is_plain = match[1] is None and match[3] is None
        return f"{{{{{match[2]} | json}}}}" if is_plain else match[0]

    return _EXPRESSION.sub(filtered, text)


def check_names(
    found: Iterable[Expression],
    columns: AbstractSet[str] | None,
    captured: AbstractSet[str],
    where: str,
) -> None:
    """Refuse names that nothing gives a value; `columns` is None without a data file."""
    for each in found:
        if each.kind == "row":
            require(
                columns is not None,
                f"{where}: {{{{row.{each.name}}}}} needs rows",
                "give --data FILE, a CSV file with a header line or JSON lines",
            )
            known = ", ".join(sorted(columns or ()))
            require(
                each.name in (columns or ()),
                f"{where}: the data has no column {each.name!r}",
                f"there is {known}",
            )
        elif each.kind == "captured":
            require(
                each.name in captured,
                f"{where}: nothing is called {{{{{each.name}}}}}",
                _known(captured),
            )


def _check_bounds(inside: str, arguments: list[str]) -> None:
    numbers = [int(word) for word in arguments if re.fullmatch(r"-?\d{1,18}", word)]
    fits = len(numbers) == len(arguments) == 2 and numbers[0] <= numbers[1]
    require(fits, f"{{{{{inside}}}}} has no two bounds", "write {{rand 1 100}}")


def _known(captured: Iterable[str]) -> str:
    return ", ".join(["there is row.COLUMN", "uuid", "seq", "rand LOW HIGH", *sorted(captured)])
