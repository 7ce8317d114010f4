"""Texts that can be written in each language: an English template and its values.

    said = say("Holds {rate} at {place}", rate=rate, place=place)
    str(said)          English: a Text is a str
    said.render("zh")  其他语言的说法, from the catalogue of Chinese, where the English is the key

A Text remembers what it was made of, so texts within texts are said in the same language. Whoever
wants a str takes it as English. `+`, slices and f-strings keep nothing but the English, therefore
`chain`, `join` and `changed`. Nothing is escaped here, and nothing is guessed: what has no words in
a language is said in English, and a test finds it.
"""

from __future__ import annotations

import re
from string import Formatter
from typing import TYPE_CHECKING, Any
from unicodedata import east_asian_width

from torr.messages.catalogue import ENGLISH, languages, words

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from typing_extensions import Self

Language = str
"""The code of a language: `en`, or that of a catalogue."""
Value = object


class Text(str):
    """An English text that can be translated."""

    __slots__ = ("_write",)
    _write: Callable[[Language], str]

    def __new__(cls, write: Callable[[Language], str], english: str | None = None) -> Self:
        """Make a text from a function that writes it in a language; its English may be given."""
        text = super().__new__(cls, write(ENGLISH) if english is None else english)
        text._write = write
        return text

    def __reduce__(self) -> tuple[type[str], tuple[Any, ...]]:
        """Copy and pickle only the English."""
        return str, (str(self),)

    def render(self, language: Language) -> str:
        """Return the text in a language."""
        return self._write(language)

    def as_json(self) -> str | dict[str, str]:
        """Return the text under each language's code, or once where it is the same in all."""
        each: dict[str, str] = {language: self.render(language) for language in languages()}
        return each if len(set(each.values())) > 1 else str(self)


def say(template: str, /, **values: Value) -> Text:
    """Return a template with its `{placeholders}` filled, each value in the language of the whole.

    A value that is no Text is data: it is the same in every language.
    """
    english = template.format(**values)  # a Text in it is its English
    return Text(lambda language: _filled(template, template, values, language), english)


def say_count(number: int, one: str, many: str, /, **values: Value) -> Text:
    """Return the template for `{n}` things, in the singular or the plural."""
    template = one if number == 1 else many
    counted = {"n": number, **values}
    return Text(lambda language: _filled(one, template, counted, language, number))


def chain(between: str, parts: Sequence[str]) -> Text:
    """Return the parts that are not empty, with a separator such as `"; "`."""
    shown = [part for part in parts if part]
    return Text(lambda to: (words(to, between) or between).join(render(x, to) for x in shown))


def join(parts: Sequence[str]) -> str:
    """Return `a, b and c`."""
    if len(parts) < 2:
        return parts[0] if parts else ""
    return say("{before} and {last}", before=chain(", ", parts[:-1]), last=parts[-1])


def changed(text: str, change: Callable[[str], str]) -> Text:
    """Return a text with a change that is the same in every language, as of its first letter."""
    return Text(lambda language: change(render(text, language)))


def one_line(text: str) -> Text:
    """Return a text in one line, with single spaces."""
    return changed(text, lambda written: " ".join(written.split()))


def render(text: str, language: Language) -> str:
    """Return a Text in a language; any other str is data, and is the same in all."""
    return text.render(language) if isinstance(text, Text) else text


def spaced(template: str, values: Mapping[str, Value]) -> str:
    """Fill a template of a language with wide characters.

    Its spaces set Latin text and numbers apart: between two wide characters there is none.
    """
    written = ""
    formatter = Formatter()
    for literal, name, form, conversion in formatter.parse(template):
        written += literal.replace(" ", _SPACE)
        if name is not None:
            value = formatter.convert_field(values[name], conversion)
            written += format(value, form or "")
    return re.sub(f"(.?){_SPACE}+(?=(.?))", _space, written)


def as_json(text: str) -> str | dict[str, str]:
    """Return a Text under each language's code; any other str is data and stays as it is."""
    return text.as_json() if isinstance(text, Text) else text


# A space of a template, told apart from those of the values: nothing that people read has a NUL.
_SPACE = "\0"


def _space(found: re.Match[str]) -> str:
    before, after = found.groups()
    return before if _is_wide(before) and _is_wide(after) else f"{before} "


def width_of(text: str) -> int:
    """Return how many cells of a terminal a text fills."""
    return len(text) + sum(map(_is_wide, text))


def padded(text: str, width: int) -> str:
    """Return a text with spaces behind it, or before it for a negative width, of so many cells."""
    spaces = " " * (abs(width) - width_of(text))
    return text + spaces if width > 0 else spaces + text


def _is_wide(character: str) -> bool:
    return bool(character) and east_asian_width(character) in "WF"


def _filled(
    key: str,
    english: str,
    values: Mapping[str, Value],
    language: Language,
    number: int | None = None,
) -> str:
    """Return a template in a language, or in English where it has no translation."""
    filled = {name: _of(value, language) for name, value in values.items()}
    template = None if language == ENGLISH else words(language, key, number)
    if language == ENGLISH:
        return english.format(**filled)
    return spaced(template or english, filled)


def _of(value: Value, language: Language) -> Value:
    return render(value, language) if isinstance(value, str) else value
