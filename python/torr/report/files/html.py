"""report.html: one file that needs only a browser and connects to no host.

The page is the bundle of web/ with its data and its words in every language inlined. The policy of
the page allows only this one script and this one style sheet, by their hashes, and connections to
no host, or, during a run, only to the one that served the page. Data is JSON in which no tag can
begin: text that a target sent stays text.
"""

from __future__ import annotations

import base64
import hashlib
import json
from html import escape
from pathlib import Path
from string import Template
from typing import TYPE_CHECKING

import msgspec

from torr.errors import OutputError
from torr.messages import catalogue
from torr.messages.say import say
from torr.report.view import view
from torr.store.atomic import replace_bytes

if TYPE_CHECKING:
    from collections.abc import Mapping

    from torr.model.json import JsonObject
    from torr.results.result import RunResult


_HERE = Path(__file__).parent
_PAGE = _HERE / "page.html"
BUNDLE = _HERE.parent / "bundle"


def write(result: RunResult, directory: Path, lang: str | None = None) -> list[Path]:
    """Write report.html of a result, in `lang` or in the reader's language."""
    path = directory / "report.html"
    replace_bytes(path, page(result, lang).encode())
    return [path]


def page(result: RunResult, lang: str | None = None) -> str:
    """Return the report of a result."""
    return document({"mode": "report", "lang": lang, "run": view.run(result), "live": None})


def document(data: JsonObject) -> str:
    """Return the page of bootstrap data: `mode`, `lang`, `run`, `live`; `stored` of stored runs.

    Raises OutputError where the page was not built, as in a checkout before `make build`.
    """
    style, script = _bundled("page.css"), _bundled("page.js")
    parts = {
        "lang": escape((data.get("lang") or catalogue.ENGLISH).replace("_", "-")),
        "policy": _policy(style, script, is_live=data["mode"] == "live"),
        "title": escape(_title(data)),
        "style": style,
        "plain": _plain(data),
        "data": as_data({**data, "words": _words()}),
        "script": script,
    }
    return Template(_PAGE.read_text(encoding="utf-8")).substitute(parts)


def as_data(value: object) -> str:
    """Return JSON that can stand inside a script element: no tag begins or ends in it."""
    # Texts of messages are the words in the language of the page.
    text = msgspec.json.encode(value, enc_hook=str.__str__).decode()
    return text.replace("<", "\\u003c")


def _words() -> dict[str, dict[str, str]]:
    """Return the page's own words by language, in English where a catalogue has none."""
    english: dict[str, str] = json.loads(_bundled("messages.json"))
    return {
        language: {
            key: catalogue.words(language, f"page.{key}") or text for key, text in english.items()
        }
        for language in catalogue.languages()
    }


def _policy(style: str, script: str, *, is_live: bool) -> str:
    parts = [
        "default-src 'none'",
        f"script-src {_hash(script)}",
        f"style-src {_hash(style)}",
        "img-src data:",
        "connect-src 'self'" if is_live else "connect-src 'none'",
        "base-uri 'none'",
        "form-action 'none'",
    ]
    return "; ".join(parts)


def _hash(text: str) -> str:
    digest = hashlib.sha256(text.encode()).digest()
    return f"'sha256-{base64.b64encode(digest).decode()}'"


def _title(data: JsonObject) -> str:
    run, stored = data.get("run"), data.get("stored") or {}
    if run:
        return f"{run['result']['name']} · torr {run['result']['kind']}"
    return f"{stored['ledger']['name']} · torr" if "ledger" in stored else "torr"


def _plain(data: JsonObject) -> str:
    """Return the verdict and the trust line, for a browser without scripts."""
    run = data.get("run")
    if not run:
        return "<p>torr</p>"
    sentence, trust = run["view"]["sentence"], run["view"]["trust"]["text"]
    return f"<h1>{escape(_english(sentence))}</h1><p>{escape(_english(trust))}</p>"


def _english(text: str | Mapping[str, str]) -> str:
    return text if isinstance(text, str) else text["en"]


def _bundled(name: str) -> str:
    """Return one file of the bundle, which cannot end the element that holds it."""
    path = BUNDLE / name
    try:
        return path.read_text(encoding="utf-8")
    except OSError as error:
        message = say(
            "{path}: the page was not built: {error}", path=path, error=error.strerror or error
        )
        raise OutputError(message, say("run `make build` in the checkout")) from error
