"""The words of made-up prompts, by the best means there is to know their tokens.

A tokenizer that the user gives is asked first, then the server's `/tokenize`, once before the run.
Of a comparison each server is asked in the round before the first, and all get the same prompts.
Where neither is, lengths are an estimate, and the notes of the run say so.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
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

LONG_TEXT = 50
"""The words of a longer text, to which a template must add as many tokens as to a single word."""


@dataclass(frozen=True, slots=True)
class Calibration:
    """Words, and the sentences that say how their tokens are known.

    `template_tokens` are those that a chat template adds to a prompt, 0 if they are not known.
    """

    words: Words
    note: str
    template_tokens: int = 0
    template_note: str | None = None

    @property
    def notes(self) -> tuple[str, ...]:
        """All sentences."""
        return (self.note,) if self.template_note is None else (self.note, self.template_note)

    @property
    def template(self) -> tuple[int, str | None]:
        """What is known of the chat template."""
        return self.template_tokens, self.template_note

    def without_template(self) -> Calibration:
        """Return it for prompts to which a template that is not known adds tokens."""
        if not self.words.is_exact:
            return self
        note = say("the chat template adds tokens to each prompt, beyond its planned length")
        return replace(self, template_note=note)

    def with_template(
        self, url: Url, options: MeasureOptions, headers: tuple[Header, ...]
    ) -> Calibration:
        """Return it with the tokens that the server's chat template adds, if the server says it."""
        if not self.words.is_exact:
            return self
        words = self.words.words
        texts = (words[0], " ".join(words[:LONG_TEXT]))
        try:
            added = _server(url, options, headers).template_tokens(texts)
        except UsageError:
            added = None
        if added is None:
            return self.without_template()
        note = say(
            "each prompt has {n:,} tokens of the chat template, by the server's /tokenize", n=added
        )
        return replace(self, template_tokens=added, template_note=note)


def calibration(url: Url, options: MeasureOptions, headers: tuple[Header, ...]) -> Calibration:
    """Return the words for a server; raise UsageError if a given tokenizer does not serve."""
    file, seed = options.stream.tokenizer, options.load.seed
    if file is not None:
        return _by_file(file, options)
    try:
        words = calibrated(_server(url, options, headers), seed)
    except UsageError as error:
        text = say("prompt lengths are an estimate: {why}", why=str(error))
        return Calibration(USUAL, text)
    return Calibration(words, say("prompt lengths are exact by the server's /tokenize"))


def of_comparison(options: MeasureOptions, *, has_messages: bool) -> Calibration:
    """Return the words for all servers of a comparison, by what they said alike.

    Servers that counted nothing have no say.
    """
    if options.calibrations is None:
        note = say("torr asks the servers for the lengths of prompts before the first round")
        return _without_servers(options, note)
    exact = [known for known in options.calibrations if known.words.is_exact]
    if exact and all(known.words == exact[0].words for known in exact):
        is_same = all(known.template == exact[0].template for known in exact)
        return exact[0] if is_same else replace(exact[0], template_tokens=0).without_template()
    note = say(
        "prompt lengths are an estimate, the same for all candidates: tokenizer makes them exact"
    )
    alone = _without_servers(options, note)
    return alone.without_template() if has_messages else alone


def _without_servers(options: MeasureOptions, note: str) -> Calibration:
    file = options.stream.tokenizer
    return Calibration(USUAL, note) if file is None else _by_file(file, options)


def _server(url: Url, options: MeasureOptions, headers: tuple[Header, ...]) -> ServerTokenizer:
    verify = not options.connection.insecure
    return ServerTokenizer(url, options.stream.model, headers, verify=verify)


def _by_file(file: str, options: MeasureOptions) -> Calibration:
    tokenizer = read_tokenizer(file)
    if options.stream.token_ids:
        ids = tokenizer.text_ids()
        note = say("prompt lengths are exact: prompts are token ids of {file}", file=file)
        return Calibration(id_words(ids.start, ids.stop), note)
    words = calibrated(tokenizer, options.load.seed)
    return Calibration(words, say("prompt lengths are exact by {file}", file=file))
