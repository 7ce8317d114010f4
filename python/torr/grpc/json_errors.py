"""The error for JSON that is not a message: it names the field, which protobuf's does not.

protobuf parses; only for JSON that it refuses, each field is parsed on its own.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from torr.errors import UsageError
from torr.grpc.types import has_special_json, is_map, map_value, message_class, type_name
from torr.messages.say import say
from torr.messages.similar import did_you_mean

if TYPE_CHECKING:
    from google.protobuf.descriptor import Descriptor, FieldDescriptor

_MOST_SHOWN = 40
_MOST_NAMES = 12


def below(path: str, name: str) -> str:
    """Return the path of a field: `user.name`."""
    return f"{path}.{name}" if path else name


def keyed(path: str, key: str) -> str:
    """Return the path of a value in a map: `prices["a"]`."""
    return f"{path}[{json.dumps(key, ensure_ascii=False)}]"


def field_of(type_: Descriptor, name: str, path: str) -> FieldDescriptor:
    """Return the field with a name in JSON; raise UsageError with the nearest name."""
    if name.startswith("[") and name.endswith("]"):
        try:
            extension: FieldDescriptor = type_.file.pool.FindExtensionByName(name[1:-1])
        except KeyError:
            pass
        else:
            if extension.containing_type is type_:
                return extension
    for field in type_.fields:
        if name in (field.json_name, field.name):
            return field
    names = [field.name for field in type_.fields]
    known = ", ".join(names[:_MOST_NAMES]) + (", …" if len(names) > _MOST_NAMES else "")
    hint = did_you_mean(name, names) or say("known fields: {known}", known=known)
    raise UsageError(
        say("{path}: {type} has no such field", path=below(path, name), type=type_.full_name),
        hint if names else None,
    )


def wrong_type(value: object, wanted: str, path: str, hint: str | None = None) -> UsageError:
    """Return the error for a value of another type than that of its field."""
    text = json.dumps(value, ensure_ascii=False)
    shown = text if len(text) <= _MOST_SHOWN else f"{text[: _MOST_SHOWN - 1]}…"
    subject = path or say("the message")
    return UsageError(
        say("{path}: {value} is not of type {type}", path=subject, value=shown, type=wanted), hint
    )


def error_in(type_: Descriptor, value: object, path: str) -> UsageError:
    """Return the error for the JSON of a message that protobuf refuses."""
    if has_special_json(type_) or not isinstance(value, dict):
        return wrong_type(value, type_.full_name, path)
    for name, item in value.items():
        field = field_of(type_, name, path)
        if failure(type_, {name: item}) is not None:
            return _error_in_field(type_, field, name, item, below(path, name))
    reason = failure(type_, value) or ""
    return UsageError(
        say("{path}: {reason}", path=path or say("the message"), reason=reason.rstrip("."))
    )


def failure(type_: Descriptor, value: dict[str, object]) -> str | None:
    """Return why protobuf refuses the JSON of a message, None if it does not."""
    from google.protobuf.json_format import ParseDict, ParseError

    try:
        ParseDict(value, message_class(type_)(), descriptor_pool=type_.file.pool)
    except ParseError as error:
        return str(error).partition("\n")[0]
    return None


def _error_in_field(
    owner: Descriptor, field: FieldDescriptor, name: str, value: object, path: str
) -> UsageError:
    if is_map(field):
        of = map_value(field)
        if not isinstance(value, dict):
            return wrong_type(value, "map", path)
        for key, item in value.items():
            if failure(owner, {name: {key: item}}) is not None:
                return _error_in_value(of, item, keyed(path, key))
    elif field.is_repeated:
        if not isinstance(value, list):
            return wrong_type(value, f"repeated {type_name(field)}", path)
        for number, item in enumerate(value):
            if failure(owner, {name: [item]}) is not None:
                return _error_in_value(field, item, f"{path}[{number}]")
    return _error_in_value(field, value, path)


def _error_in_value(field: FieldDescriptor, value: object, path: str) -> UsageError:
    if field.message_type is not None:
        return error_in(field.message_type, value, path)
    hint = None
    if field.enum_type is not None:
        names = ", ".join(each.name for each in field.enum_type.values)
        hint = say("known names: {names}", names=names)
    return wrong_type(value, type_name(field), path, hint)
