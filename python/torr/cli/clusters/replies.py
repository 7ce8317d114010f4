"""The replies of machines to `torr cluster`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from torr.cli.streams import echo
from torr.messages.say import say

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from torr.cluster.machines import Reply
    from torr.messages.say import Text


def failed_of(replies: Sequence[Reply], words: Mapping[str, Text]) -> list[Reply]:
    """Print the replies, with a text for each word; return those that are errors."""
    for reply in replies:
        text = reply.error or words.get(reply.word, reply.word)
        echo(say("{machine}: {text}", machine=reply.machine, text=text))
    return [reply for reply in replies if reply.error]
