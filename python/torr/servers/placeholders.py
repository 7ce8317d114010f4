"""`{name}` in the words of a command: what a trial fills in.

    {port} {processes} {scratch}     and every factor of the matrix by its name
    {{name}}                         the text {name} itself

In a URL `{{…}}` stays as it is: there it is a template, which the engine fills. Braces around
anything but a name are text, so that JSON can stand in a command.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from torr.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Mapping

_NAME = r"[A-Za-z_][A-Za-z0-9_]*"
_PLACEHOLDER = re.compile(rf"\{{\{{({_NAME})\}}\}}|(?<!\{{)\{{({_NAME})\}}(?!\}})")


def filled(text: str, values: Mapping[str, object], where: str, *, template: bool = False) -> str:
    """The text with its values; raises UsageError for a name that has none.

    `where` says in the message whose text it is; `template` keeps `{{…}}` for the engine.
    """

    def value(match: re.Match[str]) -> str:
        escaped, name = match.groups()
        if escaped is not None:
            return match[0] if template else f"{{{escaped}}}"
        if name not in values:
            known = ", ".join(f"{{{each}}}" for each in sorted(values))
            raise UsageError(
                f"{where}: nothing is called {{{name}}}",
                f"there is {known or 'no value'}; {{{{{name}}}}} stands for the text {{{name}}}",
            )
        return str(values[name])

    return _PLACEHOLDER.sub(value, text)


def names(text: str) -> set[str]:
    """The names that a text asks for."""
    return {match[2] for match in _PLACEHOLDER.finditer(text) if match[2] is not None}
