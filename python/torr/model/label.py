"""Labels of a run: tags to find it by, and a note that describes it.

Secrets in a note are covered as those in a command are.
"""

from __future__ import annotations

from torr.errors import UsageError
from torr.messages.say import say
from torr.model.secrets import redacted_text

LONGEST_TAG = 100


def read_tag(text: str) -> str:
    """Return a tag, which is one word; raise UsageError for other texts."""
    tag = text.strip()
    if not tag or not tag.isprintable() or " " in tag or tag.startswith("-"):
        raise UsageError(
            say("{text!r} is not a tag", text=text), say("write one word, such as baseline")
        )
    if len(tag) > LONGEST_TAG:
        raise UsageError(
            say("the tag {tag!r}… is too long", tag=tag[:20]),
            say("the maximum is {longest_tag} letters", longest_tag=LONGEST_TAG),
        )
    return tag


def read_note(text: str) -> str:
    """Return a note in one line, without values of secrets and without control characters."""
    line = " ".join(text.split())
    return redacted_text("".join(letter for letter in line if letter.isprintable()))
