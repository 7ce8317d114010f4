"""Names of methods, such as `shop.Cart/Add`."""

from __future__ import annotations

from torr.errors import UsageError
from torr.messages.say import say


def method_name(text: str) -> str:
    """Return `package.Service/Method` of other spellings of it; raise UsageError."""
    name = text.strip().removeprefix("/")
    service, slash, method = name.rpartition("/")
    if not slash:
        service, _, method = name.rpartition(".")
    parts = [*service.split("."), method]
    if not service or not all(part.isidentifier() for part in parts):
        raise UsageError(
            say("{text!r} is not the name of a method", text=text),
            say("write package.Service/Method"),
        )
    return f"{service}/{method}"


def service_of(name: str) -> str:
    """Return the service of a method."""
    return name.partition("/")[0]
