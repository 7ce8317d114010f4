"""Checks of responses and captured values: statuses, texts and JSON of bodies, captures.

Each is read once from a text, which is the same in a flag and in a requests file. The engine
refuses a JSONPath or a regular expression that it cannot run; nothing here checks them.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import Any, Literal

from torr.errors import UsageError, require
from torr.messages.say import say
from torr.model.json import JsonObject, PlanPart
from torr.model.json_input import JsonInputError, is_not_json, parse_json_to_send
from torr.model.secret_names import REDACTED, is_secret
from torr.model.secrets import redacted_text
from torr.model.template import GENERATED, NAME

Spans = tuple[tuple[int, int], ...]

_CAPTURE = say("write NAME=json:$.token, NAME=header:Location or NAME=regex:/id=(\\d+)/")
# Numbers in Python's notation that JSON does not have.
_NO_NUMBERS = ("NaN", "Infinity", "-Infinity")
_LAST_NAME = re.compile(r"([\w-]+)['\"\]\s]*$")


def parse_statuses(text: str) -> Spans:
    """Return the ranges of statuses: `200`, `2xx`, `200-299`, several with commas."""
    spans = []
    for part in text.replace(" ", "").split(","):
        match = re.fullmatch(r"([1-5])xx|([1-5]\d\d)(?:-([1-5]\d\d))?", part.lower())
        if match is None:
            hint = say("they are 100 to 599: write 200, 2xx, 200-299 or 200,404")
            raise UsageError(say("{part!r} is not a status", part=part), hint)
        hundreds, low, high = match.groups()
        start = int(hundreds) * 100 if hundreds else int(low)
        span = (start, start + 99 if hundreds else int(high or low))
        if span[0] > span[1]:
            raise UsageError(say("{part!r} is not a range: it ends before it begins", part=part))
        spans.append(span)
    return tuple(spans)


@dataclass(frozen=True, slots=True)
class BodyCheck(PlanPart):
    """A text that a body must contain, or a regular expression that must match in it."""

    text: str
    is_regex: bool = False

    @classmethod
    def parse(cls, text: str) -> BodyCheck:
        """Read `TEXT` or `/REGEX/`; raise UsageError."""
        require(
            bool(text.strip("/")),
            say("{text!r} is in every body", text=text),
            say("write a text or /REGEX/"),
        )
        inside = _between_slashes(text)
        return cls(text) if inside is None else cls(inside, is_regex=True)

    def as_json(self) -> JsonObject:
        """Return the body check of the engine's plan."""
        if self.is_regex:
            return {"kind": "regex", "pattern": self.text}
        return {"kind": "text", "text": self.text}

    def redacted(self) -> BodyCheck:
        """Return the check without the values of secret fields and members."""
        return replace(self, text=redacted_text(self.text))


@dataclass(frozen=True, slots=True)
class JsonCheck(PlanPart):
    """A value that a JSON body must have at a path (JSONPath, RFC 9535)."""

    path: str
    value: Any

    @classmethod
    def parse(cls, text: str) -> JsonCheck:
        """Read `$.a.b=VALUE` or `a.b=VALUE`; a value that is not JSON is text; raise UsageError."""
        end = _equals_sign(text)
        require(
            end is not None and bool(text[:end].strip()),
            say("{text!r} is not PATH=VALUE", text=text),
            say("write $.status=ok or $.items[0].id=7"),
        )
        path, written = text[:end].strip(), text[end:][1:].strip()
        require(
            not written.startswith("="),
            say("{text!r} has two equals signs", text=text),
            say("write PATH=VALUE"),
        )
        return cls(json_path(path), _value(written))

    def redacted(self) -> JsonCheck:
        """Return the check without values whose name says that they are secrets."""
        name = _LAST_NAME.search(self.path)
        hides = name is not None and is_secret(name[1])
        return replace(self, value=REDACTED if hides else _redacted(self.value))


@dataclass(frozen=True, slots=True)
class Capture(PlanPart):
    """A part of a response that later requests of the same user may name.

    From a stream, torr captures the text or the identifier of the conversation.
    """

    name: str
    source: Literal["json", "header", "regex", "text", "conversation"]
    what: str

    @classmethod
    def parse(cls, text: str) -> Capture:
        """Read `NAME=json:PATH`, `NAME=header:FIELD` or `NAME=regex:/…(…)…/`."""
        name, _, origin = text.partition("=")
        source, colon, what = origin.partition(":")
        name, source, what = name.strip(), source.strip(), what.strip()
        require(bool(colon and what), say("{text!r} is not a capture", text=text), _CAPTURE)
        require(
            bool(NAME.fullmatch(name)) and name not in (*GENERATED, "row"),
            say("{name!r} cannot name a captured value", name=name),
            say("write a word of your own, such as token"),
        )
        if source == "json":
            return cls(name, "json", json_path(what))
        if source == "header":
            return cls(name, "header", what)
        require(
            source == "regex",
            say("{text!r}: torr cannot capture from {source!r}", text=text, source=source),
            _CAPTURE,
        )
        return cls(name, "regex", _between_slashes(what) or what)

    def as_json(self) -> JsonObject:
        """Return the capture of the engine's plan."""
        return {"name": self.name, "from": self.source, "what": self.what}


def json_path(text: str) -> str:
    """Return a JSONPath; `a.b` is short for `$.a.b`."""
    if text.startswith("$"):
        return text
    return f"${text}" if text.startswith("[") else f"$.{text}"


def _between_slashes(text: str) -> str | None:
    inside = len(text) > 2 and text[0] == text[-1] == "/"
    return text[1:-1] if inside else None


def _equals_sign(text: str) -> int | None:
    """Return the position of the first `=` outside of brackets and quotes."""
    depth, quote = 0, ""
    for position, character in enumerate(text):
        if quote:
            quote = "" if character == quote else quote
        elif character in "'\"" and depth:
            quote = character
        elif character in "[(":
            depth += 1
        elif character in "])":
            depth -= 1
        elif character == "=" and depth == 0:
            return position
    return None


def _redacted(value: Any) -> Any:  # noqa: ANN401 - any JSON value
    if isinstance(value, dict):
        return {k: REDACTED if is_secret(k) else _redacted(v) for k, v in value.items()}
    if isinstance(value, list):
        return [_redacted(item) for item in value]
    return redacted_text(value) if isinstance(value, str) else value


def _value(text: str) -> Any:  # noqa: ANN401 - any JSON value
    try:
        return parse_json_to_send(text)
    except JsonInputError as error:
        if is_not_json(error) or text in _NO_NUMBERS:
            return text
        shown = text if len(text) <= 40 else f"{text[:39]}…"
        raise UsageError(
            say(
                "the value {shown!r} cannot be an expected value: {error}", shown=shown, error=error
            )
        ) from error
