"""What is looked for in an answer, and what is kept of it: statuses, bodies, JSON, captures.

Read once from their texts, which are the same as flags and as members of a requests file. What a
JSONPath or an expression may contain is the engine's to say: it refuses what it cannot run.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import Any, Literal

from torr.errors import UsageError, require
from torr.model.json_input import JsonInputError, is_not_json, parse_json_to_send
from torr.model.secret_names import REDACTED, is_secret
from torr.model.secrets import redacted_text
from torr.model.template import MADE, NAME

Json = dict[str, Any]
Spans = tuple[tuple[int, int], ...]

_CAPTURE = "write NAME=json:$.token, NAME=header:Location or NAME=regex:/id=(\\d+)/"
# Words that Python, but not JSON, takes for numbers.
_NO_NUMBERS = ("NaN", "Infinity", "-Infinity")
_LAST_NAME = re.compile(r"([\w-]+)['\"\]\s]*$")


def parse_statuses(text: str) -> Spans:
    """Ranges of statuses: `200`, `2xx`, `200-299`, several with commas."""
    spans = []
    for word in text.replace(" ", "").split(","):
        found = re.fullmatch(r"([1-5])xx|([1-5]\d\d)(?:-([1-5]\d\d))?", word.lower())
        if found is None:
            hint = "they are 100 to 599: write 200, 2xx, 200-299 or 200,404"
            raise UsageError(f"{word!r} is not a status", hint)
        hundred, low, high = found.groups()
        start = int(hundred) * 100 if hundred else int(low)
        span = (start, start + 99 if hundred else int(high or low))
        if span[0] > span[1]:
            raise UsageError(f"{word!r} is no range: it ends before it begins")
        spans.append(span)
    return tuple(spans)


@dataclass(frozen=True, slots=True)
class BodyCheck:
    """Text that a body must contain, or an expression that must match in it."""

    text: str
    is_regex: bool = False

    @classmethod
    def parse(cls, text: str) -> BodyCheck:
        """Read `TEXT` or `/REGEX/`; raises UsageError."""
        require(bool(text.strip("/")), f"{text!r} is in every body", "write a text or /REGEX/")
        inside = _between_slashes(text)
        return cls(text) if inside is None else cls(inside, is_regex=True)

    def as_json(self) -> Json:
        """The contract's body check."""
        if self.is_regex:
            return {"kind": "regex", "pattern": self.text}
        return {"kind": "text", "text": self.text}

    def redacted(self) -> BodyCheck:
        """The same without the values of secret fields and members."""
        return replace(self, text=redacted_text(self.text))


@dataclass(frozen=True, slots=True)
class JsonCheck:
    """A value that a JSON body must have at a path (JSONPath, RFC 9535)."""

    path: str
    value: Any

    @classmethod
    def parse(cls, text: str) -> JsonCheck:
        """Read `$.a.b=VALUE` or `a.b=VALUE`; a value that is no JSON is text; raises UsageError."""
        place = _equals_sign(text)
        require(
            place is not None and bool(text[:place].strip()),
            f"{text!r} is not PATH=VALUE",
            "write $.status=ok or $.items[0].id=7",
        )
        path, written = text[:place].strip(), text[place:][1:].strip()
        require(not written.startswith("="), f"{text!r} has two equals signs", "write PATH=VALUE")
        return cls(json_path(path), _value(written))

    def as_json(self) -> Json:
        """The contract's JSON check."""
        return {"path": self.path, "value": self.value}

    def redacted(self) -> JsonCheck:
        """The same without values whose name says that they are secrets."""
        name = _LAST_NAME.search(self.path)
        hides = name is not None and is_secret(name[1])
        return replace(self, value=REDACTED if hides else _redacted(self.value))


@dataclass(frozen=True, slots=True)
class Capture:
    """A part of an answer that the user's later requests may name.

    Of a stream it is the text, or the conversation that the server says it belongs to.
    """

    name: str
    source: Literal["json", "header", "regex", "text", "conversation"]
    what: str

    @classmethod
    def parse(cls, text: str) -> Capture:
        """Read `NAME=json:PATH`, `NAME=header:FIELD` or `NAME=regex:/…(…)…/`."""
        name, _, rest = text.partition("=")
        source, colon, what = rest.partition(":")
        name, source, what = name.strip(), source.strip(), what.strip()
        require(bool(colon and what), f"{text!r} is not a capture", _CAPTURE)
        require(
            bool(NAME.fullmatch(name)) and name not in (*MADE, "row"),
            f"{name!r} cannot name a captured value",
            "write a word of your own, such as token",
        )
        if source == "json":
            return cls(name, "json", json_path(what))
        if source == "header":
            return cls(name, "header", what)
        require(source == "regex", f"{text!r}: nothing is captured from {source!r}", _CAPTURE)
        return cls(name, "regex", _between_slashes(what) or what)

    def as_json(self) -> Json:
        """The contract's capture."""
        return {"name": self.name, "from": self.source, "what": self.what}


def json_path(text: str) -> str:
    """A JSONPath; `a.b` is short for `$.a.b`."""
    if text.startswith("$"):
        return text
    return f"${text}" if text.startswith("[") else f"$.{text}"


def _between_slashes(text: str) -> str | None:
    inside = len(text) > 2 and text[0] == text[-1] == "/"
    return text[1:-1] if inside else None


def _equals_sign(text: str) -> int | None:
    """Where the path ends: the first `=` outside of brackets and quotes."""
    depth, quote = 0, ""
    for place, sign in enumerate(text):
        if quote:
            quote = "" if sign == quote else quote
        elif sign in "'\"" and depth:
            quote = sign
        elif sign in "[(":
            depth += 1
        elif sign in "])":
            depth -= 1
        elif sign == "=" and depth == 0:
            return place
    return None


def _redacted(value: Any) -> Any:  # noqa: ANN401 - any JSON value
    if isinstance(value, dict):
        return {k: REDACTED if is_secret(k) else _redacted(v) for k, v in value.items()}
    if isinstance(value, list):
        return [_redacted(each) for each in value]
    return redacted_text(value) if isinstance(value, str) else value


def _value(text: str) -> Any:  # noqa: ANN401 - any JSON value
    try:
        return parse_json_to_send(text)
    except JsonInputError as error:
        if is_not_json(error) or text in _NO_NUMBERS:
            return text
        shown = text if len(text) <= 40 else f"{text[:39]}…"
        raise UsageError(f"the value {shown!r} is not one to expect: {error}") from error
