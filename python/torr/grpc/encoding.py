"""Messages of gRPC from JSON: bytes, and parts for fields that contain templates.

protobuf writes each value without templates. Where a value contains `{{…}}`, the fields around it
are written here, in the order of their numbers: the engine fills the template and computes lengths.
Each field with a template is written, also where its value is the default.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from torr.errors import UsageError
from torr.grpc.fields import GivenField, check_fields, message_bytes
from torr.grpc.json_errors import field_of, keyed, wrong_type
from torr.grpc.json_messages import read_messages
from torr.grpc.types import (
    GROUP,
    LENGTH,
    STRING,
    has_special_json,
    is_map,
    is_wrapper,
    map_value,
    number_kind,
    tag,
    type_name,
)
from torr.messages.say import say
from torr.model.grpc import BytesPart, NestedPart, NumberPart, TextPart
from torr.model.template import expressions, is_template, pieces

if TYPE_CHECKING:
    from collections.abc import Iterator

    from google.protobuf.descriptor import Descriptor, FieldDescriptor

    from torr.grpc.json_messages import Json
    from torr.grpc.schema import Method
    from torr.model.grpc import MessagePart, MessageParts

_JSON_FILTER = re.compile(r"\|\s*json\s*\}\}")
_NOT_NUMBERS = frozenset({"uuid", "text"})


def encode_messages(method: Method, text: bytes, *, fills: bool) -> list[MessageParts]:
    """Return the parts of each message that a text of JSON has; raise UsageError.

    `{{…}}` are templates if `fills`; a message without any is at most one part, of bytes.
    """
    values = read_messages(method, text)
    paths = [f"[{number}]" for number in range(len(values))] if len(values) > 1 else [""]
    encoder = MessageEncoder(fills)
    return [
        encoder.encode(method.request, value, path)
        for value, path in zip(values, paths, strict=True)
    ]


def constant_bytes(parts: MessageParts) -> bytes | None:
    """Return the bytes of a message; None if it contains a template."""
    constants = [part.base64 for part in parts if isinstance(part, BytesPart)]
    return b"".join(constants) if len(constants) == len(parts) else None


@dataclass(frozen=True, slots=True)
class MessageEncoder:
    """The encoder of messages; `{{…}}` are templates if `fills`."""

    fills: bool

    def encode(self, type_: Descriptor, value: Json, path: str = "") -> MessageParts:
        """Return the parts of a message; raise UsageError that names the field."""
        if not self._has_template(value):
            return _joined([BytesPart(message_bytes(type_, value, path))])
        return _joined(self._message(type_, value, path))

    def _message(self, type_: Descriptor, value: Json, path: str) -> Iterator[MessagePart]:
        """Yield the parts of a message that contains a template."""
        if is_wrapper(type_):
            yield from self._one(type_.fields_by_name["value"], value, path)
            return
        if has_special_json(type_):
            raise UsageError(
                say("{path}: torr fills no templates in {type}", path=path, type=type_.full_name),
                _WRITE_A_VALUE,
            )
        if not isinstance(value, dict):
            raise wrong_type(value, type_.full_name, path)
        given = [GivenField(type_, field_of(type_, name, path), name, path) for name in value]
        check_fields(type_, [each for each in given if value[each.name] is not None], path)
        for each in sorted(given, key=lambda each: each.field.number):
            yield from self._field(each, value[each.name])

    def _field(self, given: GivenField, value: Json) -> Iterator[MessagePart]:
        if not self._has_template(value):
            yield BytesPart(given.written(value))
        elif is_map(given.field):
            yield from self._map(given, value)
        elif given.field.is_repeated:
            yield from self._repeated(given, value)
        else:
            yield from self._one(given.field, value, given.path)

    def _map(self, given: GivenField, value: Json) -> Iterator[MessagePart]:
        if not isinstance(value, dict):
            raise wrong_type(value, "map", given.path)
        of = map_value(given.field)
        for key, item in value.items():
            path = keyed(given.path, key)
            if self._has_template(key):
                raise UsageError(
                    say("{path}: torr fills no templates in the keys of a map", path=path),
                    _WRITE_A_VALUE,
                )
            if self._has_template(item):
                entry = [BytesPart(given.written_key(key)), *self._one(of, item, path)]
                yield BytesPart(tag(given.field, LENGTH))
                yield NestedPart(_joined(entry))
            else:
                yield BytesPart(given.written({key: item}))

    def _repeated(self, given: GivenField, value: Json) -> Iterator[MessagePart]:
        field = given.field
        if not isinstance(value, list):
            raise wrong_type(value, f"repeated {type_name(field)}", given.path)
        parts: list[MessagePart] = []
        for number, item in enumerate(value):
            if self._has_template(item):
                one = [*self._one(field, item, f"{given.path}[{number}]")]
            else:
                one = [BytesPart(given.written_item(item, number))]
            # Packed numbers have one tag before all of them.
            parts += one[1:] if field.is_packed and len(one) > 1 else one
        if not field.is_packed:
            yield from parts
            return
        yield BytesPart(tag(field, LENGTH))
        yield NestedPart(_joined(parts))

    def _one(self, field: FieldDescriptor, value: Json, path: str) -> Iterator[MessagePart]:
        """Yield the tag and the value of a field, of which one value contains a template."""
        if field.message_type is not None:
            if field.type == GROUP:
                raise UsageError(
                    say("{path}: torr fills no templates in groups", path=path), _WRITE_A_VALUE
                )
            yield BytesPart(tag(field, LENGTH))
            yield NestedPart(_joined(self._message(field.message_type, value, path)))
            return
        if not isinstance(value, str):
            raise wrong_type(value, type_name(field), path)
        _check_template(value, path)
        number = number_kind(field)
        if number is not None:
            kind, wire_type = number
            _check_number(value, type_name(field), path)
            yield BytesPart(tag(field, wire_type))
            yield NumberPart(value.strip(), kind)
        elif field.type == STRING:
            yield BytesPart(tag(field, LENGTH))
            yield NestedPart((TextPart(value),))
        else:
            raise UsageError(
                say("{path}: torr fills no templates in bytes", path=path), _WRITE_A_VALUE
            )

    def _has_template(self, value: Json) -> bool:
        """Return whether a JSON value contains a template anywhere, also in a name."""
        if isinstance(value, str):
            return self.fills and is_template(value)
        if isinstance(value, dict):
            return any(map(self._has_template, (*value, *value.values())))
        return isinstance(value, list) and any(map(self._has_template, value))


_WRITE_A_VALUE = say("write a value without {{{{…}}}}")


def _check_template(text: str, path: str) -> None:
    """Refuse templates that are not ones, and the filter `json`; raise UsageError."""
    try:
        expressions(text)
    except UsageError as error:
        raise UsageError(
            say("{path}: {message}", path=path, message=error.message), error.hint
        ) from error
    if any(_JSON_FILTER.search(piece) for piece, is_expression in pieces(text) if is_expression):
        raise UsageError(
            say(
                "{path}: the filter json does not fit a message, which is not sent as JSON",
                path=path,
            ),
            say("leave out | json"),
        )


def _check_number(text: str, wanted: str, path: str) -> None:
    """Refuse what is not one expression whose value may be a number."""
    is_whole = [piece for piece, _ in pieces(text.strip()) if piece] == [text.strip()]
    if not is_whole or expressions(text)[0].kind in _NOT_NUMBERS:
        raise UsageError(
            say("{path}: {text} is not of type {type}", path=path, text=text, type=wanted),
            say("write one expression alone, such as {{{{seq}}}} or {{{{row.id}}}}"),
        )


def _joined(parts: Iterator[MessagePart] | list[MessagePart]) -> MessageParts:
    """Return parts without two of bytes behind each other, and without empty ones."""
    joined: list[MessagePart] = []
    for part in parts:
        if not isinstance(part, BytesPart):
            joined.append(part)
        elif joined and isinstance(joined[-1], BytesPart):
            joined[-1] = BytesPart(joined[-1].base64 + part.base64)
        elif part.base64:
            joined.append(part)
    return tuple(joined)
