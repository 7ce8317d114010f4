"""The catalogues of torr's words: extracts what the code says, brings the .po files up to date.

    scripts/messages.py            update every catalogue and compile it
    scripts/messages.py LANGUAGE   begin a catalogue for a language

Templates of `say` are keys as they are. Messages of results are keyed by their code, the words of
web/ by `page.` and their key; the English is a comment above them, so that a change of it is seen
in the catalogue.
"""

from __future__ import annotations

import ast
import functools
import json
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime, timezone
from io import BytesIO
from pathlib import Path

from babel.messages.catalog import Catalog, Message
from babel.messages.mofile import write_mo
from babel.messages.pofile import read_po, write_po

from torr import engine
from torr.messages.advice import ADVICE
from torr.messages.catalogue import LOCALES

ROOT = Path(__file__).parents[1]
PACKAGE = ROOT / "python" / "torr"
PAGE = ROOT / "web" / "src" / "messages.json"
WIDTH = 100
# The same catalogue gives the same files on every day.
UNDATED = datetime(2026, 1, 1, tzinfo=timezone.utc)
# The functions that say something, and where in their arguments the key and the templates are.
SAYING = {"say": (0,), "chain": (0,), "message_list": (0,), "say_count": (1, 2)}
CODED = {"message": (0, 1), "message_count": (0, 2, 3)}


@dataclass(frozen=True, slots=True)
class Said:
    """One key of the catalogues: a template or a code, with its plural and its English."""

    key: str
    plural: str | None = None
    english: tuple[str, ...] = ()


def of_module(source: bytes) -> Iterator[Said]:
    """Yield what a module says; raises ValueError where a template is not written in the call."""
    for call in ast.walk(ast.parse(source)):
        if not (isinstance(call, ast.Call) and isinstance(call.func, ast.Name)):
            continue
        function = call.func.id
        places = SAYING.get(function) or CODED.get(function, ())
        known = [_text(call.args[place]) for place in places if place < len(call.args)]
        if not places or (function in ("chain", "message_list") and not (known[0] or "x").strip()):
            continue
        if None in known or len(known) < len(places):
            line = f"line {call.lineno}"
            raise ValueError(f"{line}: {function}() does not write its template in the call")
        if function in CODED:
            code, *english = map(str, known)
            yield Said(code, code if len(english) > 1 else None, tuple(english))
        else:
            yield Said(str(known[0]), known[1] if len(known) > 1 else None)


def _text(node: ast.expr) -> str | None:
    """The text that stands in a program; None for anything that is made."""
    return node.value if isinstance(node, ast.Constant) and isinstance(node.value, str) else None


@functools.cache
def said() -> dict[str, Said]:
    """Return all that torr says, by key; raise ValueError for a key with two meanings."""
    found: dict[str, Said] = {}
    for path in sorted(PACKAGE.rglob("*.py")):
        is_saying = path.parent.name != "messages" and "torr.messages." in path.read_text()
        if not is_saying and path.name not in ("say.py", "counts.py", "similar.py"):
            continue
        try:
            each = list(of_module(path.read_bytes()))
        except ValueError as error:
            raise ValueError(f"{path.relative_to(PACKAGE)}: {error}") from error
        for one in each:
            if found.setdefault(one.key, one) != one:
                raise ValueError(f"{path.name}: {one.key!r} has two meanings")
    page: dict[str, str] = json.loads(PAGE.read_bytes())
    for area, texts in (("reason", engine.reasons()), ("advice", ADVICE), ("page", page)):
        for name, english in texts.items():
            key = f"{area}.{name}"
            found[key] = Said(key, english=(english,))
    for code, forms in engine.messages().items():
        found[code] = Said(code, code if len(forms) > 1 else None, forms)
    return found


def updated(catalog: Catalog) -> Catalog:
    """Return a catalogue with every key of the code, each with the words that it had."""
    fresh = Catalog(locale=catalog.locale, creation_date=UNDATED, revision_date=UNDATED)
    for key, one in sorted(said().items()):
        known = catalog.get(key)
        strings = known.string if known else ""
        comments = [f"English: {text}" for text in one.english]
        # A long comment is read back as several lines.
        same = known is None or " ".join(known.auto_comments) == " ".join(comments)
        changed = bool(one.english) and not same
        fresh.add(
            (key, one.plural) if one.plural is not None else key,
            _shaped(strings, is_counted=one.plural is not None),
            auto_comments=comments,
            flags=["fuzzy"] if changed else [],
        )
    return fresh


def _shaped(strings: object, *, is_counted: bool) -> str | tuple[str, ...]:
    """Words as a plain or a counted key has them."""
    texts = (strings,) if isinstance(strings, str) else tuple(map(str, strings or ()))  # type: ignore[call-overload]
    return texts if is_counted else (texts[0] if texts else "")


def read(language: str) -> Catalog:
    """Return the catalogue of a language."""
    with (LOCALES / language / "LC_MESSAGES" / "torr.po").open("rb") as file:
        return read_po(file, locale=language)


def text_of(catalog: Catalog) -> bytes:
    """Return a catalogue as its .po file."""
    file = BytesIO()
    write_po(file, catalog, width=WIDTH, omit_header=True)
    lines = (
        f"Language: {catalog.locale}",
        f"Plural-Forms: {catalog.plural_forms}",
        "Content-Type: text/plain; charset=utf-8",
    )
    header = 'msgid ""\nmsgstr ""\n' + "".join(f'"{line}\\n"\n' for line in lines) + "\n"
    return header.encode() + file.getvalue()


def compiled(catalog: Catalog) -> bytes:
    """Return a catalogue as its .mo file."""
    file = BytesIO()
    write_mo(file, catalog)
    return file.getvalue()


def untranslated(catalog: Catalog) -> list[str]:
    """Return the keys without words, or whose English has changed since they were written."""
    return sorted(_key(one) for one in catalog if one.id and (one.fuzzy or not _is_whole(one)))


def _key(one: Message) -> str:
    return one.id if isinstance(one.id, str) else one.id[0]


def _is_whole(one: Message) -> bool:
    return all(one.string) if isinstance(one.string, tuple | list) else bool(one.string)


def main(arguments: list[str]) -> int:
    """Update every catalogue, or begin one; 1 if words are missing."""
    for language in arguments:
        (LOCALES / language / "LC_MESSAGES").mkdir(parents=True, exist_ok=True)
        empty = Catalog(locale=language)
        (LOCALES / language / "LC_MESSAGES" / "torr.po").write_bytes(text_of(empty))
    missing = 0
    for path in sorted(LOCALES.glob("*/LC_MESSAGES/torr.po")):
        language = path.parents[1].name
        catalog = updated(read(language))
        path.write_bytes(text_of(catalog))
        path.with_suffix(".mo").write_bytes(compiled(catalog))
        left = untranslated(catalog)
        missing += len(left)
        print(f"{language}: {len(catalog)} keys, {len(left)} without words", *left[:10], sep="\n  ")
    return 1 if missing else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
