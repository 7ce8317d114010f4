"""Counting the tokens of texts by a tokenizer.json, with the `tokenizers` library."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any

from torr.errors import UsageError
from torr.messages.say import say
from torr.model.outside_file import read_bounded

if TYPE_CHECKING:
    from collections.abc import Sequence


@dataclass(frozen=True, slots=True)
class Tokenizer:
    """A tokenizer and the name of its file."""

    name: str
    _library: Any

    def count(self, texts: Sequence[str]) -> list[int]:
        """Return how many tokens each text has, without the special ones that models add."""
        encodings = self._library.encode_batch(list(texts), add_special_tokens=False)
        return [len(encoding.ids) for encoding in encodings]

    def text_ids(self) -> range:
        """Return the longest range of token ids without special ones that models add."""
        size = self._library.get_vocab_size(with_added_tokens=False)
        special = [n for n in self._library.get_added_tokens_decoder() if n < size]
        ends = sorted({-1, *special, size})
        return max((range(a + 1, b) for a, b in pairwise(ends)), key=len)


def read_tokenizer(file: str) -> Tokenizer:
    """Read a tokenizer.json; raises UsageError that says what is missing or wrong."""
    try:
        from tokenizers import Tokenizer as Library
    except ImportError as error:
        raise UsageError(
            say("--tokenizer needs the tokenizers library"), "pip install 'torr[tokenizer]'"
        ) from error
    try:
        text = read_bounded(Path(file))
        return Tokenizer(Path(file).name, Library.from_buffer(text))
    except OSError as error:
        raise UsageError(
            say("--tokenizer {file}: {strerror}", file=file, strerror=error.strerror)
        ) from error
    except Exception as error:  # The library raises plain exceptions.
        raise UsageError(
            say("--tokenizer {file}: not a tokenizer: {error}", file=file, error=error),
            say("give the tokenizer.json of a model of Hugging Face"),
        ) from error
