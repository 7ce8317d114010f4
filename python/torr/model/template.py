"""Expressions `{{…}}` in URLs, headers and bodies, for which each request gets a new value.

    {{row.NAME}}        a column of the data file      {{uuid}} {{seq}} {{rand 1 100}}
    {{NAME}}            a captured value               {{"{{"}} these characters themselves
    {{row.q | url}}     as part of a query             {{row.q | json}} as part of a JSON string

They are read here so that unknown ones are refused before anything is sent. The engine fills them.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from torr.errors import UsageError, require
from torr.messages.say import chain, say

if TYPE_CHECKING:
    from collections.abc import Iterable
    from collections.abc import Set as AbstractSet

FILTERS = ("url", "json")
GENERATED = ("uuid", "seq", "rand")
_EXPRESSION = re.compile(r'\{\{\s*(?:("[^"]*")|([^"{}|]*?)\s*(?:\|\s*([^{}|"]*?))?)\s*\}\}')
NAME = re.compile(r"[A-Za-z_][\w-]*")
_VERBATIM = say("add --verbatim to send {{{{ as it is")

Kind = Literal["row", "uuid", "seq", "rand", "captured", "text"]


@dataclass(frozen=True, slots=True)
class Expression:
    """An expression between double braces; `name` is that of a column or a captured value."""

    kind: Kind
    name: str = ""

    @classmethod
    def parse(cls, inside: str) -> Expression:
        """Read an expression without its braces and filter; raise UsageError."""
        name, *arguments = inside.split() or [""]
        if inside.startswith("row."):
            return cls("row", inside.removeprefix("row."))
        if name == "rand":
            _check_bounds(inside, arguments)
            return cls("rand")
        if inside == "uuid":
            return cls("uuid")
        if inside == "seq":
            return cls("seq")
        if NAME.fullmatch(inside):
            return cls("captured", inside)
        raise UsageError(
            say("{{{{{inside}}}}} is not an expression", inside=inside), _known_names(())
        )


def is_template(text: str) -> bool:
    """Return whether a text may have expressions."""
    return "{{" in text


def pieces(text: str) -> list[tuple[str, bool]]:
    """Return the text in pieces, each with whether it is an expression; raise UsageError."""
    parts: list[tuple[str, bool]] = []
    end = 0
    for match in _EXPRESSION.finditer(text):
        parts += [(text[end : match.start()], False), (match[0], True)]
        end = match.end()
    parts.append((text[end:], False))
    for piece, is_expression in parts:
        if not is_expression and is_template(piece):
            start = piece[piece.index("{{") :][:20]
            raise UsageError(
                say("{start!r} is not an expression {{{{…}}}} that torr knows", start=start),
                _VERBATIM,
            )
    return parts


def expressions(text: str) -> list[Expression]:
    """Return every expression of a text; raise UsageError for an invalid one."""
    pieces(text)
    results = []
    for match in _EXPRESSION.finditer(text):
        text, inside, filtered = match.groups()
        if filtered is not None and filtered not in FILTERS:
            raise UsageError(
                say("{match}: no filter is called {filtered!r}", match=match[0], filtered=filtered),
                say("use url or json"),
            )
        results.append(Expression("text") if text else Expression.parse(inside))
    return results


def for_json(text: str) -> str:
    """Return the text of a JSON document, with the filter `json` on each expression.

    An expression that has a filter stays as it is.
    """

    def filtered(match: re.Match[str]) -> str:
        is_plain = match[1] is None and match[3] is None
        return f"{{{{{match[2]} | json}}}}" if is_plain else match[0]

    return _EXPRESSION.sub(filtered, text)


def check_names(
    used: Iterable[Expression],
    columns: AbstractSet[str] | None,
    captured: AbstractSet[str],
    where: str,
) -> None:
    """Refuse names without a value; `columns` is None without a data file."""
    for expression in used:
        if expression.kind == "row":
            require(
                columns is not None,
                say("{where}: {{{{row.{name}}}}} needs rows", where=where, name=expression.name),
                say("give --data FILE, a CSV file with a header line or JSON lines"),
            )
            names = ", ".join(sorted(columns or ()))
            require(
                expression.name in (columns or ()),
                say("{where}: the data has no column {name!r}", where=where, name=expression.name),
                say("known names: {names}", names=names),
            )
        elif expression.kind == "captured":
            require(
                expression.name in captured,
                say("{where}: {{{{{name}}}}} is unknown", where=where, name=expression.name),
                _known_names(captured),
            )


def _check_bounds(inside: str, arguments: list[str]) -> None:
    numbers = [int(argument) for argument in arguments if re.fullmatch(r"-?\d{1,18}", argument)]
    fits = len(numbers) == len(arguments) == 2 and numbers[0] <= numbers[1]
    require(
        fits,
        say("{{{{{inside}}}}} does not have two bounds", inside=inside),
        say("write {{{{rand 1 100}}}}"),
    )


def _known_names(captured: Iterable[str]) -> str:
    names = chain(", ", ["row.COLUMN", "uuid", "seq", "rand LOW HIGH", *sorted(captured)])
    return say("known names: {names}", names=names)
