"""Fill the placeholders `{name}` in the arguments of a command.

    {port} {processes} {scratch}     and every factor of the matrix by its name
    {{name}}                         the text {name} itself

In a URL `{{…}}` is kept: there it is a template, which the engine fills. Braces around anything
but a name are text, so that a command can contain JSON.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from torr.errors import UsageError
from torr.messages.say import say
from torr.units import show_value

if TYPE_CHECKING:
    from collections.abc import Mapping

_NAME = r"[A-Za-z_][A-Za-z0-9_]*"
_PLACEHOLDER = re.compile(rf"\{{\{{({_NAME})\}}\}}|(?<!\{{)\{{({_NAME})\}}(?!\}})")


def fill(text: str, values: Mapping[str, object], where: str, *, template: bool = False) -> str:
    """Return the text with its placeholders filled; raise UsageError for an unknown name.

    `where` names the text in the message; `template` keeps `{{…}}` for the engine.
    """

    def value(match: re.Match[str]) -> str:
        escaped, name = match.groups()
        if escaped is not None:
            return match[0] if template else f"{{{escaped}}}"
        if name not in values:
            known = ", ".join(f"{{{key}}}" for key in sorted(values))
            raise UsageError(
                say("{where}: {{{name}}} is unknown", where=where, name=name),
                say(
                    "known names: {known}; write {{{{{name}}}}} for the text {{{name}}}",
                    known=known or "no value",
                    name=name,
                ),
            )
        return show_value(values[name])

    return _PLACEHOLDER.sub(value, text)


def placeholder_names(text: str) -> set[str]:
    """Return the names of the placeholders in a text."""
    return {match[2] for match in _PLACEHOLDER.finditer(text) if match[2] is not None}
