"""Fields of a message that protobuf parses from JSON and writes, each on its own."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from torr.errors import UsageError
from torr.grpc.json_errors import below, error_in, wrong_type
from torr.grpc.types import (
    BOOL,
    behind_varints,
    has_special_json,
    message_class,
    type_name,
)
from torr.messages.say import say

if TYPE_CHECKING:
    from google.protobuf.descriptor import Descriptor, FieldDescriptor
    from google.protobuf.message import Message

    from torr.grpc.json_messages import Json

# Keys of maps are texts in JSON.
_BOOLS = {"true": True, "false": False}


@dataclass(frozen=True, slots=True)
class GivenField:
    """A field of a message of a type, under its name in JSON; `parent` is the message's path."""

    type: Descriptor
    field: FieldDescriptor
    name: str
    parent: str

    @property
    def path(self) -> str:
        """The path of the field."""
        return below(self.parent, self.name)

    def written(self, value: Json) -> bytes:
        """Return tag and value of JSON without templates; raise UsageError."""
        return _written(self.type, {self.name: value}, self.parent)

    def written_item(self, item: Json, number: int) -> bytes:
        """Return an item of a list, without a tag if it is packed."""
        try:
            data = self.written([item])
        except UsageError as error:
            said = error.message.replace(f"{self.path}[0]", f"{self.path}[{number}]", 1)
            raise UsageError(said, error.hint) from error
        return behind_varints(data, 2) if self.field.is_packed else data

    def written_key(self, key: str) -> bytes:
        """Return the key of an entry of a map."""
        entry: Any = self.field.message_type
        is_bool = entry.fields_by_name["key"].type == BOOL
        value = _BOOLS.get(key, key) if is_bool else key
        try:
            return _written(entry, {"key": value}, self.path)
        except UsageError as error:
            raise wrong_type(key, type_name(entry.fields_by_name["key"]), self.path) from error


def check_fields(type_: Descriptor, given: list[GivenField], path: str) -> None:
    """Refuse a field, or a oneof, that is given twice, and a required field that is missing."""
    taken: dict[str, str] = {}
    for each in given:
        of = each.field.containing_oneof
        slot = each.field.full_name if of is None else of.full_name
        if slot in taken:
            raise UsageError(
                say(
                    "{path}: {name} is given, too, and a message has only one of them",
                    path=each.path,
                    name=taken[slot],
                ),
                say("leave one out"),
            )
        taken[slot] = each.name
    numbers = {each.field.number for each in given}
    missing = [f.name for f in type_.fields if f.is_required and f.number not in numbers]
    if missing:
        raise _missing(path, missing)


def message_bytes(type_: Descriptor, value: Json, path: str) -> bytes:
    """Return a message of JSON without templates; raise UsageError that names the field."""
    if not (isinstance(value, dict) or has_special_json(type_)):
        raise wrong_type(value, type_.full_name, path)
    message: Any = _parsed(type_, value, path)
    missing: list[str] = message.FindInitializationErrors()
    if missing:
        raise _missing(path, missing)
    return bytes(message.SerializeToString(deterministic=True))


def _written(type_: Descriptor, value: Json, path: str) -> bytes:
    """Return some fields of a message, whose other fields may be required."""
    return _parsed(type_, value, path).SerializePartialToString(deterministic=True)


def _parsed(type_: Descriptor, value: Json, path: str) -> Message:
    from google.protobuf.json_format import ParseDict, ParseError

    try:
        return ParseDict(value, message_class(type_)(), descriptor_pool=type_.file.pool)
    except ParseError as error:
        raise error_in(type_, value, path) from error


def _missing(path: str, names: list[str]) -> UsageError:
    subject = path or say("the message")
    return UsageError(
        say("{path}: {names} must be set", path=subject, names=", ".join(sorted(names)))
    )
