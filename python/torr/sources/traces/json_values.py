"""Objects of a JSON array or of JSON lines, one by one, with the lines that they begin in.

The file may be of any size; an object may have up to LARGEST_OBJECT characters.
"""

from __future__ import annotations

import io
import json
import re
from typing import TYPE_CHECKING, Any

from torr.errors import FileError
from torr.messages.say import say
from torr.model.json_input import JsonInputError, check_depth, strict_decoder

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

LARGEST_OBJECT = 64 << 20
"""The most characters of one object, such as a conversation."""

_PIECE = 1 << 20
_SPACE = re.compile(r"[ \t\r\n]*")


def read_objects(path: Path, text: io.TextIOBase) -> Iterator[tuple[int, dict[str, Any]]]:
    """Yield each object with the number of its first line; raise FileError."""
    reader = _Reader(path, text)
    is_array = reader.next_is("[")
    while not reader.at_end():
        if is_array and reader.next_is("]"):
            return
        yield reader.object()
        if is_array and not reader.next_is(","):
            reader.expect("]")
            return
    if is_array:
        raise reader.error(say("the array does not end"))


class _Reader:
    """A part of the text, and the position of what is read next."""

    def __init__(self, path: Path, text: io.TextIOBase) -> None:
        self._path, self._text = path, text
        self._buffer, self._position = "", 0
        self._is_whole = False
        # The line of `_counted`, a position before `_position`.
        self._line, self._counted = 1, 0
        self._decoder = strict_decoder()

    def at_end(self) -> bool:
        """Skip spaces; return whether nothing else is left."""
        while True:
            self._position = _SPACE.match(self._buffer, self._position).end()  # type: ignore[union-attr]
            if self._position < len(self._buffer):
                return False
            if not self._read(_PIECE):
                return True

    def next_is(self, character: str) -> bool:
        """Skip spaces and the character; return whether it was there."""
        if self.at_end() or self._buffer[self._position] != character:
            return False
        self._position += 1
        return True

    def expect(self, character: str) -> None:
        """Skip a character that has to be there; raise FileError."""
        if not self.next_is(character):
            raise self.error(say("there is no {character!r} here", character=character))

    def object(self) -> tuple[int, dict[str, Any]]:
        """Return the object that begins here, and its line; raise FileError."""
        if self.at_end() or self._buffer[self._position] != "{":
            raise self.error(say("not a JSON object"))
        line = self._line_here()
        size = _PIECE
        while True:
            try:
                value, self._position = self._decoder.raw_decode(self._buffer, self._position)
                check_depth(value)
            except json.JSONDecodeError as error:  # noqa: PERF203 - one turn is usual
                if size > LARGEST_OBJECT or not self._read(size):
                    raise self.error(f"not JSON: {error.msg}") from error
                size *= 2
            except JsonInputError as error:
                raise self.error(str(error)) from error
            except RecursionError as error:
                raise self.error(say("it is nested too deeply")) from error
            else:
                return line, value

    def error(self, message: str) -> FileError:
        """Return an error at the line of the position."""
        return FileError(self._path, self._line_here(), message)

    def _line_here(self) -> int:
        self._line += self._buffer.count("\n", self._counted, self._position)
        self._counted = self._position
        return self._line

    def _read(self, size: int) -> bool:
        """Forget what is before the position, and read more; return whether there was more."""
        if self._is_whole:
            return False
        self._line_here()
        more = self._text.read(size)
        self._is_whole = not more
        self._buffer = self._buffer[self._position :] + more
        self._position = self._counted = 0
        return bool(more)
