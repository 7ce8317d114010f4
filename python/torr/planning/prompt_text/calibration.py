"""The words of made-up prompts, by the best means there is to know their tokens.

A tokenizer that the user gives is asked first, then the server's `/tokenize`, once before the run.
Where neither is, lengths are an estimate, and the notes of the run say so.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from torr.errors import UsageError
from torr.messages.say import say
from torr.planning.prompt_text.prompt_text import id_words
from torr.planning.prompt_text.server_tokenizer import ServerTokenizer
from torr.planning.prompt_text.words import USUAL, Words, calibrated
from torr.stats.tokenizer import read_tokenizer

if TYPE_CHECKING:
    from torr.model.request import Header
    from torr.model.url import Url
    from torr.options.measure import MeasureOptions


@dataclass(frozen=True, slots=True)
class Calibration:
    """Words, and the sentence that says how their tokens are known."""

    words: Words
    note: str


def calibration(url: Url, options: MeasureOptions, headers: tuple[Header, ...]) -> Calibration:
    """Return the words for a server; raise UsageError if a given tokenizer does not serve."""
    file, seed = options.stream.tokenizer, options.load.seed
    if file is not None:
        return _by_file(file, options)
    verify = not options.connection.insecure
    server = ServerTokenizer(url, options.stream.model, headers, verify=verify)
    try:
        words = calibrated(server, seed)
    except UsageError as error:
        text = say("prompt lengths are an estimate: {why}", why=str(error))
        return Calibration(USUAL, text)
    return Calibration(words, say("prompt lengths are exact by the server's /tokenize"))


def before_servers(options: MeasureOptions) -> Calibration:
    """Return the words for all servers of a comparison, none of which runs yet."""
    file = options.stream.tokenizer
    if file is not None:
        return _by_file(file, options)
    note = say(
        "prompt lengths are an estimate, the same for all candidates: tokenizer makes them exact"
    )
    return Calibration(USUAL, note)


def _by_file(file: str, options: MeasureOptions) -> Calibration:
    tokenizer = read_tokenizer(file)
    if options.stream.token_ids:
        ids = tokenizer.text_ids()
        note = say("prompt lengths are exact: prompts are token ids of {file}", file=file)
        return Calibration(id_words(ids.start, ids.stop), note)
    words = calibrated(tokenizer, options.load.seed)
    return Calibration(words, say("prompt lengths are exact by {file}", file=file))
