"""JSON objects at the boundaries of torr, and the parts of a plan that write themselves as JSON."""

from __future__ import annotations

import base64
from dataclasses import fields
from typing import TYPE_CHECKING, Any, ClassVar

if TYPE_CHECKING:
    from dataclasses import Field

JsonObject = dict[str, Any]
"""A JSON object whose members torr only writes, or reads and checks, at one of its boundaries.

The values have no type, since JSON from outside can have any. Values inside torr are typed.
"""


class PlanPart:
    """A frozen dataclass whose fields are members of the engine's plan.

    `KIND` is the member `kind`, if there is one. `MEMBERS` are the names in order, of fields and
    properties, where they are not the fields. Members in `OPTIONAL` are left out where they are
    false.
    """

    __slots__ = ()

    __dataclass_fields__: ClassVar[dict[str, Field[Any]]]
    KIND: ClassVar[str] = ""
    MEMBERS: ClassVar[tuple[str, ...]] = ()
    OPTIONAL: ClassVar[tuple[str, ...]] = ()

    def as_json(self) -> JsonObject:
        """Return the part as the engine reads it."""
        members: JsonObject = {"kind": self.KIND} if self.KIND else {}
        for name in self.MEMBERS or [field.name for field in fields(self)]:
            value = getattr(self, name)
            if value or name not in self.OPTIONAL:
                members[name] = _as_json(value)
        return members


def _as_json(value: object) -> object:
    if isinstance(value, PlanPart):
        return value.as_json()
    if isinstance(value, tuple):
        return [_as_json(item) for item in value]
    return base64.b64encode(value).decode() if isinstance(value, bytes) else value
