"""Counting tokens by the server that is under load: its `/tokenize`.

vLLM and SGLang read `prompt` and answer `count` and `tokens`; llama.cpp reads `content` and answers
`tokens`. vLLM also reads `messages`, and counts the tokens of its chat template with them;
llama.cpp answers the text of its template at `/apply-template`. Many short texts are counted in one
request: each ends with a line feed, whose token then separates theirs.
"""

from __future__ import annotations

import json
from dataclasses import replace
from itertools import islice
from typing import TYPE_CHECKING, Any

from torr.errors import UsageError
from torr.http_client import Connection
from torr.messages.say import say
from torr.model.json_input import JsonInputError, parse_json

if TYPE_CHECKING:
    from collections.abc import Sequence

    from torr.model.json import JsonObject
    from torr.model.request import Header
    from torr.model.url import Url

WITHIN_S = 30.0
"""The longest time of a request, with connecting."""

_MOST_BYTES = 64 << 20
_TEXTS_PER_REQUEST = 250
_LINE_FEED = "\n"
_TOKENIZE, _TEMPLATE = "/tokenize", "/apply-template"


class ServerTokenizer:
    """The tokenizer of a server, at `/tokenize` beside the URL; raises UsageError where none is."""

    def __init__(
        self,
        url: Url,
        model: str | None = None,
        headers: Sequence[Header] = (),
        *,
        verify: bool = True,
    ) -> None:
        """Ask nothing yet."""
        self._url = replace(url, target=_TOKENIZE)
        self._model, self._verify = model, verify
        self._headers = (*headers, ("content-type", "application/json"))
        # The name of the text in a request, as soon as an answer has shown it.
        self._key: str | None = None

    def count(self, texts: Sequence[str]) -> list[int]:
        """Return how many tokens each text has, without special ones."""
        counts: list[int] = []
        remaining = iter(texts)
        while batch := list(islice(remaining, _TEXTS_PER_REQUEST)):
            counts += self._together(batch) or [len(self.ids(text)) for text in batch]
        return counts

    def ids(self, text: str) -> list[int]:
        """Return the tokens of a text."""
        for key in ("prompt", "content") if self._key is None else (self._key,):
            answer = self._answer(self._request(key, text))
            tokens = answer.get("tokens")
            # llama.cpp ignores `prompt`, and answers as to an empty text.
            is_meant = key == "content" or "count" in answer
            if is_meant and isinstance(tokens, list):
                self._key = key
                return tokens
        raise self._no_tokenizer(say("its answer has no tokens"))

    def template_tokens(self, texts: Sequence[str]) -> int | None:
        """Return how many tokens a chat template adds to a prompt; None if the server counts none.

        It is None as well if the template does not add the same number to each of the texts.
        """
        alone = [len(self.ids(text)) for text in texts]
        added = {self._of_message(text) - n for text, n in zip(texts, alone, strict=True)}
        number = added.pop()
        return None if added or number < 0 else number

    def _of_message(self, text: str) -> int:
        """Return the tokens of a message; -1 if the server counts none."""
        messages: JsonObject = {"messages": [{"role": "user", "content": text}]}
        if self._key == "content":
            return self._of_prompt(self._answer(messages, _TEMPLATE).get("prompt"))
        answer = self._answer(self._with_model({**messages, "add_generation_prompt": True}))
        tokens = answer.get("tokens")
        return len(tokens) if isinstance(tokens, list) else -1

    def _of_prompt(self, prompt: object) -> int:
        """Return the tokens of a text to which llama.cpp has applied its template."""
        if not isinstance(prompt, str):
            return -1
        answer = self._answer({"content": prompt, "add_special": True, "parse_special": True})
        tokens = answer.get("tokens")
        return len(tokens) if isinstance(tokens, list) else -1

    def _together(self, texts: Sequence[str]) -> list[int] | None:
        """Return the tokens of texts by one request; None where they cannot be told apart."""
        if len(texts) < 3 or any(_LINE_FEED in text or not text for text in texts):
            return None
        separator = self._separator(texts[0])
        if separator is None:
            return None
        counts = [0]
        for token in self.ids(_LINE_FEED.join(texts)):
            if token == separator:
                counts.append(0)
            else:
                counts[-1] += 1
        return counts if len(counts) == len(texts) and all(counts) else None

    def _separator(self, text: str) -> int | None:
        """Return the token of a line feed between texts; None if it is not one of its own."""
        alone, both = self.ids(text), self.ids(f"{text}{_LINE_FEED}{text}")
        separator = both[len(alone)] if len(both) > len(alone) else None
        return separator if both == [*alone, separator, *alone] else None

    def _request(self, key: str, text: str) -> JsonObject:
        if key == "content":
            return {"content": text, "add_special": False}
        return self._with_model({"prompt": text, "add_special_tokens": False})

    def _with_model(self, request: JsonObject) -> JsonObject:
        return request if self._model is None else {**request, "model": self._model}

    def _answer(self, request: JsonObject, path: str = _TOKENIZE) -> dict[str, Any]:
        body = json.dumps(request).encode()
        try:
            with Connection(self._url, WITHIN_S, verify=self._verify) as connection:
                response = connection.exchange(
                    path,
                    self._headers,
                    method="POST",
                    body=body,
                    most_bytes=_MOST_BYTES,
                )
            if response.status != 200:
                raise self._no_tokenizer(say("it answers {status}", status=response.status))
            answer = parse_json(response.body)
        except (OSError, JsonInputError) as error:
            raise self._no_tokenizer(str(error)) from error
        if not isinstance(answer, dict):
            raise self._no_tokenizer(say("its answer has no tokens"))
        return answer

    def _no_tokenizer(self, why: str) -> UsageError:
        return UsageError(
            say("{url} counts no tokens: {why}", url=self._url, why=why),
            say("give the model's tokenizer.json by --tokenizer"),
        )
